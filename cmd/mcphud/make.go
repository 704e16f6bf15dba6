package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// keptCall is a call that is made again: from the history or from a file.
type keptCall struct {
	method, target string
	args, meta     []byte
	timeout        time.Duration
	secrets        []string // JSON pointers into args of what was hidden
	given          []string // KEY=VALUE and KEY:=JSON, set on args
}

// secretVariable is the variable that gives a secret of a kept call, by its pointer. A file cannot choose it: it could have another secret
// sent to a server.
func secretVariable(pointer string) string {
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	return "MCPHUD_SECRET_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}

// key is a JSON pointer as it is written on a command line: a.b[0].
func (k *keptCall) key(pointer string) string {
	var b strings.Builder
	at := k.args
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if len(at) > 0 && at[0] == '[' {
			fmt.Fprintf(&b, "[%s]", name)
			n := 0
			var item []byte
			_ = jsonrpc.Elements(at, func(v []byte) bool {
				if fmt.Sprint(n) == name {
					item = v
				}
				n++
				return item == nil
			})
			at = item
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		for _, r := range name {
			if strings.ContainsRune(`.[]=\:`, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		at = jsonrpc.Get(at, name)
	}
	return b.String()
}

// fill gets the secrets of a call that nobody gave: from the environment, or from the person at the terminal.
func (k *keptCall) fill(ctx context.Context, l *link) error {
	for _, p := range k.secrets {
		key := k.key(p)
		if p == "" || slices.ContainsFunc(k.given, func(w string) bool { return strings.HasPrefix(w, key+"=") || strings.HasPrefix(w, key+":=") }) {
			continue
		}
		value, ok := os.LookupEnv(secretVariable(p))
		if !ok && l.canAsk() {
			var err error
			if value, err = l.askSecret(ctx, key); err != nil {
				return err
			}
			ok = true
		}
		if !ok {
			return &failure.Error{
				Kind: failure.NeedsInput, Server: l.Name(), Stage: k.method + " " + k.target, Message: fmt.Sprintf("the value of %q was secret and is not kept; nothing was sent", key),
				Next: fmt.Sprintf("set %s, or give %s=VALUE", secretVariable(p), key),
			}
		}
		k.given = append(k.given, key+"="+value)
	}
	k.secrets = nil
	return nil
}

// askSecret reads a value from the terminal, which does not show it.
func (l *link) askSecret(ctx context.Context, what string) (string, error) {
	return secretOf(ctx, l.std.in, l.Name(), func() { l.side.ask(what + hiddenPrompt) }, func() { l.side.raw("\n") })
}

// make makes a call.
func (k *keptCall) make(ctx context.Context, l *link) (r rpc.Reply, err error) {
	if err := l.alone(func() error { return k.fill(ctx, l) }); err != nil {
		return r, err
	}
	o := l.call()
	o.Timeout, o.Meta = k.timeout, k.meta
	switch k.method {
	case "resources/read":
		return l.ReadResource(ctx, k.target, o)
	case "prompts/get":
		args, err := k.strings()
		if err != nil {
			return r, err
		}
		return l.GetPrompt(ctx, k.target, args, o)
	}
	it, err := findTool(ctx, l, k.target)
	if err != nil {
		return r, err
	}
	base, err := schema.ParseValue(k.args)
	if err != nil {
		return r, usageError("the arguments of "+k.target+" are not JSON: "+err.Error(), "correct them")
	}
	v, err := schema.Parse(it.InputSchema).CoerceArgs(base, k.given)
	if err != nil {
		return r, &failure.Error{Kind: failure.Usage, Server: l.Name(), Stage: "arguments of " + it.Name, Message: err.Error(), Err: err, Next: "KEY:=JSON sends any JSON as it is; nothing was sent"}
	}
	args := v.JSON()
	l.doubt(it, args)
	if err := l.alone(func() error { return l.allow(ctx, it, args) }); err != nil {
		return r, err
	}
	return l.CallTool(ctx, it.Name, args, o)
}

// alone runs what may ask the person at the terminal, one connection at a time.
func (l *link) alone(f func() error) error {
	if l.asking != nil {
		l.asking.Lock()
		defer l.asking.Unlock()
	}
	return f()
}

// strings are the arguments of a prompt.
func (k *keptCall) strings() (map[string]string, error) {
	out, err := stringArgs(k.given)
	if err != nil || len(k.args) == 0 {
		return out, err
	}
	err = jsonrpc.Members(k.args, func(name string, value []byte) bool {
		if _, given := out[name]; !given {
			s, ok := jsonrpc.String(value)
			if !ok {
				s = string(value)
			}
			out[name] = s
		}
		return true
	})
	return out, err
}

// print prints what a call gave, and is the error of a tool that failed.
func (k *keptCall) print(l *link, r rpc.Reply) error {
	switch k.method {
	case "resources/read":
		return l.print(reply(r, func(t *textOutput) { t.resource(r.Result) }))
	case "prompts/get":
		return l.print(reply(r, func(t *textOutput) { t.messages(r.Result) }))
	}
	return l.printCall("tools/call "+k.target, r)
}

// named completes the error of a call whose target the server does not have.
func (k *keptCall) named(ctx context.Context, l *link, err error) error {
	kind := offer.Prompts
	if k.method == "resources/read" {
		kind = offer.Resources
	}
	return unlisted(ctx, l, kind, k.target, err)
}
