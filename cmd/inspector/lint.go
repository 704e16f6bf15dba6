package inspector

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Finding is what other clients may refuse of a schema.
type Finding struct {
	Rule       string `json:"rule"`
	Severity   string `json:"severity"` // error or warning
	Schema     string `json:"schema"`   // inputSchema or outputSchema
	Path       string `json:"path"`
	Issue      string `json:"issue"`
	Suggestion string `json:"suggestion"`
}

// Linted are the findings about one tool.
type Linted struct {
	Tool     string    `json:"toolName"`
	Findings []Finding `json:"findings"`
}

var (
	subMaps   = []string{"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
	subArrays = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	subs      = []string{
		"items", "contains", "not", "propertyNames", "if", "then", "else", "additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems",
		"contentSchema",
	}
	mayBeBoolean = []string{"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"}
	// constraining are the keywords that refuse some value. An if needs its then or else for that.
	constraining = strings.Fields(`type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format
		contentMediaType contentEncoding contentSchema maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required
		dependentRequired allOf anyOf oneOf not items prefixItems contains additionalItems unevaluatedItems properties patternProperties
		additionalProperties unevaluatedProperties propertyNames dependentSchemas dependencies $ref $dynamicRef $recursiveRef`)
	types = []string{"null", "boolean", "object", "array", "number", "string", "integer"}
	plain = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
)

const lintDepth = 64

// Lint looks at the schemas of tools, a JSON array as tools/list has it.
func Lint(tools json.RawMessage) (all []Linted) {
	_ = jsonrpc.Elements(tools, func(tool []byte) bool { // what is not an array has no tools
		name, ok := jsonrpc.String(jsonrpc.Get(tool, "name"))
		if !ok {
			return true
		}
		var found []Finding
		for _, which := range []string{"inputSchema", "outputSchema"} {
			if s := jsonrpc.Get(tool, which); s != nil {
				l := linter{schema: which, embedded: hasID(s, 0)}
				l.walk(s, "", "", 0)
				found = append(found, l.found...)
			}
		}
		if len(found) > 0 {
			all = append(all, Linted{name, found})
		}
		return true
	})
	return all
}

type linter struct {
	schema   string
	embedded bool // an $id is declared, so that references need not leave the document
	found    []Finding
}

func isObject(v []byte) bool { return strings.HasPrefix(string(v), "{") }

func hasID(node []byte, depth int) (found bool) {
	if depth > lintDepth || !isObject(node) {
		return false
	}
	if jsonrpc.GetString(node, "$id") != "" {
		return true
	}
	each(node, "", func(sub []byte, _, _ string) { found = found || hasID(sub, depth+1) })
	return found
}

func child(parent, key string) string {
	switch {
	case !plain.MatchString(key):
		return parent + "[" + string(quote(key)) + "]"
	case parent == "":
		return key
	}
	return parent + "." + key
}

// each calls f for every schema directly below a node, with its path and the keyword it is under.
func each(node []byte, path string, f func(sub []byte, path, keyword string)) {
	elements := func(list []byte, path, keyword string) {
		i := 0
		_ = jsonrpc.Elements(list, func(sub []byte) bool {
			f(sub, fmt.Sprintf("%s[%d]", path, i), keyword)
			i++
			return true
		})
	}
	for _, key := range subMaps {
		for _, p := range members(jsonrpc.Get(node, key)) {
			f(p.Value, child(child(path, key), p.Key), key)
		}
	}
	for _, key := range subArrays {
		if list := jsonrpc.Get(node, key); strings.HasPrefix(string(list), "[") {
			elements(list, child(path, key), key)
		}
	}
	for _, key := range subs {
		switch v := jsonrpc.Get(node, key); {
		case v == nil:
		case key == "items" && v[0] == '[':
			elements(v, child(path, key), key)
		default:
			f(v, child(path, key), key)
		}
	}
}

func (l *linter) add(rule, severity, path, issue, suggestion string) {
	l.found = append(l.found, Finding{rule, severity, l.schema, path, issue, suggestion})
}

func (l *linter) walk(node []byte, path, keyword string, depth int) {
	if depth > lintDepth {
		return
	}
	switch v := string(node); {
	case v == "true" || v == "false":
		if !slices.Contains(mayBeBoolean, keyword) {
			instead := `write {"not": {}}, which accepts nothing either`
			if v == "true" {
				instead = "say what the value is; {} accepts anything as well"
			}
			l.add("boolean-schema", "error", path, "the schema is a bare "+v+", where many clients want an object", instead)
		}
		return
	case !isObject(node):
		return
	}
	l.look(node, path, keyword)
	each(node, path, func(sub []byte, path, keyword string) { l.walk(sub, path, keyword, depth+1) })
}

func (l *linter) look(node []byte, path, keyword string) {
	if t := jsonrpc.Get(node, "type"); len(t) > 0 && t[0] == '[' {
		var names []string
		if json.Unmarshal(t, &names) == nil && union(names) {
			l.add("type-union", "warning", path, "type is a list, "+string(t)+", which clients with one type for each value refuse or ignore", "write anyOf with one type each")
		}
	}
	if ref := jsonrpc.GetString(node, "$ref"); ref != "" && ref[0] != '#' && !l.embedded {
		l.add("remote-ref", "warning", path, "$ref leads out of the document, to "+ref+", which clients do not fetch", "move that schema into $defs and refer to it there")
	}
	if keyword != "not" && !constrains(node) {
		l.add("untyped-schema", "warning", path, "the schema accepts any value", "say what the value is, if only by its type")
	}
}

// union says whether a list of types is what JSON Schema allows.
func union(names []string) bool {
	for i, n := range names {
		if !slices.Contains(types, n) || slices.Contains(names[:i], n) {
			return false
		}
	}
	return len(names) > 0
}

func constrains(node []byte) bool {
	has := func(k string) bool { return jsonrpc.Get(node, k) != nil }
	return slices.ContainsFunc(constraining, has) || has("if") && (has("then") || has("else"))
}

// Summary counts findings.
func Summary(all []Linted) (text string, errors int) {
	warnings := 0
	for _, l := range all {
		for _, f := range l.Findings {
			if f.Severity == "error" {
				errors++
			} else {
				warnings++
			}
		}
	}
	return count(errors, "error") + ", " + count(warnings, "warning") + " across " + count(len(all), "tool"), errors
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Report writes every finding for people.
func Report(all []Linted) string {
	var b strings.Builder
	for _, l := range all {
		for _, f := range l.Findings {
			at := f.Schema
			if f.Path != "" {
				at += "." + f.Path
			}
			fmt.Fprintf(&b, "%s: tool %q\n  Path: %s\n  Issue: %s\n  Suggestion: %s\n\n", strings.ToUpper(f.Severity[:1])+f.Severity[1:], l.Tool, at, f.Issue, f.Suggestion)
		}
	}
	text, _ := Summary(all)
	return b.String() + text + ".\n"
}
