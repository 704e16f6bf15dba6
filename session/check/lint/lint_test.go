package lint_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// listed is a server that lists what doc has: an object of serverInfo, capabilities, instructions, protocol, and the lists.
func listed(t testing.TB, doc string) *check.Subject {
	t.Helper()
	s := tolerant(doc)
	if s == nil || !json.Valid([]byte(doc)) {
		t.Fatalf("the test's document is not a server's: %.1000s", doc)
	}
	return s
}

// tolerant is listed, nil for a document with a list that cannot be read.
func tolerant(doc string) *check.Subject {
	o := check.Offer{
		Server: "s", Name: jsonrpc.GetString([]byte(doc), "serverInfo", "name"), Info: jsonrpc.Get([]byte(doc), "serverInfo"), Capabilities: jsonrpc.Get([]byte(doc), "capabilities"),
		Instructions: jsonrpc.GetString([]byte(doc), "instructions"), Protocol: jsonrpc.GetString([]byte(doc), "protocol"), Failed: map[offer.Kind]error{},
	}
	for k, to := range map[offer.Kind]*[]offer.Item{offer.Tools: &o.Tools, offer.Prompts: &o.Prompts, offer.Resources: &o.Resources, offer.Templates: &o.Templates} {
		raw := jsonrpc.Get([]byte(doc), k.String())
		if raw == nil {
			continue
		}
		var pages offer.Pages
		p, err := pages.Read([]byte(`{"`+k.String()+`":`+string(raw)+`}`), k)
		if err != nil {
			return nil
		}
		*to = p.Items
	}
	return &check.Subject{Offer: o}
}

// examine runs the section, and leaves out what the run itself finds.
func examine(t testing.TB, s *check.Subject, o lint.Options) *check.Report {
	t.Helper()
	section, err := lint.New(o)
	require.NoError(t, err)
	r, err := check.Run(t.Context(), s, []check.Section{section}, check.Tool{}, check.Watch{})
	require.NoError(t, err)
	for _, f := range r.Findings {
		if f.Rule.Section() != "lint" {
			t.Fatalf("%s: %s %s", f.ID, f.Message, f.Evidence)
		}
	}
	return r
}

func places(r *check.Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.ID+" "+f.Place.String()+" — "+f.Message)
	}
	return out
}

// Each rule of the table finds its case, at its place, and nothing else does; and it leaves the near miss alone. A rule without both fails.
func TestEachRule(t *testing.T) {
	seen := map[string]bool{capabilityMissing: true}
	for _, c := range cases() {
		if seen[c.id] = true; c.trip == "" || c.miss == "" {
			t.Errorf("%s: a case and a near miss are needed", c.id)
		}
		o := lint.Options{Clients: c.clients, KnownAs: "srv"}
		got := examine(t, listed(t, c.trip), o)
		if len(got.Findings) != 1 || got.Findings[0].ID != c.id || got.Findings[0].Place.Pointer != c.at {
			t.Errorf("%s at %q was to be found in\n%s\nfound %q", c.id, c.at, c.trip, places(got))
			continue
		}
		if !there(t, c.trip, got.Findings[0].Place) {
			t.Errorf("%s: %s leads nowhere in\n%s", c.id, c.at, c.trip)
		}
		if f := got.Findings[0]; f.Message == "" || len(f.Message) > 400 || f.Fix == "" || f.Clients == nil {
			t.Errorf("%s: a poor finding: %+v", c.id, f)
		}
		if got := examine(t, listed(t, c.miss), o); len(got.Findings) != 0 {
			t.Errorf("%s: nothing was to be found in\n%s\nfound %q", c.id, c.miss, places(got))
		}
	}
	s, _ := lint.New(lint.Options{})
	for _, r := range s.Rules() {
		if !seen[r.ID] {
			t.Errorf("%s has no case", r.ID)
		}
	}
	if len(s.Rules()) < 60 {
		t.Errorf("there are %d rules", len(s.Rules()))
	}
}

func TestRulesAreWhole(t *testing.T) {
	s, _ := lint.New(lint.Options{})
	ids := map[string]bool{}
	for _, r := range s.Rules() {
		if r.Title == "" || r.Why == "" || r.Fix == "" || r.Read == "" || !strings.HasPrefix(r.Source, "https://") || r.Section() != "lint" || ids[r.ID] {
			t.Errorf("%+v", r)
		}
		ids[r.ID] = true
		for _, c := range r.Clients {
			if !slices.Contains(lint.Clients(), c) {
				t.Errorf("%s names %s, which is no client", r.ID, c)
			}
		}
	}
}

// A list that is answered and not declared is found, by asking for it; and one that is refused is not.
func TestCapabilityMissing(t *testing.T) {
	for want, answer := range map[int]string{1: `{"prompts":[{"name":"a"}]}`, 0: `{"prompts":[]}`} {
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "tools/list":
					p.Answer(env, `{"tools":[`+one()+`]}`)
				case "prompts/list":
					p.Answer(env, answer)
				default:
					p.Refuse(env, -32601, "")
				}
			})
		})}, config.Server{})
		o, err := check.Take(t.Context(), s)
		require.NoError(t, err)
		got := examine(t, &check.Subject{Offer: o, Session: s}, lint.Options{})
		found := 0
		for _, f := range got.Findings {
			if f.ID == capabilityMissing && f.Place.Pointer == "/capabilities" {
				found++
			}
		}
		if found != want {
			t.Errorf("%s: %q", answer, places(got))
		}
	}
}

// capabilityMissing needs a server that answers, and has a test of its own.
const capabilityMissing = "lint/capability-missing"

// there says whether the pointer of a place leads somewhere in what was listed.
func there(t *testing.T, doc string, p check.Place) bool {
	t.Helper()
	path, ok := schema.SplitPointer(p.Pointer)
	if !ok {
		return false
	}
	s, raw := listed(t, doc), doc
	for _, k := range []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates} {
		for _, it := range s.Items(k) {
			if check.PlaceOf(k, it, p.Pointer) == p {
				raw = string(it.Raw)
			}
		}
	}
	v, err := schema.ParseValue([]byte(raw))
	return err == nil && v.At(path...).IsSet()
}

// Each number of each client is one that fits, and the next that does not.
func TestEachLimit(t *testing.T) {
	n := 0
	lint.EachLimit(func(client, about string, most int, prefix, source string) {
		n++
		if !slices.Contains(lint.Clients(), client) || !strings.HasPrefix(source, "https://") {
			t.Errorf("%s %s", client, source)
		}
		for over := range 2 {
			size := most + over - len(strings.ReplaceAll(prefix, "%s", "srv"))
			doc := map[string]string{
				"name": tool(`name:"` + strings.Repeat("a", size) + `"`), "description": tool(`description:"` + strings.Repeat("a", size) + `"`),
				"schema": in(sized(max(size, 100))), "instructions": `{"instructions":"` + strings.Repeat("a", size) + `"}`,
			}[about]
			if about == "tools" {
				doc = many(size)
			}
			r := examine(t, listed(t, doc), lint.Options{Clients: []string{client}, KnownAs: "srv"})
			found := 0
			for _, f := range r.Findings {
				if strings.Contains(f.Message, fmt.Sprintf("takes %d:", most)) && strings.Contains(f.Evidence, source) {
					found++
				}
			}
			if found != over {
				t.Errorf("%s %s of %d+%d: %q", client, about, most, over, places(r))
			}
		}
	})
	if n < 10 {
		t.Errorf("%d limits", n)
	}
}

// What is wrong in the value of any keyword is found at it.
func TestEachKeyword(t *testing.T) {
	for keyword, bad := range map[string]string{
		"title": "1", "description": "[]", "format": "{}", "pattern": "null", "$id": "1", "$anchor": "true", "$comment": "2", "contentEncoding": "7", "contentMediaType": "7",
		"minLength": "-1", "maxLength": "1.5", "minItems": `"1"`, "maxItems": "null", "minProperties": "-1", "maxProperties": "true", "minContains": "[]", "maxContains": "{}",
		"minimum": `"0"`, "maximum": "true", "exclusiveMinimum": "true", "exclusiveMaximum": "false", "multipleOf": "0", "uniqueItems": `"yes"`,
		"required": "true", "dependentRequired": "[]", "properties": "[]", "patternProperties": "7", "dependentSchemas": "[]", "$defs": "[]", "definitions": "1",
		"allOf": "[]", "anyOf": "{}", "oneOf": `"x"`, "enum": `"a"`, "examples": `"a"`, "type": "7", "deprecated": "1", "readOnly": `"true"`, "writeOnly": "0",
		"not": "7", "if": `"x"`, "then": "[]", "else": "1", "contains": "7", "propertyNames": "1", "additionalProperties": `"no"`, "items": "7", "unevaluatedItems": "1", "unevaluatedProperties": "null", "contentSchema": "1",
	} {
		r := examine(t, listed(t, in(`{"type":"object","properties":{"x":{"`+keyword+`":`+bad+`}}}`)), lint.Options{})
		if !slices.ContainsFunc(r.Findings, func(f check.Finding) bool {
			return f.ID == "lint/keyword-type" && f.Place.Pointer == x+"/"+keyword
		}) {
			t.Errorf("%s: %s is not found: %q", keyword, bad, places(r))
		}
	}
}

// Each way of contradicting itself is found, and what resembles it is left alone.
func TestContradictions(t *testing.T) {
	for keywords, want := range map[string]bool{
		`"type":"string","enum":[]`: true, `"type":"string","enum":[1,2]`: true, `"type":"string","enum":["a"]`: false,
		`"type":"string","not":{}`: true, `"type":"string","not":true`: true, `"type":"string","not":{"const":"a"}`: false,
		`"type":"object","required":["a","b"],"maxProperties":1,"properties":{"a":{"type":"null"},"b":{"type":"null"}}`: true,
		`"type":"object","required":["a"],"maxProperties":1,"properties":{"a":{"type":"null"}}`:                         false,
		`"type":"object","required":["a"],"additionalProperties":false,"properties":{}`:                                 true,
		`"type":"object","required":["a"],"additionalProperties":false,"properties":{},"patternProperties":{"a":{}}`:    false,
		`"type":"object","required":["a"],"properties":{"a":false}`:                                                     true,
		`"allOf":[{"type":"string"},{"type":"integer"}]`:                                                                true, `"allOf":[{"type":"number"},{"type":"integer"}]`: false,
		`"type":["string","null"],"const":null`: false, `"type":"integer","const":1.0`: false, `"type":"integer","const":1.5`: true,
		`"type":"integer","exclusiveMinimum":4,"exclusiveMaximum":5`: true, `"type":"integer","exclusiveMinimum":4,"exclusiveMaximum":6`: false,
		`"type":"integer","minimum":4.1,"maximum":4.9`: true, `"type":"number","exclusiveMinimum":4,"exclusiveMaximum":5`: false, `"type":"integer","minimum":4,"maximum":4`: false,
		`"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":"null"},"b":{"type":"null"}}`: false,
	} {
		r := examine(t, listed(t, param(keywords)), lint.Options{})
		got := slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.ID == "lint/nothing-valid" })
		if got != want {
			t.Errorf("%s: %v %q", keywords, got, places(r))
		}
	}
}

// A value of enum is judged by all keywords beside it, and a repetition in a repetition is found where nothing parts the two.
func TestEnumsAndRepetitions(t *testing.T) {
	for keywords, want := range map[string]string{
		`"type":"integer","enum":[1,7],"maximum":5`: "lint/enum-excluded", `"type":"integer","enum":[1,5],"maximum":5`: "", `"type":"integer","enum":[1,5],"minimum":1`: "",
		`"type":"string","enum":["a","bb"],"maxLength":1`: "lint/enum-excluded", `"type":"integer","enum":[3,4],"multipleOf":2`: "lint/enum-excluded",
		`"type":"string","pattern":"(a*)*"`: "lint/pattern-explodes", `"type":"string","pattern":"^(?:[a-z]+\\d*)+$"`: "lint/pattern-explodes", `"type":"string","pattern":"(x|(y+))*"`: "lint/pattern-explodes",
		`"type":"string","pattern":"([a-z]{2,})+"`: "lint/pattern-explodes", `"type":"string","pattern":"^[a-z]+(-[a-z]+)*$"`: "", `"type":"string","pattern":"(a+){3}"`: "", `"type":"string","pattern":"(a?)+b"`: "",
		`"type":"string","pattern":"((ab|cd)e*)*"`: "", `"type":"string","pattern":"((|ab|cd)e*)*"`: "lint/pattern-explodes", `"type":"string","pattern":"((a?b)e*)*"`: "", `"type":"string","pattern":"((a?b?)e*)*"`: "lint/pattern-explodes",
		`"type":"string","pattern":"(^a+$)*"`: "lint/pattern-explodes", `"type":"string","pattern":"(a{0,2}b+)*"`: "lint/pattern-explodes", `"type":"string","pattern":"(a{1,2}b+)*"`: "", `"type":"string","pattern":"(a+){0,9}"`: "",
	} {
		r := examine(t, listed(t, param(keywords)), lint.Options{})
		got := ""
		for _, f := range r.Findings {
			if f.ID == "lint/enum-excluded" || f.ID == "lint/pattern-explodes" {
				got = f.ID
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %q", keywords, got, want, places(r))
		}
	}
}

// The figures say who refuses how much, and who loses the rest with it.
func TestFigures(t *testing.T) {
	bad := one(`name:"bad"`, `inputSchema:{"type":"object","properties":{},"oneOf":[{"type":"object"}]}`)
	long := one(`name:"`+strings.Repeat("a", 60)+`"`, `description:"Another of the tools."`)
	r := examine(t, listed(t, list("tools", one()+","+bad+","+long)), lint.Options{KnownAs: "srv"})
	var got []lint.ClientFigures
	if err := json.Unmarshal(r.Sections[1].Figures, &got); err != nil || len(got) != len(lint.Clients()) {
		t.Fatalf("%v: %s", err, r.Sections[1].Figures)
	}
	for _, f := range got {
		want := lint.ClientFigures{Client: f.Client, Title: f.Title, Tools: 3}
		switch f.Client {
		case "anthropic", "claude-code", "claude-desktop", "openai":
			want.Refused, want.Lost, want.First, want.Because = 1, 3, "bad", "lint/top-level-union"
		case "openai-strict":
			want.Refused, want.Lost, want.First, want.Because = 3, 3, "do_it", "lint/strict-open"
		case "gemini-openapi":
			want.Refused, want.Lost, want.First, want.Because = 1, 3, "bad", "lint/gemini-keyword"
		case "cursor":
			want.Refused, want.Lost, want.First, want.Because = 1, 1, strings.Repeat("a", 60), "lint/name-too-long"
		}
		if f != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	if r := examine(t, listed(t, list("tools", bad)), lint.Options{Clients: []string{"cursor"}}); len(r.Findings) != 0 || len(r.Sections[1].Table) != 2 {
		t.Errorf("%q %q", places(r), r.Sections[1].Table)
	}
	if _, err := lint.New(lint.Options{Clients: []string{"claud"}}); err == nil {
		t.Error("an unknown client is taken")
	}
}

// A description of an item with many places is not repeated without end.
func TestManyPlaces(t *testing.T) {
	var props []string
	for i := range 100 {
		props = append(props, fmt.Sprintf(`"p%d":{"type":"int","description":"d"}`, i))
	}
	r := examine(t, listed(t, in(`{"type":"object","properties":{`+strings.Join(props, ",")+`}}`)), lint.Options{})
	if n := len(r.Findings); n != 21 || r.Findings[20].Message != "80 more places of the same kind" {
		t.Errorf("%d: %q", n, places(r))
	}
}

// No two findings have one fingerprint, in whatever is examined: an ignore list or a baseline would take one for the other.
func TestFingerprintsDiffer(t *testing.T) {
	docs := []string{
		param(`"type":"string","enum":["a","a","b","b"],"patternProperties":{"a(":{},"b(":{}}`),
		in(`{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"string"}},"required":["a","a","a","b","b"],"additionalProperties":false}`),
		list("tools", one()+","+one()+","+one()), list("prompts", `{"name":"a"},{"name":"a"},{"name":"a"}`), many(600),
	}
	for _, c := range cases() {
		docs = append(docs, c.trip)
	}
	for _, doc := range docs {
		seen := map[string]string{}
		for _, f := range examine(t, listed(t, doc), lint.Options{Clients: lint.Clients()}).Findings {
			if other, ok := seen[f.Fingerprint]; ok {
				t.Errorf("%.300s:\n%s\n%s", doc, other, f.ID+" "+f.Message)
			}
			seen[f.Fingerprint] = f.ID + " " + f.Message
		}
	}
}
