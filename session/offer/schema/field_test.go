package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// describe writes a field in one line: shape, types, and what is set.
func describe(f *Field) string {
	out := []string{f.Shape().String()}
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if f.Nullable() {
		add("nullable")
	}
	if f.Title != "" {
		add("title=%s", f.Title)
	}
	if f.Description != "" {
		add("desc=%s", f.Description)
	}
	if f.Const.IsSet() {
		add("const=%s", f.Const)
	}
	if f.Default.IsSet() {
		add("default=%s", f.Default)
	}
	for _, e := range f.Examples {
		add("example=%s", e)
	}
	for _, o := range f.Options {
		add("option=%s/%s/%s", o.Value, o.Title, o.Description)
	}
	for _, v := range f.Variants() {
		add("variant=%s:%s", v.Title, v.Field().Shape())
	}
	if d := f.Discriminator(); d != "" {
		add("by=%s", d)
	}
	for _, c := range f.Constraints {
		add("(%s)", c.Text)
	}
	for _, m := range f.Unknown {
		add("unknown=%s:%s", m.Name, m.Value)
	}
	if f.Header != "" {
		add("header=%s", f.Header)
	}
	for _, n := range f.Notes {
		add("note=%s", n)
	}
	for on, name := range map[*bool]string{&f.ReadOnly: "readOnly", &f.WriteOnly: "writeOnly", &f.Deprecated: "deprecated"} {
		if *on {
			add("%s", name)
		}
	}
	return strings.Join(out, " ")
}

func kids(f *Field, value string, t *testing.T) string {
	v := parse(t, value)
	var out []string
	for _, c := range f.Active(v).Children(v) {
		s := c.Name + ":" + c.Field().Shape().String()
		if c.Required {
			s += "!"
		}
		if c.Why != "" {
			s += "(" + c.Why + ")"
		}
		if !c.Declared {
			s += "+"
		}
		if !c.Allowed {
			s += "-"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// One row per keyword that says something about a single value.
func TestFieldKeywords(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{``, `any nullable`},
		{`true`, `any nullable`},
		{`{}`, `any nullable`},
		{`false`, `never`},
		{`{"type":"string"}`, `string`},
		{`{"type":"integer"}`, `integer`},
		{`{"type":"number"}`, `number`},
		{`{"type":"boolean"}`, `boolean`},
		{`{"type":"null"}`, `null nullable`},
		{`{"type":"array"}`, `array`},
		{`{"type":"object"}`, `object`},
		{`{"type":["string","null"]}`, `string nullable`},
		{`{"type":["object","null"]}`, `object nullable`},
		{`{"type":["string","integer"]}`, `variants variant=string:string variant=integer:integer`},
		{`{"type":["number","integer","null"]}`, `number nullable`},
		{`{"type":"string","nullable":true}`, `string nullable`},
		{`{"anyOf":[{"type":"string","minLength":1},{"type":"null"}],"title":"T","default":null}`, `string nullable title=T default=null (at least 1 character)`},
		{`{"oneOf":[{"$ref":"#/$defs/o"},{"type":"null"}],"$defs":{"o":{"type":"object"}}}`, `object nullable`},
		{`{"title":"A","description":"B","default":1.0,"examples":[1,"x"]}`, `any nullable title=A desc=B default=1.0 example=1 example="x"`},
		{`{"enum":["a",2,null]}`, `select nullable option="a"// option=2// option=null//`},
		{`{"type":"string","enum":["a",2]}`, `select option="a"//`},
		{`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, `select option="a"/A/ option="b"/B/`},
		{`{"type":"integer","enum":["a"]}`, `never note=no value satisfies all enums and types that apply here`},
		{`{"oneOf":[{"const":"a","title":"A","description":"first"},{"const":"b"}]}`, `select option="a"/A/first option="b"//`},
		{`{"anyOf":[{"const":1},{"const":2},{"type":"null"}]}`, `select nullable option=1// option=2// option=null//`},
		{`{"anyOf":[{"enum":["a"]},{"type":"null"}]}`, `select nullable option="a"// option=null//`},
		{`{"const":{"a":1}}`, `const const={"a":1}`},
		{`{"type":"number","minimum":1,"maximum":5}`, `number (1 to 5)`},
		{`{"type":"number","exclusiveMinimum":0,"maximum":5}`, `number (more than 0, at most 5)`},
		{`{"type":"number","minimum":0,"exclusiveMinimum":true}`, `number (more than 0)`},
		{`{"type":"number","multipleOf":0.5}`, `number (a multiple of 0.5)`},
		{`{"minimum":1}`, `number (at least 1)`},
		{`{"type":"string","minLength":1,"maxLength":9,"pattern":"^a","format":"email"}`, `string (1 to 9 characters) (matches ^a) (format email)`},
		{`{"type":"string","contentEncoding":"base64"}`, `string (contentEncoding base64)`},
		{`{"pattern":"(?=a)"}`, "string (matches (?=a)) note=pattern (?=a) is not checked: it is not in the syntax of Go, which checks it here (invalid or unsupported Perl syntax: `(?=`)"},
		{`{"type":"array","minItems":1,"maxItems":3,"uniqueItems":true}`, `array (1 to 3 items) (no two items the same)`},
		{`{"type":"array","contains":{"type":"string"},"minContains":2}`, `array (at least 2 items matching a value of type string)`},
		{`{"type":"object","minProperties":1,"propertyNames":{"pattern":"^a"}}`, `object (at least 1 property) (keys: matching ^a)`},
		{`{"type":"object","dependentRequired":{"a":["b","c"]}}`, `object (a needs b, c)`},
		{`{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}`, `object (at least one of: a; or b)`},
		{`{"not":{"const":"x"}}`, `any nullable (not "x")`},
		{`{"x-mcp-header":"Region","type":"string"}`, `string header=Region`},
		{`{"x-order":1,"type":"string","readOnly":true}`, `string unknown=x-order:1 readOnly`},
		{`{"deprecated":true}`, `any nullable deprecated`},
		{`{"writeOnly":true}`, `any nullable writeOnly`},
		{`{"type":"any"}`, `any nullable note=type "any" is not a JSON Schema type; any value is accepted there`},
		{`{"allOf":[{"type":"integer","minimum":1},{"minimum":3,"title":"inner"}],"title":"outer"}`, `integer title=outer (at least 3)`},
		{`{"allOf":[{"type":"string"},{"type":"number"}]}`, `never note=the schemas that apply here contradict each other: no type satisfies them all`},
		{`{"allOf":[{"type":"number"},{"type":"integer"}]}`, `integer`},
		{`{"$ref":"#/$defs/x","description":"near","$defs":{"x":{"type":"string","description":"far"}}}`, `string desc=near`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{},"$ref":"#/definitions/x","maxLength":1,"definitions":{"x":{"type":"string"}}}`, `string`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `any nullable`},
		{`{"$ref":"#/$defs/~1%25a","$defs":{"/%a":{"type":"null"}}}`, `null nullable`},
		{`{"$ref":"#n","$defs":{"x":{"$anchor":"n","type":"boolean"}}}`, `boolean`},
		{`{"$id":"https://e.com/root","$ref":"item#n","$defs":{"x":{"$id":"item","$defs":{"y":{"$anchor":"n","type":"boolean"}}}}}`, `boolean`},
		{`{"$id":"https://e.com/root","$ref":"item","$defs":{"x":{"$id":"/item","$ref":"#/$defs/y","$defs":{"y":{"type":"integer"}}}}}`, `integer`},
		{`{"$ref":"https://e.com/x"}`, `any nullable note=$ref https://e.com/x is outside this schema and is never fetched; any value is accepted there`},
		{`{"$ref":"#/nope"}`, `any nullable note=$ref #/nope leads nowhere in this schema; any value is accepted there`},
		{`{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}`, `variants variant=string:string variant=array of integer:array`},
		{`{"anyOf":[{"title":"One","type":"object"},{"$ref":"#/$defs/Two"},{"type":"null"}],"$defs":{"Two":{"type":"object"}}}`, `variants nullable variant=One:object variant=Two:object`},
		{`{"oneOf":[{"properties":{"kind":{"const":"a"}}},{"properties":{"kind":{"const":"b"}}}]}`, `variants variant=a:object variant=b:object by=kind`},
		{`{"discriminator":{"propertyName":"t"},"oneOf":[{"properties":{"t":{"enum":["a"]},"u":{"const":1}}},{"properties":{"t":{"enum":["b"]},"u":{"const":2}}}]}`, `variants variant=a:object variant=b:object by=t`},
		{`{"oneOf":[]}`, `any nullable`},
		{`{"oneOf":[false,{"type":"string"}]}`, `string`},
		{`"text"`, `any nullable`},
		{`{"enum":7,"required":3,"properties":[],"allOf":4,"examples":{}}`, `object note=enum is a JSON number, not an array, and was ignored`},
	} {
		assert.Equalf(t, describe(Parse([]byte(c.schema)).Root()), c.want, "%s", c.schema)
	}
}

// One row per keyword that decides which fields there are.
func TestChildren(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"properties":{"z":{"type":"string"},"a":{"type":"null"}},"required":["a"]}`, ``, `z:string a:null!`},
		{`{"properties":{"a":{}},"required":["q"]}`, `{"x":1,"a":2}`, `a:any q:any!+ x:any+`},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"x":1}`, `a:any x:any+-`},
		{`{"additionalProperties":{"type":"number"}}`, `{"x":1}`, `x:number+`},
		{`{"patternProperties":{"^n":{"type":"number"}},"additionalProperties":{"type":"string"}}`, `{"n1":1,"s":2}`, `n1:number+ s:string+`},
		{`{"allOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/$defs/b"}],"properties":{"c":{}},"$defs":{"b":{"properties":{"b":{"type":"null"}},"required":["b"]}}}`, ``, `a:string b:null! c:any`},
		{`{"properties":{"a":{"type":["string","integer"]}},"allOf":[{"properties":{"a":{"type":"integer"}}}]}`, ``, `a:integer`},
		{`{"type":"array","items":{"type":"string"},"minItems":1}`, `["a","b"]`, `0:string!+ 1:string+`},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":{"type":"number"}}`, `["a",null,1]`, `0:string 1:null 2:number+`},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, `0:string 1:never+-`},
		{`{"type":"array","items":[{"type":"string"}],"additionalItems":false}`, ``, `0:string`},
		{`{"properties":{"a":{}},"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":{"type":"string"}},"required":["b"]},"else":{"properties":{"c":{}}}}`, `{"a":1}`, `a:any b:string!(given the other values)`},
		{`{"properties":{"a":{}},"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":{"type":"string"}},"required":["b"]},"else":{"properties":{"c":{}}}}`, `{"a":2}`, `a:any c:any`},
		{`{"dependentRequired":{"a":["b"]},"properties":{"a":{},"b":{}}}`, `{"a":1}`, `a:any b:any!(because a is given)`},
		{`{"dependentRequired":{"a":["b"]},"properties":{"a":{},"b":{}}}`, `{}`, `a:any b:any`},
		{`{"dependentSchemas":{"a":{"properties":{"d":{"type":"string"}}}},"properties":{"a":{}}}`, `{"a":1}`, `a:any d:string`},
		{`{"dependencies":{"a":["b"],"b":{"properties":{"e":{"type":"null"}}}},"properties":{"a":{},"b":{}}}`, `{"a":1,"b":1}`, `a:any b:any!(because a is given) e:null`},
		{`{"type":"object"}`, `[1]`, `0:any+`},
		{`{}`, `{"k":1}`, `k:any+`},
		{`{"unevaluatedProperties":{"type":"string"}}`, `{"k":1}`, `k:string+`},
		{`{"type":"array","unevaluatedItems":{"type":"string"}}`, `[1]`, `0:string+`},
	} {
		assert.Equalf(t, kids(Parse([]byte(c.schema)).Root(), c.value, t), c.want, "%s with %s", c.schema, c.value)
	}
}

func TestActiveIsStable(t *testing.T) {
	f := Parse([]byte(`{"if":{"required":["a"]},"then":{"required":["b"]}}`)).Root()
	a := f.Active(parse(t, `{"a":1}`))
	if a == f || a != f.Active(parse(t, `{"a":2}`)) {
		t.Error("the same decision gives another field")
	}
	plain := Parse([]byte(`{"properties":{"a":{}}}`)).Root()
	if plain.Active(parse(t, `{}`)) != plain || plain.Conditional() {
		t.Error("a field without conditions is not itself")
	}
}

func TestExtra(t *testing.T) {
	for _, c := range []struct {
		schema       string
		shape        Shape
		explicit, ok bool
	}{
		{`{"additionalProperties":{"type":"string"}}`, ShapeString, true, true},
		{`{"additionalProperties":true}`, ShapeAny, true, true},
		{`{"patternProperties":{"^a":{"type":"number"}},"additionalProperties":false}`, ShapeNumber, true, true},
		{`{"properties":{"a":{}}}`, ShapeAny, false, true},
		{`{"additionalProperties":false}`, 0, false, false},
		{`{"unevaluatedProperties":false}`, 0, false, false},
	} {
		f, explicit, ok := Parse([]byte(c.schema)).Root().Extra()
		if ok != c.ok || explicit != c.explicit || ok && f.Shape() != c.shape {
			t.Errorf("%s: %v %v", c.schema, explicit, ok)
		}
	}
}

func TestPick(t *testing.T) {
	tagged := `{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"number"}}},{"properties":{"k":{"const":"b"}}}]}`
	for _, c := range []struct {
		schema, value string
		want          int
	}{
		{tagged, `{"k":"b"}`, 1},
		{tagged, `{"k":"a","x":"wrong"}`, 0},
		{tagged, ``, -1},
		{`{"type":["string","array"]}`, `[]`, 1},
		{`{"type":["string","array"]}`, `1`, -1},
		{`{"anyOf":[{"type":"string","minLength":3},{"type":"string"}]}`, `"a"`, 1},
		{`{"anyOf":[{"type":"object","properties":{"a":{}},"required":["a","b"]},{"type":"object","properties":{"c":{}},"required":["c","d"]}]}`, `{"c":1}`, 1},
	} {
		assert.Equalf(t, Parse([]byte(c.schema)).Root().Pick(parse(t, c.value)), c.want, "%s with %s", c.schema, c.value)
	}
}

func TestSkeleton(t *testing.T) {
	for _, c := range []struct{ schema, initial, skeleton string }{
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"default":1.0},"c":{"type":"object","properties":{"d":{"const":"x"}},"required":["d"]}},"required":["a","c"]}`, `{"c":{"d":"x"}}`, `{"a":"","b":1.0,"c":{"d":"x"}}`},
		{`{"type":"array","items":{"type":"integer","minimum":3},"minItems":2}`, `[]`, `[3,3]`},
		{`{"type":"array","prefixItems":[{"const":1},{"type":"string"}]}`, `[]`, `[1,""]`},
		{`{"enum":["only"]}`, `"only"`, `"only"`},
		{`{"type":"object","required":["a"],"properties":{"a":{"const":1}},"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"],"properties":{"b":{"default":2}}},"dependentRequired":{"b":["c"]}}`, `{"a":1,"b":2}`, `{"a":1,"b":2,"c":null}`},
		{`{"enum":["a","b"]}`, ``, `"a"`},
		{`{"oneOf":[{"type":"object","properties":{"k":{"const":1}},"required":["k"]},{"type":"string"}]}`, ``, `{"k":1}`},
		{`{"type":"string"}`, ``, `""`},
		{`{}`, ``, `null`},
		{`{"type":"boolean","default":true}`, `true`, `true`},
	} {
		f := Parse([]byte(c.schema)).Root()
		if got := f.Initial().String(); got != c.initial {
			t.Errorf("%s: initial %s, want %s", c.schema, got, c.initial)
		}
		if got := f.Skeleton().String(); got != c.skeleton {
			t.Errorf("%s: skeleton %s, want %s", c.schema, got, c.skeleton)
		}
	}
}

func TestFromArguments(t *testing.T) {
	s := FromArguments([]Argument{{Name: "b", Required: true, Description: "d\"x"}, {Name: "a", Title: "T"}})
	assert.Equal(t, kids(s.Root(), `{}`, t), "b:string! a:string")
	assert.Equal(t, s.Root().Property("b").Description, `d"x`)
}

func TestParseArguments(t *testing.T) {
	for raw, want := range map[string]string{``: `{}`, `{}`: `{}`, `true`: `{}`, `{"title":"x"}`: `{}`, `{"type":"string"}`: ``, `{"properties":{"a":{"const":1}},"required":["a"]}`: `{"a":1}`, `[`: ``} {
		s := ParseArguments([]byte(raw))
		assert.Equalf(t, s.Root().Initial().String(), want, "%s", raw)
	}
}
