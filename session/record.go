package session

import (
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// CallRecord is a tool call, a prompt's get or a resource's read that was sent and is over, as [Options.Record] gets it.
type CallRecord struct {
	Server    config.Server   // as it was registered
	Title     string          // see Session.Title
	Info      json.RawMessage // serverInfo as sent, nil if there is none
	Version   string          // protocol version
	Transport string          // as in Status

	Method string // tools/call, prompts/get or resources/read
	Target string // the name, or the URI
	// Arguments is params.arguments, nil for none; Schema describes them, nil where nothing does. Meta is what was added to
	// params._meta for this call.
	Arguments, Schema, Meta json.RawMessage
	Timeout                 time.Duration // that this call was given, 0 for the usual one

	Started time.Time
	Took    time.Duration // with what was asked and answered in between, and the time of a task
	Reply   rpc.Reply     // also with an error, as far as one came
	Err     error         // that the caller got; nil for a result, isError included
}

// isRecorded reports whether Options.Record is told of a method.
func isRecorded(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
		return true
	}
	return false
}

// record gives a call that is over to Options.Record, unless nothing was sent. It is deferred, so that r and err are what the caller
// gets.
func (s *Session) record(started time.Time, method, target string, args json.RawMessage, o CallOptions, r *rpc.Reply, err *error) {
	if s.opts.Record == nil || o.inner.hidden || !isRecorded(method) || !r.Cached.IsZero() || r.Request == 0 {
		return
	}
	st := s.Status()
	m := CallRecord{
		Server: s.cfg, Title: s.Title(), Info: st.ServerInfo, Version: st.Version, Transport: st.Transport,
		Method: method, Target: target, Arguments: args, Meta: o.Meta, Timeout: o.Timeout,
		Started: started, Took: r.Took, Reply: *r, Err: *err,
	}
	if m.Took == 0 {
		m.Took = time.Since(started)
	}
	if method == string(mcp.MethodToolsCall) {
		it, _ := s.itemNamed(offer.Tools, target)
		m.Schema = it.InputSchema
	}
	s.opts.Record(m)
}

// targetOf is the target and the arguments in the params of a method that is recorded.
func targetOf(method string, params json.RawMessage) (target string, args json.RawMessage) {
	if !isRecorded(method) {
		return "", nil
	}
	if method == string(mcp.MethodResourcesRead) {
		return jsonrpc.GetString(params, "uri"), nil
	}
	return jsonrpc.GetString(params, "name"), jsonrpc.Get(params, "arguments")
}
