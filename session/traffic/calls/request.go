package calls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Request is what is sent once more. Made by FindRequest, ParseRequest, NewRequest or Call.Request.
type Request struct {
	Frame  []byte // as it was sent
	Server string // that it was sent to, "" if that is not known
	Seq    uint64 // of its journal entry, 0 for none
	// Timeout is how long the answer may take; 0: what the caller says.
	Timeout time.Duration

	env jsonrpc.Envelope
}

// NewRequest is a request that was not recorded: params is an object or nil.
func NewRequest(server, method string, params json.RawMessage) (Request, error) {
	r, err := ParseRequest(jsonrpc.NewRequest([]byte("0"), method, params))
	r.Server = server
	return r, err
}

// ParseRequest takes a frame for a request or notification of a client.
func ParseRequest(frame []byte) (Request, error) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return Request{}, err
	}
	if env.Kind != jsonrpc.Request && env.Kind != jsonrpc.Notification {
		return Request{}, fmt.Errorf("the frame is a %s: only requests and notifications are sent again", env.Kind)
	}
	return Request{Frame: frame, env: env}, nil
}

// FindRequest is the request of an exchange, by any journal entry of it. The error says why this entry cannot be sent.
func FindRequest(j *journal.Journal, seq uint64) (Request, error) {
	e, ok := j.Get(seq)
	if !ok {
		return Request{}, journal.ErrNoEntry
	}
	if why := CannotSend(j, &e); why != "" {
		return Request{}, errors.New(why)
	}
	if root, ok := j.Get(requestSeq(&e)); ok {
		e = root
	}
	body, err := j.Body(e.Seq)
	if err != nil {
		return Request{}, err
	}
	r, err := ParseRequest(body)
	r.Server, r.Seq = e.Server, e.Seq
	return r, err
}

// requestSeq returns the number in the journal of the request that e belongs to.
func requestSeq(e *journal.Entry) uint64 {
	if e.Root != 0 {
		return e.Root
	}
	return e.Seq
}

// CannotSend is why an entry cannot be sent again, "" if it can: it is, or answers, something that a client sent.
func CannotSend(j *journal.Journal, e *journal.Entry) string {
	if seq := requestSeq(e); seq != e.Seq {
		q, ok := j.Get(seq)
		if !ok {
			return "the request is not in the journal any more"
		}
		e = &q
	}
	switch {
	case e.Kind == journal.Response || e.Kind == journal.ErrorResponse:
		return "the request of this answer is not known"
	case e.Kind != journal.Request && e.Kind != journal.Notification:
		return "this is not a message of the protocol"
	case e.Dir != journal.Out:
		return "the server sent this: only what a client sent is sent again"
	}
	return ""
}

// Method is the method of the request.
func (r Request) Method() string { return r.env.Method }

// Params is the params of the request, nil for none.
func (r Request) Params() json.RawMessage { return r.env.Params }

// Notification reports whether it has no answer.
func (r Request) Notification() bool { return r.env.Kind == jsonrpc.Notification }

// Tool is the tool that is called, "" if none is.
func (r Request) Tool() string {
	if r.env.Method != string(mcp.MethodToolsCall) {
		return ""
	}
	return jsonrpc.GetString(r.env.Params, "name")
}

// Arguments are those of the tool that is called, nil for none.
func (r Request) Arguments() json.RawMessage { return jsonrpc.Get(r.env.Params, "arguments") }

// Target is the tool, prompt or resource that it is about, "" for none.
func (r Request) Target() string {
	if name := jsonrpc.GetString(r.env.Params, "name"); name != "" {
		return name
	}
	return jsonrpc.GetString(r.env.Params, "uri")
}

// Version is the protocol version that the request says it is in, "" in those of the legacy era.
func (r Request) Version() string {
	return jsonrpc.GetString(r.env.Params, "_meta", mcp.MetaKeyProtocolVersion)
}

// With is the request with other params, an object or nil.
func (r Request) With(params json.RawMessage) (Request, error) {
	changed, err := r.update(jsonrpc.Set(params, "params"))
	if params == nil {
		changed, err = r.update(jsonrpc.Delete("params"))
	}
	return changed, err
}

func (r Request) update(c ...jsonrpc.Change) (Request, error) {
	frame, err := jsonrpc.Update(r.Frame, c...)
	if err != nil {
		return r, err
	}
	changed, err := ParseRequest(frame)
	changed.Server, changed.Seq, changed.Timeout = r.Server, r.Seq, r.Timeout
	return changed, err
}

// ofEra are members of params._meta that the protocol version and the connection determine.
var ofEra = [...]string{
	mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, mcp.MetaKeyLogLevel, "progressToken", "traceparent", "tracestate", "baggage",
}

// fit is the request as a server takes it: with the name that the tool has there, and exact if nothing of the era has to change.
func (r Request) fit(s *session.Session) (fits Request, exact bool, err error) {
	if name := r.Tool(); name != "" {
		if there, ok := r.nameAt(s); ok && there != name {
			if r, err = r.update(jsonrpc.Set(jsonrpc.Quote(there), "params", "name")); err != nil {
				return r, false, err
			}
		}
	}
	st := s.Status()
	want := ""
	if st.Era == session.Modern {
		want = st.Version
	}
	if r.Version() == want && r.Seq != 0 {
		return r, true, nil
	}
	if jsonrpc.Get(r.env.Params, "_meta") == nil {
		return r, false, nil
	}
	var drop []jsonrpc.Change
	for _, name := range ofEra {
		drop = append(drop, jsonrpc.Delete("params", "_meta", name))
	}
	r, err = r.update(drop...)
	if err == nil && bytes.Equal(bytes.Join(bytes.Fields(jsonrpc.Get(r.env.Params, "_meta")), nil), []byte("{}")) {
		r, err = r.update(jsonrpc.Delete("params", "_meta"))
	}
	return r, false, err
}

// nameAt is what the request's tool is called at a server: its name, or with the name of its agent before it where an aggregate has it,
// or without. It is false where the server is known not to list it, or lists several.
func (r Request) nameAt(s *session.Session) (name string, ok bool) {
	tool := r.Tool()
	list := s.Listing(offer.Tools)
	if !list.Loaded {
		return tool, true
	}
	full := toolset.FullName(r.Server, tool)
	var others []string
	for _, it := range list.Items {
		switch {
		case it.Name == tool || it.Name == full:
			return it.Name, true
		case hasBareName(tool, it.Name), hasBareName(it.Name, tool):
			others = append(others, it.Name)
		}
	}
	if len(others) != 1 {
		return tool, false
	}
	return others[0], true
}

// hasBareName reports whether full is the name of a tool with that of a server before it: server__tool or server:tool.
func hasBareName(tool, full string) bool {
	return toolset.IsFullName(full) && (strings.HasSuffix(full, "__"+tool) || strings.HasSuffix(full, ":"+tool))
}

// Missing reports that a server is known not to have the tool that the request calls.
func (r Request) Missing(s *session.Session) bool {
	_, ok := r.nameAt(s)
	return r.Tool() != "" && !ok
}

// Item is the tool that the request calls at a server; false where it calls none, or one that is not known there.
func (r Request) Item(s *session.Session) (offer.Item, bool) {
	name, ok := r.nameAt(s)
	for _, it := range s.Listing(offer.Tools).Items {
		if ok && name != "" && it.Name == name {
			return it, true
		}
	}
	return offer.Item{}, false
}

// Repeatable reports whether the request may be sent twice without harm: it asks only, or its tool says that it changes nothing, or
// nothing more the second time.
func (r Request) Repeatable(s *session.Session) bool {
	switch mcp.MCPMethod(r.env.Method) {
	case mcp.MethodToolsCall:
		it, ok := r.Item(s)
		return ok && (it.ReadOnly() || it.Idempotent())
	case mcp.MethodPing, mcp.MethodToolsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList, mcp.MethodResourcesRead, mcp.MethodPromptsList,
		mcp.MethodPromptsGet, mcp.MethodCompletionComplete, mcp.MethodServerDiscover:
		return true
	}
	return false
}

// Legacy is a protocol version of which only the era is known.
const Legacy = "legacy"

// Bound reports whether a request makes sense only within the session that it was sent in: the handshake, subscriptions, and what names
// something that an earlier request made.
func (r Request) Bound() bool {
	switch mcp.MCPMethod(r.env.Method) {
	case mcp.MethodInitialize, mcp.MethodServerDiscover, mcp.MethodPing, mcp.MethodSetLogLevel, mcp.MethodSubscriptionsListen, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return true
	}
	return strings.HasPrefix(r.env.Method, "tasks/") || r.Notification() || jsonrpc.Get(r.env.Params, "cursor") != nil || jsonrpc.Get(r.env.Params, "requestState") != nil
}
