package schema

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestCoerce(t *testing.T) {
	for _, c := range []struct{ schema, text, want string }{
		{`{"type":"string"}`, `12`, `"12"`},
		{`{"type":"string"}`, `null`, `"null"`},
		{`{"type":"string"}`, "a\n\"b\"", `"a\n\"b\""`},
		{`{"type":"integer"}`, ` 12345678901234567890 `, `12345678901234567890`},
		{`{"type":"integer"}`, `1.0`, `1.0`},
		{`{"type":"integer"}`, `1.5`, `! needs a whole number, such as 42; got "1.5"`},
		{`{"type":"integer"}`, `0x10`, `! needs a whole number, such as 42; got "0x10"`},
		{`{"type":["integer","null"]}`, `null`, `null`},
		{`{"type":"number"}`, `1e-7`, `1e-7`},
		{`{"type":"number"}`, `one`, `! needs a number, such as 1.5; got "one"`},
		{`{"type":"boolean"}`, `True`, `true`},
		{`{"type":"boolean"}`, `yes`, `! needs true or false; got "yes"`},
		{`{"type":"null"}`, `null`, `null`},
		{`{"enum":["a",1,true]}`, `1`, `1`},
		{`{"enum":["a",1,true]}`, `x`, `! needs one of a, 1, true; got "x"`},
		{`{"oneOf":[{"const":7,"title":"Seven"},{"const":8}]}`, `Seven`, `7`},
		{`{"const":"x"}`, `x`, `"x"`},
		{`{"const":"x"}`, `y`, `! needs "x", the only value that is allowed; got "y"`},
		{`{"type":"array","items":{"type":"integer"}}`, `[1,2]`, `[1,2]`},
		{`{"type":"array","items":{"type":"integer"}}`, `3`, `[3]`},
		{`{"type":"array","items":{"type":"integer"}}`, `x`, `! needs an array as JSON, such as [1, 2], or one item; got "x"`},
		{`{"type":"object"}`, `{"b":1.0}`, `{"b":1.0}`},
		{`{"type":"object"}`, `b`, `! needs an object as JSON, such as {"key": "value"}; got "b"`},
		{`{"type":["string","integer"]}`, `5`, `5`},
		{`{"type":["string","integer"]}`, `five`, `"five"`},
		{`{"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}]}`, `[]`, `[]`},
		{`{}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{}`, `plain text`, `"plain text"`},
		{`false`, `1`, `! takes no value at all: the schema forbids it; got "1"`},
	} {
		v, err := Parse([]byte(c.schema)).Root().Coerce(c.text)
		got := v.String()
		if err != nil {
			got = "! " + err.Error()
		}
		assert.Equalf(t, got, c.want, "%s from %q", c.schema, c.text)
	}
}

func TestCoerceArgs(t *testing.T) {
	s := Parse([]byte(`{"type":"object","properties":{
		"n":{"type":"integer"},"s":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},
		"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}}}},
		"dot.ted":{"type":"boolean"},
		"v":{"oneOf":[{"properties":{"kind":{"const":"a"},"r":{"type":"number"}}},{"properties":{"kind":{"const":"b"},"r":{"type":"string"}}}]},
		"next":{"$ref":"#"}}}`))
	for _, c := range []struct{ args, want string }{
		{`n=3|s=4`, `{"n":3,"s":"4"}`},
		{`s:={"a":1.0}`, `{"s":{"a":1.0}}`},
		{`s=a=b:=c`, `{"s":"a=b:=c"}`},
		{`tags=a|tags=b`, `{"tags":["a","b"]}`},
		{`tags[]=a|tags[]=b`, `{"tags":["a","b"]}`},
		{`tags[2]=c`, `{"tags":[null,null,"c"]}`},
		{`a.b[0].x=1.50|a.b[1].x=2`, `{"a":{"b":[{"x":1.50},{"x":2}]}}`},
		{`dot.ted=true`, `{"dot.ted":true}`},
		{`k\.e\=y=v`, `{"k.e=y":"v"}`},
		{`v.kind=b|v.r=1`, `{"v":{"kind":"b","r":"1"}}`},
		{`v.kind=a|v.r=1`, `{"v":{"kind":"a","r":1}}`},
		{`next.next.n=5`, `{"next":{"next":{"n":5}}}`},
		{`other=1`, `{"other":1}`},
		{`n=x`, `! n: needs a whole number, such as 42; got "x"`},
		{`a.b[0].x=y`, `! a.b[0].x: needs a number, such as 1.5; got "y"`},
		{`s:={`, `! s: needs JSON after := (line 1, column 2: the text ends before the value does); got "{"`},
		{`s:=`, `! s: needs JSON after :=; got ""`},
		{`novalue`, `! needs the form name=value or name:=json; got "novalue"`},
		{`=x`, `! needs a name before the equals sign, such as name=value; got "=x"`},
		{`a[=1`, `! a[: has an opening bracket that is never closed; got "a["`},
		{`a[-1]=1`, `! a[-1]: needs an index from 0 to 100000 in its brackets; got "a[-1]"`},
		{`tags[999999]=1`, `! tags[999999]: needs an index from 0 to 100000 in its brackets; got "tags[999999]"`},
		{`n=1|n.x=2`, `! n.x: names a property of what is number already; got "2"`},
		{`n=1|n[0]=2`, `! n[0]: has an index into what is number already; got "2"`},
		{`a.b[0]x=1`, `! a.b[0]x: needs a dot between a bracket and the next name; got "a.b[0]x"`},
	} {
		v, err := s.CoerceArgs(nil, strings.Split(c.args, "|"))
		got := v.String()
		if err != nil {
			got = "! " + err.Error()
		}
		assert.Equalf(t, got, c.want, "%s", c.args)
	}
	v, err := s.CoerceArgs(parse(t, `{"n":1.0,"z":2}`), []string{"s=x"})
	if err != nil || v.String() != `{"n":1.0,"z":2,"s":"x"}` {
		t.Errorf("%s %v", v, err)
	}
}
