package redact

import (
	"bytes"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Keeper takes out of entries what is secret while they are written, one after the other: what rules without options find, what a schema
// that passed by marks as a secret, and what was sent as one wherever it comes back. It is for one goroutine.
type Keeper struct {
	r      *Redactor
	marked map[string]bool // names that schemas mark
	whole  map[string]bool // tools, by server, of whose arguments any may be a secret
	all    []path          // takes out all of them
}

const maxMarked = 1000

// kept is the name of each placeholder: who reads the file tells them from other texts by it, see [mask.Placeholder].
const kept = "secret"

// NewKeeper returns one that has seen nothing.
func NewKeeper() *Keeper {
	r, _ := New(Rules{}) // no rule that could be wrong
	n := r.rule("schema of arguments", kept)
	r.rules[n].least = longish
	return &Keeper{r: r, marked: map[string]bool{}, whole: map[string]bool{}, all: []path{{[]string{"params", "arguments"}, n}}}
}

// Change is the entry as it may be kept, for [journal.Options].
func (k *Keeper) Change(e journal.Entry, body []byte) (journal.Entry, []byte) {
	frame := e.Kind <= journal.Notification
	if frame && (bytes.Contains(body, []byte("writeOnly")) || bytes.Contains(body, []byte("password"))) {
		k.schemas(e, body)
	}
	k.r.paths = nil
	if frame && e.Kind == journal.Request && k.whole[e.Server+"\x00"+e.Tool] && e.Method == "tools/call" {
		k.r.paths = k.all // values alone: what is called how, and a message that is valid, stay
	}
	k.r.Learn(e, body)
	out, body := k.r.Change(e, body)
	out.Method, out.Tool = e.Method, k.r.replaceAll(e.Tool)
	return out, body
}

// schemas learns from the schemas of a list of tools, and of a form.
func (k *Keeper) schemas(e journal.Entry, body []byte) {
	_ = jsonrpc.Elements(jsonrpc.Get(body, "result", "tools"), func(tool []byte) bool {
		if !k.mark(mask.RuleOf(jsonrpc.Get(tool, "inputSchema"))) && len(k.whole) < maxMarked {
			k.whole[e.Server+"\x00"+jsonrpc.GetString(tool, "name")] = true
		}
		return true
	})
	k.mark(mask.RuleOf(jsonrpc.Get(body, "params", "requestedSchema")))
	_ = jsonrpc.Members(jsonrpc.Get(body, "result", "inputRequests"), func(_ string, question []byte) bool {
		k.mark(mask.RuleOf(jsonrpc.Get(question, "params", "requestedSchema")))
		return true
	})
}

// mark has what a rule names taken out; false if the rule names nothing because anything may be secret.
func (k *Keeper) mark(rule mask.Rule) bool {
	names, whole := rule.Names()
	for _, name := range names {
		if p := normalize(name); p != "" && !k.marked[p] && len(k.marked) < maxMarked {
			k.marked[p] = true
			k.r.keys[p] = k.r.rule("schema "+name, kept)
		}
	}
	return !whole
}
