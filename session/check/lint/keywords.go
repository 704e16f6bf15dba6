package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// wants is what the value of a keyword has to be. The zero value is that of a keyword that is not known.
type wants uint8

const (
	aString wants = iota + 1
	aBoolean
	aNumber
	aPositive  // a number above 0
	aCount     // a whole number from 0
	someNames  // a list of strings
	aList      // a list
	manyNames  // an object of lists of strings
	aSchema    // an object or boolean
	schemas    // a list of schemas, at least one
	byName     // an object of schemas
	itemsValue // a schema, or as of old a list of them
	typeValue
	anything
)

func (w wants) String() string {
	return [...]string{"", "a string", "true or false", "a number", "a number above 0", "a whole number from 0", "a list of strings", "a list", "an object of lists of strings", "a schema", "a list of schemas", "an object of schemas", "a schema", "a type or a list of types", "anything"}[w]
}

// keyword says what a keyword of JSON Schema 2020-12 has to be, and the type of values that it speaks of, "" for all; 0 for one that is
// not known.
func keyword(name string) (wants, string) {
	switch name {
	case "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "title", "description":
		return aString, ""
	case "format":
		return aString, ""
	case "pattern", "contentEncoding", "contentMediaType":
		return aString, "string"
	case "minLength", "maxLength":
		return aCount, "string"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return aNumber, "number"
	case "multipleOf":
		return aPositive, "number"
	case "minItems", "maxItems", "minContains", "maxContains":
		return aCount, "array"
	case "uniqueItems":
		return aBoolean, "array"
	case "contains", "unevaluatedItems":
		return aSchema, "array"
	case "items":
		return itemsValue, "array"
	case "prefixItems":
		return schemas, "array"
	case "minProperties", "maxProperties":
		return aCount, "object"
	case "required":
		return someNames, "object"
	case "dependentRequired":
		return manyNames, "object"
	case "additionalProperties", "propertyNames", "unevaluatedProperties":
		return aSchema, "object"
	case "properties", "patternProperties", "dependentSchemas":
		return byName, "object"
	case "$defs", "definitions":
		return byName, ""
	case "allOf", "anyOf", "oneOf":
		return schemas, ""
	case "not", "if", "then", "else", "contentSchema", "additionalItems":
		return aSchema, ""
	case "enum", "examples":
		return aList, ""
	case "type":
		return typeValue, ""
	case "deprecated", "readOnly", "writeOnly":
		return aBoolean, ""
	case "$vocabulary", "const", "default", "dependencies", "id", "$recursiveRef", "$recursiveAnchor": // any value, or a keyword of older drafts, which had its own types
		return anything, ""
	}
	return 0, ""
}

// known are the keywords that a misspelled one is compared with.
var known = []string{
	"$schema", "$ref", "$defs", "description", "title", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
	"uniqueItems", "contains", "items", "prefixItems", "minProperties", "maxProperties", "required", "dependentRequired", "additionalProperties", "propertyNames", "properties", "patternProperties",
	"definitions", "allOf", "anyOf", "oneOf", "enum", "const", "default", "examples", "type", "deprecated", "readOnly", "writeOnly",
}

// keywords examines the members of one schema by themselves.
func (w *walker) keywords(n *node) {
	types := typesOf(n.v)
	ms := n.v.Members()
	for i, m := range ms {
		if isDuplicate(ms, i) {
			w.add("lint/member-repeated", n, m.Name, fmt.Sprintf("%s is there twice", text.Clip(m.Name, 60)))
			continue
		}
		if holds(m.Name) == named && m.Value.Kind() == schema.Object {
			kids := m.Value.Members()
			for j, k := range kids {
				if isDuplicate(kids, j) {
					w.add("lint/member-repeated", n, m.Name, fmt.Sprintf("%s has %s twice", m.Name, text.Clip(k.Name, 60)))
				}
			}
		}
		want, about := keyword(m.Name)
		switch {
		case want == 0:
			w.checkKeyword(n, m.Name)
		case !want.fits(m.Value):
			if old := m.Name == "items" && m.Value.Kind() == schema.Array; !old {
				w.add("lint/keyword-type", n, m.Name, fmt.Sprintf("%s has to be %s, not %s", m.Name, want, describeValue(m.Value)))
			}
		case about != "" && len(types) > 0 && !w.speaks(types, about) && m.Name != "items":
			w.add("lint/keyword-idle", n, m.Name, fmt.Sprintf("%s speaks of %s values, and the type is %s", m.Name, about, strings.Join(types, ", ")))
		}
	}
}

// isDuplicate reports whether an earlier member has the name of ms[i]. Objects with very many members are left alone.
func isDuplicate(ms []schema.Member, i int) bool {
	if len(ms) > 500 {
		return false
	}
	for _, m := range ms[:i] {
		if m.Name == ms[i].Name {
			return true
		}
	}
	return false
}

// speaks reports whether a keyword about one type of values has any to speak of where values are of some types.
func (*walker) speaks(types []string, about string) bool {
	return slices.Contains(types, about) || about == "number" && slices.Contains(types, "integer")
}

// checkKeyword examines a member that is not a keyword. Validators ignore it, so that it is an annotation, a word of OpenAPI or a mistake; x- begins
// what somebody means to add.
func (w *walker) checkKeyword(n *node, name string) {
	switch name {
	case "nullable":
		w.nullable(n)
		return
	case "example", "discriminator", "xml", "externalDocs":
		w.add("lint/keyword-openapi", n, name, name+" is a keyword of OpenAPI")
		return
	}
	if strings.HasPrefix(name, "x-") || len(name) < 4 || len(name) > 40 {
		return
	}
	best, near := "", 3
	for _, k := range known {
		d := text.Edits(strings.ToLower(name), strings.ToLower(k))
		if d < near && (d == 0 || d == 1 && len(k) > 4 || d == 2 && len(k) > 8) { // the nearest, not the first that is near
			best, near = k, d
		}
	}
	if best != "" {
		w.add("lint/keyword-misspelled", n, name, fmt.Sprintf("%s is not a keyword; %s is", name, best))
	}
}

// nullable reports OpenAPI's way to allow null, with all that follows from it: an enum with null, say, is no finding of its own.
func (w *walker) nullable(n *node) {
	f := found{message: "nullable is a keyword of OpenAPI", fix: `leave it out and make the parameter optional, or allow null in the type, as in "type": ["string", "null"]`}
	if untypedNull(n.v) {
		f.message += ": by JSON Schema null is not valid here"
		for _, m := range n.v.Get("enum").Members() {
			if m.Value.Kind() == schema.Null {
				f.message, f.clients = f.message+", though it is in enum", rules.Find("lint", "lint/enum-empty-value").Clients
			}
		}
	}
	w.report("lint/keyword-openapi", n, "nullable", f)
}

// nullable says whether a schema allows null as OpenAPI does.
func nullable(v *schema.Value) bool { return v.Get("nullable").Bool() }

// untypedNull says whether a schema allows null as OpenAPI does, and not by its types.
func untypedNull(v *schema.Value) bool {
	types := typesOf(v)
	return nullable(v) && len(types) > 0 && !slices.Contains(types, "null")
}

// typesMeant are the types that the author of a schema allows.
func typesMeant(v *schema.Value) []string {
	types := typesOf(v)
	if len(types) > 0 && nullable(v) {
		types = append(slices.Clone(types), "null")
	}
	return types
}

// fits says whether v is what a keyword wants.
func (w wants) fits(v *schema.Value) bool {
	k := v.Kind()
	switch w {
	case aString:
		return k == schema.String
	case aBoolean:
		return k == schema.Bool
	case aNumber:
		return k == schema.Number
	case aPositive:
		f, ok := number(v)
		return ok && f > 0
	case aCount:
		f, ok := number(v)
		return ok && f >= 0 && f == math.Trunc(f) // no conversion: 2^64-1, which programs write for "no bound", is beyond int64
	case someNames:
		return k == schema.Array && allStrings(v)
	case aList:
		return k == schema.Array
	case manyNames, byName:
		return k == schema.Object
	case schemas:
		return k == schema.Array && v.Len() > 0
	case typeValue:
		return k == schema.String || k == schema.Array && v.Len() > 0 && allStrings(v)
	}
	return true // what is a schema is looked at by itself
}

// allStrings reports whether all elements of an array are strings.
func allStrings(v *schema.Value) bool {
	for _, m := range v.Members() {
		if m.Value.Kind() != schema.String {
			return false
		}
	}
	return true
}

// describeValue is a value in a message: what is long by itself is named by its kind.
func describeValue(v *schema.Value) string {
	if v.Kind() == schema.Array || v.Kind() == schema.Object {
		return fmt.Sprintf("an %s", v.Kind())
	}
	return text.Clip(v.Literal(), 60)
}

// typesOf are the types that a schema allows, nil where it does not say. One that is not a string is "".
func typesOf(v *schema.Value) (out []string) {
	t := v.Get("type")
	if t.Kind() == schema.String {
		return []string{t.Text()}
	}
	if t.Kind() == schema.Array {
		for _, m := range t.Members() {
			out = append(out, m.Value.Text())
		}
	}
	return out
}

// isType says whether v is of a type of JSON Schema.
func isType(v *schema.Value, name string) bool {
	switch name {
	case "integer":
		f, ok := number(v)
		return ok && f == math.Trunc(f)
	case "number", "string", "boolean", "array", "object", "null":
		return v.Kind().String() == name
	}
	return true // is a finding of its own
}

// ofTypes says whether v is of one of the types; of none at all each value is.
func ofTypes(v *schema.Value, types []string) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return isType(v, t) })
}
