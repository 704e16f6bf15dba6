package lint_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// large is a server with n tools as real ones are: a few parameters each, with defaults, an enum, a list, a nested object, and a result.
func large(n int) string {
	var all []string
	for i := range n {
		all = append(all, one(fmt.Sprintf(`name:"tool_%d"`, i), fmt.Sprintf(`description:"Does what tool %d is meant to do, and says so."`, i), fmt.Sprintf(`inputSchema:{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"required":["query"],"properties":{
			"query":{"type":"string","minLength":1,"maxLength":%d,"description":"What to look for","pattern":"^[^<>]*$"},
			"limit":{"type":"integer","minimum":1,"maximum":100,"default":10,"description":"How many"},
			"sort":{"type":"string","enum":["asc","desc"],"default":"asc","description":"In which order"},
			"tags":{"type":"array","items":{"type":"string"},"description":"With these","examples":[["a","b"]]},
			"where":{"type":"object","description":"Where","properties":{"city":{"type":"string"},"zip":{"type":"string"}}},
			"when":{"anyOf":[{"type":"string","format":"date-time"},{"type":"null"}],"description":"When","default":null}}}`, i+1),
			`outputSchema:{"type":"object","properties":{"hits":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"score":{"type":"number"}}}}},"required":["hits"]}`,
			`annotations:{"readOnlyHint":true}`))
	}
	return list("tools", strings.Join(all, ","))
}

func TestBudgetLint5000Tools(t *testing.T) {
	budget.Skip(t)
	s := listed(t, large(5_000))
	got := budget.Best(func() time.Duration { return budget.Time(func() { examine(t, s, lint.Options{}) }) })
	budget.Ceiling(t, "5,000 tools examined by the rules of lint", got, 3*time.Second)
}

// doubling is a schema that has two references to the next definition in each of n.
func doubling(n int) string {
	var defs strings.Builder
	for i := range n {
		fmt.Fprintf(&defs, `"l%d":{"anyOf":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]},`, i, i+1, i+1)
	}
	return fmt.Sprintf(`{"type":"object","properties":{"x":{"$ref":"#/$defs/l0","description":"d"}},"$defs":{%s"l%d":{"type":"string"}}}`, defs.String(), n)
}

// A schema that explodes is named, bounded, and the tools beside it are examined all the same.
func TestSchemasThatExplode(t *testing.T) {
	wide := `{"type":"object","properties":{` + strings.Repeat(`"p":{"type":"string","description":"d"},`, 25_000) + `"q":{"type":"string","description":"d"}}}`
	for name, schema := range map[string]string{
		"deep":   strings.Repeat(`{"type":"object","properties":{"x":`, 2_000) + `{}` + strings.Repeat(`}}`, 2_000),
		"nots":   `{"type":"object","properties":{"x":` + strings.Repeat(`{"not":`, 4_000) + `{}` + strings.Repeat(`}`, 4_000) + `}}`,
		"wide":   wide,
		"heavy":  `{"type":"object","properties":{},"description":"` + strings.Repeat("a", 5<<20) + `"}`,
		"double": doubling(200),
		"refs":   `{"type":"object","properties":{},"allOf":[` + strings.Repeat(`{"$ref":"#"},`, 10_000) + `{"$ref":"#"}]}`,
		"loop":   `{"type":"object","properties":{"x":{"$ref":"#/properties/y"},"y":{"$ref":"#/properties/x"}}}`,
		"enum":   `{"type":"object","properties":{"x":{"type":"string","description":"d","enum":[` + strings.Repeat(`"a",`, 100_000) + `"a"]}}}`,
	} {
		began := time.Now()
		r := examine(t, listed(t, list("tools", one(`name:"exploding"`, "inputSchema:"+schema)+","+one("description:-"))), lint.Options{})
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		var large int
		var beside bool
		for _, f := range r.Findings {
			if (f.ID == "lint/too-large" || f.ID == "lint/refs-multiply") && f.Place.Name == "exploding" {
				large++
			}
			beside = beside || f.ID == "lint/description-missing" && f.Place.Name == "do_it"
		}
		if once := slices.Contains([]string{"deep", "nots", "wide", "heavy", "double"}, name); large > 1 || (large == 1) != once || !beside {
			t.Errorf("%s: %.3000q", name, places(r))
		}
		if len(r.Findings) > 200 {
			t.Errorf("%s: %d findings", name, len(r.Findings))
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := lint.New(lint.Options{})
	assert.ErrorIs(t, s.Run(ctx, listed(t, many(3)), check.NewRecorder(s, check.Watch{})), context.Canceled)
}

// Whatever a server lists, the section ends, panics not, and points to places that are there.
func FuzzExamine(f *testing.F) {
	for _, c := range cases() {
		f.Add(c.trip)
	}
	f.Add(in(`{"type":["object"],"properties":[],"required":{},"enum":{},"allOf":{"a":1},"items":7,"$ref":7,"$defs":[{}],"default":{"a":[1e999]}}`))
	f.Fuzz(func(t *testing.T, doc string) {
		if len(doc) > 64<<10 || !strings.HasPrefix(doc, "{") {
			return
		}
		s := tolerant(doc)
		if s == nil {
			return
		}
		section, _ := lint.New(lint.Options{Clients: lint.Clients()})
		rec := check.NewRecorder(section, check.Watch{Found: func(f check.Finding) {
			if f.Message == "" || f.Place.Pointer != "" && f.Place.Pointer[0] != '/' {
				t.Errorf("%+v", f)
			}
		}})
		require.NoError(t, section.Run(t.Context(), s, rec))
	})
}
