package front

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// engineError translates mcp-go's error, for people who do not know mcp-go.
func (s *Server) engineError(x *Exchange, e mcp.JSONRPCErrorDetails) error {
	if cause := x.failure.Load(); cause != nil {
		if err, ok := wireError(*cause); ok {
			return err
		}
		if e.Code == mcp.INTERNAL_ERROR {
			return *cause
		}
	}
	switch e.Code {
	case mcp.METHOD_NOT_FOUND:
		return jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "%s", clip(e.Message))
	case mcp.RESOURCE_NOT_FOUND:
		return noResource(x)
	case mcp.INVALID_PARAMS:
		return badParams(x, e.Message)
	case mcp.INVALID_REQUEST, mcp.PARSE_ERROR: // the envelope was checked before: it is params that do not decode
		return unreadable(x)
	case mcp.INTERNAL_ERROR:
		return errors.New(e.Message)
	}
	raw, err := json.Marshal(e.Data)
	if err != nil || e.Data == nil {
		raw = nil
	}
	return &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: raw}
}

// badParams words -32602 of mcp-go, whose message is all that tells what was wrong.
func badParams(x *Exchange, message string) error {
	name := clip(jsonrpc.GetString(x.Params, "name"))
	missing := func(err error) bool { return strings.HasSuffix(message, err.Error()) }
	switch {
	case x.Method == string(mcp.MethodToolsCall) && missing(server.ErrToolNotFound):
		return jsonrpc.Errorf(jsonrpc.KindToolNotFound, "Tool '%s' not found", name).With("field", "name")
	case x.Method == string(mcp.MethodPromptsGet) && missing(server.ErrPromptNotFound):
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Prompt '%s' not found; see prompts/list", name).With("field", "name").With("reason", "unknown")
	case x.Method == string(mcp.MethodResourcesRead) && missing(server.ErrResourceNotFound):
		return noResource(x)
	case x.Method == string(mcp.MethodSetLogLevel):
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: level must be one of debug, info, notice, warning, error, critical, alert, emergency").With("field", "level")
	case strings.HasSuffix(x.Method, "/list") && jsonrpc.Get(x.Params, "cursor") != nil: // the one param that lists have
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: unknown cursor; list again without one").With("field", "cursor")
	}
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "%s", clip(message))
}

// noResource is the error for a URI that nothing answers.
func noResource(x *Exchange) error {
	uri := jsonrpc.GetString(x.Params, "uri")
	return jsonrpc.Errorf(jsonrpc.KindResourceNotFound, "Resource '%s' not found; see resources/list and resources/templates/list", clip(uri)).With("uri", uri)
}

// unreadable is the answer to params that do not decode. mcp-go's own message names its Go types, if anything.
func unreadable(x *Exchange) error {
	if x.Method == string(mcp.MethodCompletionComplete) {
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, `Invalid params: completion/complete needs ref, {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}, and argument, {"name":…,"value":…}`)
	}
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: the params of %s cannot be read: a member has the wrong type, a number does not fit 64-bit floats, or the nesting is deeper than 10000 levels", clip(x.Method))
}

// clip is a text of the client's, as far as an error message repeats it.
func clip(s string) string { return text.Clip(s, 200) }
