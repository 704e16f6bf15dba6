package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// what writes changes short: < narrows, > widens, ? is not sure.
func what(changes []schema.Change) string {
	var out []string
	for _, c := range changes {
		s := c.Path + " " + c.Message + " "
		if c.Effect&schema.Narrows != 0 {
			s += "<"
		}
		if c.Effect&schema.Widens != 0 {
			s += ">"
		}
		if !c.Sure {
			s += "?"
		}
		out = append(out, strings.TrimSpace(s))
	}
	return strings.Join(out, "; ")
}

func TestChanges(t *testing.T) {
	const object = `{"type":"object","properties":{%s}}`
	of := func(s string) string { return fmt.Sprintf(object, `"a":`+s) }
	for _, c := range []struct{ before, after, want string }{
		{of(`{"type":"string"}`), of(`{"type":"string"}`), ""},
		{of(`{"type":"string"}`), of(`{"type":["string","null"]}`), "a type string → string | null >"},
		{of(`{"type":"integer"}`), of(`{"type":"number"}`), "a type integer → number >"},
		{of(`{"type":"string"}`), of(`{"type":"integer"}`), "a type string → integer <>"},
		{of(`{"type":"string","nullable":true}`), of(`{"type":["null","string"]}`), ""},
		{of(`{"enum":["x","y"]}`), of(`{"enum":["y","z"]}`), `a no longer accepts "x" <; a also accepts "z" >`},
		{of(`{"type":"string"}`), of(`{"type":"string","enum":["x"]}`), `a accepts only "x" <`},
		{of(`{"enum":["a",1]}`), of(`{"type":"string","enum":["a",1]}`), `a no longer accepts 1 <`},
		{of(`{"enum":["x"]}`), of(`{"const":"x"}`), ""},
		{of(`{"type":"boolean"}`), of(`{"type":"boolean","enum":[true,false]}`), ""},
		{of(`{"const":null}`), of(`{"type":"null"}`), ""},
		{of(`{"type":["boolean","null"]}`), of(`{"enum":[true,null]}`), "a no longer accepts false <"},
		{`{"minLength":1,"minLength":1}`, `{"minLength":1,"maxLength":2}`, "maxLength 2 added <"},
		{of(`{"type":"integer","minimum":1}`), of(`{"type":"integer","exclusiveMinimum":0}`), ""},
		{of(`{"type":"integer","minimum":1}`), of(`{"type":"integer","minimum":2}`), "a minimum 1 → 2 <"},
		{of(`{"type":"number","maximum":1}`), of(`{"type":"number","exclusiveMaximum":1}`), "a maximum 1 → exclusiveMaximum 1 <"},
		{of(`{"type":"integer","maximum":100}`), of(`{"type":"integer"}`), "a maximum 100 removed >"},
		{of(`{"type":"integer","multipleOf":2}`), of(`{"type":"integer","multipleOf":4}`), "a multipleOf 2 → 4 <"},
		{of(`{"type":"string","minLength":0}`), of(`{"type":"string"}`), ""},
		{of(`{"type":"string","maxLength":5}`), of(`{"type":"string","maxLength":9}`), "a maxLength 5 → 9 >"},
		{of(`{"type":"integer"}`), of(`{"type":"integer","minLength":5}`), ""},
		{of(`{"type":"string","pattern":"a"}`), of(`{"type":"string","pattern":"b"}`), `a pattern "a" → "b" <>?`},
		{of(`{"type":"string"}`), of(`{"type":"string","format":"email"}`), `a format "email" added <?`},
		{of(`{"type":"string"}`), of(`{"type":"string","x-mcp-header":"A"}`), `a x-mcp-header "A" added <>?`},
		{of(`{"type":"string","description":"a"}`), of(`{"type":"string","description":"b"}`), `a description "a" → "b"`},
		{of(`{"type":"string","default":"a"}`), of(`{"type":"string"}`), `a default "a" removed`},
		{of(`{"type":"array","items":{"type":"string"}}`), of(`{"type":"array","items":{"type":"string","minLength":1},"uniqueItems":true}`), "a must not have equal items <; a[] minLength 1 added <"},
		{of(`{"type":"array"}`), of(`{"type":"array","prefixItems":[{"type":"string"}]}`), "a[] type any → string <"},
		{`{"type":"object"}`, of(`{}`), "a was added"},
		{`{"type":"object","additionalProperties":false}`, of(`{}`), "a was added >; accepts properties that it does not declare >"},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"additionalProperties":{"type":"string"}}`, "a was added, where any property was accepted <?"},
		{of(`{}`), `{"type":"object"}`, "a was removed <>"},
		{of(`{}`), `{"type":"object","properties":{"a":{}},"required":["a"]}`, "a became required <"},
		{`{"type":"object"}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`, "a was added as required <"},
		{`{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "refuses properties that it does not declare <"},
		{of(`{"type":"string"}`), of(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), "a got a variant: null >"},
		{of(`{"type":["string","null"]}`), of(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), ""},
		{of(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`), of(`{"anyOf":[{"type":"number"},{"type":"string"}]}`), "a type integer → number >"},
		{of(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`), of(`{"type":"string"}`), "a lost a variant: integer <"},
		{of(`{"oneOf":[{"type":"string"},{"type":"integer"}]}`), of(`{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`), "a got a variant: null >"},
		{of(`{"oneOf":[{"type":"string"}]}`), of(`{"oneOf":[{"type":"string"},{"minLength":3}]}`), "a got a variant: any >; a its variants changed, and a value must not fit two of them <>?"},
		{of(`{"$ref":"#/$defs/x"}`), of(`{"type":"string","minLength":2}`), "a has references that cannot be followed, and changed <>?"},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}`, `{"$ref":"#/$defs/x","$defs":{"x":{"type":"string","minLength":2}}}`, "minLength 2 added <"},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}`, `{"type":"string"}`, ""},
		{`{"allOf":[{"$ref":"#/$defs/x"}],"title":"t","$defs":{"x":{"type":"string"}}}`, `{"type":"string","title":"t"}`, ""},
		{
			`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}},"b":{}},"required":["b"]}`,
			"b was added as required <",
		},
		{`true`, `false`, "no value is accepted any more <"},
		{`{"not":{"type":"string"}}`, `{}`, `not {"type":"string"} removed >?`},
		{`{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}`, `{"type":"object","properties":{"a":{},"b":{}},"unevaluatedProperties":false}`, "what changed counts for unevaluatedProperties or unevaluatedItems, too <>?; b was added >"},
		{`{`, `{}`, "cannot be read as a schema, and changed <>?"},
	} {
		if got := what(schema.Changes(schema.Parse([]byte(c.before)), schema.Parse([]byte(c.after)))); got != c.want {
			t.Errorf("%s\n→ %s\nis  %s\nnot %s", c.before, c.after, got, c.want)
		}
	}
}

// Schemas that multiply are compared in bounded time, also where they changed at the end of each way.
func TestChangesOfExplodingSchemas(t *testing.T) {
	bomb := func(leaf string) *schema.Schema {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range 40 {
			fmt.Fprintf(&b, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}}},`, i, i+1, i+1, i+1)
		}
		b.WriteString(`"d40":` + leaf + `}}`)
		return schema.Parse([]byte(b.String()))
	}
	assert.Equal(t, what(schema.Changes(bomb(`{"type":"string"}`), bomb(`{"type":"string"}`))), "")
	// What is too deep to look for references in may have some.
	deep := func(title string, n int) *schema.Schema {
		return schema.Parse([]byte(`{"title":"` + title + `","not":` + strings.Repeat(`{"items":`, n) + `{}` + strings.Repeat(`}`, n) + `}`))
	}
	for n, want := range map[int]string{190: `title "a" → "b"`, 300: `title "a" → "b"; not `} {
		if got := what(schema.Changes(deep("a", n), deep("b", n))); !strings.HasPrefix(got, want) || n < 200 && got != want {
			t.Errorf("%d levels: %.300s", n, got)
		}
	}
	assert.Contains(t, what(schema.Changes(bomb(`{"type":"string"}`), bomb(`{"type":"integer"}`))), "is too large to be compared as a whole <>?")
}

// Of many changes the first are listed, and one that says that there are more.
func TestChangesAreBounded(t *testing.T) {
	names := make([]string, 2_000)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprint(i))
	}
	got := schema.Changes(schema.Parse([]byte(`{}`)), schema.Parse([]byte(`{"required":[`+strings.Join(names, ",")+`]}`)))
	if last := got[len(got)-1]; len(got) != 501 || last.Sure || last.Effect != schema.Narrows|schema.Widens {
		t.Errorf("%d changes, the last one %+v", len(got), got[len(got)-1])
	}
}

// A constraint of which only its presence is understood narrows where it comes, widens where it goes, and may do both where it changes.
func TestConstraintsOfAllKinds(t *testing.T) {
	for kw, values := range map[string][2]string{
		"not": {`{"type":"null"}`, `{"type":"string"}`}, "dependentRequired": {`{"a":["b"]}`, `{"a":["c"]}`}, "dependentSchemas": {`{"a":{"required":["b"]}}`, `{"a":{"required":["c"]}}`},
		"dependencies": {`{"a":["b"]}`, `{"a":["c"]}`}, "unevaluatedProperties": {`false`, `{"type":"string"}`}, "unevaluatedItems": {`false`, `{"type":"string"}`},
	} {
		without, one, other := `{"type":["object","array"]}`, `{"type":["object","array"],"`+kw+`":`+values[0]+`}`, `{"type":["object","array"],"`+kw+`":`+values[1]+`}`
		for _, c := range []struct{ before, after, want string }{{without, one, "<?"}, {one, without, ">?"}, {one, other, "<>?"}, {one, one, ""}} {
			got := what(schema.Changes(schema.Parse([]byte(c.before)), schema.Parse([]byte(c.after))))
			if !strings.HasSuffix(got, " "+c.want) && got != c.want || c.want == "<?" && strings.HasSuffix(got, "<>?") {
				t.Errorf("%s → %s: %q, want %s", c.before, c.after, got, c.want)
			}
		}
	}
}

// What is for people changes no value that is accepted, wherever it stands; what has no meaning for either is not a change.
func TestTextsChange(t *testing.T) {
	for kw, want := range map[string]string{
		"title": `title "a" → "b"`, "description": `description "a" → "b"`, "examples": `examples "a" → "b"`, "example": `example "a" → "b"`, "deprecated": `deprecated "a" → "b"`,
		"readOnly": `readOnly "a" → "b"`, "writeOnly": `writeOnly "a" → "b"`, "contentEncoding": `contentEncoding "a" → "b"`, "contentMediaType": `contentMediaType "a" → "b"`, "default": `default "a" → "b"`,
		"$comment": "", "$anchor": "", "$dynamicAnchor": "", "$vocabulary": "", "contentSchema": "", "$defs": "", "definitions": "",
	} {
		for _, beside := range []string{`"type":"string"`, `"type":"string","unevaluatedProperties":false`, `"allOf":[{"type":"string"}]`, `"anyOf":[{"type":"string"}]`} {
			of := func(v string) *schema.Schema { return schema.Parse([]byte(`{` + beside + `,"` + kw + `":` + v + `}`)) }
			for _, c := range []struct{ before, after, want string }{{`"a"`, `"b"`, want}, {`"a"`, `"a"`, ""}} {
				assert.Equalf(t, what(schema.Changes(of(c.before), of(c.after))), c.want, "%s of %s beside %s", kw, c.after, beside)
			}
		}
	}
	for of, want := range map[string]string{"|1": "x 1 added", "1|": "x 1 removed", "1|2": "x 1 → 2"} {
		a, b, _ := strings.Cut(of, "|")
		x, _ := schema.ParseValue([]byte(a))
		y, _ := schema.ParseValue([]byte(b))
		assert.Equalf(t, schema.Became("x", x, y), want, "%s", of)
	}
}

// Bounds, keys and variants at their edges.
func TestChangesAtEdges(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"type":"number","minimum":1,"exclusiveMinimum":0}`, `{"type":"number","minimum":1}`, ""},
		{`{"type":"number","minimum":1,"exclusiveMinimum":1}`, `{"type":"number","exclusiveMinimum":1}`, ""},
		{`{"type":"number","exclusiveMaximum":1}`, `{"type":"number","maximum":1}`, "exclusiveMaximum 1 → maximum 1 >"},
		{`{"type":"number","minimum":1}`, `{"type":"number","exclusiveMinimum":1}`, "minimum 1 → exclusiveMinimum 1 <"},
		{`{"type":"number","exclusiveMinimum":1}`, `{"type":"number","minimum":1}`, "exclusiveMinimum 1 → minimum 1 >"},
		{`{"type":"number","maximum":2}`, `{"type":"number","maximum":1}`, "maximum 2 → 1 <"},
		{`{"type":"number"}`, `{"type":"number","maximum":1}`, "maximum 1 added <"},
		{`{"type":"integer","minimum":0.5}`, `{"type":"integer","minimum":1}`, ""},
		{`{"type":"integer","maximum":1.5}`, `{"type":"integer","maximum":1}`, ""},
		{`{"type":"integer","maximum":2,"minimum":-1.5}`, `{"type":"integer","exclusiveMaximum":3,"minimum":-1}`, ""},
		{`{"type":"number","minimum":1,"exclusiveMinimum":true}`, `{"type":"number","minimum":2,"exclusiveMinimum":true}`, "minimum 1 → 2 <>?"},
		{`{"type":"number","multipleOf":4}`, `{"type":"number","multipleOf":2}`, "multipleOf 4 → 2 >"},
		{`{"type":"number","multipleOf":4}`, `{"type":"number","multipleOf":6}`, "multipleOf 4 → 6 <>"},
		{`{"type":"number"}`, `{"type":"number","multipleOf":6}`, "multipleOf 6 added <"},
		{`{"type":"number","multipleOf":6}`, `{"type":"number"}`, "multipleOf 6 removed >"},
		{`{"type":"string","minLength":0}`, `{"type":"string","minLength":1}`, "minLength 1 added <"},
		{`{"type":"string","maxLength":0}`, `{"type":"string"}`, "maxLength 0 removed >"},
		{`{"type":"string","maxLength":1}`, `{"type":"string","maxLength":1.0}`, ""},
		{`{"type":"string","pattern":"a"}`, `{"type":"string"}`, `pattern "a" removed >`},
		{`{"type":"string","format":"date"}`, `{"type":"string"}`, `format "date" removed >?`},
		{`{"type":"string","format":"date"}`, `{"type":"string","format":"time"}`, `format "date" → "time" <>?`},
		{`{"type":"array","uniqueItems":true}`, `{"type":"array","uniqueItems":false}`, "may have equal items >"},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"null"}}`, `{"type":"array","items":{"type":"null"}}`, "[] type string → null <>"},
		{`{"enum":[1,2,3,4,5,6,7]}`, `{"enum":[1]}`, "no longer accepts 2, 3, 4, 5, 6, … <"},
		{`{"enum":[1]}`, `{"enum":[1,2]}`, "also accepts 2 >"},
		{`{"const":1}`, `{"enum":[1,2]}`, "also accepts 2 >"},
		{`{"enum":[1]}`, `{"type":"integer"}`, "accepts more than 1 >"},
		{`{"type":"object","properties":{"a":{},"a":{}}}`, `{"type":"object"}`, "a was removed <>"},
		{`{"type":"object"}`, `{"type":"object","properties":{"a":{},"a":{}}}`, "a was added"},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","additionalProperties":false}`, "a was removed, and is refused <; refuses properties that it does not declare <"},
		{`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"string"}}`, "a was removed >"},
		{`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"null"}}`, `{"type":"object","additionalProperties":{"type":"null"}}`, "a was removed <>"},
		{`{"type":"object","required":["a"],"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, "a is no longer required >"},
		{`{"type":"object"}`, `{"type":"object","required":["a"]}`, "a became required, and is not declared <"},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"null"}}`, ".* type string → null <>"},
		{`{"type":"object","additionalProperties":true}`, `{"type":"object","additionalProperties":{}}`, ""},
		{`{"type":"object","patternProperties":{"^a":{"type":"string"}}}`, `{"type":"object","patternProperties":{"^a":{"type":"string","minLength":1}}}`, "minLength 1 added <"},
		{`{"type":"object","patternProperties":{"^a":{}}}`, `{"type":"object","patternProperties":{"^b":{}}}`, "the patterns of its keys changed <>?"},
		{`{"type":"object","patternProperties":{"^a":{}}}`, `{"type":"object","patternProperties":{"^a":{},"^b":{}}}`, "the patterns of its keys changed <>?"},
		{`{"type":"object","patternProperties":{"^a":{},"^b":{}}}`, `{"type":"object","patternProperties":{"^a":{}}}`, "the patterns of its keys changed <>?"},
		{`{"type":"object","patternProperties":{"^a":{}}}`, `{"type":"object","patternProperties":{"^a":{}},"properties":{"b":{}}}`, "b was added, where patterns of keys count too <>?"},
		{`{"properties":{"ab":{}},"patternProperties":{"^a":{}},"additionalProperties":false}`, `{"patternProperties":{"^a":{}},"additionalProperties":false}`, "ab was removed, where patterns of keys count too <>?"},
		{`{"type":"object","propertyNames":{"maxLength":2}}`, `{"type":"object","propertyNames":{"maxLength":1}}`, "maxLength 2 → 1 <"},
		{`{"anyOf":[{"type":"string"}],"minLength":1}`, `{"minLength":1}`, "need not fit one of 1 variants >?"},
		{`{"minLength":1}`, `{"anyOf":[{"type":"string"},{"type":"null"}],"minLength":1}`, "must fit one of 2 variants <?"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`, ""},
		{`{"oneOf":[{"type":"object","properties":{"k":{"const":1}},"required":["k"]},{"type":"object","properties":{"k":{"const":2}},"required":["k"]}]}`, `{"oneOf":[{"type":"object","properties":{"k":{"const":1}},"required":["k"]}]}`, "lost a variant: object <"},
		{`{"oneOf":[{"type":"object","properties":{"k":{"const":1}}},{"type":"object","properties":{"k":{"const":2}}}]}`, `{"oneOf":[{"type":"object","properties":{"k":{"const":1}}}]}`, "lost a variant: object <; its variants changed, and a value must not fit two of them <>?"},
		{`{"anyOf":[{"title":"One","type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"null"}]}`, `lost a variant: "One" <`},
		{`{"anyOf":[{"enum":[1,2]},{"type":"null"}]}`, `{"anyOf":[{"type":"null"}]}`, "lost a variant: 1, 2 <"},
		{`{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"allOf":[{"pattern":"a"}]}`, `pattern "a" added <?; must satisfy fewer schemas at once >?`},
		{`{"allOf":[{"pattern":"a"}]}`, `{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, `pattern "a" removed >?; must satisfy more schemas at once <?`},
		{`{"type":"object","allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"type":"object","properties":{"a":{},"b":{}}}`, ""},
		{`{"type":"object","allOf":[{"properties":{"a":{}}},{"properties":{"a":{"type":"null"}}}]}`, `{"type":"object","properties":{"a":{"type":"null"}}}`, "a was added ?; must satisfy fewer schemas at once >?"},
		{`{"type":"object","allOf":[{"properties":{"a":{}}},{"properties":[]}]}`, `{"type":"object","properties":{"a":{}}}`, "a was added ?; must satisfy fewer schemas at once >?"},
		{`{"type":"object","allOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","required":["b","a"]}`, ""},
		{`{"allOf":[{"minLength":1},{"minLength":1.0,"title":"t"}]}`, `{"minLength":1,"title":"t"}`, ""},
		{`{"allOf":[{"minLength":1},{"additionalProperties":false}]}`, `{"minLength":1,"additionalProperties":false}`, "minLength 1 added <?; refuses properties that it does not declare <?; must satisfy fewer schemas at once >?"},
		{`{"allOf":[{"title":"a"},{"additionalProperties":false}]}`, `{"title":"a","additionalProperties":false}`, ""},
		{`{"$ref":"","$defs":{"x":{}}}`, `{"$ref":"","minLength":1,"$defs":{"x":{}}}`, "has references that cannot be followed, and changed <>?"},
		{`false`, `{"type":"string"}`, "values are accepted, where none was >"},
		{`false`, `{"allOf":[false],"title":"a"}`, ""},
		{`{"type":"any"}`, `{"type":"some"}`, "type changed, and is not one of JSON Schema's <>?"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"minLength":1}`, "the dialect of the schema changed <>?; minLength 1 added <"},
	} {
		if got := what(schema.Changes(schema.Parse([]byte(c.before)), schema.Parse([]byte(c.after)))); got != c.want {
			t.Errorf("%s\n→ %s\nis  %s\nnot %s", c.before, c.after, got, c.want)
		}
	}
}
