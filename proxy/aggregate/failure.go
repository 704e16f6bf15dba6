package aggregate

import (
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// failure is the answer to a request that an agent did not answer with a result.
func failure(agent string, err error) error {
	var e *session.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == session.RpcError && e.Code != nil, e.Kind == session.NotFound && e.Code != nil:
		return &jsonrpc.Error{Code: *e.Code, Message: e.Message, Data: e.Data}
	case e.Kind == session.Timeout:
		return late(agent, err)
	case e.Kind == session.NeedsInput:
		return jsonrpc.Fail(jsonrpc.FailExecution, "agent '%s' asks for input that this client cannot be asked for; call it in a session, or at its own address", agent)
	}
	return &jsonrpc.Failure{Kind: jsonrpc.FailUnreachable, Message: "Failed to reach agent: '" + agent + "': " + e.Message, Status: 502, Err: err}
}

func late(agent string, err error) error {
	return &jsonrpc.Failure{Kind: jsonrpc.FailTimeout, Message: "Agent '" + agent + "' did not answer in time", Status: 504, Err: err}
}

// translated is an agent's error as the caller's era numbers it: in the modern one there is no -32002.
func (x *exchange) translated(err error) error {
	var rpc *jsonrpc.Error
	if x.modern && x.env.Method == string(mcp.MethodResourcesRead) && errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeResourceNotFound {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: rpc.Message, Data: rpc.Data}
	}
	return err
}
