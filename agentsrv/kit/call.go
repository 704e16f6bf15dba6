package kit

import (
	"encoding/json"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Call is the params of tools/call, as parts of the bytes that arrived.
type Call struct {
	Name      string
	Arguments []byte // nil if the client sent none, or null
	Meta      []byte // _meta, nil if the client sent none
}

// callMembers are those that nobody may write in another letter case: encoding/json would take Name for name.
var callMembers = [...]string{"name", "arguments", "_meta"}

// ParseCall reads the params of tools/call. A member that is given twice, or in another letter case, is an error:
// decoders disagree about which one counts, so that what is checked could differ from what runs.
func ParseCall(params []byte) (Call, *jsonrpc.RequestError) {
	var c Call
	var bad *jsonrpc.RequestError
	var seen [len(callMembers)]bool
	err := jsonrpc.Members(params, func(key string, value []byte) bool {
		k := -1
		for i, m := range callMembers {
			if key == m {
				k = i
			} else if strings.EqualFold(key, m) {
				bad = Invalid(key, "differs from "+m+" only in letter case")
			}
		}
		if k < 0 {
			return bad == nil
		}
		if seen[k] {
			bad = Invalid(key, "is given twice")
			return false
		}
		seen[k] = true
		switch {
		case k == 0:
			if value[0] != '"' {
				bad = Invalid(key, "must be a string")
				break
			}
			c.Name, _ = jsonrpc.String(value)
		case value[0] == 'n':
		case value[0] != '{':
			bad = Invalid(key, "must be an object")
		case k == 1:
			c.Arguments = value
		default:
			c.Meta = value
		}
		return bad == nil
	})
	switch {
	case bad != nil:
		return c, bad
	case params != nil && err != nil:
		return c, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: must be an object with name and arguments: %w", err)
	case c.Name == "":
		return c, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Missing tool name").With("field", "name").With("reason", Required)
	}
	return c, nil
}

// Required is the reason that a field is invalid for when it is missing or empty.
const Required = "Field required"

// Invalid is the failure for one field of the params. The message is "Invalid params: FIELD REASON", save that a missing
// field "is required" and has the reason "Field required".
func Invalid(field, reason string) *jsonrpc.RequestError {
	message := reason
	if reason == Required {
		message = "is required"
	}
	if field == "" {
		field = "arguments"
	}
	f := jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: %s %s", Shown(field), message)
	return f.With("field", Shown(field)).With("reason", reason)
}

// Shown is a name that the client made up, for messages: cut to 200 bytes.
func Shown(s string) string { return text.Clip(s, 200) }

// asResult reports whether bad arguments are answered with a tool result that has isError, which a model can read and
// correct: since 2025-11-25 (SEP-1303). Before that they are the JSON-RPC error -32602.
func asResult(modern bool, version string) bool { return modern || version >= "2025-11-25" }

// Refuse answers a call with bad arguments in the form of its protocol version; output says whether the tool declares an
// output schema.
func Refuse(f *jsonrpc.RequestError, modern bool, version string, output bool) (json.RawMessage, error) {
	if asResult(modern, version) {
		return refusal(f, modern, output), nil
	}
	return nil, f
}

// refusal is a failure as a tool result with isError. Its structuredContent has field, reason and kind; a tool that
// promises an output of another shape gets them as _meta["mcphud/error"] instead, because clients hold structuredContent
// against the tool's outputSchema.
func refusal(f *jsonrpc.RequestError, modern, output bool) json.RawMessage {
	details := map[string]any{"kind": f.Kind}
	for k, v := range f.Data {
		details[k] = v
	}
	r := map[string]any{
		"content": []any{map[string]any{"type": "text", "text": f.Message}},
		"isError": true,
	}
	if output {
		r["_meta"] = map[string]any{"mcphud/error": details}
	} else {
		r["structuredContent"] = details
	}
	if modern {
		r["resultType"] = "complete"
	}
	raw, err := json.Marshal(r)
	if err != nil { // a member of Data that JSON cannot hold
		return json.RawMessage(`{"content":[{"type":"text","text":"Invalid params"}],"isError":true}`)
	}
	return raw
}
