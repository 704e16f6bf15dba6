package contract

import (
	"testing"

	"github.com/mcphud/mcphud/session/schema"
)

// The evidence of a change is what was and what is, as far as there was and is something.
func TestEvidenceOfAChange(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{{"a", "b", "- a\n+ b"}, {"a", "", "- a"}, {"", "b", "+ b"}, {"", "", ""}} {
		if got := (Change{Before: c.before, After: c.after}).finding().Evidence; got != c.want {
			t.Errorf("%q → %q: %q", c.before, c.after, got)
		}
	}
}

// A property that is gone may have another name now: one that was added beside it, with a schema that is the same and says something.
func TestRenamedProperty(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`"a":{"type":"string"}`, `"b":{"type":"string"}`, "b"},
		{`"a":{"type":"string"}`, `"b":{"type":"string"},"c":{"type":"string"}`, "b"},
		{`"a":{"type":"string"}`, `"b":{"type":"null"}`, ""},
		{`"a":{"type":"string"}`, `"b":{"type":"null"},"c":{"type":"string"}`, "c"},
		{`"a":{}`, `"b":{}`, ""},
		{`"a":{"type":"string"}`, ``, ""},
		{`"a":{"type":"string"},"o":{"type":"object"}`, `"o":{"type":"object","properties":{"b":{"type":"string"}}}`, ""},
	} {
		of := func(props, required string) *schema.Schema {
			return schema.Parse([]byte(`{"type":"object","properties":{` + props + `}` + required + `}`))
		}
		a := of(c.before, "")
		for _, required := range []string{"", `,"required":["b"]`} {
			if required != "" && c.want != "b" {
				continue
			}
			b := of(c.after, required)
			va, _ := schema.ParseValue(a.Raw())
			vb, _ := schema.ParseValue(b.Raw())
			all := schema.Changes(a, b)
			for _, ch := range all {
				if ch.Kind != schema.PropertyRemoved {
					continue
				}
				if got := renamedProperty(pointed(va, ch.Pointer), vb, ch, all); got != c.want {
					t.Errorf("%s → %s %s: %q, want %q", c.before, c.after, required, got, c.want)
				}
			}
		}
	}
}
