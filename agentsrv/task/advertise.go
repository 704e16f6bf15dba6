package task

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// advertise adds to what the engine says about itself and its tools what this package does.
func (s *Service) advertise(ctx context.Context, x *front.Exchange, next front.Next) (json.RawMessage, error) {
	result, err := next(ctx, x)
	if err != nil {
		return nil, err
	}
	switch mcp.MCPMethod(x.Method) {
	case mcp.MethodInitialize:
		if v := jsonrpc.GetString(result, "protocolVersion"); v >= mcp.ProtocolVersion20251125 {
			result = set(result, []byte(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`), "capabilities", "tasks")
		}
	case mcp.MethodServerDiscover:
		result = set(result, []byte(`{}`), "capabilities", "extensions", Extension)
	case mcp.MethodToolsList:
		if !x.Modern && x.Version >= mcp.ProtocolVersion20251125 {
			result = s.addTaskSupport(result)
		}
	}
	return result, nil
}

// addTaskSupport adds execution.taskSupport to the tools of a list, whose other bytes stay what they are.
func (s *Service) addTaskSupport(result []byte) []byte {
	var out bytes.Buffer
	err := jsonrpc.Elements(jsonrpc.Get(result, "tools"), func(tool []byte) bool {
		name := jsonrpc.GetString(tool, "name")
		if p := s.policy(name); p.Support != mcp.TaskSupportForbidden {
			tool = set(tool, jsonrpc.Quote(string(p.Support)), "execution", "taskSupport")
		}
		out.WriteByte(',')
		out.Write(tool)
		return true
	})
	if err != nil || out.Len() == 0 {
		return result
	}
	out.Bytes()[0] = '['
	out.WriteByte(']')
	return set(result, out.Bytes(), "tools")
}
