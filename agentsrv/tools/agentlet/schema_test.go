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

// deepAnswer is n objects in each other, under x.
func deepAnswer(n int) string { return strings.Repeat(`{"x":`, n) + `{}` + strings.Repeat(`}`, n) }

func TestX4_SchemasThatTakeForEverAreRefused(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"deep", strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000), "1000 levels"},
		{"dynamic", `{"$dynamicRef":"#x"}`, "not checked"},
		{"patterns", `{"allOf":[` + strings.Repeat(`{"pattern":"(a?b?){500}"},`, 200) + `{}]}`, "more than 2000 instructions"},
		{"pattern names", `{"patternProperties":{"(a?b?){1000}{1000}":{}}}`, "pattern"},
	} {
		start := time.Now()
		if _, err := compileSchema(json.RawMessage(c.schema)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v to refuse", c.name, took)
		}
	}
	// What takes for ever only with some answers is refused with these.
	for _, c := range []struct{ name, schema, answer, want string }{
		{"doubling", doubling(20), `{"answer":"x"}`, "more than 1000000 steps"},
		{"doubling more", doubling(40), `{"answer":"x"}`, "more than 1000000 steps"},
		{"branching recursion", `{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}`, deepAnswer(90), "more than 1000000 steps"},
		{"branching through a definition", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/b"}},"additionalProperties":{"$ref":"#/$defs/c"}},"b":{"allOf":[{"$ref":"#/$defs/a"}]},"c":{"not":{"$ref":"#/$defs/b"}}}}`, deepAnswer(90), "more than 1000000 steps"},
		{"deep answer", `{"properties":{"x":{"$ref":"#"}},"required":["x"]}`, deepAnswer(5000), "deeper than 100 levels"},
		{"many schemas", `{"additionalProperties":{"items":{"allOf":[` + strings.Repeat(`{"minLength":1},`, 4000) + `{}]}}}`, `{"x":["` + strings.Repeat(`xx","`, 500_000) + `"]}`, "limit"},
		{"long patterns", `{"additionalProperties":{"pattern":"(a?b?){200}c"}}`, `{"x":"` + strings.Repeat("ab", 1_000_000) + `"}`, "limit"},
	} {
		start := time.Now()
		a := &Agent{Name: "x", OutputSchema: json.RawMessage(c.schema)}
		if _, err := a.setNames().accept(c.answer); err == nil || !strings.Contains(err.Error(), c.want) {
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
		if _, err := a.setNames().accept(`{"answer":"x"}`); err == nil {
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
		if _, err := compileSchema(json.RawMessage(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	a := &Agent{Name: "x", OutputSchema: json.RawMessage(`{"properties":{"tree":{"type":"array","items":{"$ref":"#/properties/tree"}}}}`)}
	if _, err := a.setNames().accept(`{"tree":[[],[[[]]]]}`); err != nil {
		t.Error(err)
	}
	if _, err := a.accept(`{"tree":[1]}`); err == nil {
		t.Error("a leaf of the wrong type is accepted")
	}
}
