package pending

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Actions of an elicitation's result (2025-06-18, client/elicitation, "Response Actions").
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// ActionResult is the result of an elicitation without content.
func ActionResult(action string) json.RawMessage {
	return append(append([]byte(`{"action":`), jsonrpc.Quote(action)...), '}')
}

// AcceptResult is the result of an elicitation with content, a JSON object.
func AcceptResult(content json.RawMessage) json.RawMessage {
	return append(append([]byte(`{"action":"accept","content":`), content...), '}')
}

// Schema is the requestedSchema of a question, nil where it has none.
func (q Question) Schema() json.RawMessage { return jsonrpc.Get(q.Params, "requestedSchema") }

// Message is what the server says to the person; "" where it says nothing.
func (q Question) Message() string { return jsonrpc.GetString(q.Params, "message") }

// Defaults is the content that the defaults of a requestedSchema make (SEP-1034), and the required fields that have none.
func Defaults(schema []byte) (content json.RawMessage, missing []string) {
	required, known := map[string]bool{}, map[string]bool{}
	var names []string
	_ = jsonrpc.Elements(jsonrpc.Get(schema, "required"), func(v []byte) bool { // a schema without it requires nothing
		if name, ok := jsonrpc.String(v); ok && !required[name] {
			required[name], names = true, append(names, name)
		}
		return true
	})
	content = json.RawMessage("{}")
	var set []jsonrpc.Change
	_ = jsonrpc.Members(jsonrpc.Get(schema, "properties"), func(name string, field []byte) bool { // no object: no fields
		known[name] = true
		switch value := jsonrpc.Get(field, "default"); {
		case value != nil:
			set = append(set, jsonrpc.Set(value, name))
		case required[name]:
			missing = append(missing, name)
		}
		return true
	})
	for _, name := range names { // that no property describes
		if !known[name] {
			missing = append(missing, name)
		}
	}
	if out, err := jsonrpc.Update(nil, set...); err == nil && len(set) > 0 {
		content = out
	}
	return content, missing
}

const maxViolations = 50 // that are named

// Violations lists what of a requestedSchema is outside of the subset that the specification allows, at most some 50: a flat object of primitive fields,
// enums and arrays of enums (2025-11-25, client/elicitation, "Requested Schema").
func Violations(schema []byte) []string {
	var all []string
	say := func(format string, args ...any) bool {
		all = append(all, fmt.Sprintf(format, args...))
		return len(all) < maxViolations
	}
	if t := jsonrpc.GetString(schema, "type"); t != "object" {
		say("the schema's type is %q and not \"object\"", text.Clip(t, 40))
	}
	_ = jsonrpc.Members(schema, func(key string, _ []byte) bool {
		return slices.Contains([]string{"type", "properties", "required", "$schema", "title", "description"}, key) || say("the schema uses %q", text.Clip(key, 40))
	})
	properties := jsonrpc.Get(schema, "properties")
	if properties == nil {
		say("properties is missing")
	} else if err := jsonrpc.Members(properties, func(name string, field []byte) bool {
		if problem := fieldProblem(field); problem != "" {
			return say("%s: %s", text.Clip(name, 60), problem)
		}
		return true
	}); err != nil {
		say("properties is not an object")
	}
	return all
}

// fieldProblem is what of one property is outside of the subset, "" for nothing.
func fieldProblem(field []byte) string {
	allowed := []string{"type", "title", "description", "default"}
	switch t := jsonrpc.GetString(field, "type"); t {
	case "string":
		allowed = append(allowed, "minLength", "maxLength", "format", "enum", "enumNames", "oneOf", "pattern")
		if f := jsonrpc.GetString(field, "format"); f != "" && !slices.Contains([]string{"email", "uri", "date", "date-time"}, f) {
			return fmt.Sprintf("format %q is not allowed", text.Clip(f, 40))
		}
	case "number", "integer":
		allowed = append(allowed, "minimum", "maximum")
	case "boolean":
	case "array":
		allowed = append(allowed, "minItems", "maxItems", "items")
		items := jsonrpc.Get(field, "items")
		if jsonrpc.Get(items, "enum") == nil && jsonrpc.Get(items, "anyOf") == nil {
			return "an array must list its values by enum or anyOf"
		}
	case "object":
		return "objects inside of the object are not allowed"
	case "":
		return "it has no type"
	default:
		return fmt.Sprintf("type %q is not allowed", text.Clip(t, 40))
	}
	var beyond []string
	_ = jsonrpc.Members(field, func(key string, _ []byte) bool { // it has a type, so it is an object
		if !slices.Contains(allowed, key) {
			beyond = append(beyond, text.Clip(key, 40))
		}
		return len(beyond) < 3
	})
	if beyond != nil {
		return "it uses " + strings.Join(beyond, ", ")
	}
	return ""
}
