package schema_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/schema"
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
