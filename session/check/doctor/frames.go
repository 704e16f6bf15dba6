package doctor

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Frames may be huge; what is looked for stands at their beginning.

// errorOf is the JSON-RPC error in a frame, in a line; "" where the frame is not kept any more.
func errorOf(j *journal.Journal, seq uint64) string {
	b, err := j.Head(seq, 64<<10)
	if err != nil {
		return ""
	}
	e, err := jsonrpc.ParseError(jsonrpc.Get(b, "error"))
	if err != nil {
		return "an error that cannot be read"
	}
	return fmt.Sprintf("%d %s", e.Code, text.Clip(e.Message, 200))
}

// versionOf is the protocol version that a request of the handshake names: initialize as a parameter, server/discover in its _meta
// (https://modelcontextprotocol.io/specification/2026-07-28).
func versionOf(j *journal.Journal, seq uint64) string {
	b, err := j.Head(seq, 64<<10)
	if err != nil {
		return "?"
	}
	params := jsonrpc.Get(b, "params")
	if v := jsonrpc.GetString(params, "protocolVersion"); v != "" {
		return v
	}
	return jsonrpc.GetString(jsonrpc.Get(params, "_meta"), "io.modelcontextprotocol/protocolVersion")
}
