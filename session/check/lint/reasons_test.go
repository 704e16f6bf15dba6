package lint_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check/lint"
)

// messages are what a rule says of a schema of a parameter.
func messages(t *testing.T, id, members string) (out []string) {
	t.Helper()
	r := examine(t, listed(t, tool(`inputSchema:{"type":"object","properties":{"x":{"description":"d",`+members+`}},"$defs":{"a":{"$anchor":"n","description":"d","type":"string"}}}`)), lint.Options{})
	for _, f := range r.Findings {
		if f.ID == id {
			out = append(out, f.Message)
		}
	}
	return out
}

// The keyword that is offered is the nearest, not the first that is near.
func TestNearestKeyword(t *testing.T) {
	for name, want := range map[string]string{
		"maxlength": "maxLength", "minlength": "minLength", "exclusivemaximum": "exclusiveMaximum", "exclusiveminimum": "exclusiveMinimum", "maxitem": "maxItems", "minproperties": "minProperties",
		"maxproperties": "maxProperties", "descripton": "description",
	} {
		got := messages(t, "lint/keyword-misspelled", `"type":"string","`+name+`":1`)
		if len(got) != 1 || !strings.HasSuffix(got[0], "; "+want+" is") {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
	}
}

// Why an engine does not have a pattern is what it lacks, and only look-around and back-references need one that backtracks.
func TestPatternReasons(t *testing.T) {
	for pattern, want := range map[string]string{
		`^(?=.*a)b`: "look-around", `a(?!b)`: "look-around", `(?<=a)b`: "look-around", `(?<!a)b`: "look-around", `(a)\\1`: "back-references",
		`^[a-z]{1,2000}$`: "at most 1000 times", `\\cA`: `the escape \c`, `[^]`: "empty class [^]", `a[]b`: "empty class []",
	} {
		got := messages(t, "lint/pattern-portability", `"type":"string","pattern":"`+pattern+`"`)
		if len(got) != 1 || !strings.Contains(got[0], want) || strings.Contains(got[0], "backtrack") != (strings.Contains(want, "look") || strings.Contains(want, "back")) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// What an anchor names describes as well as what a pointer leads to.
func TestDescribedByAnchor(t *testing.T) {
	for ref, want := range map[string]int{"#n": 0, "#/$defs/a": 0, "#other": 1} {
		r := examine(t, listed(t, tool(`inputSchema:{"type":"object","properties":{"x":{"$ref":"`+ref+`"}},"$defs":{"a":{"$anchor":"n","description":"d","type":"string"}}}`)), lint.Options{})
		n := 0
		for _, f := range r.Findings {
			if f.ID == "lint/parameter-description" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d findings, want %d", ref, n, want)
		}
	}
}
