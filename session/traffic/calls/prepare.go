package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// Prepare is a call as it is sent: with the secrets that are not kept, the name that the server's tool has, and arguments as its schema
// wants them; and agreed to. What is prepared stays so: to prepare it again asks nobody.
func (r *Runner) Prepare(ctx context.Context, c Call) (Call, error) {
	if c.prepared {
		return c, nil
	}
	if err := r.Fill(ctx, &c); err != nil {
		return c, err
	}
	c.prepared = true // where there is no error: with one nothing is sent
	switch c.Method {
	case ResourcesRead:
		return c, nil
	case PromptsGet:
		args, err := c.texts()
		if err != nil {
			return c, err
		}
		c.Arguments, err = json.Marshal(args)
		return c, err
	}
	it, err := r.Find(ctx, c.Target)
	if err != nil {
		return c, err
	}
	base, err := schema.ParseValue(c.Arguments)
	if err != nil {
		return c, failure.UsageError("the arguments of "+c.Target+" are not JSON: "+err.Error(), "correct them")
	}
	if c.Arguments, err = Arguments(r.Session.Name(), it, base, c.Given); err != nil {
		return c, err
	}
	c.Target, c.Given = it.Name, nil
	if r.Doubt != nil {
		for _, d := range Doubts(it, c.Arguments) {
			r.Doubt(d)
		}
	}
	if r.Allow == nil {
		return c, nil
	}
	return c, r.lockAsking(func() error { return r.Allow(ctx, it, c.Arguments) })
}

// hiddenWhole are arguments all of which was secret.
const hiddenWhole = `"***"`

// Arguments are those of a tool as they are sent: base, nil for none, with what is given as KEY=VALUE on top of it.
func Arguments(server string, it offer.Item, base *schema.Value, given []string) (json.RawMessage, error) {
	v, err := schema.Parse(it.InputSchema).CoerceArgs(base, given)
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Server: server, Stage: "arguments of " + it.Name, Message: err.Error(), Err: err, Next: "KEY:=JSON sends any JSON as it is; nothing was sent"}
	}
	return v.JSON(), nil
}

// Doubts are what of the arguments the tool's schema does not allow, lacks or does not know: the first few.
func Doubts(it offer.Item, args []byte) (out []string) {
	const most = 5
	s := schema.Parse(it.InputSchema)
	value, err := schema.ParseValue(args)
	if err != nil {
		return nil // it is refused where it is sent
	}
	seen := map[string]bool{}
	add := func(p schema.Problem) {
		if seen[p.Pointer] = true; len(seen) <= most {
			out = append(out, p.Sentence())
		}
	}
	problems, _ := s.ValidateJSON(args)
	for _, p := range problems {
		add(p)
	}
	f := s.Root().Active(value)
	if _, open, _ := f.Extra(); open || len(f.Variants()) > 0 {
		return out
	}
	for _, m := range value.Members() {
		if p := "/" + m.Name; !f.Declares(m.Name) && !seen[p] {
			add(schema.Problem{Pointer: p, Message: "is not in the tool's schema"})
		}
	}
	return out
}

// texts are the arguments of a prompt: strings, all of them.
func (c Call) texts() (map[string]string, error) {
	out, err := Texts(c.Given)
	if err != nil || len(c.Arguments) == 0 {
		return out, err
	}
	err = jsonrpc.Members(c.Arguments, func(name string, value []byte) bool {
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

// Texts reads KEY=VALUE for arguments that are strings, as those of prompts are.
func Texts(given []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range given {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" || strings.HasSuffix(k, ":") {
			return nil, failure.UsageError(fmt.Sprintf("%q is not a valid argument", s), "arguments of prompts are strings: write KEY=VALUE")
		}
		out[k] = v
	}
	return out, nil
}

// secretVariable is the variable that gives a secret of a call, by its pointer. A file cannot choose it: it could have another secret
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

// key is a JSON pointer into the arguments as it is written on a command line: a.b[0].
func (c Call) key(pointer string) string {
	var b strings.Builder
	at := []byte(c.Arguments)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := jsonrpc.UnescapeToken(token)
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

// bare is a call without what was hidden in it, but for single arguments: these are filled.
func (c Call) bare() Call {
	if c.Meta = c.UnmaskedMeta(); string(c.Arguments) == hiddenWhole {
		c.Arguments = nil
	}
	return c
}

// Fill takes what was hidden out of a call, and gets the secrets that nobody gave: from the environment, or from somebody who can be asked. What is
// filled stays so: to prepare it, or to fill it again, asks nobody.
func (r *Runner) Fill(ctx context.Context, c *Call) error {
	*c = c.bare()
	return r.lockAsking(func() error { return r.fill(ctx, c, nil) })
}

// Over is a call with the members of an object in the place of its own arguments. Secrets that the object has no member for are filled; known has
// those that were given before, by their pointers, and takes them.
func (r *Runner) Over(ctx context.Context, c Call, object json.RawMessage, known map[string]string) (Call, error) {
	c = c.bare()
	var set []jsonrpc.Change
	var own []string
	err := jsonrpc.Members(object, func(name string, value []byte) bool {
		set = append(set, jsonrpc.Set(value, name))
		own = append(own, inArguments+"/"+jsonrpc.EscapeToken(name))
		return true
	})
	if err != nil {
		return c, err
	}
	if len(c.Arguments) == 0 {
		c.Arguments = object
	} else if c.Arguments, err = jsonrpc.Update(c.Arguments, set...); err != nil {
		return c, err
	}
	c.Secrets = slices.DeleteFunc(slices.Clone(c.Secrets), func(p string) bool {
		return slices.ContainsFunc(own, func(o string) bool { return p == o || strings.HasPrefix(p, o+"/") })
	})
	return c, r.lockAsking(func() error { return r.fill(ctx, &c, known) })
}

// fill gets the secrets of a call, but those that are known. known takes the others, unless it is nil.
func (r *Runner) fill(ctx context.Context, c *Call, known map[string]string) error {
	given := slices.Clone(c.Given)
	for _, p := range c.Secrets {
		if !strings.HasPrefix(p, inArguments+"/") {
			continue
		}
		key := c.key(strings.TrimPrefix(p, inArguments))
		if slices.ContainsFunc(given, func(w string) bool { return strings.HasPrefix(w, key+"=") || strings.HasPrefix(w, key+":=") }) {
			continue
		}
		value, ok := known[p]
		if !ok {
			value, ok = os.LookupEnv(secretVariable(p))
		}
		if !ok && r.Secret != nil {
			var err error
			if value, ok, err = r.Secret(ctx, key); err != nil {
				return err
			}
		}
		if !ok {
			return &failure.Error{
				Kind: failure.NeedsInput, Server: r.Session.Name(), Stage: c.Method + " " + c.Target, Message: fmt.Sprintf("the value of %q was secret and is not kept; nothing was sent", key),
				Next: fmt.Sprintf("set %s, or give %s=VALUE", secretVariable(p), key),
			}
		}
		if known != nil {
			known[p] = value
		}
		given = append(given, key+"="+value)
	}
	c.Given, c.Secrets = given, nil
	return nil
}
