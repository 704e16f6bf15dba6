package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What is known, and what only looks like it, in schemas of all drafts.
func TestKnownKeywords(t *testing.T) {
	for kw := range strings.FieldsSeq(`$schema $id id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions
		title description default examples example readOnly writeOnly deprecated type enum const format pattern minimum maximum exclusiveMinimum exclusiveMaximum
		multipleOf minLength maxLength minItems maxItems uniqueItems contains minContains maxContains minProperties maxProperties required dependentRequired
		dependentSchemas dependencies properties patternProperties additionalProperties propertyNames items prefixItems additionalItems unevaluatedItems
		unevaluatedProperties allOf anyOf oneOf not if then else contentEncoding contentMediaType contentSchema nullable discriminator enumNames x-enumNames
		x-enumDescriptions x-mcp-header`) {
		for _, name := range []string{kw, strings.ToUpper(kw)} {
			f := Parse([]byte(`{"` + name + `":null}`)).Root()
			assert.Equalf(t, len(f.Unknown) == 0, (name == kw), "%s is known", name)
		}
	}
}

// What applies to a field together, where there is nothing to pick, and where bounds come from several places.
func TestFieldEdges(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"anyOf":[{"type":"null"},{"const":null},{"enum":[null]},{"type":["null"]}]}`, `null nullable`},
		{`{"anyOf":[{"type":"null"}],"type":["null","string"]}`, `null nullable`},
		{`{"anyOf":[false,false]}`, `never (at least one of: nothing; or nothing)`},
		{`{"anyOf":[true,{"type":"null"}]}`, `any nullable`},
		{`{"anyOf":[{"enum":[null,1]},{"enum":[]},{"type":"string"}]}`, `variants variant=option 1:select variant=option 2:never variant=string:string`},
		{`{"type":"object","oneOf":[{"properties":{"a":{}}},{"required":["b"]}]}`, `variants variant=a …:object variant=with b:object`},
		{`{"type":"number","maximum":5,"exclusiveMaximum":true}`, `number (less than 5)`},
		{`{"type":"number","maximum":5,"exclusiveMaximum":false}`, `number (at most 5)`},
		{`{"type":"number","minimum":5,"exclusiveMinimum":false}`, `number (at least 5)`},
		{`{"type":"number","exclusiveMaximum":5,"allOf":[{"maximum":5},{"maximum":7}]}`, `number (less than 5)`},
		{`{"type":"number","maximum":5,"allOf":[{"exclusiveMaximum":5}]}`, `number (less than 5)`},
		{`{"type":"number","minimum":5,"allOf":[{"exclusiveMinimum":5},{"minimum":4}]}`, `number (more than 5)`},
		{`{"type":"number","minimum":5,"allOf":[{"exclusiveMinimum":4}]}`, `number (at least 5)`},
		{`{"type":"number","exclusiveMinimum":0,"minimum":1}`, `number (at least 1)`},
		{`{"type":"number","exclusiveMaximum":9,"maximum":8}`, `number (at most 8)`},
		{`{"type":"number","exclusiveMinimum":true,"minimum":1,"allOf":[{"minimum":2}]}`, `number (at least 2)`},
		{`{"type":"object","minProperties":1.0,"maxProperties":2e0}`, `object (1 to 2 properties)`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/x","items":{},"definitions":{"x":{"minLength":1}}}`, `string (at least 1 character)`},
		{`{"type":"string","minLength":2.0,"maxLength":1e1,"allOf":[{"minLength":1,"maxLength":11},{"minLength":2,"maxLength":10}]}`, `string (2 to 10 characters)`},
		{`{"type":"string","minLength":0,"maxLength":0}`, `string (exactly 0 characters)`},
		{`{"type":"string","minLength":0,"allOf":[{"minLength":1}]}`, `string (at least 1 character)`},
		{`{"type":"string","maxLength":0,"allOf":[{"maxLength":1}]}`, `string (at most 0 characters)`},
		{`{"type":"string","minLength":-1,"maxLength":1.5}`, `string`},
		{`{"type":"string","maxLength":1000000000}`, `string (at most 1000000000 characters)`},
		{`{"type":"string","maxLength":1000000001}`, `string`},
		{`{"const":1,"allOf":[{"const":1.0}]}`, `const const=1.0`},
		{`{"const":1,"allOf":[{"const":2}]}`, `never const=2 note=two different constants are required of the same value`},
		{`{"not":{"required":["a","b"]}}`, `any nullable (not with a, b)`},
		{`{"not":{"format":"email"}}`, `any nullable (not format email)`},
		{`{"not":{"type":"null"}}`, `any nullable (not a value of type null)`},
		{`{"not":{"type":["null","string"]}}`, `any nullable (not {"type":["null","string"]})`},
		{`{"not":{"pattern":"x"}}`, `any nullable (not matching x)`},
		{`{"not":{"pattern":"x","format":"y"}}`, `any nullable (not {"pattern":"x","format":"y"})`},
		{`{"type":"array","contains":true,"maxContains":1}`, `array (exactly 1 item matching anything)`},
		{`{"type":"object","propertyNames":false}`, `object (keys: nothing)`},
		{`{"type":"object","oneOf":[{"required":["a"]},{"required":["b","c"]}]}`, `object (exactly one of: a; or b, c)`},
		{`{"type":"object","anyOf":[{"required":["a"]}]}`, `object`},
		{`{"type":"object","additionalProperties":false,"unevaluatedProperties":false}`, `object (no other properties)`},
		{`{"type":"object","additionalProperties":true}`, `object`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/x","maxLength":1,"title":"T","deprecated":true,"definitions":{"x":{"type":"string"}}}`, `string title=T deprecated`},
		{`{"type":["string","null"],"enum":["a",1,null]}`, `select nullable option="a"// option=null//`},
		{`{"enum":["a","b"],"allOf":[{"enum":["b","c"],"x-enumNames":["B"],"x-enumDescriptions":["second"]}]}`, `select option="b"/B/second`},
	} {
		assert.Equalf(t, describe(Parse([]byte(c.schema)).Root()), c.want, "%s", c.schema)
	}
}

// Which keys an object may have beside those that it declares, where several schemas apply.
func TestKeysOfSeveralSchemas(t *testing.T) {
	const legacy = `"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/x","definitions":{"x":{"type":"object"}}`
	for _, c := range []struct{ schema, value, want string }{
		{`{"properties":{"a":{}},"allOf":[{"properties":{"b":{}},"additionalProperties":false}]}`, `{"c":1}`, `a:any b:any c:any+-`},
		{`{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}`, `{"x1":1,"y":2}`, `x1:null+ y:any+-`},
		{`{"patternProperties":{"(?=x)":{"type":"null"}},"additionalProperties":false}`, `{"y":2}`, `y:any+`},
		{`{"additionalProperties":true,"allOf":[{"additionalProperties":{"type":"null"}}]}`, `{"y":2}`, `y:null+`},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"a":1,"y":2}`, `a:any y:any+-`},
		{`{` + legacy + `,"additionalProperties":false,"patternProperties":{"y":{"type":"null"}}}`, `{"y":2}`, `y:any+`},
		{`{"type":"array","maxItems":1,"items":{"type":"null"}}`, `[1,2]`, `0:null+ 1:null+-`},
		{`{"type":"array","minItems":1,"prefixItems":[{"type":"null"}],"allOf":[{"prefixItems":[{},{"type":"string"}],"items":false}]}`, `[]`, `0:null! 1:string`},
	} {
		assert.Equalf(t, kids(Parse([]byte(c.schema)).Root(), c.value, t), c.want, "%s with %s", c.schema, c.value)
	}
	if f := Parse([]byte(`{` + legacy + `,"items":false}`)).Root(); !f.CanAdd(0) || f.TupleLen() != 0 {
		t.Error("what is beside a draft-07 $ref counts for elements")
	}
	for schema, want := range map[string]string{
		`{"additionalProperties":{"type":"null"},"allOf":[{"patternProperties":{"x":{"type":"string"}}}]}`: "never true",
		`{"properties":{"a":{}},"unevaluatedProperties":{"type":"null"}}`:                                  "any false",
		`{` + legacy + `,"additionalProperties":false}`:                                                    "any false",
		`{"additionalProperties":true,"unevaluatedProperties":false}`:                                      "any true",
	} {
		f := Parse([]byte(schema)).Root()
		extra, explicit, ok := f.Extra()
		again, _, _ := f.Extra()
		if !ok || again != extra || fmt.Sprint(extra.Shape(), " ", explicit) != want {
			t.Errorf("%s: %v %v %v, the same again: %v", schema, extra, explicit, ok, again == extra)
		}
	}
}

// What is wrong with a text that is not JSON, beside where.
func TestParseValueSaysWhat(t *testing.T) {
	for text, want := range map[string]string{
		`[1,]`: "a comma before the closing bracket", `{"a":1 , }`: "a comma before the closing bracket", `[1,,2]`: "", `[1;2]`: "", `[1`: "the text ends before the value does",
		`1 2`: "unexpected text after the value", "1\n\n  2": "unexpected text after the value", `1 ]`: "unexpected text after the value", strings.Repeat("[", 10_001): "nested deeper than 10000 levels",
	} {
		_, err := ParseValue([]byte(text))
		syn, ok := err.(*SyntaxError)
		if !ok || want != "" && syn.Msg != want || want == "" && strings.Contains(syn.Msg, "comma before") {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{`"\ud800"`, `["\udc00",1]`, `{"a\ud800":1}`} { // RFC 8259 allows them
		if v, err := ParseValue([]byte(text)); err != nil || v.String() != text {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`["\ud800"`, `"\ud800" 1`, "\"\\ud800\xff\"", `"\u12"`} {
		if v, err := ParseValue([]byte(text)); err == nil {
			t.Errorf("%s is taken for %s", text, v)
		}
	}
}

// Steps of a validation, which only references multiply.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		schema, value string
		want          int
	}{
		{`{}`, `1`, 1},
		{`true`, `[1,2]`, 1},
		{`{"properties":{"a":{},"b":{}}}`, `{"a":1,"c":2}`, 2},
		{`{"properties":{"a":{}}}`, `[1]`, 1},
		{`{"allOf":[{},{"not":{}}],"if":{},"then":{}}`, `1`, 6},
		{`{"items":{}}`, `[1,2,3]`, 4},
		{`{"items":[{},{}]}`, `[1,2,3]`, 3},
		{`{"prefixItems":[{},{}]}`, `[1]`, 2},
		{`{"prefixItems":[{}],"items":{}}`, `[1,2]`, 4},
		{`{"patternProperties":{"a":{},"b":{}}}`, `{"x":1,"y":2}`, 5},
		{`{"dependentSchemas":{"a":{},"b":{}}}`, `{}`, 3},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{},{}]}}}`, `1`, 4},
		{`{"$ref":"#"}`, `1`, 2},
		{`{"$ref":"#/none"}`, `1`, 1},
		{`{"contains":{},"additionalProperties":{}}`, `[1,2]`, 5},
	} {
		assert.Equalf(t, Parse([]byte(c.schema)).cost(parse(t, c.value)), c.want, "%s with %s", c.schema, c.value)
	}
}

// Values made of a schema, and values edited, at the edges of what is there.
func TestSkeletonEdges(t *testing.T) {
	for _, c := range []struct{ schema, initial, skeleton, example string }{
		{`{"type":"number","minimum":2,"exclusiveMinimum":true}`, ``, `0`, `0`},
		{`{"type":"number","minimum":0}`, ``, `0`, `0`},
		{`{"type":"number","maximum":-2}`, ``, `-2`, `-2`},
		{`{"type":"number","maximum":-2,"exclusiveMaximum":true}`, ``, `0`, `0`},
		{`{"type":["string","null"]}`, ``, `""`, `""`},
		{`{"oneOf":[{"type":"string"},{"type":"object"},{"type":"null"}]}`, ``, `null`, `""`},
		{`{"type":"array","minItems":2,"items":{"type":"string"}}`, `[]`, `["",""]`, `["",""]`},
		{`{"type":"array","minItems":2,"items":{"const":1}}`, `[1,1]`, `[1,1]`, `[1,1]`},
		{`{"type":"array","items":{"type":"string"}}`, `[]`, `[]`, `[""]`},
		{`{"type":"array","maxItems":0,"items":{"type":"string"}}`, `[]`, `[]`, `[]`},
		{`{"type":"array","prefixItems":[{"const":1},{"const":2}],"maxItems":1}`, `[]`, `[1]`, `[1]`},
		{`{"type":"string","format":"date"}`, ``, `""`, `"2026-11-21"`},
		{`{"type":"string","format":"date","default":"x"}`, `"x"`, `"x"`, `"x"`},
		{`{"type":"string","examples":["e","f"],"default":"x"}`, `"x"`, `"x"`, `"e"`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"default":1},"c":{"default":2}},"required":["b"]}`, `{"b":1}`, `{"b":1,"c":2}`, `{"a":"","b":1,"c":2}`},
		{`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"]}`, `{"a":{}}`, `{"a":{}}`, `{"a":{}}`},
	} {
		f := Parse([]byte(c.schema)).Root()
		if got := [...]string{f.Initial().String(), f.Skeleton().String(), f.Example().String()}; got != [...]string{c.initial, c.skeleton, c.example} {
			t.Errorf("%s: %q, want %q, %q, %q", c.schema, got, c.initial, c.skeleton, c.example)
		}
	}
	again := Parse([]byte(`{"type":"array","minItems":1,"items":{"$ref":"#"}}`)).Root()
	for open, got := range map[string]*Value{"[]": again.Initial(), "[null]": again.Skeleton()} {
		if s := got.String(); strings.Count(s, open) != 1 || strings.Count(s, "[") != MaxSkeletonDepth+1 {
			t.Errorf("%s: %s", open, s)
		}
	}
	last := again.Skeleton()
	for last.Kind() == Array {
		last = last.Elem(0)
	}
	assert.Equalf(t, last.Kind(), Null, "the innermost element")
	for _, c := range []struct{ v, below, want string }{
		{`{"a":{"b":1}}`, `{"a":{"b":2,"c":3},"d":4}`, `{"a":{"b":1,"c":3},"d":4}`}, {``, `{"a":1}`, `{"a":1}`}, {`1`, `{"a":1}`, `1`}, {`{"a":1}`, `1`, `{"a":1}`}, {`{"a":1}`, ``, `{"a":1}`},
	} {
		assert.Equalf(t, Under(parse(t, c.v), parse(t, c.below)).String(), c.want, "%s under %s", c.below, c.v)
	}
	v := parse(t, `{"l":[1,2],"o":{"k":1},"s":3}`)
	one := BoolValue(true)
	for _, c := range []struct {
		name string
		got  *Value
		want string
	}{
		{"first element", v.Set([]string{"l", "0"}, one), `{"l":[true,2],"o":{"k":1},"s":3}`},
		{"last element", v.Delete("l", "1"), `{"l":[1],"o":{"k":1},"s":3}`},
		{"all", v.Delete(), ``},
		{"no index", v.Delete("l", "x"), v.String()},
		{"no container", v.Delete("s", "x"), v.String()},
		{"nowhere", v.Delete("x", "y"), v.String()},
		{"first member", v.SetBefore([]string{"a"}, one, func(n string) bool { return n == "l" }), `{"a":true,"l":[1,2],"o":{"k":1},"s":3}`},
		{"below", v.SetBefore([]string{"o", "j"}, one, func(n string) bool { return n == "k" }), `{"l":[1,2],"o":{"j":true,"k":1},"s":3}`},
		{"over a scalar", v.Set([]string{"s", "t"}, one), `{"l":[1,2],"o":{"k":1},"s":{"t":true}}`},
		{"insert first", v.Insert([]string{"l"}, 0, one), `{"l":[true,1,2],"o":{"k":1},"s":3}`},
		{"insert last", v.Insert([]string{"l"}, 2, one), `{"l":[1,2,true],"o":{"k":1},"s":3}`},
		{"insert too far", v.Insert([]string{"l"}, 9, one), `{"l":[1,2,true],"o":{"k":1},"s":3}`},
		{"insert before all", v.Insert([]string{"l"}, -1, one), `{"l":[1,2,true],"o":{"k":1},"s":3}`},
		{"insert into none", v.Insert([]string{"n"}, 3, one), `{"l":[1,2],"o":{"k":1},"s":3,"n":[true]}`},
		{"insert into an object", v.Insert([]string{"o"}, 0, one), v.String()},
		{"move last", v.Move([]string{"l"}, 0, 1), `{"l":[2,1],"o":{"k":1},"s":3}`},
		{"move from nowhere", v.Move([]string{"l"}, -1, 0), v.String()},
		{"move to nowhere", v.Move([]string{"l"}, 0, -1), v.String()},
		{"move too far", v.Move([]string{"l"}, 1, 2), v.String()},
		{"rename first", v.Rename([]string{"l"}, "m"), `{"m":[1,2],"o":{"k":1},"s":3}`},
		{"rename nothing", v.Rename([]string{"x"}, "m"), v.String()},
		{"rename all", v.Rename(nil, "m"), v.String()},
		{"rename onto the first", v.Rename([]string{"s"}, "l"), v.String()},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

// Arguments of the command line where something is there already.
func TestCoerceArgsOnBase(t *testing.T) {
	s := Parse([]byte(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}},"o":{"type":["object","null"],"properties":{"l":{"type":"array"}}}}}`))
	for _, c := range []struct{ base, args, want string }{
		{`{"l":[1,2]}`, `l[]=3`, `{"l":[1,2,3]}`},
		{`{"l":[1,2]}`, `l[0]=3`, `{"l":[3,2]}`},
		{`{"l":[1]}`, `l[3]=4`, `{"l":[1,null,null,4]}`},
		{`{"l":[1]}`, `l[1]=4`, `{"l":[1,4]}`},
		{`{"l":[1]}`, `l=2`, `{"l":[2]}`},
		{`{}`, `l=[1]|l=2`, `{"l":[1,2]}`},
		{`{}`, `l=1|l=[2]`, `{"l":[2]}`},
		{`{"o":null}`, `o.k=1`, `{"o":{"k":1}}`},
		{`{"o":null}`, `o.l[]=1`, `{"o":{"l":[1]}}`},
		{`{}`, `l[0]=5`, `{"l":[5]}`},
		{`{}`, `l[100001]=5`, `! l[100001]: needs an index from 0 to 100000 in its brackets; got "l[100001]"`},
		{`{"l":[]}`, `l.x=5`, `! l.x: names a property of what is array already; got "5"`},
		{`{}`, `l\`, `! needs the form name=value or name:=json; got "l\\"`},
		{`{}`, `a\.b.c=1`, `{"a.b":{"c":1}}`},
		{`{}`, `o.l[1][0]=1|o.l[0][1]=2`, `{"o":{"l":[[null,2],[1]]}}`},
	} {
		v, err := s.CoerceArgs(parse(t, c.base), strings.Split(c.args, "|"))
		got := v.String()
		if err != nil {
			got = "! " + err.Error()
		}
		assert.Equalf(t, got, c.want, "%s with %s", c.base, c.args)
	}
	deep := func(n int) error {
		_, err := s.CoerceArgs(nil, []string{strings.TrimSuffix(strings.Repeat("a.", n), ".") + "=1"})
		return err
	}
	assert.NoError(t, deep(100))
	assert.ErrorContains(t, deep(102), "is nested more than 100 levels deep")
}

// An element far out is reached in a few steps, each of which copies the array.
func TestCoerceArgsFarOut(t *testing.T) {
	s := Parse([]byte(`{"type":"object"}`))
	steps := testing.AllocsPerRun(1, func() {
		v, err := s.CoerceArgs(nil, []string{"l[2000]=x"})
		if err != nil || v.Get("l").Len() != 2001 {
			t.Error(v, err)
		}
	})
	if steps > 1000 {
		t.Errorf("%.0f allocations for 2000 elements", steps)
	}
}

// The references of a branch that is a resource of its own lead to its own definitions, also before it is known which branch it will be.
func TestCoerceArgsOfResources(t *testing.T) {
	branch := func(id, typ string) string {
		return `{"$id":"https://example.com/` + id + `","type":"object","properties":{"n":{"$ref":"#/$defs/n"},"` + id + `":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"` + typ + `"}}}`
	}
	s := Parse([]byte(`{"properties":{"x":{"anyOf":[` + branch("a", "string") + `,` + branch("b", "boolean") + `]}},"$defs":{"n":{"type":"integer"}}}`))
	for _, c := range []struct{ arg, want string }{
		{`x.a=5`, `{"x":{"a":"5"}}`}, {`x.b=TRUE`, `{"x":{"b":true}}`}, {`x.n=TRUE`, `{"x":{"n":true}}`}, {`x.n=5`, `{"x":{"n":"5"}}`},
	} {
		v, err := s.CoerceArgs(nil, []string{c.arg})
		if err != nil || v.String() != c.want {
			t.Errorf("%s: %s %v, want %s", c.arg, v, err, c.want)
		}
	}
}

// A list of problems is in the order of pointers, bounded, without repetitions; and what a key breaks is said of the key.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"propertyNames":false}`, `{"a":1}`, `/a: the key is not allowed here`},
		{`{"propertyNames":{"minLength":2,"pattern":"b"}}`, `{"a":1}`, `/a: the key must have at least 2 characters, has 1`},
		{`{"required":["b","a"]}`, `{}`, `/a: is required | /b: is required`},
		{`{"allOf":[{"required":["a"]},{"required":["a"]}]}`, `{}`, `/a: is required`},
		{`{"dependentRequired":{"a":["c","b"]}}`, `{"a":1}`, `/b: is required because a is given | /c: is required because a is given`},
		{`{"additionalProperties":false}`, `{"b":1,"a":2}`, `/a: is not a property the schema allows | /b: is not a property the schema allows`},
		{`{"properties":{"o":{}}}`, `{"o":{"a":1,"a":{"b":1,"b":2}},"l":[[],{"c":1,"c":1}]}`, `/l/1/c: the key is there more than once; servers may take either | /o/a: the key is there more than once; servers may take either | /o/a/b: the key is there more than once; servers may take either`},
		{`{}`, ``, `there is no value yet`},
	} {
		var out []string
		for _, p := range Parse([]byte(c.schema)).Validate(parse(t, c.value)) {
			out = append(out, p.String())
		}
		assert.Equalf(t, strings.Join(out, " | "), c.want, "%s with %s", c.schema, c.value)
	}
	many := parse(t, "["+strings.TrimSuffix(strings.Repeat(`"a",`, maxProblems+5), ",")+"]")
	if ps := Parse([]byte(`{"items":{"type":"null"}}`)).Validate(many); len(ps) != maxProblems {
		t.Errorf("%d problems", len(ps))
	}
	if p := (Problem{Pointer: "/a/b", Message: "is wrong"}); p.Sentence() != "a/b is wrong" || (Problem{Message: "is wrong"}).Sentence() != "is wrong" {
		t.Error(p.Sentence())
	}
}

// Keywords beside others, in the drafts where they count and where not, are cheap to decide and decided alike.
func TestMatchesAsValidate(t *testing.T) {
	const legacy = `"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"x":{"type":"string"}}`
	for _, c := range []struct {
		schema, value string
		want          bool
	}{
		{`{` + legacy + `,"$ref":"#/definitions/x","minLength":9}`, `"a"`, true},
		{`{` + legacy + `,"$ref":"#/definitions/x","minLength":9}`, `1`, false},
		{`{` + legacy + `,"allOf":[{"$ref":"#/definitions/x"}],"minLength":9}`, `"a"`, false},
		{`{"$ref":"#/$defs/x","minLength":2,"$defs":{"x":{"type":"string"}}}`, `"a"`, false},
		{`{"required":["a"]}`, `[]`, true},
		{`{"minimum":5}`, `"a"`, true},
		{`{"minLength":5}`, `1`, true},
		{`{"minItems":1}`, `{}`, true},
		{`{"type":"number"}`, `1`, true},
		{`{"type":"integer"}`, `1.5`, false},
		{`{"additionalProperties":{"type":"null"},"properties":{"a":{}}}`, `{"a":1,"b":null}`, true},
		{`{"additionalProperties":{"type":"null"},"properties":{"a":{}}}`, `{"b":1}`, false},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{}`, true},
		{`{"dependencies":{"a":{"required":["b"]}}}`, `{"a":1}`, false},
		{`{"multipleOf":2}`, `3`, false},
		{`{"multipleOf":2}`, `-4`, true},
		{`{"prefixItems":[{"type":"null"}],"items":{"type":"string"}}`, `[null,1]`, false},
		{`{"prefixItems":[{"type":"null"}],"items":{"type":"string"}}`, `[null,"a"]`, true},
		{`{"minProperties":1}`, `{}`, false},
		{`{"maxProperties":1}`, `{"a":1}`, true},
		{`{"maxProperties":1}`, `{"a":1,"b":1}`, false},
		{`{"minLength":2}`, `"ä"`, false},
		{`{"minLength":2.0}`, `"a"`, false},
		{`{"maxLength":1}`, `"ä"`, true},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `2`, false},
		{`{"if":{"type":"null"},"then":false}`, `1`, true},
		{`{"if":{"type":"null"},"else":false}`, `1`, false},
		{`{"not":{}}`, `1`, false},
		{`{"not":{"format":"email"}}`, `"a"`, true},
		{`{"not":{"patternProperties":{"^a":{"type":"null"}}}}`, `{"a":1}`, true},
		{`{"not":{"allOf":[{"type":"array"},{"uniqueItems":true}]}}`, `[1,1]`, true},
		{`{"not":{"allOf":[{"uniqueItems":true},{"type":"array"}]}}`, `{}`, true},
		{`{"oneOf":[{"uniqueItems":true},{"type":"array"}]}`, `[1,1]`, true},
		{`{"contains":{"const":1},"minContains":0}`, `[2]`, true},
		{`{"items":{"items":{"const":1}}}`, `[[1],[2]]`, false},
		{`{"minimum":1,"exclusiveMinimum":1}`, `1`, false},
		{`{"maximum":1,"exclusiveMaximum":2}`, `1`, true},
	} {
		s := Parse([]byte(c.schema))
		v := parse(t, c.value)
		if got, ps := s.matches(part{node: s.doc}, v), s.Validate(v); got != c.want || (len(ps) == 0) != c.want {
			t.Errorf("%s with %s: matches %v, problems %v, want %v", c.schema, c.value, got, ps, c.want)
		}
	}
}

// A pattern is compiled once for a schema, also one that cannot be.
func TestPatternsAreCompiledOnce(t *testing.T) {
	const text = `{"additionalProperties":false,"patternProperties":{"^a":{"type":"null"},"(?=b)":{}},"pattern":"^a"}`
	for name, ask := range map[string]func(*Schema){
		"a field":     func(s *Schema) { s.Root().Property("a1") },
		"a key":       func(s *Schema) { s.Root().allows("a1") },
		"a condition": func(s *Schema) { s.matches(part{node: s.doc}, parse(t, `"a1"`)) },
	} {
		s := Parse([]byte(text))
		ask(s)
		if _, ok := s.patterns.Load("^a"); !ok {
			t.Errorf("%s compiles its pattern each time", name)
		}
		one, err := s.pattern("^a")
		two, _ := s.pattern("^a")
		if err != nil || one != two {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.pattern("(?=b)"); err == nil {
			t.Error("a look-ahead is compiled")
		}
	}
}

// As many branches as there may be are offered, and the others named.
func TestMaxVariants(t *testing.T) {
	of := func(n int) *Field {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"type":"object","title":"t%d"}`, i)
		}
		return Parse([]byte(`{"anyOf":[` + strings.Join(all, ",") + `]}`)).Root()
	}
	if f := of(MaxVariants); len(f.Variants()) != MaxVariants || len(f.Notes) != 0 {
		t.Errorf("%d, %q", len(f.Variants()), f.Notes)
	}
	if f := of(MaxVariants + 1); len(f.Variants()) != MaxVariants || fmt.Sprint(f.Notes) != "[anyOf has 257 branches; 256 are offered]" {
		t.Errorf("%d, %q", len(f.Variants()), f.Notes)
	}
}

// Problems in words, by keyword.
func TestWords(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"contains":{"const":1},"minContains":2}`, `[1]`, "must have at least 2 items as contains describes, has 1"},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,1]`, "must have at most 1 item as contains describes, has 2"},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}`, `0`, "must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13]}`, `0`, "must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … (13 in all)"},
		{`{"type":["null","integer","boolean","array","object"]}`, `"a"`, "must be true or false or a whole number or an array or an object or null"},
		{`{"type":["string","null","number"]}`, `[]`, "must be a number or a string or null"},
		{`{"minimum":0.1}`, `0`, "must be at least 0.1"},
		{`{"minimum":1e-7}`, `0`, "must be at least 1e-07"},
		{`{"maximum":12345678901234567890}`, `12345678901234567891`, "must be at most 12345678901234567890"},
		{`{"maximum":0.12345678901234567891}`, `1`, "must be at most 0.123456789012"},
		{`{"minItems":2}`, `[1]`, "must have at least 2 items, has 1"},
		{`{"maxItems":0}`, `[1]`, "must have at most 0 items, has 1"},
	} {
		ps := Parse([]byte(c.schema)).Validate(parse(t, c.value))
		if len(ps) != 1 || ps[0].Message != c.want {
			t.Errorf("%s with %s: %v, want %s", c.schema, c.value, ps, c.want)
		}
	}
	s := Parse([]byte(`{"properties":{"x":{"oneOf":[{"required":["a"]},{"anyOf":[{"required":["b"]},{"required":["c"]}]}]}}}`))
	for want, chosen := range map[string][]int{"/x/a: is required": {0}, "/x/b: is required": {1, 0}, "/x/c: is required": {1, 1}, "/x: fits none of the 2 alternatives (x/a: is required; or x: fits none of the 2 alternatives (x/b: is required; or x/c: is required))": nil} {
		if ps := s.ValidateChosen(parse(t, `{"x":{}}`), map[string][]int{"/x": chosen}); len(ps) != 1 || ps[0].String() != want {
			t.Errorf("%v: %v, want %s", chosen, ps, want)
		}
	}
	for src, want := range map[string]string{`\u0041b`: `\x{0041}b`, `\u{1F600}`: `\x{1F600}`, `\\u0041`: `\\u0041`, `\u00g1`: `\u00g1`, `\u004`: `\u004`, `a\d`: `a\d`, `\d\u0041\`: `\d\x{0041}\`, `\u0041`: `\x{0041}`} {
		got, err := translate(src)
		assert.NoError(t, err)
		assert.Equalf(t, got, want, "%s", src)
	}
	for _, half := range []string{`[\ud83d]`, `\ud83d\u0041`, `\ude00\ud83d`, `\ud83d`} {
		if _, err := compilePattern(half); err == nil {
			t.Errorf("%s is a character", half)
		}
	}
}
