package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Tool is the name of the tool.
const Tool = "execute_code"

// Asked is for how long the arguments of a call ask to run, 0 if they do not say.
func Asked(arguments []byte) time.Duration {
	ms, err := strconv.ParseFloat(string(jsonrpc.Get(arguments, "timeout")), 64)
	if err != nil || !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, float64(MaxTimeout.Milliseconds()))) * time.Millisecond
}

const inputSchema = `{
  "type": "object",
  "properties": {
    "code": {"type": "string", "description": "JavaScript code to execute", "maxLength": 1048576},
    "timeout": {"type": "number", "description": "Execution timeout in milliseconds", "default": 30000, "minimum": 1, "maximum": 60000}
  },
  "required": ["code"]
}`

const outputSchema = `{
  "type": "object",
  "properties": {
    "result": {"description": "The value of the last expression, or what its promise comes to; missing if JSON has nothing for it, such as undefined"},
    "type": {"type": "string", "description": "typeof result"},
    "console": {"type": "array", "items": {"type": "object", "properties": {
      "level": {"type": "string", "enum": ["log", "info", "warn", "error", "debug"]},
      "text": {"type": "string"}}, "required": ["level", "text"]}},
    "duration_ms": {"type": "number"},
    "truncated": {"type": "boolean", "description": "There was more than 1 MB of output; a result that is too long is the string of its beginning"},
    "error": {"type": "object", "description": "The exception that ended the code", "properties": {
      "name": {"type": "string"}, "message": {"type": "string"}, "stack": {"type": "string"}}, "required": ["name", "message"]}
  },
  "required": ["console", "duration_ms"]
}`

// Tools is execute_code.
func (s *Sandbox) Tools() []server.ServerTool {
	return []server.ServerTool{kit.Tool(Tool, "Execute code",
		"Execute JavaScript code and return the result. The code runs in a sandbox of its own (QuickJS, ES2023) with a console, timers and await at the top level, and without require, import, fetch, process or files. Limits: 64 MB of memory, 1 MB of output, 30 s unless timeout says otherwise.",
		kit.ReadOnly, kit.ArgsOver(script{Timeout: float64(DefaultTimeout.Milliseconds())}, s.execute), inputSchema, outputSchema)}
}

type script struct {
	Code    string
	Timeout float64 // milliseconds
}

func (s *Sandbox) execute(ctx context.Context, _ mcp.CallToolRequest, in script) (*mcp.CallToolResult, error) {
	if len(in.Code) > MaxCode { // its schema counts characters
		return mcp.NewToolResultError(fmt.Sprintf("execute_code: code has %d bytes; the limit is %d", len(in.Code), MaxCode)), nil
	}
	res, err := s.Run(ctx, in.Code, time.Duration(in.Timeout)*time.Millisecond)
	switch {
	case err != nil:
		return nil, err
	case res.Error != nil:
		return kit.ErrorJSON(res)
	}
	return kit.JSON(res)
}
