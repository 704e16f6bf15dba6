package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// How the variants of a choice are called, and where they come from.
func TestVariantTitles(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"oneOf":[{"title":"One","type":"object"},{"type":"object","title":"Two"}]}`, "One[0], Two[1]"},
		{`{"oneOf":[{"type":"object","properties":{"a":{},"s":{}}},{"type":"object","properties":{"b":{},"s":{}}}]}`, "a …[0], b …[1]"},
		{`{"oneOf":[{"type":"object","required":["c","b"],"properties":{"a":{},"b":{}}},{"type":"object","properties":{"x":{}}}]}`, "b …[0], x …[1]"},
		{`{"oneOf":[{"type":"object","properties":{"k":{"const":"one"}}},{"type":"object","properties":{"k":{"const":"two"}}}]}`, "one[0], two[1] by k"},
		{`{"oneOf":[{"type":"object","properties":{"k":{"enum":["one"]}}},{"type":"object","allOf":[{"properties":{"k":{"const":"two"}}}]}]}`, "one[0], two[1] by k"},
		{`{"oneOf":[{"type":"object","properties":{"k":{"const":"one"},"s":{}}},{"type":"object","minProperties":1,"properties":{"k":{"const":"one"},"s":{}}}]}`, "one[0], one (2)[1]"},
		{`{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"type":"object"},"B":{"type":"array"}}}`, "A[0], B[1]"},
		{`{"oneOf":[{"type":"array","items":{"type":"string"}},{"type":"array","items":{}},{"type":"string","format":"date"},{"type":["integer","boolean"]}]}`, "array of string[0], array[1], date string[2], integer | boolean[3]"},
		{`{"oneOf":[{"required":["a","b"],"properties":{}},{"properties":{"q":{}},"required":["q"]}]}`, "with a, b[0], q …[1]"},
		{`{"oneOf":[{"type":"string"},{"type":"string"},{"type":"object"}]}`, "string[0], object[2]"},
		{`{"oneOf":[{"type":"string","minLength":1,"maxLength":2},{"type":"string","minLength":1,"maxLength":2}]}`, "string[0], string (2)[1]"},
		{`{"oneOf":[{"type":"object"},{"anyOf":[{"type":"string"},{"type":"array"}]}]}`, "object[0], string[1 0], array[1 1]"},
		{`{"oneOf":[{"type":"object"},{"title":"named","oneOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"array"}]}]}`, "object[0], string[1 0 0], integer[1 0 1], array[1 1]"},
		{`{"oneOf":[{"type":"object"},{"anyOf":[{"type":"string"},{"type":"array"}],"oneOf":[{"type":"string"},{"minItems":1}]}]}`, "object[0], option 2[1]"},
		{`{"oneOf":[{"allOf":[{}]},{"type":"object"}]}`, "option 1[0], object[1]"},
		{`{"type":["string","integer","null"]}`, "string[], integer[]"},
		{`{"discriminator":{"propertyName":"t"},"anyOf":[{"properties":{"t":{"const":1},"x":{}}},{"properties":{"x":{}}}]}`, "1[0], with x[1] by t"},
		{`{"discriminator":"t","anyOf":[{"properties":{"t":{"const":1}}},{"properties":{"t":{"const":2}}}]}`, "1[0], 2[1] by t"},
	} {
		f := Parse([]byte(c.schema)).Root()
		var out []string
		for _, v := range f.Variants() {
			out = append(out, v.Title+strings.ReplaceAll(fmt.Sprint(v.Path), "<nil>", "[]"))
		}
		got := strings.Join(out, ", ")
		if d := f.Discriminator(); d != "" {
			got += " by " + d
		}
		assert.Equalf(t, got, c.want, "%s", c.schema)
		for i, v := range f.Variants() {
			if first := v.Field(); v.Field() != first || f.Variants()[i].Field() != first {
				t.Errorf("%s: the field of %s is not the same again", c.schema, v.Title)
			}
		}
	}
}

// Which variant a value is of: by its tag, by what it satisfies, else by what it has most in common with.
func TestPickNearest(t *testing.T) {
	const shapes = `{"oneOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"s":{}}},{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"c":{},"s":{}}},{"type":"array","minItems":2}]}`
	const tagged = `{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["x"]},{"type":"object","properties":{"k":{"const":"b"}}}]}`
	for _, c := range []struct {
		schema, value string
		want          int
	}{
		{shapes, `{"a":"1"}`, 0},
		{shapes, `{"b":"1"}`, 1},
		{shapes, `{"a":1}`, 0},
		{shapes, `{"b":1}`, 1},
		{shapes, `{"c":1}`, 1},
		{shapes, `{"s":1}`, 0},
		{shapes, `{}`, 0},
		{shapes, `{"a":1,"c":1,"b":1}`, 1},
		{shapes, `[1]`, 2},
		{shapes, `[1,2]`, 2},
		{shapes, `"x"`, -1},
		{shapes, `null`, -1},
		{shapes, ``, -1},
		{tagged, `{"k":"a"}`, 0},
		{tagged, `{"k":"b"}`, 1},
		{tagged, `{"k":"c"}`, 0},
		{tagged, `{}`, 1},
		{tagged, `{"x":1}`, 0},
		{`{"type":["string","integer"]}`, `1`, 1},
		{`{"type":["string","integer"]}`, `"1"`, 0},
		{`{"type":["string","integer"]}`, `1.5`, -1},
		{`{"type":"string"}`, `"a"`, -1},
	} {
		assert.Equalf(t, Parse([]byte(c.schema)).Root().Pick(parse(t, c.value)), c.want, "%s of %s", c.value, c.schema)
	}
}

// Texts become values of the first variant that takes them, strings last; what none takes is said with what there is.
func TestCoerceChoices(t *testing.T) {
	many := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(`"o%d"`, i)
		}
		return `{"enum":[` + strings.Join(out, ",") + `]}`
	}
	for _, c := range []struct{ schema, text, want string }{
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, "5", "5"},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, "x", `"x"`},
		{`{"oneOf":[{"type":"integer","minimum":9},{"type":"boolean"}]}`, "5", `! needs a value for one of these alternatives: integer, boolean; give JSON with key:=…; got "5"`},
		{`{"oneOf":[{"type":"integer"},{"type":"boolean"},{"type":"null"}]}`, " null ", "null"},
		{`{"enum":["1",1]}`, "1", `"1"`},
		{`{"enum":[1,"x"]}`, "1", "1"},
		{`{"enum":["a b",null]}`, "null", "null"},
		{`{"oneOf":[{"const":1,"title":"One"},{"const":2}]}`, "One", "1"},
		{`{"oneOf":[{"const":1,"title":""},{"const":2}]}`, "", `! needs one of 1, 2; got ""`},
		{many(12), "x", "! needs one of o0, o1, o2, o3, o4, o5, o6, o7, o8, o9, o10, o11; got \"x\""},
		{many(13), "x", "! needs one of o0, o1, o2, o3, o4, o5, o6, o7, o8, o9, o10, o11, … (13 in all); got \"x\""},
		{`{"type":"boolean"}`, "False", "false"},
		{`{"type":"boolean"}`, "TRUE", "true"},
		{`{"type":"boolean"}`, "1", `! needs true or false; got "1"`},
		{`{"type":"null"}`, "x", `! needs null, the only value that is allowed; got "x"`},
		{`{"type":"array"}`, "[1", `! needs an array as JSON (line 1, column 3: the text ends before the value does); got "[1"`},
		{`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, "1", "[[1]]"},
		{`{}`, "", `""`},
		{`{}`, "[1]", "[1]"},
	} {
		v, err := Parse([]byte(c.schema)).Root().Coerce(c.text)
		got := v.String()
		if err != nil {
			got = "! " + err.Error()
		}
		assert.Equalf(t, got, c.want, "%.80s from %q", c.schema, c.text)
	}
}
