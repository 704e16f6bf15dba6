package aggregate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Members of a list's _meta.
const (
	metaMissing    = "mcphud/missing"    // agents whose part is not in the list, with the reason
	metaCollisions = "mcphud/collisions" // URIs that several agents have, with their names
	metaNames      = "mcphud/names"      // names that had to be shortened, with agent and own name
)

// entry is one item of a merged list.
type entry struct {
	agent string
	item  session.Item
	name  string // in the merged list: the Wire name, or the URI
}

// Missing is an agent whose part is not in a list.
type Missing struct {
	Agent string `json:"agent"`
	Error string `json:"error"`
}

// Collision is a URI that several agents have.
type Collision struct {
	URI    string   `json:"uri"`
	Agents []string `json:"agents"`
}

// part is one agent's list; nil where it has none of the kind.
func (c *client) part(ctx context.Context, agent string, kind session.ListKind) ([]session.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Patience)
	defer cancel()
	sess, err := c.connect(ctx, agent)
	if err != nil {
		return nil, err
	}
	if !sess.Supports(kind.Method()) {
		return nil, nil
	}
	l, err := sess.List(ctx, kind)
	return l.Items, err
}

// list merges one list of all agents, in the order of their names and then in their own. Who does not answer in time is
// missing, and keeps nobody waiting for longer.
func (c *client) list(ctx context.Context, kind session.ListKind) ([]entry, []Missing) {
	agents := c.agents()
	parts := make([][]session.Item, len(agents))
	errs := make([]error, len(agents))
	var wg sync.WaitGroup
	for i, a := range agents {
		wg.Go(func() { parts[i], errs[i] = c.part(ctx, a, kind) })
	}
	wg.Wait()
	var all []entry
	var missing []Missing
	for i, a := range agents {
		if err := errs[i]; err != nil {
			c.s.log.Debug("agent missing in a list", "agent", a, "list", kind.String(), "err", err)
			var e *session.Error
			why := "it did not answer"
			if errors.As(err, &e) {
				why = e.Message
			}
			missing = append(missing, Missing{a, why})
		}
		for _, it := range parts[i] {
			e := entry{agent: a, item: it, name: it.URI}
			if kind == session.Tools || kind == session.Prompts {
				e.name = Wire(a, it.Name)
				if it.Name == "" {
					continue // nothing that could be called
				}
			}
			all = append(all, e)
		}
	}
	return all, missing
}

// collisions are the URIs of a list that several agents have.
func collisions(all []entry) (out []Collision) {
	owners := map[string][]string{}
	for _, e := range all {
		if !slices.Contains(owners[e.name], e.agent) {
			owners[e.name] = append(owners[e.name], e.agent)
		}
	}
	for _, e := range all {
		if who := owners[e.name]; len(who) > 1 && who[0] == e.agent {
			out = append(out, Collision{e.name, who})
			delete(owners, e.name)
		}
	}
	return out
}

// render is the definition with its merged name: the agent's bytes but for that.
func (e entry) render(kind session.ListKind) []byte {
	if kind != session.Tools && kind != session.Prompts {
		return e.item.Raw
	}
	start, end, ok := jsonrpc.Find(e.item.Raw, "name")
	if !ok {
		return nil
	}
	return jsonrpc.Splice(e.item.Raw, jsonrpc.Edit{Start: start, End: end, With: jsonrpc.Quote(e.name)})
}

// lists answers a request for a list.
func (x *exchange) lists(ctx context.Context, kind session.ListKind) ([]byte, error) {
	all, missing := x.c.list(ctx, kind)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	meta := map[string]any{}
	if missing != nil {
		meta[metaMissing] = missing
	}
	named := kind == session.Tools || kind == session.Prompts
	if !named {
		if found := collisions(all); found != nil {
			meta[metaCollisions] = found
		}
	}
	from := 0
	if cursor := jsonrpc.Member(x.env.Params, "cursor"); cursor != nil && cursor[0] != 'n' {
		var ok bool
		if from, ok = after(all, kind, cursor); !ok {
			return nil, jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: unknown cursor; list again from the start").With("field", "cursor")
		}
	}
	page := all[from:min(from+x.s.o.Page, len(all))]
	out := append(append([]byte(`{"`), kind.String()...), `":[`...)
	names := map[string]session.ToolRef{}
	first := true
	for _, e := range page {
		raw := e.render(kind)
		if raw == nil {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, raw...)
		if named && e.name != session.FullName(e.agent, e.item.Name) {
			names[e.name] = session.ToolRef{Server: e.agent, Tool: e.item.Name}
		}
	}
	out = append(out, ']')
	if len(names) > 0 {
		meta[metaNames] = namesOf(names)
	}
	if end := from + len(page); end < len(all) {
		out = append(append(out, `,"nextCursor":`...), jsonrpc.Quote(cursorOf(kind, all[end-1]))...)
	}
	if len(meta) > 0 {
		text, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"_meta":`...), text...)
	}
	if x.modern {
		out = append(out, `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`...)
	}
	return append(out, '}'), nil
}

func namesOf(names map[string]session.ToolRef) map[string]map[string]string {
	out := map[string]map[string]string{}
	for n, r := range names {
		out[n] = map[string]string{"agent": r.Server, "name": r.Tool}
	}
	return out
}

// cursorOf names the last item of a page: what is put in or taken out elsewhere does not move the next one.
func cursorOf(kind session.ListKind, e entry) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind.String() + "\x00" + e.agent + "\x00" + e.key()))
}

func (e entry) key() string { return e.item.Name + "\x00" + e.item.URI }

func after(all []entry, kind session.ListKind, cursor []byte) (int, bool) {
	s, _ := jsonrpc.String(cursor)
	for i, e := range all {
		if cursorOf(kind, e) == s {
			return i + 1, true
		}
	}
	return 0, false
}

// Status is what the merged server is doing.
type Status struct {
	Sessions   int         `json:"sessions"`   // of clients
	Principals int         `json:"principals"` // who call without a session
	Collisions []Collision `json:"collisions"` // of resources, as far as somebody has listed them
}

// Status is a snapshot, without asking any agent.
func (s *Server) Status() Status {
	s.mu.Lock()
	st := Status{Sessions: len(s.clients), Principals: len(s.commons), Collisions: []Collision{}}
	s.mu.Unlock()
	var all []entry
	for _, c := range s.everybody() {
		for _, sess := range c.m.Servers() {
			for _, it := range sess.Listing(session.Resources).Items {
				all = append(all, entry{agent: sess.Name(), item: it, name: it.URI})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.agent, b.agent) })
	if found := collisions(all); found != nil {
		st.Collisions = found
	}
	return st
}
