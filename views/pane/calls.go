package pane

import (
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Calls counts what this session asked of each tool, prompt and resource. The screens share one.
type Calls struct {
	of   *journal.Journal
	seen uint64 // entries up to here were looked at
	buf  []journal.Entry
	by   map[callKey]callCount
	some map[callKey]bool // what was answered, without names: of a server by a method, and by a method of any
	Rev  int              // counts what changed them
	past past
}

// NewCalls has none yet; h is the calls that were made before, nil for none.
func NewCalls(h *calls.History) *Calls { return &Calls{past: past{of: h}} }

// maxCalled bounds of how many different items the calls are counted.
const maxCalled = 10_000

type callKey struct{ server, method, name string }

// callCount counts the calls of one item.
type callCount struct {
	n            int
	last, answer uint64 // journal entries of the newest request and of the newest answer, 0 for none
}

// methods are the requests that are counted.
var methods = map[offer.Kind]string{offer.Tools: "tools/call", offer.Prompts: "prompts/get", offer.Resources: "resources/read"}

// Sync takes in what was journalled since the last call.
func (k *Calls) Sync(j *journal.Journal) {
	if k.of != j {
		k.of, k.seen, k.by, k.some, k.Rev = j, 0, map[callKey]callCount{}, map[callKey]bool{}, k.Rev+1
	}
	if j == nil {
		return
	}
	k.buf = j.Snapshot(k.seen, k.buf[:0])
	for i := range k.buf {
		e := &k.buf[i]
		k.seen = e.Seq
		if e.Tool == "" || e.Hop != "" {
			continue
		}
		k.Rev++ // an answer is the end of a call
		at := callKey{e.Server, e.Method, e.Tool}
		c, known := k.by[at]
		switch {
		case known && e.Dir == journal.In && (e.Kind == journal.Response || e.Kind == journal.ErrorResponse):
			c.answer = e.Seq
			k.by[at] = c
			k.some[callKey{server: e.Server, method: e.Method}] = true
			k.some[callKey{method: e.Method}] = true
		case e.Kind == journal.Request && e.Dir == journal.Out && (known || len(k.by) < maxCalled):
			c.n, c.last = c.n+1, e.Seq
			k.by[at] = c
		}
	}
	if cap(k.buf) > 4096 {
		k.buf = nil
	}
}

// Count is how often an item was called.
func (k *Calls) Count(server string, kind offer.Kind, name string) int {
	return k.by[callKey{server, methods[kind], name}].n
}

// Answered is whether a server, any for "", answered a call of some item of a kind in this session.
func (k *Calls) Answered(server string, kind offer.Kind) bool {
	return k.some[callKey{server: server, method: methods[kind]}]
}

// Last says how often an item was called and how the last call went, "" if there was none.
func (k *Calls) Last(server string, kind offer.Kind, name string) string {
	c := k.by[callKey{server, methods[kind], name}]
	if c.n == 0 {
		return ""
	}
	out := fmt.Sprintf("called %d×", c.n)
	e, ok := k.of.Get(c.last)
	if !ok {
		return out
	}
	mark := map[string]string{journal.OK: "✓ ", journal.Failed: "✗ ", journal.Cancelled: "⊘ "}[e.Status]
	if mark == "" {
		return out + " · runs"
	}
	return out + " · last " + mark + text.Duration(e.Took) + " " + e.Time.Format(time.TimeOnly)
}
