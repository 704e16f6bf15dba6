package check

import (
	"encoding/json"
	"strings"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
)

// Call is the params of tools/call, as parts of the bytes that arrived.
type Call struct {
	Name      string
	Arguments []byte // nil if the client sent none, or null
	Meta      []byte // _meta, nil if the client sent none
}

var callMembers = [...]string{"name", "arguments", "_meta"}

// ParseCall reads the params of tools/call. A member that is given twice, or in another letter case, is a *Failure:
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
		return c, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: they must be an object with name and arguments: %w", err)
	case c.Name == "":
		return c, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Missing tool name").With("field", "name").With("reason", required)
	}
	return c, nil
}

// required is the reason given for a field that is missing.
const required = "Field required"

// Invalid is the failure for one field of the params. The message is "Invalid params: FIELD REASON", save that a missing
// field "is required" and has the reason "Field required".
func Invalid(field, reason string) *jsonrpc.RequestError {
	message := reason
	if reason == required {
		message = "is required"
	}
	if field == "" {
		field = "arguments"
	}
	f := jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: %s %s", shown(field), message)
	return f.With("field", shown(field)).With("reason", reason)
}

// Missing is Invalid for a field that is not there.
func Missing(field string) *jsonrpc.RequestError { return Invalid(field, required) }

// maxShown bounds how much of a name that the client made up comes back to it, in bytes.
const maxShown = 200

func shown(s string) string { return text.Clip(s, maxShown) }

// asResult reports whether bad arguments are answered with a tool result that has isError, which a model can read and
// correct: since 2025-11-25 (SEP-1303). Before that they are the JSON-RPC error -32602.
func asResult(modern bool, version string) bool { return modern || version >= "2025-11-25" }

// Result is a failure as a tool result with isError. Its structuredContent has field, reason and kind; a tool that
// promises an output of another shape gets them as _meta["mcphud/error"] instead, because clients hold structuredContent
// against the tool's outputSchema.
func Result(f *jsonrpc.RequestError, modern, output bool) json.RawMessage {
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
