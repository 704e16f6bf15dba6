package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The evidence of a change is what was and what is, as far as there was and is something.
func TestEvidenceOfAChange(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{{"a", "b", "- a\n+ b"}, {"a", "", "- a"}, {"", "b", "+ b"}, {"", "", ""}} {
		assert.Equalf(t, (Change{Before: c.before, After: c.after}).finding().Evidence, c.want, "%q → %q", c.before, c.after)
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
				assert.Equalf(t, renamedProperty(valueAt(va, ch.Pointer), vb, ch, all), c.want, "%s → %s %s", c.before, c.after, required)
			}
		}
	}
}

// Why arguments are refused is said by the names on the way, whatever the numbers of items, and not of what was hidden.
func TestRefused(t *testing.T) {
	s := schema.Parse([]byte(`{"type":"object","required":["q"],"properties":{"q":{"type":"string","maxLength":2},"l":{"type":"array","items":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}},"7":{"type":"null"}}}`))
	for args, want := range map[string]string{
		`{"q":"a"}`: "", `{}`: "`q` is required", `{"q":1}`: "`q` must be a string", `{"q":"a","l":[{"n":1},{}]}`: "`l[].n` is required", `{"q":"a","l":[{"n":""}]}`: "`l[].n` must be a whole number", `[]`: "must be an object",
		`{"q":"***"}`: "", `{"q":"***","l":1}`: "`l` must be an array", `{"q":"a","7":1}`: "`[]` must be null",
	} {
		assert.Equalf(t, firstProblem(s, []byte(args)), want, "%s", args)
	}
	for kind, want := range map[offer.Kind]string{offer.Tools: "the tool was removed", offer.Prompts: "the prompt was removed"} {
		assert.Equal(t, (&target{kind: kind}).refuses(nil), want)
	}
}

// Calls are counted by what becomes of them, and of each reason a few are shown.
func TestEvidenceCounts(t *testing.T) {
	of := func(tools, prompts string) *Contract {
		o := &check.Offer{Server: "s", Lists: nil}
		for k, list := range map[offer.Kind]string{offer.Tools: tools, offer.Prompts: prompts} {
			page, err := (*offer.Pages)(nil).Read([]byte(fmt.Sprintf(`{%q:[%s]}`, k, list)), k)
			require.NoError(t, err)
			if k == offer.Tools {
				o.Tools = page.Items
			} else {
				o.Prompts = page.Items
			}
		}
		return Of(o)
	}
	const tool = `{"name":"a","inputSchema":{"type":"object","required":["q"%s],"properties":{"q":{"type":"string"}}}}`
	e := newEvidence(of(fmt.Sprintf(tool, ""), `{"name":"p"}`), of(fmt.Sprintf(tool, `,"n"`), `{"name":"p","arguments":[{"name":"x","required":true}]}`), "s", "own")
	for i, c := range []struct{ method, name, args string }{
		{callMethod, "a", `{"q":"1"}`}, {callMethod, "a", `{"q":"2"}`}, {callMethod, "a", `{"q":"3"}`}, {callMethod, "a", `{"q":"4"}`}, {callMethod, "a", `{"q":"1","n":1}`}, {callMethod, "a", `{}`}, {callMethod, "a", ""}, {callMethod, "b", `{}`}, {getMethod, "p", ""}, {readMethod, "p", ""},
	} {
		r := Recorded{Method: c.method, Name: c.name, Server: "other"}
		if c.args != "" {
			r.Arguments = []byte(c.args)
		}
		r.sights = []sight{{uint64(i) + 1, uint64(i) + 1}}
		e.call(r)
	}
	section := &Section{}
	rec := check.NewRecorder(section, check.Watch{})
	total := e.report(rec)
	if total.Calls != 8 || total.Refused != 5 || total.Already != 2 || total.Unknown != 1 {
		t.Errorf("%+v", total)
	}
	want := "checked 8 recorded calls: 5 would be refused, and 2 that the lock refuses too; 1 calls are of tools that the server never had, by the lock; no recorded call names this server: those of tools with the same names were checked"
	assert.Equal(t, strings.Join(total.notes(), "; "), want)
	if got := strings.Join((evidenceTotal{Calls: 1, named: true, Broken: 2}).notes(), "; "); got != "checked 1 recorded calls: 0 would be refused; 2 lines or files could not be read" {
		t.Error(got)
	}
	// Where calls name the server only theirs count, unknown ones too.
	for i, c := range []struct{ server, name string }{{"s", "a"}, {"own", "gone"}, {"other", "gone"}} {
		e.call(Recorded{Method: callMethod, Name: c.name, Server: c.server, Arguments: []byte(`{"q":"1","n":1}`), sights: []sight{{uint64(i) + 100, uint64(i) + 100}}})
	}
	if total := e.report(check.NewRecorder(section, check.Watch{})); !total.named || total.Unknown != 1 {
		t.Errorf("%+v", total)
	}
	why := e.all.of[callMethod+" a"].reasons["`n` is required"]
	if why == nil || why.n != 4 || fmt.Sprint(why.examples) != `[{"q":"1"} {"q":"2"} {"q":"3"}]` {
		t.Errorf("%+v", why)
	}
}

// A list whose definitions are not all known any more is compared as far as they are.
func TestCompareList(t *testing.T) {
	const a, b = `{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"a","description":"d","inputSchema":{"type":"object"}}`
	for _, c := range []struct{ before, after, want string }{
		{a, a, ""}, {a, ` {"inputSchema":{"type":"object"},"name":"a"}`, ""}, {a, b, "description"}, {"", "", ""}, {"", a, "unreadable"}, {a, "", "unreadable"}, {"-", a, "tool-added"}, {a, "-", "tool-removed"},
	} {
		list := func(def string) map[string][]byte {
			if def == "-" {
				return nil
			}
			return map[string][]byte{"a": []byte(def)}
		}
		var got []string
		for _, ch := range CompareList(offer.Tools, list(c.before), list(c.after)) {
			got = append(got, strings.TrimPrefix(ch.Rule, "contract/"))
		}
		assert.Equalf(t, strings.Join(got, " "), c.want, "%s → %s", c.before, c.after)
	}
}

// Texts are written so that each character is seen, and read back as they were.
func TestQuoted(t *testing.T) {
	for s, want := range map[string]string{
		"a\"\\b": `"a\"\\b"`, "\n\t": `"\n\t"`, "\x01\x7f": `"\u0001\u007f"`, "é日 😀": `"é日 😀"`, "\u200b\u202e\u00a0": `"\u200b\u202e\u00a0"`, "\U000e0001": `"\udb40\udc01"`, "": `""`,
	} {
		assert.Equalf(t, quoteString(s), want, "%+q", s)
		if v, err := schema.ParseValue([]byte(quoteString(s))); err != nil || v.Text() != s {
			t.Errorf("%+q: %v", s, err)
		}
	}
}

// What a lock got is told, up to fifty changes.
func TestTaken(t *testing.T) {
	change := Change{Class: "breaking", Place: check.Place{Kind: check.OfTool, Name: "a"}, Message: "was removed"}
	all := func(n int) (out []Change) {
		for range n {
			out = append(out, change)
		}
		return out
	}
	if got := describeUpdate("f", "s", nil, all(3)); fmt.Sprint(got) != "[made the contract of s in f]" {
		t.Error(got)
	}
	if got := describeUpdate("f", "s", &Contract{}, nil); fmt.Sprint(got) != "[f is up to date: nothing changed]" {
		t.Error(got)
	}
	for n, want := range map[int]string{50: "  breaking: tool a: was removed", 51: "  … and 1 more", 53: "  … and 3 more"} {
		got := describeUpdate("f", "s", &Contract{}, all(n))
		if got[0] != fmt.Sprintf("accepted %d changes of s in f:", n) || got[len(got)-1] != want || len(got) != min(n, 51)+1 {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// Small things take one line where there is room, others a line for each member.
func TestPretty(t *testing.T) {
	fits := func(n int) string { return `["` + strings.Repeat("x", n-4) + `"]` }
	for canonical, want := range map[string]string{
		`1`: "1", `{}`: "{}", `[]`: "[]", `{"a":1,"b":[]}`: `{"a":1,"b":[]}`, `{"a":{"b":1}}`: "{\n  \"a\": {\"b\":1}\n}", `[[1],2]`: "[\n  [1],\n  2\n]", `{"a":{"b":{"c":1}}}`: "{\n  \"a\": {\n    \"b\": {\"c\":1}\n  }\n}",
		fits(lineWidth): fits(lineWidth), fits(lineWidth + 1): "[\n  " + strings.Trim(fits(lineWidth+1), "[]") + "\n]", `not JSON`: "not JSON",
		`{"a":` + fits(lineWidth-7) + `,"o":[[1]]}`: "{\n  \"a\": " + fits(lineWidth-7) + ",\n  \"o\": [\n    [1]\n  ]\n}", `{"a":` + fits(lineWidth-6) + `,"o":[[1]]}`: "{\n  \"a\": [\n    " + strings.Trim(fits(lineWidth-6), "[]") + "\n  ],\n  \"o\": [\n    [1]\n  ]\n}",
	} {
		var b strings.Builder
		if pretty(&b, canonical, ""); b.String() != want {
			t.Errorf("%.60s:\n%s\nwant\n%s", canonical, b.String(), want)
		}
		if v, err := schema.ParseValue([]byte(b.String())); err == nil {
			var c strings.Builder
			if compact(&c, v); c.String() != canonical {
				t.Errorf("%.60s is %s again", canonical, c.String())
			}
		}
	}
}
