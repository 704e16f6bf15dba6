package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
)

// subject is a server with tools of these definitions.
func subject(t *testing.T, tools ...string) *check.Subject {
	t.Helper()
	l, err := new(offer.Pages).Read([]byte(`{"tools":[`+strings.Join(tools, ",")+`]}`), offer.Tools)
	require.NoError(t, err)
	return &check.Subject{Offer: check.Offer{Server: "my server", Tools: l.Items}}
}

func tool(name, description, properties string, more ...string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{%s}%s}}`, name, description, properties, strings.Join(more, ""))
}

// found are the ids of the findings.
func found(t *testing.T, s *Section, sub *check.Subject) (ids []string, rep *check.Report) {
	t.Helper()
	rep, err := check.Run(t.Context(), sub, []check.Section{s}, check.Tool{}, check.Watch{})
	if err != nil || rep.Sections[1].Error != "" {
		t.Fatal(err, rep.Sections)
	}
	for _, f := range rep.Findings {
		ids = append(ids, f.ID)
		if f.Message == "" || f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
	return ids, rep
}

// plain are tools without a fault, as many as it takes to have none that takes a quarter.
func plain(n int) (out []string) {
	for i := range n {
		out = append(out, tool(fmt.Sprint("get_", i), "Gets a thing.", `"id":{"type":"string"}`))
	}
	return out
}

// What whoever makes the schemas puts into each tool is one finding.
func TestUnusedDefinitionsOfManyTools(t *testing.T) {
	for n, want := range map[int]int{onePlace: onePlace, onePlace + 1: 1} {
		var all []string
		for i := range n {
			all = append(all, tool(fmt.Sprint("get_", i), "Gets a thing.", `"p":{"type":"string"}`, `,"$defs":{"a":{"type":"string"}}`))
		}
		ids, rep := found(t, &Section{}, subject(t, all...))
		ids = slices.DeleteFunc(ids, func(id string) bool { return id != "cost/unused-definition" })
		if len(ids) != want || want == 1 && !strings.Contains(rep.Findings[0].Evidence, fmt.Sprint("get_", n-1)) {
			t.Errorf("%d tools: %q, %+v", n, ids, rep.Findings)
		}
	}
}

func TestRules(t *testing.T) {
	words := func(n int) string { return strings.Repeat("word ", n) }
	list := func(n int) string {
		v := make([]string, n)
		for i := range v {
			v[i] = fmt.Sprintf(`"value%d"`, i)
		}
		return strings.Join(v, ",")
	}
	long := func(n int) string {
		return fmt.Sprintf(`{"type":"object","properties":{"note":{"type":"string","pattern":%q}}}`, words(n))
	}
	type row struct {
		rule       string
		bad, good  []string
		budget     int
		instr      [2]int // words of the instructions, bad and good
		severities check.Severity
	}
	seen := map[string]bool{}
	for _, c := range []row{
		{rule: "cost/over-budget", bad: plain(3), good: plain(1), budget: 60, severities: check.Error},
		{rule: "cost/heavy-list", bad: plain(1000), good: plain(10), severities: check.Warning},
		{rule: "cost/one-tool", bad: append(plain(8), tool("big", words(800), "")), good: append(plain(8), tool("big", words(40), "")), severities: check.Info},
		{rule: "cost/heavy-tool", bad: []string{tool("big", "", `"a":`+long(2500))}, good: []string{tool("big", "", `"a":`+long(1500))}, severities: check.Warning},
		{rule: "cost/long-description", bad: []string{tool("a", words(600), "")}, good: []string{tool("a", words(400), "")}, severities: check.Warning},
		{rule: "cost/long-parameter", bad: []string{tool("a", "", fmt.Sprintf(`"p":{"type":"array","items":{"description":%q}}`, words(200)))}, good: []string{tool("a", "", fmt.Sprintf(`"p":{"description":%q}`, words(100)))}},
		{rule: "cost/long-instructions", bad: plain(1), good: plain(1), instr: [2]int{600, 400}, severities: check.Warning},
		{
			rule: "cost/repeated-description", bad: []string{tool("a", "", fmt.Sprintf(`"p":{"description":%[1]q},"q":{"description":%[1]q}`, words(60))), tool("b", "", fmt.Sprintf(`"p":{"description":%q}`, words(60)))},
			good: []string{tool("a", "", fmt.Sprintf(`"p":{"description":%q},"q":{"description":%q},"r":{"description":%q}`, words(60), words(61), words(62)))},
		},
		{rule: "cost/repeated-schema", bad: []string{tool("a", "", `"p":`+long(80)+`,"q":`+long(80))}, good: []string{tool("a", "", `"p":`+long(80)+`,"q":`+long(81)), tool("b", "", `"p":`+long(80))}},
		{rule: "cost/large-enum", bad: []string{tool("a", "", `"p":{"enum":[`+list(200)+`]}`)}, good: []string{tool("a", "", `"p":{"enum":[`+list(50)+`]}`)}, severities: check.Warning},
		{rule: "cost/long-examples", bad: []string{tool("a", "", `"p":{"examples":[`+list(60)+`]}`)}, good: []string{tool("a", "", `"p":{"examples":[`+list(3)+`]}`)}},
		{
			rule: "cost/idle-titles", bad: slices.Repeat([]string{tool("a", "", `"user_id":{"title":"User Id"}`)}, 10),
			good: slices.Repeat([]string{tool("a", "", `"user_id":{"title":"Who asks"}`)}, 10),
		},
		{
			rule: "cost/idle-keywords", bad: slices.Repeat([]string{tool("a", "", "", `,"$schema":"http://json-schema.org/draft-07/schema#"`)}, 10),
			good: []string{tool("a", "", "", `,"$schema":"http://json-schema.org/draft-07/schema#"`)},
		},
		{
			rule: "cost/unused-definition", bad: []string{tool("a", "", `"p":{"$ref":"#/$defs/a"}`, `,"$defs":{"a":{"type":"string"},"b":{"items":{"$ref":"#/$defs/c"}},"c":{"$ref":"#/$defs/b"}}`)},
			good:       []string{tool("a", "", `"p":{"$ref":"#/$defs/x~1y"}`, `,"definitions":{"c":{}},"$defs":{"x/y":{"items":{"$ref":"#/definitions/c/items"}}}`), tool("b", "", `"p":{"$ref":"#anchor"}`, `,"$defs":{"a":{"$anchor":"anchor"}}`)},
			severities: check.Warning,
		},
	} {
		seen[c.rule] = true
		t.Run(c.rule, func(t *testing.T) {
			for i, tools := range [][]string{c.bad, c.good} {
				sub := subject(t, tools...)
				sub.Instructions = words(c.instr[i])
				ids, rep := found(t, &Section{Budget: c.budget}, sub)
				at := slices.Index(ids, c.rule)
				if (at >= 0) != (i == 0) {
					t.Fatalf("%s: %v", []string{"bad", "good"}[i], ids)
				}
				if i == 0 && rep.Findings[at].Severity != c.severities {
					t.Errorf("severity %s", rep.Findings[at].Severity)
				}
			}
		})
	}
	for _, r := range (&Section{}).Rules() {
		if !seen[r.ID] {
			t.Errorf("%s has no row: tools that break it, and nearly the same that do not", r.ID)
		}
		if r.Title == "" || r.Why == "" || r.Fix == "" || !strings.HasPrefix(r.Source, "https://") || r.Read == "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestUnusedDefinitions counts what is referred to by way of other definitions.
func TestUnusedDefinitions(t *testing.T) {
	sub := subject(t, tool("a", "", `"p":{"$ref":"#/$defs/a"}`, `,"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{},"c":{"$ref":"#/$defs/d"},"d":{}}`))
	_, rep := found(t, &Section{}, sub)
	if len(rep.Findings) != 1 || !strings.HasPrefix(rep.Findings[0].Message, "nothing refers to 2 of 4 definitions") || rep.Findings[0].Evidence != "c\nd" {
		t.Errorf("%+v", rep.Findings)
	}
}

func TestFigures(t *testing.T) {
	sub := subject(t, append(plain(8), tool("big", strings.Repeat("word ", 300), `"p":{"type":"string","description":"`+strings.Repeat("more ", 100)+`"}`))...)
	_, rep := found(t, &Section{}, sub)
	var f Figures
	require.NoError(t, json.Unmarshal(rep.Sections[1].Figures, &f))
	sum := 0
	for _, e := range f.Entries {
		sum += e.Tokens
	}
	if f.Tools.Count != 9 || f.Tools.Tokens != sum || f.Entries[0].Name != "big" {
		t.Errorf("%+v", f)
	}
	if len(f.Heaviest) != 5 || f.Heaviest[0].Place.Name != "big" || f.Heaviest[0].Saves != f.Entries[0].Tokens {
		t.Errorf("%+v", f.Heaviest)
	}
	if len(f.Longest) < 2 || f.Longest[0].Place.Pointer != "/description" || f.Longest[1].Place.Pointer != "/inputSchema/properties/p" {
		t.Errorf("%+v", f.Longest)
	}
	// The text is the one that is counted.
	text := Handed("my server", offer.Tools, sub.Tools[0])
	if string(text) != `{"name":"mcp__my_server__get_0","description":"Gets a thing.","input_schema":{"type":"object","properties":{"id":{"type":"string"}}}}` {
		t.Errorf("%s", text)
	}
	if e := Of("my server", offer.Tools, sub.Tools[0]); e.Bytes != len(text) || e.Tokens != Tokens(text) {
		t.Errorf("%+v", e)
	}
}

// TestExplodes has schemas that are deep and wide: they are looked at within limits, and without an error.
func TestExplodes(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"p":`, 2000) + "{}" + strings.Repeat("}}", 2000)
	wide := strings.Repeat(`"p":{"anyOf":[{},{},{},{}]},`, 50_000) + `"q":{}`
	began := time.Now()
	_, rep := found(t, &Section{}, subject(t, tool("deep", "", `"p":`+deep), tool("wide", "", wide), `{"name":"none","inputSchema":7}`, `[]`))
	if n := len(rep.Findings); n > 20 {
		t.Errorf("%d findings", n)
	}
	t.Log(time.Since(began))
}

func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	sub := subject(t, plain(3)...)
	if err := (&Section{}).Run(ctx, sub, check.NewRecorder(&Section{}, check.Watch{})); err == nil {
		t.Error("it went on")
	}
	if All(ctx, "s", offer.Tools, sub.Tools) != nil {
		t.Error("it went on")
	}
}
