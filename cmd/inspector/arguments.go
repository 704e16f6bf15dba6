package inspector

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Arguments are those of the tool with this schema. Values that are text become what the schema says they are.
func (r *Request) Arguments(schema json.RawMessage) (json.RawMessage, error) {
	args := r.ToolArgs
	if r.ToolArgsJSON != nil {
		if len(args) > 0 {
			return nil, fail("--tool-args-json cannot be combined with --tool-arg; pick one.")
		}
		raw := json.RawMessage(strings.TrimSpace(*r.ToolArgsJSON))
		var any any
		if err := json.Unmarshal(raw, &any); err != nil {
			return nil, fail("--tool-args-json is not valid JSON: " + err.Error())
		}
		if raw[0] != '{' {
			return nil, fail("--tool-args-json must be a JSON object.")
		}
		args = members(raw)
	}
	out := Pairs{}
	for _, a := range args {
		out.Set(a.Key, a.Value)
		if s, ok := jsonrpc.String(a.Value); ok {
			out.Set(a.Key, convert(s, a.Value, property(schema, a.Key)))
		}
	}
	return object(out), nil
}

// PromptArguments are those of a prompt: strings, JSON where they are anything else.
func (r *Request) PromptArguments() map[string]string {
	m := map[string]string{}
	for _, p := range r.PromptArgs {
		s, ok := jsonrpc.String(p.Value)
		if !ok {
			s = string(p.Value)
		}
		m[p.Key] = s
	}
	return m
}

// property is the schema of a property, references and unions with null resolved.
func property(schema json.RawMessage, name string) json.RawMessage {
	p := jsonrpc.Get(schema, "properties", name)
	for range 8 { // references to references
		ref := jsonrpc.GetString(p, "$ref")
		if !strings.HasPrefix(ref, "#/") {
			break
		}
		path := strings.Split(ref[2:], "/")
		for i := range path {
			path[i] = jsonrpc.UnescapeToken(path[i])
		}
		p = jsonrpc.Get(schema, path...)
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		var some []json.RawMessage
		all := 0
		_ = jsonrpc.Elements(jsonrpc.Get(p, union), func(s []byte) bool {
			if all++; jsonrpc.GetString(s, "type") != "null" {
				some = append(some, s)
			}
			return true
		})
		if len(some) == 1 && all == 2 {
			return some[0]
		}
	}
	return p
}

// convert is a text as its schema wants it; raw is the text as JSON.
func convert(s string, raw, schema json.RawMessage) json.RawMessage {
	if pinned := jsonrpc.Get(schema, "const"); pinned != nil && string(pinned) == s {
		return pinned
	}
	kind := jsonrpc.GetString(schema, "type")
	if types := jsonrpc.Get(schema, "type"); strings.HasPrefix(string(types), "[") {
		var names []string
		_ = json.Unmarshal(types, &names) // a schema that is wrong converts nothing
		if names = slices.DeleteFunc(names, func(n string) bool { return n == "null" }); len(names) == 1 {
			kind = names[0]
		}
	}
	switch {
	case s == "":
	case kind == "number" || kind == "integer":
		return toNumber(s)
	case kind == "boolean":
		return strconv.AppendBool(nil, strings.EqualFold(s, "true"))
	case (kind == "object" || kind == "array") && json.Valid([]byte(s)):
		return json.RawMessage(strings.TrimSpace(s))
	}
	return raw
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// toNumber reads a text as JavaScript does; what is not a number becomes null in JSON.
func toNumber(s string) json.RawMessage {
	s = strings.TrimSpace(s)
	f, err := 0.0, error(nil)
	switch {
	case s == "":
	case len(s) > 2 && s[0] == '0' && strings.ContainsRune("xXoObB", rune(s[1])) && !strings.Contains(s, "_"):
		var n uint64
		n, err = strconv.ParseUint(s, 0, 64)
		f = float64(n)
	case decimal.MatchString(s):
		f, err = strconv.ParseFloat(s, 64)
	default:
		return json.RawMessage("null")
	}
	if err != nil || math.IsInf(f, 0) {
		return json.RawMessage("null")
	}
	return marshal(f)
}

// Meta is the object of --metadata over that of the server's file, with --tool-metadata over both for a call.
func (r *Request) Meta(file json.RawMessage, call bool) json.RawMessage {
	all := members(file)
	for _, p := range r.Metadata {
		all.Set(p.Key, p.Value)
	}
	if call {
		for _, p := range r.ToolMeta {
			all.Set(p.Key, p.Value)
		}
	}
	return all.JSON()
}
