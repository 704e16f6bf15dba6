package lint_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/test/require"
)

// only are the findings of one rule.
func only(r *check.Report, id string) (out []check.Finding) {
	for _, f := range r.Findings {
		if f.ID == id {
			out = append(out, f)
		}
	}
	return out
}

// What many tools lack is one finding of the server, which names the first few, and has all in its evidence.
func TestMissingTitlesAndHintsAreToldOnce(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 30 {
		all = append(all, one(fmt.Sprintf(`name:"tool_%d"`, i), fmt.Sprintf(`description:"Does what tool %d is meant to do."`, i), "title:-", "annotations:-"))
	}
	r := examine(t, listed(t, list("tools", strings.Join(all, ",")+","+one()+`,{"title":""}`)), lint.Options{})
	for _, id := range []string{"lint/title-missing", "lint/hints-missing"} {
		got := only(r, id)
		if len(got) != 1 || got[0].Severity != check.Info || got[0].Place != (check.Place{Kind: check.OfServer}) {
			t.Errorf("%s: %+v", id, got)
			continue
		}
		if f := got[0]; f.Message != "30 of 31 tools: tool_0, tool_1, tool_2, tool_3, tool_4 and 25 more" || strings.Count(f.Evidence, "\n") != 29 || !strings.HasSuffix(f.Evidence, "tool_29") {
			t.Errorf("%s: %q %q", id, f.Message, f.Evidence)
		}
	}
}

// The bytes of a schema are those that a client has once it read it: no blanks, no escapes.
func TestBytesOfASchema(t *testing.T) {
	t.Parallel()
	wide := strings.Replace(sized(16_384), `"type":"object",`, `"type" : "object" ,`+strings.Repeat(" ", 500), 1)
	escaped := strings.Replace(sized(16_384), "aaaa", `\u0061\u0061\u0061\u0061`, 200)
	foreign := strings.Replace(sized(16_384), "aa", `ü`, 200) // two bytes each
	r := examine(t, listed(t, list("tools", one("inputSchema:"+wide)+","+one(`name:"b"`, "inputSchema:"+escaped)+","+one(`name:"c"`, "inputSchema:"+foreign))), lint.Options{})
	if got := only(r, "lint/schema-too-large"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	r = examine(t, listed(t, list("tools", one("inputSchema:"+sized(20_000))+","+one(`name:"b"`, "inputSchema:"+sized(16_385))+","+one(`name:"c"`))), lint.Options{})
	got := only(r, "lint/schema-too-large")
	if len(got) != 1 || got[0].Severity != check.Warning || !strings.HasPrefix(got[0].Message, "2 of 3 tools, by bytes of inputSchema: do_it 20000, b 16385; Claude Desktop, claude.ai takes 16384: ") {
		t.Errorf("%+v", got)
	}
	if r := examine(t, listed(t, in(sized(20_000))), lint.Options{Clients: []string{"cursor"}}); len(r.Findings) != 0 {
		t.Errorf("%q", places(r))
	}
}

// A parameter that is an object or a list of objects is described by its members, each of which is looked at.
func TestMembersOfParameters(t *testing.T) {
	t.Parallel()
	const mute, said = `{"type":"string"}`, `{"type":"string","description":"d"}`
	for properties, want := range map[string]string{
		`"a":` + mute + `,"b":` + said:                                                                    "1 of 2 parameters: a",
		`"w":{"type":"object","properties":{"a":` + said + `,"b":` + said + `}}`:                          "",
		`"w":{"type":"object","description":"d","properties":{"a":` + said + `,"b":` + mute + `}}`:        "1 of 2 parameters: w.b",
		`"w":{"type":"array","items":{"type":"object","properties":{"a":` + mute + `,"b":` + mute + `}}}`: "2 of 2 parameters: w[].a, w[].b",
		`"w":{"type":"array","items":{"type":"object","properties":{"a":` + said + `}}}`:                  "",
		`"w":{"type":"array","items":` + mute + `}`:                                                       "1 of 1 parameters: w",
		`"w":{"type":"array","items":` + said + `}`:                                                       "",
		`"w":{"type":"object","additionalProperties":{"type":"object","properties":{"a":` + mute + `}}}`:  "1 of 1 parameters: w.*.a",
		`"w":{"type":"object"}`:                                                                                  "1 of 1 parameters: w",
		`"w":{"type":"object","properties":{}}`:                                                                  "1 of 1 parameters: w",
		`"w":{"type":"object","properties":{},"additionalProperties":false}`:                                     "",
		`"w":{"type":"object","properties":{},"additionalProperties":true}`:                                      "1 of 1 parameters: w",
		`"w":{"anyOf":[{"type":"object","properties":{"kind":{"const":"x"},"a":` + mute + `}},{"type":"null"}]}`: "1 of 2 parameters: w.a",
		`"w":{"$ref":"#/$defs/o"},"v":{"$ref":"#/$defs/o"}`:                                                      "1 of 2 parameters: w.m",
		`"w":{"$ref":"#/$defs/loop"}`:                                                                            "",
		`"w":{"$ref":"#named"}`:                                                                                  "1 of 1 parameters: w.n",
		`"w":{"type":"array","prefixItems":[{"type":"object","properties":{"a":` + mute + `}}]}`:                 "1 of 1 parameters: w[].a",
		`"w":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"array","items":{"properties":{"z":` + mute + `}}}}}}}`: "1 of 1 parameters: w.x.y[].z",
	} {
		schema := `{"type":"object","properties":{` + properties + `},"$defs":{"o":{"type":"object","properties":{"m":` + mute + `,"n":` + said + `}},
			"loop":{"type":"object","properties":{"next":{"$ref":"#/$defs/loop"},"a":` + said + `}},"n":{"$anchor":"named","type":"object","properties":{"n":` + mute + `}}}}`
		got := only(examine(t, listed(t, in(schema)), lint.Options{}), "lint/parameter-description")
		switch {
		case want == "" && len(got) == 0:
		case want == "" || len(got) != 1 || got[0].Message != want || got[0].Place.Pointer != "/inputSchema/properties":
			t.Errorf("%s: %+v, want %q", properties, got, want)
		}
	}
}

// A name that only a prefix makes too long is an error where somebody said which prefix, and a warning that says so where it is assumed.
func TestAssumedPrefix(t *testing.T) {
	t.Parallel()
	doc := func(n int) string {
		return `{"serverInfo":{"name":"gitlab","version":"1.0.0"},"tools":[` + one(`name:"`+strings.Repeat("a", n)+`"`) + `]}`
	}
	for _, c := range []struct {
		n       int
		knownAs string
		want    check.Severity
		sure    check.Confidence
		assumed bool
	}{
		{55, "", check.Warning, check.Likely, true}, {55, "gitlab", check.Error, check.Certain, false}, {60, "", check.Error, check.Certain, false},
	} {
		r := examine(t, listed(t, doc(c.n)), lint.Options{Clients: []string{"cursor"}, KnownAs: c.knownAs})
		got := only(r, "lint/name-too-long")
		if len(got) != 1 || got[0].Severity != c.want || got[0].Sure != c.sure || strings.Contains(got[0].Message, "assumed is the prefix gitlab,") != c.assumed {
			t.Errorf("%+v: %+v", c, got)
		}
		if refused := strings.Contains(string(r.Sections[1].Figures), `"refused":1`); refused == c.assumed {
			t.Errorf("%+v: %s", c, r.Sections[1].Figures)
		}
	}
	if r := examine(t, listed(t, doc(53)), lint.Options{Clients: []string{"cursor"}}); len(r.Findings) != 0 {
		t.Errorf("%q", places(r))
	}
}

// What only strict mode refuses is worth knowing, and an error for who named that mode.
func TestFormatsOfStrictMode(t *testing.T) {
	t.Parallel()
	doc := in(`{"type":"object","properties":{"x":{"type":"string","format":"uri","description":"d"}},"required":["x"],"additionalProperties":false}`)
	for clients, want := range map[string]check.Severity{"": check.Info, "openai-strict": check.Error} {
		r := examine(t, listed(t, doc), lint.Options{Clients: strings.Fields(clients)})
		if len(r.Findings) != 1 || r.Findings[0].ID != "lint/format-openai" || r.Findings[0].Severity != want || !strings.Contains(r.Findings[0].Rule.Title+r.Findings[0].Message, "strict mode") {
			t.Errorf("%q: %q", clients, places(r))
		}
	}
	if r := examine(t, listed(t, doc), lint.Options{Clients: []string{"openai"}}); len(r.Findings) != 0 {
		t.Errorf("%q", places(r))
	}
}

// OpenAPI's nullable is one finding, with all that follows from it.
func TestNullableIsOneFinding(t *testing.T) {
	t.Parallel()
	for keywords, want := range map[string]string{
		`"type":"string","nullable":true`:                                  "by JSON Schema null is not valid here",
		`"type":"string","nullable":true,"enum":["a",null]`:                "though it is in enum",
		`"type":"string","nullable":true,"enum":["a",null],"default":null`: "though it is in enum",
		`"type":"string","nullable":true,"default":null`:                   "null is not valid here",
		`"type":"string","nullable":true,"enum":["ab",null],"minLength":2`: "though it is in enum",
		`"type":["string","null"],"nullable":true`:                         "nullable is a keyword of OpenAPI",
		`"type":"string","nullable":false`:                                 "nullable is a keyword of OpenAPI",
	} {
		r := examine(t, listed(t, param(keywords)), lint.Options{})
		if len(r.Findings) != 1 || r.Findings[0].ID != "lint/keyword-openapi" || !strings.HasSuffix(r.Findings[0].Message, want) || !strings.Contains(r.Findings[0].Fix, `["string", "null"]`) {
			t.Errorf("%s: %q", keywords, places(r))
		}
	}
	for keywords, want := range map[string]string{
		`"type":"string","nullable":false,"enum":["a",null]`:         "lint/enum-type",
		`"type":"string","nullable":true,"enum":["a",""]`:            "lint/enum-empty-value",
		`"type":"string","nullable":true,"enum":["a",1]`:             "lint/enum-type",
		`"type":"integer","nullable":true,"default":"a"`:             "lint/default-invalid",
		`"type":"string","nullable":true,"const":1`:                  "lint/nothing-valid",
		`"nullable":true,"enum":["a",null]`:                          "lint/enum-empty-value", // null is valid there: nothing else says so
		`"type":["string","null"],"nullable":true,"enum":["a",null]`: "lint/enum-empty-value",
	} {
		if r := examine(t, listed(t, param(keywords)), lint.Options{}); len(only(r, want)) != 1 || len(only(r, "lint/keyword-openapi")) != 1 {
			t.Errorf("%s: %q", keywords, places(r))
		}
	}
}

// A fix is for the case at hand: which of two demands to give up, and where a template belongs.
func TestFixesAreForTheCase(t *testing.T) {
	t.Parallel()
	for keywords, want := range map[string]string{
		`"type":"string","const":1`: "write const in the type", `"type":"string","enum":[]`: "list the values", `"type":"string","enum":[1]`: "write the values in the type", `"type":"string","not":{}`: "say what is not taken",
		`"type":"object","required":["a"],"additionalProperties":false,"properties":{}`:                           "describe it in properties, or do not require it",
		`"type":"object","required":["a"],"properties":{"a":false}`:                                               "describe what it takes",
		`"type":"object","required":["a"],"maxProperties":0,"properties":{"a":{"type":"null","description":"d"}}`: "require fewer properties",
		`"allOf":[{"type":"string"},{"type":"integer"}]`:                                                          "let all branches have one type",
		`"type":"integer","exclusiveMinimum":4,"exclusiveMaximum":5`:                                              "widen the bounds",
	} {
		got := only(examine(t, listed(t, param(keywords)), lint.Options{}), "lint/nothing-valid")
		if len(got) != 1 || !strings.HasPrefix(got[0].Fix, want) {
			t.Errorf("%s: %+v, want %q", keywords, got, want)
		}
	}
	for doc, want := range map[string]string{
		template("a:b"): "list it as a resource, and not as a template; where a part of it was to vary",
		`{"resources":[{"name":"a","description":"d","uri":"a:b"}],"resourceTemplates":[{"name":"a","description":"d","uriTemplate":"a:b"}]}`: "take it out of the templates",
	} {
		got := examine(t, listed(t, doc), lint.Options{}).Findings
		if len(got) != 1 || got[0].ID != "lint/template-fixed" || !strings.HasPrefix(got[0].Fix, want) {
			t.Errorf("%s: %+v", doc, got)
		}
	}
}

// One table of severities: what the manual says of each is so. What only Gemini refuses, for which most clients write schemas anew, or what only a
// mode does that a developer chooses, is no error for who did not name it; where no client is harmed, and nothing is refused, neither.
func TestSeveritiesAreOneTable(t *testing.T) {
	t.Parallel()
	s, err := lint.New(lint.Options{})
	require.NoError(t, err)
	byID := map[string]*check.Rule{}
	for _, r := range s.Rules() {
		byID[r.ID] = r
		alone := len(r.Clients) > 0 && !slices.ContainsFunc(r.Clients, func(c string) bool { return c != "gemini" && c != "openai-strict" })
		chosen := strings.HasPrefix(r.ID, "lint/strict-") || strings.HasPrefix(r.ID, "lint/gemini-")
		if alone && !chosen && r.Severity == check.Error {
			t.Errorf("%s is an error, and only %v refuse it", r.ID, r.Clients)
		}
	}
	for _, same := range [][2]string{{"lint/untyped", "lint/items-union"}, {"lint/untyped", "lint/union-untyped"}, {"lint/title-missing", "lint/hints-missing"}, {"lint/schema-too-large", "lint/description-too-long"}} {
		if a, b := byID[same[0]], byID[same[1]]; a.Severity != b.Severity {
			t.Errorf("%s is %s, %s is %s", a.ID, a.Severity, b.ID, b.Severity)
		}
	}
}

var update = flag.Bool("update", false, "write how many rules there are into the manual of check")

// The manual of check says how many rules there are. With -update it is written.
func TestManualCountsTheRules(t *testing.T) {
	t.Parallel()
	s, err := lint.New(lint.Options{})
	require.NoError(t, err)
	manual, err := os.ReadFile("../README.md") // not what is embedded: another section may just have written its numbers
	require.NoError(t, err)
	said := regexp.MustCompile(`by \d+ rules;`).ReplaceAllString(string(manual), fmt.Sprintf("by %d rules;", len(s.Rules())))
	if *update {
		require.NoError(t, os.WriteFile("../README.md", []byte(said), 0o600))
	} else if said != string(manual) || !strings.Contains(said, " rules;") {
		t.Errorf("the manual does not say that there are %d rules: go test ./session/check/lint -run TestManual -update", len(s.Rules()))
	}
}

// What was left out of many findings names the clients that matter, and is counted of the server as well.
func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	var props, caps []string
	for i := range 25 {
		props = append(props, fmt.Sprintf(`"p %d":{"type":"string","description":"What it is"}`, i))
		caps = append(caps, fmt.Sprintf(`"c%d":5`, i))
	}
	s := listed(t, list("tools", one(`inputSchema:{"type":"object","properties":{`+strings.Join(props, ",")+`}}`)))
	s.Capabilities = []byte("{" + strings.Join(caps, ",") + "}")
	more := func(fs []check.Finding) (out *check.Finding) {
		for i, f := range fs {
			if f.Message == "5 more places of the same kind" {
				out = &fs[i]
			}
		}
		return out
	}
	r := examine(t, s, lint.Options{Clients: []string{"bedrock"}})
	if f := more(only(r, "lint/property-key")); f == nil || !slices.Equal(f.Clients, []string{"bedrock"}) {
		t.Errorf("of a tool: %+v", f)
	}
	if f := more(only(r, "lint/capability-type")); f == nil {
		t.Errorf("of the server: %+v", only(r, "lint/capability-type"))
	}
}

// Evidence is cut between characters.
func TestEvidenceIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		r := examine(t, listed(t, list("tools", one(`inputSchema:{"type":"array","description":"`+strings.Repeat("a", i)+strings.Repeat("😀", 200)+`"}`))), lint.Options{})
		for _, f := range only(r, "lint/root-type") {
			if !utf8.ValidString(f.Evidence) {
				t.Errorf("%d: %q", i, f.Evidence[len(f.Evidence)-12:])
			}
		}
		if len(only(r, "lint/root-type")) == 0 {
			t.Error("nothing was found")
		}
	}
}
