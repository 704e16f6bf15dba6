package rpc

import (
	"slices"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Member is one member of an object to be written: the name as it is, the value as JSON.
type Member struct {
	Name  string
	Value []byte
}

// SetMeta adds a member to Meta, unless one of that name is there.
func (r *Request) SetMeta(name string, value []byte) {
	if !slices.ContainsFunc(r.Meta, func(m Member) bool { return m.Name == name }) {
		r.Meta = append(r.Meta, Member{name, value})
	}
}

// MetaValue is the value that a member of params._meta will have when the request is sent, nil for none.
func (r *Request) MetaValue(name string) []byte {
	if own := jsonrpc.Get(r.Params, "_meta", name); own != nil {
		return own
	}
	for _, m := range r.Meta {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// complete gives params with everything that is added to them, and the progress token as it is on the wire; "" where none
// is asked for. Large arguments are copied once.
func (r *Request) complete(id []byte) (params []byte, token string, err error) {
	if r.WantsProgress {
		r.SetMeta("progressToken", id)
	}
	if len(r.Members)+len(r.Meta) == 0 {
		return r.Params, "", nil
	}
	own := jsonrpc.Get(r.Params, "_meta") // walked once
	changes := make([]jsonrpc.Change, 0, len(r.Members)+len(r.Meta))
	for _, m := range r.Members {
		changes = append(changes, jsonrpc.Set(m.Value, m.Name))
	}
	for _, m := range r.Meta {
		value := m.Value
		if v := jsonrpc.Get(own, m.Name); v != nil {
			value = v // for a second _meta, which other readers may take
		}
		changes = append(changes, jsonrpc.Default(value, "_meta", m.Name))
		if r.WantsProgress && token == "" && m.Name == "progressToken" {
			token = string(value)
		}
	}
	params, err = jsonrpc.Update(r.Params, changes...)
	if err != nil {
		return nil, "", &failure.Error{
			Kind: failure.Usage, Message: "params and params._meta must be JSON objects: " + err.Error(), Next: "correct the JSON and send it again", Err: err,
		}
	}
	return params, token, nil
}

// renewed are members of params._meta that belong to one request only, besides its progress token.
var renewed = [...]string{"traceparent", "tracestate", "baggage"}

// frame is the request as it is sent, its params, and its progress token; "" where none is asked for.
func (r *Request) frame(id []byte) (frame, params []byte, token string, err error) {
	if r.Frame == nil {
		params, token, err = r.complete(id)
		return jsonrpc.NewRequest(id, r.Method, params), params, token, err
	}
	// A progress token must be unique among active requests, and the id is: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
	changes := []jsonrpc.Change{jsonrpc.Replace(id, "id"), jsonrpc.Replace(id, "params", "_meta", "progressToken")}
	for _, m := range r.Meta {
		if slices.Contains(renewed[:], m.Name) {
			changes = append(changes, jsonrpc.Replace(m.Value, "params", "_meta", m.Name))
		}
	}
	if frame, err = jsonrpc.Update(r.Frame, changes...); err != nil {
		return nil, nil, "", &failure.Error{Kind: failure.Usage, Message: "the frame is not a JSON object: " + err.Error(), Next: "correct the JSON and send it again", Err: err}
	}
	params = jsonrpc.Get(frame, "params")
	if jsonrpc.Get(params, "_meta", "progressToken") != nil {
		token = string(id)
	}
	return frame, params, token, nil
}
