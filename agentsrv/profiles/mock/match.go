package mock

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// asked is what a request wants to know, without what only carries it.
type asked struct {
	group
	base  []byte // canonical params without _meta, task and what a round adds
	round []byte // canonical requestState and inputResponses; nil for the first round
	state []byte // canonical requestState alone, or the names of the inputs where there is none
	task  bool
}

// question reads the params of a request.
func question(method string, params []byte) asked {
	q := asked{group: group{method: method}}
	q.target = target(method, params)
	drop := []jsonrpc.Change{jsonrpc.Delete("_meta")}
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
		drop = append(drop, jsonrpc.Delete("inputResponses"), jsonrpc.Delete("requestState"), jsonrpc.Delete("task"))
		state, in := jsonrpc.Get(params, "requestState"), jsonrpc.Get(params, "inputResponses")
		q.task = len(jsonrpc.Get(params, "task")) > 0
		if state != nil || in != nil {
			q.state = canonical(state)
			if state == nil {
				_ = jsonrpc.Members(in, func(key string, _ []byte) bool { q.state = append(append(q.state, key...), 0); return true })
			}
			q.round = append(append(slices.Clone(q.state), 0), canonical(in)...)
		}
	case "tasks/update":
		drop = append(drop, jsonrpc.Delete("inputResponses"), jsonrpc.Delete("requestState"))
	}
	base, err := jsonrpc.Update(params, drop...)
	if err != nil {
		base = params
	}
	if mcp.MCPMethod(method) == mcp.MethodToolsCall || mcp.MCPMethod(method) == mcp.MethodPromptsGet {
		if with, err := jsonrpc.Update(base, jsonrpc.Default([]byte("{}"), "arguments")); err == nil { // none are the same as an empty object
			base = with
		}
	}
	q.base = canonical(base)
	return q
}

// maxTarget is how much of a name a journal has in an entry.
const maxTarget = 512

// target is what a journal has as an entry's Tool, but for tasks: there it can be the id, which the params have as well.
func target(method string, params []byte) string {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		return text.Clip(jsonrpc.GetString(params, "name"), maxTarget)
	case mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return text.Clip(jsonrpc.GetString(params, "uri"), maxTarget)
	}
	return ""
}

func canonical(v []byte) []byte {
	c, err := jsonrpc.Canonical(v)
	if err != nil { // members of one name: equal only to what is spelled so
		return bytes.Clone(v)
	}
	if len(c) == 0 {
		return []byte("{}")
	}
	return c
}

// hash is of parts that are kept apart.
func (r *recording) hash(parts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, p := range parts {
		_, _ = h.Write(p) // never fails
		_ = h.WriteByte(0xff)
	}
	return h.Sum64()
}

func (r *recording) key(q asked, round []byte) uint64 {
	task := []byte(nil)
	if q.task {
		task = []byte("task")
	}
	return r.hash([]byte(q.method), q.base, task, round)
}

// variantsOf is the group's calls by their arguments; nil if there are none.
func (r *recording) variantsOf(g group) *variants {
	v := r.groups[g]
	if v == nil {
		return nil
	}
	v.once.Do(func() {
		v.exact = map[uint64][]int32{}
		seen := map[uint64]bool{}
		for _, i := range v.calls {
			q := question(g.method, r.envelope(r.calls[i].seq).Params)
			k := r.key(q, q.round)
			v.exact[k] = append(v.exact[k], i)
			if q.round != nil { // whatever the client answered
				k = r.key(q, q.state)
				v.exact[k] = append(v.exact[k], i)
			}
			if base := r.hash(q.base); q.round == nil && !q.task && r.calls[i].answer != 0 && !seen[base] && len(v.first) < maxVariants {
				seen[base] = true
				v.first = append(v.first, i)
			}
		}
	})
	return v
}

// A match is the calls that answer a request, in the order in which they do.
type match struct {
	key   uint64
	calls []int32
	near  int32 // the call whose arguments are nearest, where none are equal; -1 for none
}

// find looks for calls with the same arguments.
func (r *recording) find(q asked) (match, bool) {
	v := r.variantsOf(q.group)
	if v == nil {
		return match{}, false
	}
	rounds := [][]byte{q.round}
	if q.round != nil {
		rounds = append(rounds, q.state)
	}
	for _, round := range rounds {
		k := r.key(q, round)
		if calls := r.best(v.exact[k]); len(calls) > 0 {
			return match{k, calls, -1}, true
		}
	}
	return match{}, false
}

// best leaves out the calls that have no answer where others have one.
func (r *recording) best(calls []int32) []int32 {
	if !slices.ContainsFunc(calls, func(i int32) bool { return r.calls[i].answer == 0 }) {
		return calls
	}
	var answered, cancelled []int32
	for _, i := range calls {
		c := r.calls[i]
		if c.answer != 0 {
			answered = append(answered, i)
		} else if e, _ := r.j.Get(c.seq); e.Status == journal.Cancelled {
			cancelled = append(cancelled, i)
		}
	}
	if answered == nil {
		return cancelled
	}
	return answered
}

// nearest looks for the calls whose arguments are most like those asked for.
func (r *recording) nearest(q asked) (match, bool) {
	v := r.variantsOf(q.group)
	if v == nil || q.round != nil || q.task || strings.HasPrefix(q.method, "tasks/") || len(v.first) == 0 {
		return match{}, false
	}
	want := parse(q.base)
	found, most := int32(-1), -1.0
	for _, i := range v.first {
		of := question(q.method, r.envelope(r.calls[i].seq).Params)
		if q.method == string(mcp.MethodCompletionComplete) && !sameCompletion(q.base, of.base) {
			continue
		}
		if s := likeness(want, parse(of.base)); s > most {
			found, most = i, s
		}
	}
	if found < 0 {
		return match{}, false
	}
	of := question(q.method, r.envelope(r.calls[found].seq).Params)
	k := r.key(of, nil)
	return match{k, r.best(v.exact[k]), found}, true
}

// sameCompletion reports whether two completions are of the same argument of the same prompt or template.
func sameCompletion(a, b []byte) bool {
	return bytes.Equal(jsonrpc.Get(a, "ref"), jsonrpc.Get(b, "ref")) && jsonrpc.GetString(a, "argument", "name") == jsonrpc.GetString(b, "argument", "name")
}
