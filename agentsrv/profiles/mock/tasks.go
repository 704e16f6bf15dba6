package mock

import (
	"context"
	"encoding/json"
	"sort"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// taskOf is the id of the task that the answer to a call says that it became, "" if it is the answer itself.
func taskOf(result []byte) string {
	if id := jsonrpc.GetString(result, "task", "taskId"); id != "" {
		return id
	}
	if jsonrpc.GetString(result, "resultType") == "task" {
		return jsonrpc.GetString(result, "taskId")
	}
	return ""
}

// takesTask reports whether a client understands a task that was recorded in an era as the answer to its call.
func takesTask(x *front.Exchange, modern bool) bool {
	if x.Modern != modern {
		return false
	}
	if modern {
		return jsonrpc.Get(x.Params, "_meta", mcp.MetaKeyClientCapabilities, "extensions", tasksExtension) != nil
	}
	return jsonrpc.Get(x.Params, "task") != nil
}

// otherwise finds a call that is recorded as a task for a client that wants none. A client that wants one cannot have a result.
func (m *Mock) otherwise(x *front.Exchange, q asked) (call, bool) {
	if x.Method != string(mcp.MethodToolsCall) || q.task {
		return call{}, false
	}
	q.task = true
	found, ok := m.rec.find(q)
	if !ok {
		return call{}, false
	}
	return m.rec.calls[found.calls[m.stateOf(x).turn(found.key, len(found.calls))]], true
}

// finish answers a call that became a task with what the task came to.
func (m *Mock) finish(ctx context.Context, x *front.Exchange, s *state, c call) (json.RawMessage, error) {
	created, err := m.rec.result(c.answer)
	if err != nil {
		return nil, err
	}
	id := taskOf(created)
	if id == "" {
		return m.play(ctx, x, s, c, 0)
	}
	params := append(append([]byte(`{"taskId":`), jsonrpc.Quote(id)...), '}')
	if found, ok := m.rec.find(question("tasks/result", params)); ok {
		return m.play(ctx, x, s, m.rec.calls[found.calls[len(found.calls)-1]], 0)
	}
	if found, ok := m.rec.find(question("tasks/get", params)); ok {
		last := m.rec.calls[found.calls[len(found.calls)-1]]
		if err := m.clock().wait(ctx, min(max(0, m.rec.time(last.seq).Sub(m.rec.time(c.seq))), maxWait)); err != nil {
			return nil, err
		}
		state, err := m.rec.result(last.answer)
		if err != nil {
			return nil, err
		}
		if result := jsonrpc.Get(state, "result"); result != nil {
			return m.fit(x, x.Method, result, m.rec.modern(last.seq)), nil
		}
		if failed := jsonrpc.Get(state, "error"); failed != nil {
			if e, _ := jsonrpc.ParseError(failed); e != nil {
				return nil, e
			}
		}
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindInternal, "the recording ends before the task %s did", clip(id))
}

// callAt is the index of the call whose request has a Seq.
func (r *recording) callAt(seq uint64) (int, bool) {
	i := sort.Search(len(r.calls), func(i int) bool { return r.calls[i].seq >= seq })
	return i, i < len(r.calls) && r.calls[i].seq == seq
}
