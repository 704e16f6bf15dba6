package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func parse(t testing.TB, text string) *Value {
	t.Helper()
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestValueKeepsEveryLiteral(t *testing.T) {
	for _, text := range []string{
		`1.0`, `-0`, `12345678901234567890`, `1e400`, `1E+2`, `"\u0041\/"`, `"\ud800"`, `""`, `null`, `true`, `[]`, `{}`,
		`{"b":1,"a":2,"\u0062":3}`, `{"a":1,"a":2}`, `[1,[2,{"x":null}],"é\n"]`, `{"":{"~/":[]}}`,
	} {
		v := parse(t, text)
		if got := v.String(); got != text {
			t.Errorf("%s became %s", text, got)
		}
		if got := parse(t, string(v.Indent())).String(); got != text {
			t.Errorf("%s indented became %s", text, got)
		}
	}
}

func TestValueIndent(t *testing.T) {
	got := string(parse(t, `{"a":[],"b":[1,{"c":null}]}`).Indent())
	want := "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {\n      \"c\": null\n    }\n  ]\n}"
	assert.Equal(t, got, want)
}

func TestParseValueSaysWhere(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
	}{
		{"{\n  \"a\": 1,\n  \"ä\" 2\n}", 3, 7},
		{"[1, 2", 1, 6},
		{"1 2", 1, 3},
		{"[1,]", 1, 3},
		{"{\"a\":tru}", 1, 9},
		{"nul", 1, 4},
		{"\"\xff\"", 1, 2},
		{"01", 1, 2},
	} {
		_, err := ParseValue([]byte(c.text))
		var syn *SyntaxError
		if !errors.As(err, &syn) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if syn.Line != c.line || syn.Column != c.column || syn.Msg == "" {
			t.Errorf("%q: %v, want line %d column %d", c.text, syn, c.line, c.column)
		}
	}
}

func TestParseValueNesting(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	assert.Equalf(t, parse(t, deep).String(), deep, "9,000 levels are not kept")
	for _, open := range []string{"[", `{"a":`} {
		if _, err := ParseValue([]byte(strings.Repeat(open, 50_000))); err == nil {
			t.Error("50,000 levels were accepted")
		}
	}
}

func TestValueUnset(t *testing.T) {
	v := parse(t, "  \n")
	if v.IsSet() || v.JSON() != nil || v.Get("a").IsSet() || v.At("a", "b").IsSet() || v.Len() != 0 || v.Kind() != Unset {
		t.Error("blank is not unset")
	}
	if !NullValue().IsSet() || NullValue().Kind() != Null || !StringValue("").IsSet() {
		t.Error("null and empty count as unset")
	}
}

func TestEdit(t *testing.T) {
	base := parse(t, `{"a":1,"l":[1,2,3],"o":{"x":1.0,"y":2}}`)
	path := func(ptr string) []string { p, _ := SplitPointer(ptr); return p }
	num := func(s string) *Value { v, _ := NumberValue(s); return v }
	for _, c := range []struct {
		name string
		got  *Value
		want string
	}{
		{"replace", base.Set(path("/a"), num("2.50")), `{"a":2.50,"l":[1,2,3],"o":{"x":1.0,"y":2}}`},
		{"add", base.Set(path("/z"), NullValue()), `{"a":1,"l":[1,2,3],"o":{"x":1.0,"y":2},"z":null}`},
		{"add before", base.SetBefore(path("/k"), NullValue(), func(n string) bool { return n == "l" }), `{"a":1,"k":null,"l":[1,2,3],"o":{"x":1.0,"y":2}}`},
		{"make parents", base.Set(path("/p/q/r"), num("1")), `{"a":1,"l":[1,2,3],"o":{"x":1.0,"y":2},"p":{"q":{"r":1}}}`},
		{"unset", base.Set(path("/a"), nil), `{"l":[1,2,3],"o":{"x":1.0,"y":2}}`},
		{"element", base.Set(path("/l/1"), num("9")), `{"a":1,"l":[1,9,3],"o":{"x":1.0,"y":2}}`},
		{"append", base.Set(path("/l/3"), num("9")), `{"a":1,"l":[1,2,3,9],"o":{"x":1.0,"y":2}}`},
		{"too far", base.Set(path("/l/9"), num("9")), base.String()},
		{"delete key", base.Delete("o", "x"), `{"a":1,"l":[1,2,3],"o":{"y":2}}`},
		{"delete element", base.Delete("l", "0"), `{"a":1,"l":[2,3],"o":{"x":1.0,"y":2}}`},
		{"delete nothing", base.Delete("l", "7"), base.String()},
		{"insert", base.Insert(path("/l"), 1, num("7")), `{"a":1,"l":[1,7,2,3],"o":{"x":1.0,"y":2}}`},
		{"move up", base.Move(path("/l"), 2, 0), `{"a":1,"l":[3,1,2],"o":{"x":1.0,"y":2}}`},
		{"move key", base.Move(nil, 0, 2), `{"l":[1,2,3],"o":{"x":1.0,"y":2},"a":1}`},
		{"move out", base.Move(path("/l"), 0, 5), base.String()},
		{"rename", base.Rename(path("/o/x"), "ü"), `{"a":1,"l":[1,2,3],"o":{"ü":1.0,"y":2}}`},
		{"rename onto", base.Rename(path("/o/x"), "y"), base.String()},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	assert.Equalf(t, base.String(), `{"a":1,"l":[1,2,3],"o":{"x":1.0,"y":2}}`, "an edit changed the original")
}

func TestPointer(t *testing.T) {
	path := []string{"a/b", "~", "", "0"}
	ptr := Pointer(path...)
	assert.Equal(t, ptr, "/a~1b/~0//0")
	back, ok := SplitPointer(ptr)
	if !ok || strings.Join(back, "|") != strings.Join(path, "|") {
		t.Error(back, ok)
	}
	if _, ok := SplitPointer("a"); ok {
		t.Error("a is no pointer")
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1e999999999`, `1e999999998`, true}, // both beyond what is told apart
		{`"a"`, `"\u0061"`, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1.0}`, true},
		{`[1,2]`, `[2,1]`, false},
		{`null`, `false`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1,"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1,"b":2}`, `{"a":1,"a":1}`, false},
		{`{"a":2,"a":1}`, `{"a":1}`, true}, // the last counts
	} {
		assert.Equalf(t, Equal(parse(t, c.a), parse(t, c.b)), c.want, "%s = %s", c.a, c.b)
	}
	if Same(parse(t, `1`), parse(t, `1.0`)) || !Same(parse(t, `{"a":[1]}`), parse(t, `{ "a": [1] }`)) {
		t.Error("Same compares values, not bytes")
	}
	long := strings.Repeat("9", 100_000)
	if !Equal(parse(t, long), parse(t, long+".0")) || Equal(parse(t, long), parse(t, "1")) {
		t.Error("long numbers")
	}
}

func TestAtLeadsThroughArrays(t *testing.T) {
	v := parse(t, `{"a":[{"b":1},[2,3]],"0":4}`)
	for path, want := range map[string]string{"a/0/b": "1", "a/1/1": "3", "a/1/2": "", "a/01/1": "", "a/b": "", "a/-1": "", "0": "4", "a/0/b/0": "", "a/+1": ""} {
		got := v.At(strings.Split(path, "/")...)
		if got.IsSet() != (want != "") || want != "" && string(got.JSON()) != want {
			t.Errorf("%s: %s, want %q", path, got.JSON(), want)
		}
	}
}
