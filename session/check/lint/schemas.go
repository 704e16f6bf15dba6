package lint

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dlclark/regexp2/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// number is the value of a JSON number; false for anything else, and for one that a float cannot hold.
func number(v *schema.Value) (float64, bool) {
	if v.Kind() != schema.Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Literal(), 64)
	return f, err == nil
}

// node examines one schema that is an object.
func (w *walker) node(n *node) {
	w.keywords(n)
	w.types(n)
	w.bounds(n)
	w.checkRequired(n)
	w.values(n)
	w.patterns(n)
	w.impossible(n)
	w.collisions(n)
	if r := n.v.Get("$ref"); r.Kind() == schema.String && len(w.refs) < maxRefs {
		w.refs = append(w.refs, ref{n, r.Text()})
	}
	for _, k := range []string{"$anchor", "$dynamicAnchor", "$id"} {
		if a := n.v.Get(k); a.Kind() == schema.String {
			w.ids[a.Text()] = true
		}
	}
	w.portable(n)
}

// typeNames are the types of JSON Schema.
var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// types examines the types of a schema, and its dialect where it declares one of its own.
func (w *walker) types(n *node) {
	for _, t := range typesOf(n.v) {
		if !slices.Contains(typeNames, t) {
			w.add("lint/type-unknown", n, "type", fmt.Sprintf("type %q is not one of JSON Schema's", text.Clip(t, 40)))
		}
	}
	if n.parent == nil {
		return
	}
	if d := n.v.Get("$schema"); d.Kind() == schema.String {
		w.dialect(n, d.Text())
	}
}

// dialect reports a $schema that is none of the published ones. Schemes and a # at the end do not tell them apart.
func (w *walker) dialect(n *node, uri string) {
	u := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://"), "#")
	switch u {
	case "json-schema.org/draft-04/schema", "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema", "json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return
	}
	w.add("lint/dialect-unknown", n, "$schema", fmt.Sprintf("$schema is %s", text.Clip(uri, 100)))
}

// bounds finds lower bounds above upper ones.
func (w *walker) bounds(n *node) {
	for _, p := range [][2]string{{"minimum", "maximum"}, {"exclusiveMinimum", "maximum"}, {"minimum", "exclusiveMaximum"}, {"exclusiveMinimum", "exclusiveMaximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"}, {"minContains", "maxContains"}} {
		lo, ok := number(n.v.Get(p[0]))
		hi, ok2 := number(n.v.Get(p[1]))
		open := strings.HasPrefix(p[0], "ex") || strings.HasPrefix(p[1], "ex")
		if ok && ok2 && (lo > hi || open && lo == hi) {
			w.add("lint/bounds-reversed", n, p[0], fmt.Sprintf("%s is %s, and %s is %s", p[0], n.v.Get(p[0]).Literal(), p[1], n.v.Get(p[1]).Literal()))
			return
		}
	}
	w.checkIntegerRange(n)
}

// checkIntegerRange finds bounds that no integer is between.
func (w *walker) checkIntegerRange(n *node) {
	if types := typesOf(n.v); len(types) != 1 || types[0] != "integer" {
		return
	}
	lo, hi, atLo, atHi := math.Inf(-1), math.Inf(1), "", ""
	for i, key := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
		b, ok := number(n.v.Get(key))
		if !ok {
			continue
		}
		switch key {
		case "minimum":
			b = math.Ceil(b)
		case "exclusiveMinimum":
			b = math.Floor(b) + 1
		case "maximum":
			b = math.Floor(b)
		case "exclusiveMaximum":
			b = math.Ceil(b) - 1
		}
		switch {
		case i < 2 && b > lo:
			lo, atLo = b, key
		case i >= 2 && b < hi:
			hi, atHi = b, key
		}
	}
	if lo > hi {
		w.report("lint/nothing-valid", n, atLo, found{
			message: fmt.Sprintf("no integer is between %s %s and %s %s", atLo, n.v.Get(atLo).Literal(), atHi, n.v.Get(atHi).Literal()), fix: "widen the bounds, or use type number",
		})
	}
}

// checkRequired compares what is required with what is described.
func (w *walker) checkRequired(n *node) {
	req := n.v.Get("required")
	if req.Kind() != schema.Array || !allStrings(req) {
		return
	}
	props := n.v.Get("properties")
	// patternProperties and references may describe what properties do not.
	closed := n.v.Get("additionalProperties").Kind() == schema.Bool && !n.v.Get("additionalProperties").Bool()
	elsewhere := n.partial || n.v.Get("additionalProperties").Kind() == schema.Object
	for _, k := range []string{"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if"} {
		elsewhere = elsewhere || n.v.Get(k).IsSet()
	}
	seen := make(map[string]bool, req.Len())
	described := make(map[string]bool, props.Len())
	for _, m := range props.Members() {
		described[m.Name] = true
	}
	for i, m := range req.Members() {
		name := m.Value.Text()
		switch {
		case seen[name]:
			w.add("lint/required-duplicate", n, "required", fmt.Sprintf("%s is required twice", text.Clip(name, 60)))
		case described[name]:
		case closed && !n.partial && !n.v.Get("patternProperties").IsSet() && !n.v.Get("$ref").IsSet():
			w.report("lint/nothing-valid", n, "required", found{message: fmt.Sprintf("%s is required, and additionalProperties forbids it", text.Clip(name, 60)), fix: "describe it in properties, or do not require it"})
		case !elsewhere:
			w.e.add("lint/required-unknown", found{pointer: n.pointer(w.at) + "/required/" + strconv.Itoa(i), evidence: excerpt(req), clients: w.only("lint/required-unknown"), message: fmt.Sprintf("%s is required, and not in properties", text.Clip(name, 60))})
		}
		seen[name] = true
	}
}

// only are the clients for a finding of a rule in this schema: nil for those of the rule.
func (w *walker) only(id string) []string {
	if w.input {
		return nil
	}
	return w.readers(id)
}

// patterns compiles the pattern, and those of properties.
func (w *walker) patterns(n *node) {
	if p := n.v.Get("pattern"); p.Kind() == schema.String {
		w.pattern(n, "pattern", p.Text())
	}
	if pp := n.v.Get("patternProperties"); pp.Kind() == schema.Object {
		for _, m := range pp.Members() {
			w.pattern(n, "patternProperties", m.Name)
		}
	}
}

// maxPattern is how many bytes of a pattern are compiled: the time of that is not bounded by anything else.
const maxPattern = 8 << 10

// escapes match what is written otherwise in Go: a slash needs no escape, and a character by its number is \x{…}. Two backslashes are one that escapes
// nothing behind it.
var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\(?:\\|/|u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]+\}))`) })

// pattern compiles one pattern, by Go's engine and by one that knows what ECMA-262 has. Only the second decides whether it is valid; the first
// stands for engines without backtracking, as Rust's, which some clients validate with. Nothing is matched here: a pattern of a server may take
// any time.
func (w *walker) pattern(n *node, key, p string) {
	if len(p) > maxPattern {
		w.add("lint/pattern-portability", n, key, fmt.Sprintf("a pattern of %d bytes: more than is compiled here", len(p)))
		return
	}
	plain := escapes().ReplaceAllStringFunc(p, func(e string) string {
		switch e[1] {
		case '/':
			return "/"
		case 'u':
			return `\x{` + strings.Trim(e[2:], "{}") + "}"
		}
		return e
	})
	if part := explodes(plain); part != "" {
		w.add("lint/pattern-explodes", n, key, fmt.Sprintf("%s repeats what is repeated in it: %s", text.Clip(p, 60), text.Clip(part, 60)))
	}
	_, refused := regexp.Compile(plain)
	if refused == nil {
		return
	}
	if _, err := regexp2.Compile(p, regexp2.ECMAScript|regexp2.Unicode); err != nil { // either mode will do: that for ECMA-262 refuses some of what its later editions have
		if _, err := regexp2.Compile(p, regexp2.None); err != nil {
			w.add("lint/pattern-invalid", n, key, text.Clip(p, 60)+" does not compile: "+text.Clip(text.FirstLine(err.Error()), 120))
			return
		}
	}
	w.add("lint/pattern-portability", n, key, text.Clip(p, 60)+": "+unportable(p, refused))
}

// unportable is why Go's engine, and others like it, do not have a pattern that ECMA-262 has.
func unportable(p string, err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return text.Clip(err.Error(), 120)
	}
	switch e.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		for _, ahead := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.HasPrefix(e.Expr, ahead) {
				return "needs look-around, which engines without backtracking do not have"
			}
		}
	case syntax.ErrInvalidEscape:
		if strings.HasPrefix(e.Expr, `\k`) || len(e.Expr) > 1 && e.Expr[1] >= '1' && e.Expr[1] <= '9' {
			return "needs back-references, which engines without backtracking do not have"
		}
		return "the escape " + text.Clip(e.Expr, 20) + " is not one in Go and Rust"
	case syntax.ErrInvalidRepeatSize:
		return "Go repeats at most 1000 times, and not " + text.Clip(e.Expr, 30)
	case syntax.ErrMissingBracket:
		return "the empty class " + emptyClass(p) + " begins a longer one in Go and Rust"
	}
	return "Go's syntax does not have it: " + e.Code.String()
}

// emptyClass is the empty class that a pattern has: ECMA-262 takes it, others read its ] as the first character of a longer one.
func emptyClass(p string) string {
	if strings.Contains(p, "[^]") {
		return "[^]"
	}
	return "[]"
}

// impossible finds demands that exclude each other, so that no value is valid. It finds those that authors write; whether any value is valid is not
// decided in general.
func (w *walker) impossible(n *node) {
	v, types := n.v, typesMeant(n.v)
	say := func(key, fix, format string, args ...any) {
		w.report("lint/nothing-valid", n, key, found{message: fmt.Sprintf(format, args...), fix: fix})
	}
	if c := v.Get("const"); c.IsSet() && !ofTypes(c, types) {
		say("const", "write const in the type, or correct the type", "const is %s, and the type is %s", text.Clip(c.Literal(), 60), strings.Join(types, ", "))
	}
	if e := v.Get("enum"); e.Kind() == schema.Array {
		bad := 0
		for _, m := range e.Members() {
			if !ofTypes(m.Value, types) {
				bad++
			}
		}
		switch {
		case e.Len() == 0:
			say("enum", "list the values that are taken, or leave enum out", "enum has no values")
		case bad == e.Len():
			say("enum", "write the values in the type, or correct the type", "none of the %d values in enum is of type %s", bad, strings.Join(types, ", "))
		default:
			w.enum(n, e, types)
		}
	}
	if not := v.Get("not"); not.Kind() == schema.Object && not.Len() == 0 || not.Bool() {
		say("not", "say what is not taken, or leave not out", "not excludes every value")
	}
	if req, most := v.Get("required"), v.Get("maxProperties"); req.Kind() == schema.Array {
		if hi, ok := number(most); ok && float64(req.Len()) > hi {
			say("maxProperties", "require fewer properties, or raise maxProperties", "%d properties are required, and maxProperties is %s", req.Len(), most.Literal())
		}
		if props := v.Get("properties"); allStrings(req) {
			for _, m := range req.Members() {
				if p := props.Get(m.Value.Text()); p.Kind() == schema.Bool && !p.Bool() {
					say("required", "describe what it takes, or do not require it", "%s is required, and its schema is false", text.Clip(m.Value.Text(), 60))
				}
			}
		}
	}
	if all := v.Get("allOf"); all.Kind() == schema.Array {
		for i, m := range all.Members() {
			if t := typesOf(m.Value); len(types) > 0 && len(t) > 0 && disjoint(types, t) {
				say("allOf", "let all branches have one type, or use anyOf where one of them is enough", "branch %d is of type %s, others of %s", i, strings.Join(t, ", "), strings.Join(types, ", "))
				break
			} else if len(types) == 0 {
				types = t
			}
		}
	}
}

// disjoint reports whether no value is of a type of both lists; a whole number is a number.
func disjoint(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || x == "integer" && y == "number" || x == "number" && y == "integer" {
				return false
			}
		}
	}
	return true
}

// enum examines values of which some are of the type.
func (w *walker) enum(n *node, e *schema.Value, types []string) {
	seen := make(map[string]bool, e.Len())
	var twice, other []string
	for _, m := range e.Members() {
		switch lit := string(m.Value.JSON()); {
		case seen[lit]:
			twice = append(twice, lit)
		case !ofTypes(m.Value, types):
			other = append(other, lit)
		default:
			seen[lit] = true
		}
	}
	if len(twice) > 0 {
		w.add("lint/enum-duplicate", n, "enum", some(twice)+": there twice")
	}
	if len(other) > 0 {
		w.add("lint/enum-type", n, "enum", fmt.Sprintf("%s: not of type %s", some(other), strings.Join(types, ", ")))
	}
}

// some are the first of a list, and how many there are.
func some(all []string) string {
	const shown = 5
	s := text.Clip(strings.Join(all[:min(len(all), shown)], ", "), 200)
	if n := len(all) - shown; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// collisions finds properties whose names differ in case and punctuation only: models mix them up.
func (w *walker) collisions(n *node) {
	props := n.v.Get("properties")
	if props.Len() < 2 {
		return
	}
	seen := make(map[string]string, props.Len()) // the first name by plainName; of three alike the second and the third are told
	for _, m := range props.Members() {
		k := plainName(m.Name)
		if first, ok := seen[k]; ok && first != m.Name && k != "" {
			w.e.add("lint/property-names-collide", found{pointer: n.pointer(w.at) + "/properties/" + jsonrpc.EscapeToken(m.Name), message: fmt.Sprintf("%s and %s", text.Clip(first, 60), text.Clip(m.Name, 60))})
			continue
		}
		seen[k] = m.Name
	}
}

// plainName is a name without case and punctuation.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_', r == '-', r == '.', r == ' ':
			return -1
		}
		return r
	}, s)
}
