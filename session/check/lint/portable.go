package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// atRoot examines what only holds at the root of a schema.
func (w *walker) atRoot(n *node) {
	v := n.v
	if d := v.Get("$schema"); d.Kind() == schema.String {
		w.dialect(n, d.Text())
	}
	if t := v.Get("type"); t.Text() != "object" || t.Kind() != schema.String {
		switch {
		case w.input:
			w.add("lint/root-type", n, "", "the root is of type "+orNone(string(t.JSON()))+", not object")
		case w.e.o.Protocol >= "2026":
			warn := check.Warning
			w.e.add("lint/output-schema-type", found{pointer: w.at, message: "the root is of type " + orNone(string(t.JSON())) + ": only revision 2026-07-28 allows it", evidence: excerpt(v), severity: &warn})
		default:
			w.add("lint/output-schema-type", n, "", "the root is of type "+orNone(string(t.JSON()))+", not object")
		}
	}
	if props := v.Get("properties"); props.Kind() == schema.Object {
		for _, m := range props.Members() {
			if m.Value.Kind() == schema.Bool {
				w.e.add("lint/boolean-property", found{pointer: w.at + "/properties/" + jsonrpc.EscapeToken(m.Name), message: fmt.Sprintf("the schema of %s is %s", text.Clip(m.Name, 60), m.Value.Literal()), evidence: m.Value.Literal()})
			}
		}
	}
	if !w.input {
		return
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf"} {
		if u := v.Get(k); u.IsSet() {
			w.add("lint/top-level-union", n, k, fmt.Sprintf("%s with %d branches is at the root of the schema", k, u.Len()))
		}
	}
	for _, k := range []string{"enum", "not"} {
		if v.Get(k).IsSet() {
			w.add("lint/top-level-enum", n, k, k+" is at the root of the schema")
		}
	}
	props := v.Get("properties")
	if !props.IsSet() && v.Get("type").Text() == "object" && !slices.ContainsFunc([]string{"oneOf", "anyOf", "allOf", "$ref"}, func(k string) bool { return v.Get(k).IsSet() }) {
		w.add("lint/properties-missing", n, "", "the schema has no properties, not even none")
	}
	if props.Kind() == schema.Object {
		w.parameters(n, props)
	}
}

// orNone is a text cut for a message, "none" for "".
func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return text.Clip(s, 60)
}

// parameters examines the properties of the root: the arguments of a tool.
func (w *walker) parameters(n *node, props *schema.Value) {
	for _, m := range props.Members() {
		p := w.at + "/properties/" + jsonrpc.EscapeToken(m.Name)
		if !keyFits(m.Name) {
			w.e.add("lint/property-key", found{pointer: p, message: fmt.Sprintf("%q has %d characters, or others than A-Z, a-z, 0-9, _, . and -", text.Clip(m.Name, 80), len([]rune(m.Name))), evidence: excerpt(m.Value)})
		}
	}
	w.checkDescriptions(props)
}

// findAnchor returns the part of the schema that has a name as its $anchor, nil for none.
func (w *walker) findAnchor(name string) *schema.Value {
	if w.anchors == nil {
		w.anchors = map[string]*schema.Value{}
		w.collect(w.root, 0)
	}
	return w.anchors[name]
}

// collect fills w.anchors from v and what is below it. The first walk may not have come that far.
func (w *walker) collect(v *schema.Value, depth int) {
	if v.Kind() != schema.Object || depth > maxDepth {
		return
	}
	if a := v.Get("$anchor").Text(); a != "" {
		w.anchors[a] = v
	}
	for _, m := range v.Members() {
		switch h := holds(m.Name); {
		case h == one || h == oneOrList && m.Value.Kind() != schema.Array:
			w.collect(m.Value, depth+1)
		case h != 0:
			for _, k := range m.Value.Members() {
				w.collect(k.Value, depth+1)
			}
		}
	}
}

// keyFits reports whether providers take a name for a property: 1 to 64 of A-Z, a-z, 0-9, _, . and -.
func keyFits(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

// boolean examines true or false as a schema.
func (w *walker) boolean(n *node) {
	switch n.keyword {
	case "properties", "items", "prefixItems", "patternProperties":
		if w.input && !(n.parent != nil && n.parent.parent == nil && n.keyword == "properties") {
			w.add("lint/boolean-schema", n, "", "the schema is "+n.v.Literal())
		}
	}
}

// portable examines what providers refuse at any place of an inputSchema.
func (w *walker) portable(n *node) {
	if !w.input {
		return
	}
	w.arrays(n)
	w.checkTypes(n)
	w.refuseEnum(n)
	v := n.v
	if r := v.Get("$ref"); r.Kind() == schema.String {
		for _, m := range v.Members() {
			if m.Name != "$ref" && m.Name != "description" && m.Name != "default" && m.Name != "$defs" && m.Name != "definitions" && m.Name != "title" {
				w.add("lint/ref-siblings", n, "", fmt.Sprintf("%s is beside $ref", m.Name))
				break
			}
		}
	}
	// At the edge only: each subschema below it is too deep as well.
	if n.values == 11 && n.parent != nil && n.parent.values == 10 {
		w.add("lint/too-deep", n, "", "the value is nested 11 levels deep")
	}
	if f := v.Get("format"); f.Kind() == schema.String && (slices.Contains(typesOf(v), "string") || !v.Get("type").IsSet()) {
		switch f.Text() {
		case "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid":
		default:
			w.strictFormat(n, f.Text())
		}
		if f.Text() != "date-time" && f.Text() != "enum" {
			w.add("lint/gemini-format", n, "format", fmt.Sprintf("format %q", text.Clip(f.Text(), 40)))
		}
	}
	w.checkStrictModes(n)
}

// strictFormat reports a format that OpenAI's strict mode refuses: worth knowing, and an error like the rest of that mode for who chose it.
func (w *walker) strictFormat(n *node, format string) {
	sev := rules.Find("lint", "lint/format-openai").Severity
	if slices.Contains(w.e.opts.Clients, "openai-strict") {
		sev = check.Error
	}
	w.report("lint/format-openai", n, "format", found{severity: &sev, message: fmt.Sprintf("format %q is not one of the nine that OpenAI's strict mode takes", text.Clip(format, 40))})
}

// dialect is the dialect that a schema or what it is in declares, where that is older than 2020-12.
func (n *node) dialect() string {
	for ; n != nil; n = n.parent {
		if d := n.v.Get("$schema"); d.Kind() == schema.String {
			if strings.Contains(d.Text(), "draft-0") || strings.Contains(d.Text(), "2019-09") {
				return d.Text()
			}
			return ""
		}
	}
	return ""
}

// arrays examines what lists hold. As a tuple an array is old JSON Schema, which schemas with an older $schema may have: a warning then.
func (w *walker) arrays(n *node) {
	v := n.v
	items := v.Get("items")
	switch {
	case items.Kind() == schema.Array:
		f := found{pointer: n.pointer(w.at) + "/items", message: fmt.Sprintf("items is a list of %d schemas", items.Len()), evidence: excerpt(items)}
		if old := n.dialect(); old != "" {
			warn := check.Warning
			f.severity, f.message = &warn, f.message+", as "+text.Clip(old, 60)+" has it"
		}
		w.e.add("lint/tuple-items", f)
	case slices.Contains(typesOf(v), "array") && !items.IsSet():
		switch {
		case v.Get("prefixItems").IsSet():
			w.addAs("lint/tuple-prefix", n, "prefixItems", "prefixItems without items", check.Likely)
		case !v.Get("$ref").IsSet() && !n.partial:
			w.add("lint/array-items", n, "", "the array has no items")
		}
	}
	if t := typesOf(items); len(t) > 1 {
		w.e.add("lint/items-union", found{pointer: n.pointer(w.at) + "/items/type", message: "items are of type " + strings.Join(t, " or "), evidence: excerpt(items)})
	}
}

// checkTypes finds values without a type, and with several.
func (w *walker) checkTypes(n *node) {
	types := typesOf(n.v)
	beside := slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	if len(beside) > 1 && n.keyword != "items" {
		w.add("lint/type-union", n, "type", "the type is "+strings.Join(types, " or "))
	}
	if n.v.Get("type").IsSet() || n.parent == nil {
		return
	}
	for _, k := range []string{"$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items", "not", "if"} {
		if n.v.Get(k).IsSet() {
			if n.keyword == "anyOf" || n.keyword == "oneOf" { // of branches some providers want the type all the same
				break
			}
			return
		}
	}
	switch n.keyword {
	case "properties", "items", "additionalProperties":
		if n.keyword != "additionalProperties" {
			w.add("lint/untyped", n, "", "no type is said")
		}
	case "anyOf", "oneOf":
		for p := n; p != nil && p.partial; p = p.parent { // what it is a branch of may have one
			if p.parent.v.Get("type").IsSet() {
				return
			}
		}
		if slices.ContainsFunc([]string{"$ref", "anyOf", "oneOf", "const"}, func(k string) bool { return n.v.Get(k).IsSet() }) {
			return
		}
		w.add("lint/union-untyped", n, "", fmt.Sprintf("branch %s has no type", n.name))
	}
}

// refuseEnum finds values in enum that providers refuse: they take strings, and none that is empty.
func (w *walker) refuseEnum(n *node) {
	e := n.v.Get("enum")
	if e.Kind() != schema.Array || n.parent == nil {
		return
	}
	var empty, others []string
	for _, m := range e.Members() {
		switch {
		case m.Value.Kind() == schema.Null && untypedNull(n.v): // lint/keyword-openapi says so
		case m.Value.Kind() == schema.Null || m.Value.Kind() == schema.String && m.Value.Text() == "":
			empty = append(empty, m.Value.Literal())
		case m.Value.Kind() != schema.String:
			others = append(others, text.Clip(string(m.Value.JSON()), 30))
		}
	}
	if len(empty) > 0 {
		w.add("lint/enum-empty-value", n, "enum", strings.Join(empty, ", ")+" is in enum")
	}
	if len(others) > 0 {
		w.add("lint/enum-not-strings", n, "enum", text.Clip(strings.Join(others, ", "), 100)+": not strings")
	}
}

// strictSize counts what OpenAI's strict mode has limits for.
type strictSize struct {
	props  int // properties of all objects
	values int // of all enums
	chars  int // bytes of the names of properties and of those values, which are characters where they are ASCII
}

// report says that the schema is beyond one of the limits.
// https://platform.openai.com/docs/guides/structured-outputs
func (s *strictSize) report(w *walker) {
	if s.props > 5_000 || s.values > 1_000 || s.chars > 120_000 {
		w.e.add("lint/strict-size", found{pointer: w.at, message: strconv.Itoa(s.props) + " properties, " + strconv.Itoa(s.values) + " values of enums, " + strconv.Itoa(s.chars) + " characters of names and values"})
	}
}

// checkStrictModes examines what modes refuse that a developer chooses.
func (w *walker) checkStrictModes(n *node) {
	v := n.v
	props := v.Get("properties")
	s := &w.strict
	s.props += props.Len()
	for _, m := range props.Members() {
		s.chars += len(m.Name)
	}
	if e := v.Get("enum"); e.Kind() == schema.Array {
		s.values += e.Len()
		for _, m := range e.Members() {
			s.chars += len(m.Value.Literal())
		}
	}
	if slices.Contains(typesOf(v), "object") || props.IsSet() {
		if ap := v.Get("additionalProperties"); ap.Kind() != schema.Bool || ap.Bool() {
			w.add("lint/strict-open", n, "", "additionalProperties is not false")
		}
		required := map[string]bool{}
		for _, m := range v.Get("required").Members() {
			required[m.Value.Text()] = true
		}
		var optional []string
		for _, m := range props.Members() {
			if !required[m.Name] {
				optional = append(optional, text.Clip(m.Name, 40))
			}
		}
		if len(optional) > 0 {
			w.add("lint/strict-optional", n, "", fmt.Sprintf("%d of %d properties are not required: %s", len(optional), props.Len(), text.Clip(strings.Join(optional, ", "), 200)))
		}
	}
	for _, m := range v.Members() {
		switch m.Name {
		case "oneOf", "allOf", "not", "dependentRequired", "dependentSchemas", "if", "patternProperties":
			w.add("lint/strict-keyword", n, m.Name, m.Name+" is not in the subset")
		}
		switch m.Name {
		case "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "const", "allOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "$ref", "$schema", "additionalProperties":
			w.add("lint/gemini-keyword", n, m.Name, m.Name+" is not in the subset")
		}
	}
}
