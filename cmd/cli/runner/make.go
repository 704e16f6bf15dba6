package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Call is a call that is made again: from the history or from a file.
type Call struct {
	Method, Target string
	Args, Meta     []byte
	Timeout        time.Duration
	Secrets        []string // JSON pointers into args of what was hidden
	Given          []string // KEY=VALUE and KEY:=JSON, set on args
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
func (k *Call) key(pointer string) string {
	var b strings.Builder
	at := k.Args
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
func (k *Call) fill(ctx context.Context, l *cli.Link) error {
	for _, p := range k.Secrets {
		key := k.key(p)
		if p == "" || slices.ContainsFunc(k.Given, func(w string) bool { return strings.HasPrefix(w, key+"=") || strings.HasPrefix(w, key+":=") }) {
			continue
		}
		value, ok := os.LookupEnv(secretVariable(p))
		if !ok && l.CanAsk() {
			var err error
			if value, err = askSecret(ctx, l, key); err != nil {
				return err
			}
			ok = true
		}
		if !ok {
			return &failure.Error{
				Kind: failure.NeedsInput, Server: l.Name(), Stage: k.Method + " " + k.Target, Message: fmt.Sprintf("the value of %q was secret and is not kept; nothing was sent", key),
				Next: fmt.Sprintf("set %s, or give %s=VALUE", secretVariable(p), key),
			}
		}
		k.Given = append(k.Given, key+"="+value)
	}
	k.Secrets = nil
	return nil
}

// askSecret reads a value from the terminal, which does not show it.
func askSecret(ctx context.Context, l *cli.Link, what string) (string, error) {
	return cli.SecretOf(ctx, l.Std.In, l.Name(), func() { l.Side.Ask(what + cli.HiddenPrompt) }, func() { l.Side.Raw("\n") })
}

// make makes a call.
func (k *Call) make(ctx context.Context, l *cli.Link) (r rpc.Reply, err error) {
	if err := alone(l, func() error { return k.fill(ctx, l) }); err != nil {
		return r, err
	}
	o := CallOptions(l)
	o.Timeout, o.Meta = k.Timeout, k.Meta
	switch k.Method {
	case "resources/read":
		return l.ReadResource(ctx, k.Target, o)
	case "prompts/get":
		args, err := k.strings()
		if err != nil {
			return r, err
		}
		return l.GetPrompt(ctx, k.Target, args, o)
	}
	it, err := FindTool(ctx, l, k.Target)
	if err != nil {
		return r, err
	}
	base, err := schema.ParseValue(k.Args)
	if err != nil {
		return r, failure.UsageError("the arguments of "+k.Target+" are not JSON: "+err.Error(), "correct them")
	}
	v, err := schema.Parse(it.InputSchema).CoerceArgs(base, k.Given)
	if err != nil {
		return r, &failure.Error{Kind: failure.Usage, Server: l.Name(), Stage: "arguments of " + it.Name, Message: err.Error(), Err: err, Next: "KEY:=JSON sends any JSON as it is; nothing was sent"}
	}
	args := v.JSON()
	Doubt(l, it, args)
	if err := alone(l, func() error { return l.Allow(ctx, it, args) }); err != nil {
		return r, err
	}
	return l.CallTool(ctx, it.Name, args, o)
}

// alone runs what may ask the person at the terminal, one connection at a time.
func alone(l *cli.Link, f func() error) error {
	if l.Asking != nil {
		l.Asking.Lock()
		defer l.Asking.Unlock()
	}
	return f()
}

// strings are the arguments of a prompt.
func (k *Call) strings() (map[string]string, error) {
	out, err := StringArgs(k.Given)
	if err != nil || len(k.Args) == 0 {
		return out, err
	}
	err = jsonrpc.Members(k.Args, func(name string, value []byte) bool {
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
func (k *Call) print(l *cli.Link, r rpc.Reply) error {
	switch k.Method {
	case "resources/read":
		return l.Print(cli.Reply(r, func(t *output.Text) { PrintResource(t, r.Result) }))
	case "prompts/get":
		return l.Print(cli.Reply(r, func(t *output.Text) { PrintMessages(t, r.Result) }))
	}
	return PrintCall(l, "tools/call "+k.Target, r)
}

// named completes the error of a call whose target the server does not have.
func (k *Call) named(ctx context.Context, l *cli.Link, err error) error {
	kind := offer.Prompts
	if k.Method == "resources/read" {
		kind = offer.Resources
	}
	return cli.Unlisted(ctx, l, kind, k.Target, err)
}
