package session

import (
	"bytes"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// member is one member of an object to be written: the name as it is, the value as JSON.
type member struct {
	name  string
	value []byte
}

// withMember returns params, an object or nil, with one member set; what was there keeps its bytes and order.
func withMember(params []byte, m member, replace bool) ([]byte, error) {
	if len(bytes.TrimSpace(params)) == 0 {
		params = []byte("{}")
	}
	empty, found := true, jsonrpc.Span{}
	err := jsonrpc.Spans(params, func(s jsonrpc.Span) bool {
		empty = false
		if s.Key == m.name {
			found = s
		}
		return true
	})
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Message: "params must be a JSON object: " + err.Error(), Next: "correct the JSON and send it again", Err: err}
	}
	switch {
	case found.End > 0 && !replace:
		return params, nil
	case found.End > 0:
		return splice(params, found.Start, found.End, m.value), nil
	}
	open := bytes.IndexByte(params, '{') + 1
	end := bytes.LastIndexByte(params, '}')
	text := append(append(jsonrpc.Quote(m.name), ':'), m.value...)
	if empty {
		return splice(params, open, open, text), nil
	}
	return splice(params, end, end, append([]byte{','}, text...)), nil
}

func splice(b []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(b)+len(with)-(to-from))
	return append(append(append(out, b[:from]...), with...), b[to:]...)
}

// withMeta adds members to params._meta. Those that the caller set keep their value.
func withMeta(params []byte, add ...member) ([]byte, error) {
	if len(add) == 0 {
		return params, nil
	}
	meta := memberOf(params, "_meta")
	if string(meta) == "null" {
		meta = nil
	}
	if meta != nil && meta[0] != '{' {
		return nil, &failure.Error{Kind: failure.Usage, Message: "params._meta must be an object", Next: "correct the JSON and send it again"}
	}
	var err error
	for _, m := range add {
		if meta, err = withMember(meta, m, false); err != nil {
			return nil, err
		}
	}
	return withMember(params, member{"_meta", meta}, true)
}

// withToken makes sure that params ask for progress, and returns the token as it is on the wire.
func withToken(params []byte, token string) ([]byte, string, error) {
	if own := memberOf(memberOf(params, "_meta"), "progressToken"); own != nil {
		return params, string(own), nil
	}
	params, err := withMeta(params, member{"progressToken", []byte(token)})
	return params, token, err
}

// memberOf returns the value of a member of an object as a part of it, nil if there is none or obj is no object.
func memberOf(obj []byte, name string) []byte {
	var found []byte
	// Not an object has no members, which is the answer.
	_ = jsonrpc.Members(obj, func(key string, value []byte) bool {
		if key == name {
			found = value
		}
		return found == nil
	})
	return found
}

// textOf is memberOf for strings, "" for everything else.
func textOf(obj []byte, name string) string {
	s, _ := jsonrpc.String(memberOf(obj, name))
	return s
}
