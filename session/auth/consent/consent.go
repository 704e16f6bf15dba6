// Package consent says which tools ask before they are called, remembers what a person agreed to, and words the question.
package consent

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

// Rule is which tools ask before they are called.
type Rule string

// The rules; "" is Destructive.
const (
	Destructive Rule = "destructive" // those that their server marks so
	Writing     Rule = "writing"     // all that their server does not mark as read-only
	Never       Rule = "none"
)

// Policy asks before tools that its rule names. The zero value, and nil, ask before each call of a destructive one. What is
// agreed to holds as long as the policy: nothing is saved.
type Policy struct {
	mu      sync.Mutex
	rule    Rule
	all     bool
	servers map[string]bool
	tools   map[[2]string]bool
}

// Asks reports whether a person has to agree before the tool is called.
func (p *Policy) Asks(server string, it offer.Item) bool {
	if p == nil {
		return it.Destructive()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.rule == Never, p.rule == Writing && it.ReadOnly(), p.rule != Writing && !it.Destructive():
		return false
	}
	return !p.all && !p.servers[server] && !p.tools[[2]string{server, it.Name}]
}

// Follow makes another rule hold from now on, beside what was agreed to.
func (p *Policy) Follow(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = r
}

// Tool agrees to every further call of one tool.
func (p *Policy) Tool(server, tool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tools == nil {
		p.tools = map[[2]string]bool{}
	}
	p.tools[[2]string{server, tool}] = true
}

// Server agrees to every further call of the server's tools.
func (p *Policy) Server(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servers == nil {
		p.servers = map[string]bool{}
	}
	p.servers[server] = true
}

// All agrees to every further call.
func (p *Policy) All() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = true
}

const (
	inline  = 60      // bytes of arguments that stand within the sentence
	maxText = 300     // bytes of one string
	maxArgs = 4 << 10 // bytes of all arguments together
	maxDeep = 12      // levels of objects and arrays
)

// Marks is the sentence that says why a tool asks. name is what it is called for the reader.
func Marks(server string, it offer.Item, name string) string {
	if it.Destructive() {
		return oneLine(server, 80) + " marks " + oneLine(name, 120) + " as destructive."
	}
	return oneLine(server, 80) + " does not mark " + oneLine(name, 120) + " as read-only."
}

// Question asks for consent to one call: who marks the tool, and what it would be called with. Only the arguments may take several
// lines. It holds what the server and the caller wrote: whoever shows it sanitises it.
func Question(server string, it offer.Item, name string, args []byte) string {
	q := Marks(server, it, name)
	shown := Arguments(args)
	if shown == "{}" {
		return q + " Call it without arguments?"
	}
	if len(shown) <= inline {
		return q + " Call it with " + shown + "?"
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(shown), "", "  ") == nil {
		shown = b.String()
	}
	return q + " Call it with these arguments?\n" + shown
}

// oneLine is a name as one line of at most n bytes, so that none can pass for a part of the question.
func oneLine(name string, n int) string {
	return strings.Join(strings.Fields(text.Clip(name, n)), " ")
}

// Arguments is an arguments object for reading, in one line: secrets hidden, long texts and deep values cut, at most a few kB.
func Arguments(args []byte) string {
	if len(bytes.TrimSpace(args)) == 0 {
		return "{}"
	}
	w := writer{}
	w.value("", args, 0)
	return string(w.b)
}

// writer collects JSON until it is long enough.
type writer struct{ b []byte }

func (w *writer) value(name string, raw []byte, depth int) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
	case depth > maxDeep && (raw[0] == '{' || raw[0] == '['):
		w.b = append(w.b, `"…"`...)
	case raw[0] == '{':
		w.list('{', '}', func(next func() bool) {
			_ = jsonrpc.Members(raw, func(key string, v []byte) bool {
				if !next() {
					return false
				}
				w.b = append(append(w.b, jsonrpc.Quote(text.Clip(key, maxText))...), ':')
				if name != "" && mask.Secret(name) {
					key = name // whatever a secret's parts are called
				}
				w.value(key, v, depth+1)
				return true
			})
		}, `"…":"…"`)
	case raw[0] == '[':
		w.list('[', ']', func(next func() bool) {
			_ = jsonrpc.Elements(raw, func(v []byte) bool {
				if !next() {
					return false
				}
				w.value(name, v, depth+1)
				return true
			})
		}, `"…"`)
	case raw[0] == '"':
		s, _ := jsonrpc.String(raw)
		w.b = append(w.b, jsonrpc.Quote(text.Clip(mask.Value(name, s), maxText))...)
	case mask.Secret(name) && raw[0] >= '-' && raw[0] <= '9':
		w.b = append(w.b, `"`+mask.Hidden+`"`...)
	default:
		w.b = append(w.b, text.Clip(string(raw), maxText)...)
	}
}

// list writes open, the elements that each yields, and end; more takes the place of elements beyond the limit.
func (w *writer) list(open, end byte, each func(next func() bool), more string) {
	w.b = append(w.b, open)
	first := true
	each(func() bool {
		if !first {
			w.b = append(w.b, ',')
		}
		first = false
		if len(w.b) > maxArgs {
			w.b = append(w.b, more...)
			return false
		}
		return true
	})
	w.b = append(w.b, end)
}
