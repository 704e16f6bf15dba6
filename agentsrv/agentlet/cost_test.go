package agentlet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// doubling is a schema whose references double n times.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"a%d":{"type":"null"}}}`, n)
	return b.String()
}

func TestX4_SchemasThatTakeForEverAreRefused(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"deep", strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000), "nested deeper"},
		{"doubling", doubling(20), "more than 5000 steps"},
		{"branching recursion", `{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}`, "more than one place"},
		{"branching through a definition", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/b"}},"additionalProperties":{"$ref":"#/$defs/c"}},"b":{"allOf":[{"$ref":"#/$defs/a"}]},"c":{"not":{"$ref":"#/$defs/b"}}}}`, "more than one place"},
		{"dynamic", `{"$dynamicRef":"#x"}`, "not supported"},
		{"anchor", `{"$ref":"#x","$defs":{"a":{"$anchor":"x"}}}`, "not supported"},
		{"patterns", `{"allOf":[` + strings.Repeat(`{"pattern":"(a?b?){500}"},`, 200) + `{}]}`, "more than 5000 steps"},
		{"pattern names", `{"patternProperties":{"(a?b?){1000}{1000}":{}}}`, "pattern"},
	} {
		start := time.Now()
		if _, _, err := compileSchema(json.RawMessage(c.schema)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v to refuse", c.name, took)
		}
	}
	for name, s := range map[string]string{
		"loop":       `{"$ref":"#"}`,
		"loop below": `{"allOf":[{"$ref":"#"}]}`,
		"two":        `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
	} {
		a := &Agent{Name: "x", OutputSchema: json.RawMessage(s)}
		if _, err := a.named().accept(`{"answer":"x"}`); err == nil {
			t.Errorf("%s accepts an answer", name)
		}
	}
}

func TestUsualSchemasAreAccepted(t *testing.T) {
	for _, s := range []string{
		`{}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:x","type":"object"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"},"y":{"$ref":"#/definitions/a"}}}`,
		`{"$defs":{"tree":{"properties":{"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}},"properties":{"a":{"$ref":"#/$defs/tree"},"b":{"$ref":"#/$defs/tree"}}}`,
		`{"properties":{"$ref":{"type":"string"},"pattern":{"type":"string","pattern":"^[a-z]+$"}}}`,
		doubling(6),
	} {
		if _, cost, err := compileSchema(json.RawMessage(s)); err != nil || cost < 1 {
			t.Errorf("%s: %v", s, err)
		}
	}
	a := &Agent{Name: "x", OutputSchema: json.RawMessage(`{"properties":{"tree":{"type":"array","items":{"$ref":"#/properties/tree"}}}}`)}
	if _, err := a.named().accept(`{"tree":[[],[[[]]]]}`); err != nil {
		t.Error(err)
	}
	if _, err := a.accept(`{"tree":[1]}`); err == nil {
		t.Error("a leaf of the wrong type is accepted")
	}
	costly := &Agent{Name: "y", OutputSchema: json.RawMessage(doubling(10))}
	if _, err := costly.named().accept(`{"answer":"` + strings.Repeat("x", 100_000) + `"}`); err == nil || !strings.Contains(err.Error(), "too many to check") {
		t.Error(err)
	}
}
