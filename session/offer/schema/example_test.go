package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A tool's input schema, as a form and a command line use it.
func Example() {
	s := schema.Parse([]byte(`{
		"type": "object",
		"properties": {
			"city": {"type": "string", "minLength": 2},
			"days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3}
		},
		"required": ["city"]
	}`))
	for _, c := range s.Root().Children(nil) {
		fmt.Println(c.Name, c.Field().Types, c.Required)
	}

	args, err := s.CoerceArgs(nil, []string{"city=Oslo", "days=7"})
	if err != nil {
		panic(err)
	}
	fmt.Println(args)

	for _, p := range s.Validate(args.Set([]string{"days"}, schema.StringValue("many"))) {
		fmt.Println(p)
	}
	// Output:
	// city string true
	// days integer false
	// {"city":"Oslo","days":7}
	// /days: must be a whole number
}

// A value keeps the order of its members and the digits of its numbers, also beyond 64 bits.
func ExampleValue_Set() {
	v, err := schema.ParseValue([]byte(`{"id": 12345678901234567890, "tags": ["a"]}`))
	if err != nil {
		panic(err)
	}
	changed := v.Set([]string{"tags", "0"}, schema.StringValue("b"))
	fmt.Println(v)
	fmt.Println(changed)
	// Output:
	// {"id":12345678901234567890,"tags":["a"]}
	// {"id":12345678901234567890,"tags":["b"]}
}

// An example shows every field; whatever the schema holds, it is made at once and stays small.
func TestExampleOfAField(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object","required":["b"],"properties":{"a":{"type":"string","examples":["x","y"]},"b":{"type":"integer","minimum":3},"c":{"enum":["red","blue"]},"d":{"type":"array","items":{"type":"boolean"}}}}`, `{"a":"x","b":3,"c":"red","d":[false]}`},
		{`{"type":"object","properties":{"when":{"type":"string","format":"date"},"n":{"type":"number","default":1.50}}}`, `{"when":"2026-11-21","n":1.50}`},
		{`{"type":"object","properties":{"u":{"anyOf":[{"type":"string"},{"type":"null"},{"type":"object","properties":{}}]}}}`, `{"u":""}`},
	} {
		assert.Equalf(t, schema.Parse([]byte(c.schema)).Root().Example().String(), c.want, "%s", c.schema)
	}
	wide := `{"type":"object","required":["z"],"properties":{`
	for i := range 40 {
		wide += fmt.Sprintf(`"p%d":{"$ref":"#"},`, i)
	}
	wide += `"z":{"type":"integer"}}}`
	huge := `{"type":"object","properties":{"a":{"type":"string","examples":["` + strings.Repeat("x", 1<<20) + `"]}}}`
	self := `{"type":"object","required":["next"],"properties":{"next":{"$ref":"#"},"v":{"type":"string"}}}`
	for name, s := range map[string]string{"forty of itself": wide, "a huge example": huge, "requires itself": self} {
		v := schema.Parse([]byte(s)).Root().Example()
		if n := len(v.JSON()); n == 0 || n > 64<<10 {
			t.Errorf("%s gives %d bytes", name, n)
		}
	}
	assert.Equalf(t, schema.Parse([]byte(wide)).Root().Example().Get("z").String(), "0", "what is required has no room")
}
