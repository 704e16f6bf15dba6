package aggregate

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const (
	maxCall = 24 * time.Hour // whatever the progress
	maxAsk  = 4 * time.Hour
)

// maxSilence is how long an event stream may bring nothing where the client asked for no progress: who works says nothing then.
const maxSilence = 5 * time.Minute

var errIdle = errors.New("no message about the call in time")

// call forwards a request to an agent, with the agent's own name in place of the merged one; path is where in the params that stands. There are three
// ways: as it is, where nothing has to be translated (direct); kept until the caller comes back, where a legacy agent may ask a modern caller
// (callPending); else by the session with the agent, its result translated.
func (x *exchange) call(ctx context.Context, agent, own string, path ...string) ([]byte, error) {
	x.meant = agent
	sess, st, err := x.c.status(ctx, agent)
	if err != nil {
		return nil, agentError(agent, x.s.soleError(err))
	}
	x.asked = true
	legacy, passes := st.Era == session.Legacy, x.passes(st.Era)
	params := x.env.Params
	var changes []jsonrpc.Change
	if len(path) > 0 {
		changes = append(changes, jsonrpc.Replace(jsonrpc.Quote(own), path...))
	}
	token := []byte(nil)
	if x.params.Token != nil && jsonrpc.Get(params, "_meta", "progressToken") != nil {
		token = append(strconv.AppendInt([]byte(`"p-`), x.c.nextID(), 10), '"')
		changes = append(changes, jsonrpc.Replace(token, "_meta", "progressToken"))
	}
	if x.modern && legacy {
		changes = append(changes, withoutEra...)
		x.wantsLevel(ctx, sess)
	}
	params, _ = jsonrpc.Update(params, changes...) // were scanned
	x.c.mu.Lock()
	x.agent = agent
	x.c.mu.Unlock()
	if passes {
		if again, err := x.direct(ctx, sess, st, agent, own, params, token); !again {
			return nil, err
		}
	}
	if x.modern && legacy && x.caps != "{}" && len(path) > 0 && (path[0] == "name" || path[0] == "uri") {
		return x.callPending(ctx, sess, agent, params, token)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.patience.Start(x.s.o.Limit(agent), 0, func(bool) { cancel(errIdle) })
	defer x.patience.Stop()
	// An agent compares with the arguments itself what a modern caller says of them in headers.
	relay := x.modern && !legacy && x.env.Method == string(mcp.MethodToolsCall)
	r, err := sess.Call(ctx, x.env.Method, params, session.CallOptions{
		Timeout: maxCall, MaxTimeout: maxCall, Relay: session.RelayOptions{
			Header: x.forwardedHeaders(relay), ParamHeaders: relay, OnOwn: func(frame []byte) bool { return x.handleOwnMessage(agent, frame, token) }, Tag: x,
		},
	})
	var e *failure.Error
	switch {
	case err == nil && x.modern && legacy:
		return toModern(x.env.Method, r.Result), nil
	case err == nil:
		result := x.taskOf(agent, token, r.Result)
		if !x.modern && !legacy {
			result = toLegacy(x.env.Method, result)
		}
		return result, nil
	case x.modern && errors.As(err, &e) && e.Kind == failure.NeedsInput && e.Data != nil:
		return e.Data, nil // this client answers by asking again
	case errors.Is(context.Cause(ctx), errIdle):
		return nil, timedOut(agent, err)
	}
	return nil, x.translateError(agentError(agent, x.s.soleError(err)))
}

// handleOwnMessage handles an agent's message about this call.
func (x *exchange) handleOwnMessage(agent string, frame, token []byte) bool {
	x.patience.Again()
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return false
	}
	switch mcp.MCPMethod(env.Method) {
	case mcp.MethodNotificationProgress:
		if token != nil && bytes.Equal(jsonrpc.Get(frame, "params", "progressToken"), token) {
			if x.params.Token != nil { // who comes back to a call may want none any more
				x.send(replace(frame, x.params.Token, "params", "progressToken"))
			}
			return true
		}
		return false
	case mcp.MethodNotificationMessage:
		return x.log(agent, frame)
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged,
		mcp.MethodNotificationResourceUpdated, mcp.MethodNotificationCancelled, mcp.MethodNotificationTasksStatus:
		return false // belongs to all
	}
	return x.send(frame)
}
