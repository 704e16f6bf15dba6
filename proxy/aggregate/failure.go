package aggregate

import (
	"errors"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// agentError is the answer to a request that an agent did not answer with a result.
func agentError(agent string, err error) error {
	var e *failure.Error
	if !errors.As(err, &e) {
		return err
	}
	switch f := routerError(e); {
	case f != nil:
		return f
	case e.Kind == failure.RpcError && e.Code != nil, e.Kind == failure.NotFound && e.Code != nil:
		return &jsonrpc.Error{Code: *e.Code, Message: e.Message, Data: e.Data}
	case e.Kind == failure.Timeout:
		return timedOut(agent, err)
	case e.Kind == failure.Interrupted: // by an answer: nobody is there to hear of anything else
		return jsonrpc.Errorf(jsonrpc.KindToolExecution, "agent '%s' requires input, and %s", agent, e.Message)
	case e.Kind == failure.NeedsInput:
		return jsonrpc.Errorf(jsonrpc.KindToolExecution, "agent '%s' requires input, and this client declared no capability for it; call it in a session, or at its own address", agent)
	}
	return &jsonrpc.RequestError{Kind: jsonrpc.KindUnreachable, Message: "Failed to reach agent: '" + agent + "': " + e.Message, Status: 502, Err: err}
}

// routerError is what the router itself said about an agent, so that it is said in the caller's era; nil for an agent's word.
func routerError(e *failure.Error) *jsonrpc.RequestError {
	if e.Kind != failure.RpcError || e.Status < 500 {
		return nil
	}
	kind := jsonrpc.GetString(e.Data, "kind")
	switch k := jsonrpc.ErrorKind(kind); k {
	case jsonrpc.KindUnreachable, jsonrpc.KindTimeout, jsonrpc.KindUpstream:
		ms, _ := strconv.Atoi(string(jsonrpc.Get(e.Data, "retryAfterMs"))) // 0 where it does not say
		return &jsonrpc.RequestError{Kind: k, Message: e.Message, Status: e.Status, RetryAfter: time.Duration(ms) * time.Millisecond, Err: e}
	}
	return nil
}

func timedOut(agent string, err error) error {
	return &jsonrpc.RequestError{Kind: jsonrpc.KindTimeout, Message: "Agent '" + agent + "' did not answer in time", Status: 504, Err: err}
}

// translateError is an agent's error as the caller's era numbers it: in the modern one there is no -32002, and numbers that moved for it
// say which one they were.
func (x *exchange) translateError(err error) error {
	var rpc *jsonrpc.Error
	switch {
	case !errors.As(err, &rpc):
	case x.modern && x.env.Method == string(mcp.MethodResourcesRead) && rpc.Code == jsonrpc.CodeResourceNotFound:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: rpc.Message, Data: rpc.Data}
	case !x.modern:
		if code, wrong := strconv.ParseInt(string(jsonrpc.Get(rpc.Data, "legacyCode")), 10, 64); wrong == nil {
			data, _ := jsonrpc.Update(rpc.Data, jsonrpc.Delete("legacyCode")) // is an object
			return &jsonrpc.Error{Code: code, Message: rpc.Message, Data: data}
		}
	}
	return err
}
