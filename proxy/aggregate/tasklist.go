package aggregate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// taskList is tasks/list: one agent's tasks after the other's, by the agents' own pages. Who has no session and is nobody in
// particular has no list: anybody could be that. An agent that fails is named in _meta, and the next one's tasks follow; only in the middle of its pages
// it is an error, since nobody would find the rest.
func (x *exchange) taskList(ctx context.Context) ([]byte, error) {
	c := x.c
	if c.id == "" && c.principal == "" {
		return []byte(`{"tasks":[]}`), nil
	}
	agents, at, cursor := c.agents(), 0, []byte(nil)
	if raw := jsonrpc.Get(x.env.Params, "cursor"); raw != nil && raw[0] != 'n' { // null is what some clients write for none
		agent, own, ok := taskCursor(raw)
		if !ok {
			return nil, badCursor()
		}
		// Where the agent is gone since, the one after it comes next: its own cursor says nothing to that.
		at, ok = slices.BinarySearch(agents, agent)
		if ok {
			cursor = own
		}
	}
	var missing []Missing
	for ; at < len(agents); at++ {
		page, err := c.taskPage(ctx, agents[at], cursor)
		switch {
		case err != nil && cursor != nil:
			return nil, agentError(agents[at], err)
		case err != nil:
			missing = append(missing, Missing{agents[at], errorText(err)})
			continue
		}
		tasks := [][]byte{}
		_ = jsonrpc.Elements(jsonrpc.Get(page, "tasks"), func(task []byte) bool { // what is not an array has none
			tasks = append(tasks, c.taskIn(agents[at], task, "taskId"))
			return true
		})
		next := jsonrpc.Get(page, "nextCursor")
		if len(tasks) == 0 && next == nil { // an empty page would cost the client a request for nothing
			cursor = nil
			continue
		}
		out := []byte(`{"tasks":[`)
		for i, t := range tasks {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, t...)
		}
		out = append(out, ']')
		switch own, more := jsonrpc.String(next); {
		case more:
			out = append(append(out, `,"nextCursor":`...), jsonrpc.Quote(taskCursorOf(agents[at], "\x01"+own))...)
		case at+1 < len(agents):
			out = append(append(out, `,"nextCursor":`...), jsonrpc.Quote(taskCursorOf(agents[at+1], ""))...)
		}
		return append(withMissing(out, missing), '}'), nil
	}
	return append(withMissing([]byte(`{"tasks":[]`), missing), '}'), nil
}

// withMissing adds the agents whose tasks are missing to a result that is not closed yet.
func withMissing(out []byte, missing []Missing) []byte {
	if missing == nil {
		return out
	}
	text, err := json.Marshal(map[string]any{metaMissing: missing})
	if err != nil { // strings always marshal
		return out
	}
	return append(append(out, `,"_meta":`...), text...)
}

// taskPage is a page of one agent's tasks, nil of an agent that lists none.
func (c *client) taskPage(ctx context.Context, agent string, cursor []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Patience)
	defer cancel()
	f := c.fetch(agent, hello)
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, errLate
	}
	if f.err != nil {
		return nil, f.err
	}
	// The extension of the modern era has no list.
	if st := f.sess.Status(); st.Era != session.Legacy || jsonrpc.Get(st.Capabilities, "tasks", "list") == nil {
		return nil, nil
	}
	params := []byte("{}")
	if cursor != nil {
		params = append(append([]byte(`{"cursor":`), cursor...), '}')
	}
	r, err := f.sess.Call(ctx, methodTasksList, params, session.CallOptions{})
	return r.Result, err
}

// taskCursorOf is a cursor for what taskCursor reads. own begins with \x01, or is empty for the agent's first page: an agent's cursor may be empty, too.
func taskCursorOf(agent, own string) string {
	return base64.RawURLEncoding.EncodeToString([]byte("tasks\x00" + agent + "\x00" + own))
}

// taskCursor is the agent whose tasks come next, and its own cursor as JSON, nil for its first page.
func taskCursor(raw []byte) (agent string, own []byte, ok bool) {
	s, _ := jsonrpc.String(raw)
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "", nil, false
	}
	rest, ok := strings.CutPrefix(string(text), "tasks\x00")
	agent, mine, ok2 := strings.Cut(rest, "\x00")
	if !ok || !ok2 {
		return "", nil, false
	}
	if mine, ok = strings.CutPrefix(mine, "\x01"); ok {
		own = jsonrpc.Quote(mine)
	}
	return agent, own, true
}
