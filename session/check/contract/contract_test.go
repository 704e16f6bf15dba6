package contract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// offered is what a server offers, from the members of its lists.
func offered(t *testing.T, tools, prompts, resources, templates string) check.Offer {
	t.Helper()
	o := check.Offer{Server: "s", Name: "own", Version: "1", Capabilities: []byte(`{"tools":{"listChanged":true}}`), Instructions: "one\ntwo", Lists: map[offer.Kind]json.RawMessage{}}
	for k, list := range map[offer.Kind]string{offer.Tools: tools, offer.Prompts: prompts, offer.Resources: resources, offer.Templates: templates} {
		raw := []byte(fmt.Sprintf(`{%q:[%s]}`, k, list))
		page, err := (*offer.Pages)(nil).Read(raw, k)
		if err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		items := page.Items
		o.Lists[k] = raw
		switch k {
		case offer.Tools:
			o.Tools = items
		case offer.Prompts:
			o.Prompts = items
		case offer.Resources:
			o.Resources = items
		case offer.Templates:
			o.Templates = items
		}
	}
	return o
}

func tools(t *testing.T, list string) check.Offer { return offered(t, list, "", "", "") }

func found(changes []contract.Change) (out []string) {
	for _, c := range changes {
		out = append(out, strings.TrimPrefix(c.Rule, "contract/")+" "+c.Message)
	}
	return out
}

// Each rule has a change that trips it, and one like it that does not.
func TestRules(t *testing.T) {
	tool := func(members string) string { return `{"name":"a","inputSchema":{"type":"object"}` + members + `}` }
	in := func(schema string) string { return `{"name":"a","inputSchema":` + schema + `}` }
	out := func(schema string) string { return tool(`,"outputSchema":` + schema) }
	prop := func(s string) string { return `{"type":"object","properties":{"p":` + s + `}}` }
	prompt := func(args string) string { return `{"name":"a","arguments":[` + args + `]}` }
	resource := func(members string) string { return `{"uri":"file:///a","name":"a"` + members + `}` }
	template := func(uri string) string { return `{"uriTemplate":"` + uri + `","name":"t"}` }
	same := tool("")
	big, hidden := strings.Repeat("x", 300<<10), strings.Repeat("\u200b", 60<<10)
	seen := map[string]bool{"not-locked": true, "recorded-calls-refused": true} // TestNotLocked, TestEvidence
	for _, c := range []struct{ rule, list, before, after, near string }{       // before → after trips, before → near does not
		{"tool-removed", "tools", same, "", tool(`,"title":"A"`)},
		{"tool-added", "tools", "", same, ""},
		{"parameter-removed", "tools", in(prop(`{}`)), in(`{"type":"object"}`), in(`{"type":"object","properties":{"p":{},"q":{}}}`)},
		{"parameter-required", "tools", in(prop(`{}`)), in(`{"type":"object","properties":{"p":{}},"required":["p"]}`), in(prop(`{"title":"P"}`))},
		{"parameter-added", "tools", same, in(prop(`{}`)), in(`{"type":"object","properties":{}}`)},
		{"parameter-description", "tools", in(prop(`{"description":"a"}`)), in(prop(`{"description":"b"}`)), in(prop(`{"description":"a","title":"b"}`))},
		{"default-changed", "tools", in(prop(`{"default":1}`)), in(prop(`{"default":2}`)), in(prop(`{"default":1.0,"title":"b"}`))},
		{"input-narrowed", "tools", in(prop(`{"maxLength":9}`)), in(prop(`{"maxLength":8}`)), in(prop(`{"maxLength":10}`))},
		{"input-widened", "tools", in(prop(`{"maxLength":9}`)), in(prop(`{"maxLength":10}`)), in(prop(`{"maxLength":8}`))},
		{"constraint-review", "tools", in(prop(`{"pattern":"a"}`)), in(prop(`{"pattern":"b"}`)), in(prop(`{}`))},
		{"output-widened", "tools", out(prop(`{"type":"string"}`)), out(prop(`{"type":["string","null"]}`)), out(prop(`{"type":"string","maxLength":3}`))},
		{"input-narrowed", "tools", same, in(`{"type":"object","additionalProperties":false}`), in(`{"type":"object","additionalProperties":true}`)},
		{"input-widened", "tools", in(`{"type":"object","additionalProperties":false}`), same, in(`{"additionalProperties":false,"type":"object"}`)},
		{"output-widened", "tools", out(`{"type":"object","additionalProperties":false}`), out(`{"type":"object","properties":{"p":{}},"additionalProperties":false}`), out(`{"type":"object","additionalProperties":false,"title":"t"}`)},
		{"output-added", "tools", out(`{"type":"object"}`), out(prop(`{}`)), out(`{"type":"object","title":"t"}`)},
		{"output-removed", "tools", out(prop(`{}`)), tool(""), out(prop(`{"title":"t"}`))},
		{"output-added", "tools", tool(""), out(prop(`{}`)), tool(`,"title":"a"`)},
		{"output-narrowed", "tools", out(prop(`{}`)), out(prop(`{"type":"string"}`)), out(prop(`{"title":"t"}`))},
		{"description", "tools", tool(`,"description":"a"`), tool(`,"description":"b"`), tool(`,"description":"\u0061"`)},
		{"hint-flipped", "tools", tool(`,"annotations":{"readOnlyHint":true}`), tool(`,"annotations":{"readOnlyHint":false}`), tool(`,"annotations":{"readOnlyHint":true,"destructiveHint":true}`)},
		{"hint-relaxed", "tools", tool(``), tool(`,"annotations":{"readOnlyHint":true}`), tool(`,"annotations":{"destructiveHint":true}`)},
		{"not-idempotent", "tools", tool(`,"annotations":{"idempotentHint":true}`), tool(``), tool(`,"annotations":{"idempotentHint":true,"title":"t"}`)},
		{"app-changed", "tools", tool(`,"_meta":{"ui":{"resourceUri":"ui://a"}}`), tool(`,"_meta":{"ui":{"resourceUri":"ui://b"}}`), tool(`,"_meta":{"x":1,"ui":{"resourceUri":"ui://a"}}`)},
		{
			"app-reaches-out", "resources", resource(`,"_meta":{"ui":{"csp":{"connectDomains":["https://a.example"]}}}`), resource(`,"_meta":{"ui":{"csp":{"connectDomains":["https://b.example","https://a.example"]}}}`),
			resource(`,"_meta":{"ui":{"csp":{"connectDomains":[]},"domain":"x"}}`),
		},
		{"app-reaches-out", "tools", tool(``), tool(`,"_meta":{"ui":{"permissions":{"camera":{}}}}`), tool(`,"_meta":{"ui":{"permissions":{}}}`)},
		{"app-reaches-out", "tools", tool(`,"_meta":{"ui":{"resourceUri":"ui://a"}}`), tool(`,"_meta":{"ui":{"resourceUri":"ui://b","csp":{"frameDomains":"*"}}}`), tool(`,"_meta":{"ui":{"resourceUri":"ui://b"}}`)},
		{"metadata", "tools", tool(`,"_meta":{"ui":{"permissions":{"camera":{}}}}`), tool(``), tool(`,"_meta":{"ui":{"permissions":{"camera":{},"microphone":{}}}}`)},
		// A hint says nothing of a tool that is read-only.
		{
			"not-idempotent", "tools", tool(`,"annotations":{"readOnlyHint":true,"idempotentHint":true}`), tool(`,"annotations":{"readOnlyHint":false,"idempotentHint":false}`),
			tool(`,"annotations":{"readOnlyHint":true,"idempotentHint":false}`),
		},
		// What only looks like a hash, and what is longer once it is written so that each character is seen.
		{"description", "tools", `{"bytes":1,"description":"a","name":"a"}`, `{"bytes":1,"description":"b","name":"a"}`, `{"bytes":2,"description":"a","name":"a"}`},
		{"description", "tools", `{"name":"a","description":"a` + hidden + `"}`, `{"name":"a","description":"b` + hidden + `"}`, `{"name":"a","title":"b","description":"a` + hidden + `"}`},
		{"execution-changed", "tools", tool(``), tool(`,"execution":{"taskSupport":"required"}`), tool(`,"icons":[]`)},
		{"metadata", "tools", tool(``), tool(`,"title":"t"`), tool(`,"description":"t"`)},
		{"metadata", "tools", tool(`,"annotations":{}`), tool(`,"annotations":{"idempotentHint":true}`), tool(`,"annotations":{"idempotentHint":false}`)},
		{"metadata", "tools", tool(`,"annotations":{"title":"a"}`), tool(`,"annotations":{"title":"b"}`), tool(`,"annotations":{"title":"a","readOnlyHint":false}`)},
		{"hint-flipped", "tools", tool(`,"annotations":{"destructiveHint":false}`), tool(``), tool(`,"annotations":{"destructiveHint":false,"openWorldHint":true}`)},
		{"hint-relaxed", "tools", tool(``), tool(`,"annotations":{"destructiveHint":false}`), tool(`,"annotations":{"openWorldHint":true}`)},
		{"hint-relaxed", "tools", tool(`,"annotations":{"readOnlyHint":true}`), tool(`,"annotations":{"readOnlyHint":true,"openWorldHint":false}`), tool(`,"annotations":{"readOnlyHint":true,"destructiveHint":false}`)},
		{"unreadable", "tools", tool(`,"description":"` + big + `"`), tool(`,"description":"` + big + `x"`), tool(`,"description":"` + big + `"`)},
		{"prompt-removed", "prompts", prompt(""), "", `{"name":"a","arguments":[],"title":"t"}`},
		{"prompt-added", "prompts", "", prompt(""), ""},
		{"argument-removed", "prompts", prompt(`{"name":"x"}`), prompt(``), prompt(`{"name":"x"},{"name":"y"}`)},
		{"argument-required", "prompts", prompt(`{"name":"x"}`), prompt(`{"name":"x","required":true}`), prompt(`{"name":"x","required":false}`)},
		{"argument-optional", "prompts", prompt(`{"name":"x","required":true}`), prompt(`{"name":"x"}`), prompt(`{"name":"x","required":true,"title":"t"}`)},
		{"resource-removed", "resources", resource(""), "", resource(`,"title":"t"`)},
		{"resource-added", "resources", "", resource(""), ""},
		{"mime-type", "resources", resource(`,"mimeType":"text/plain"`), resource(`,"mimeType":"text/html"`), resource(`,"mimeType":"text/plain","size":3`)},
		{"template-removed", "templates", template("file:///{a}"), template("file:///{b}"), template("file:///{a}")},
		{"template-added", "templates", template("file:///{a}"), template("file:///{b}"), template("file:///{a}")},
	} {
		seen[c.rule] = true
		of := func(list string) *contract.Contract {
			lists := map[string]string{c.list: list}
			o := offered(t, lists["tools"], lists["prompts"], lists["resources"], lists["templates"])
			return contract.Of(&o)
		}
		trips := func(after string) (bool, []string) {
			changes := contract.Compare(of(c.before), of(after))
			return slices.ContainsFunc(changes, func(ch contract.Change) bool { return ch.Rule == "contract/"+c.rule }), found(changes)
		}
		if ok, got := trips(c.after); !ok {
			t.Errorf("%s is not among %.500q", c.rule, got)
		}
		if ok, got := trips(c.near); ok {
			t.Errorf("%s trips on something like it: %.500q", c.rule, got)
		}
	}
	for _, c := range ofServers {
		seen[strings.Fields(c.want)[0]] = true
	}
	for _, r := range (&contract.Section{}).Rules() {
		if !seen[strings.TrimPrefix(r.ID, "contract/")] {
			t.Errorf("%s has no row: a change that trips it, and one like it that does not", r.ID)
		}
	}
}

// ofServers are changes of a server itself: the one difference that is found, and a change like it that makes none of its kind.
var ofServers = []struct {
	want         string
	change, near func(*check.Offer)
}{
	{
		"instructions instructions changed: \"one\\ntwo\" → \"one\\nthree\"",
		func(o *check.Offer) { o.Instructions = "one\nthree" },
		func(o *check.Offer) { o.Version, o.Protocol = "2", "2025-06-18" },
	},
	{
		"capability-removed tools is no longer declared",
		func(o *check.Offer) { o.Capabilities = []byte(`{}`) },
		func(o *check.Offer) { o.Capabilities = []byte(`{"tools":{}}`) },
	},
	{
		"capability-added prompts is declared",
		func(o *check.Offer) { o.Capabilities = []byte(`{"prompts":{},"tools":{"listChanged":true}}`) },
		func(o *check.Offer) { o.Capabilities = []byte(`{"tools":{"listChanged":true,"prompts":{}}}`) },
	},
	{
		`capability-changed tools {"listChanged":true} → {}`,
		func(o *check.Offer) { o.Capabilities = []byte(`{"tools":{}}`) },
		func(o *check.Offer) { o.Capabilities = []byte(` {"tools": {"listChanged" : true}}`) },
	},
}

func TestServerRules(t *testing.T) {
	before := tools(t, "")
	changed := func(change func(*check.Offer)) string {
		after := tools(t, "")
		change(&after)
		return strings.Join(found(contract.Compare(contract.Of(&before), contract.Of(&after))), ";")
	}
	for _, c := range ofServers {
		assert.Equal(t, changed(c.change), c.want)
		if got, rule := changed(c.near), strings.Fields(c.want)[0]; strings.Contains(got, rule+" ") {
			t.Errorf("%s trips on something like it: %q", rule, got)
		}
	}
}

// A list that could not be read is not compared, whichever of the two it is: nothing was removed, and nothing added. The others are.
func TestListsThatFailedAreNotCompared(t *testing.T) {
	const tool, prompt = `{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"p"}`
	all := offered(t, tool, prompt, "", "")
	part := offered(t, "", "", "", "")
	part.Failed = map[offer.Kind]error{offer.Tools: errors.New("no answer")}
	for _, c := range []struct {
		before, after check.Offer
		want          string
	}{
		{all, part, "prompt-removed was removed"},
		{part, all, "prompt-added was added"},
		{part, part, ""},
	} {
		assert.Equal(t, strings.Join(found(contract.Compare(contract.Of(&c.before), contract.Of(&c.after))), ";"), c.want)
	}
}

func TestRenames(t *testing.T) {
	const search = `{"name":%q,"description":"Searches.","inputSchema":{"type":"object","properties":{%q:{"type":"string"}},"required":[%[2]q]}}`
	a, b, c := tools(t, fmt.Sprintf(search, "search", "q")), tools(t, fmt.Sprintf(search, "find", "q")), tools(t, fmt.Sprintf(search, "search", "query"))
	assert.Equal(t, found(contract.Compare(contract.Of(&a), contract.Of(&b)))[0], "tool-removed was removed; find has the same definition: was it renamed?")
	if got := strings.Join(found(contract.Compare(contract.Of(&a), contract.Of(&c))), "; "); !strings.Contains(got, "`q` was removed; `query` has the same schema: was it renamed?") {
		t.Error(got)
	}
}

// A lock is the same for the same offer, whatever the order of its members, and is read as it was written.
func TestLock(t *testing.T) {
	a := offered(t, `{"name":"b","inputSchema":{"type":"object","properties":{"x":{"type":"string","default":"ghp_abcdefghijklmnop1234"}}}},{"name":"a\u202e","inputSchema":{}}`, `{"name":"p"}`, `{"uri":"file:///x","name":"x"}`, "")
	b := offered(t, `{"inputSchema":{},"name":"a\u202e"},{"inputSchema":{"properties":{"x":{"default":"ghp_abcdefghijklmnop1234","type":"string"}},"type":"object"},"name":"b"}`, `{"name":"p"}`, `{"name":"x","uri":"file:///x"}`, "")
	var locks [2]contract.Lock
	for i, o := range []check.Offer{a, b} {
		require.NoError(t, locks[i].Accept("s", contract.Of(&o)))
	}
	text := locks[0].Bytes()
	if !bytes.Equal(text, locks[1].Bytes()) {
		t.Errorf("%s\n%s", text, locks[1].Bytes())
	}
	for _, want := range []string{"\n        \"one\",\n        \"two\"\n", `"x": {"default":"***","type":"string"}`, `"a\u202e": {"inputSchema":{},"name":"a\u202e"}`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	file := filepath.Join(t.TempDir(), contract.FileName)
	require.NoError(t, locks[0].Write(file))
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	l, err := contract.Read(file)
	if err != nil || !bytes.Equal(l.Bytes(), text) {
		t.Fatalf("%v: %s", err, l.Bytes())
	}
	if key, c := l.Find("other", "own"); key != "s" || len(contract.Compare(c, contract.Of(&a))) != 0 {
		t.Errorf("%q: %q", key, found(contract.Compare(c, contract.Of(&a))))
	}
	if key, _ := l.Find("other", "another"); key != "" {
		t.Errorf("found %q", key)
	}
	a.Failed = map[offer.Kind]error{offer.Tools: fs.ErrClosed}
	if err := l.Accept("s", contract.Of(&a)); !errors.Is(err, contract.ErrUnlistable) {
		t.Errorf("a list that failed was accepted: %v", err)
	}
}

// What is wrong with a lock is said with its place.
func TestBadLocks(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "1:1: is not an object",
		"{\n  \"version\": 1,,\n}":         "2:",
		"{\"version\":2,\n\"servers\":{}}": "1:2: version is 2, and this program reads 1",
		"{\"version\":1,\n\"servers\":[]}": "2:1: servers is not an object",
		"{\"version\":1,\"servers\":{\n  \"a\": {\"tools\": []}}}":                                          "2:9: tools is not an object",
		"{\"version\":1,\"servers\":{\n  \"a\": {\"tools\": {\"x\": 7}}}}":                                  "2:19: a definition is not an object",
		"{\"version\":1,\"servers\":{\n  \"a\": {\"instructions\": [\"x\",\n 7]}}}":                         "3:2: a line of instructions is not a string",
		"{\"version\":1,\"servers\":{\n  \"a\": {},\n  \"a\": {}}}":                                         "3:3: \"a\" is there twice",
		"{\"version\":1,\"servers\":{\n  \"a\": {\"tool\": {}}}}":                                           "2:9: \"tool\" is not a member of a contract",
		"{\"version\":1,\n<<<<<<< HEAD\n\"servers\":{}\n=======\n\"servers\":{\"a\":{}}\n>>>>>>> branch\n}": "2:1: a merge conflict is not resolved (<<<<<<<)",
	} {
		file := filepath.Join(t.TempDir(), "x.lock")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := contract.Read(file)
		var bad *contract.Error
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), file+":"+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func run(t *testing.T, s *contract.Section, o check.Offer) *check.Report {
	t.Helper()
	rep, err := check.Run(context.Background(), &check.Subject{Offer: o}, []check.Section{s}, check.Tool{}, check.Watch{})
	require.NoError(t, err)
	return rep
}

// A lock that has no contract of the server compared nothing, and says so; one that has it under another name does not.
func TestNotLocked(t *testing.T) {
	o := tools(t, `{"name":"a","inputSchema":{"type":"object"}}`)
	lock := &contract.Lock{}
	require.NoError(t, lock.Accept("elsewhere", contract.Of(&o)))
	for name, want := range map[string]int{"own": 0, "other": 1} {
		o.Name = name
		rep := run(t, &contract.Section{File: "mcphud.lock", Lock: lock}, o)
		if len(rep.Findings) != want || want == 1 && (rep.Findings[0].ID != "contract/not-locked" || !strings.Contains(rep.Findings[0].Message, "nothing was compared")) {
			t.Errorf("%s: %+v", name, rep.Findings)
		}
	}
	if rep := run(t, &contract.Section{NoLock: true}, o); len(rep.Findings) != 0 {
		t.Errorf("without a lock: %+v", rep.Findings)
	}
}

const (
	withQuery = `{"name":"search","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"},"api_key":{"type":"string","minLength":20}}}}`
	withLimit = `{"name":"search","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"},"api_key":{"type":"string","minLength":20}},"required":["limit"]}}`
)

// recorded writes n calls, of which each hundredth has no limit.
func recorded(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	for i := range n {
		args := fmt.Sprintf(`{"query":"q%d","limit":%d,"api_key":"***"}`, i, i)
		if i%100 == 0 {
			args = fmt.Sprintf(`{"query":"q%d","api_key":"hunter2hunter2hunter2"}`, i)
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":%s}}`, i, args)
		fmt.Fprintf(&b, `{"seq":%d,"time":"2026-11-20T10:00:00Z","server":"s","conn":1,"dir":"out","kind":"request","method":"tools/call","id":"%d","frame":%s}`+"\n", i+1, i, body)
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	return file
}

// Calls that clients made are checked against what the server takes now, with examples that have no secret.
func TestEvidence(t *testing.T) {
	before, after := tools(t, withQuery), tools(t, withLimit)
	lock := &contract.Lock{}
	require.NoError(t, lock.Accept("s", contract.Of(&before)))
	rep := run(t, &contract.Section{Lock: lock, Evidence: &contract.Recordings{Files: []string{filepath.Dir(recorded(t, 412))}}}, after)
	i := slices.IndexFunc(rep.Findings, func(f check.Finding) bool { return f.ID == "contract/recorded-calls-refused" })
	if i < 0 || rep.Findings[i].Message != "5 of 412 recorded calls would now be refused: `limit` is required" || !strings.Contains(rep.Findings[i].Evidence, `{"query":"q0","api_key":"***"}`) {
		t.Errorf("%+v", rep.Findings)
	}
	if i >= 0 && rep.Findings[i].Place.String() != "tool search /inputSchema" {
		t.Errorf("at %s", rep.Findings[i].Place)
	}
	assert.Contains(t, string(rep.Sections[1].Figures), `"evidence":{"files":1,"calls":412,"refused":5,`)
	if rep := run(t, &contract.Section{Lock: lock, Evidence: &contract.Recordings{Files: []string{recorded(t, 412)}}}, before); len(rep.Findings) != 0 {
		t.Errorf("%+v", rep.Findings)
	}
	if rep := run(t, &contract.Section{Lock: lock, Evidence: &contract.Recordings{Files: []string{recorded(t, 412)}}}, tools(t, "")); !strings.Contains(fmt.Sprint(rep.Findings), "412 of 412 recorded calls would now be refused: the tool was removed") {
		t.Errorf("%+v", rep.Findings)
	}
}

func TestBudgetEvidence(t *testing.T) {
	budget.Skip(t)
	file, before, after := recorded(t, 100_000), tools(t, withQuery), tools(t, withLimit)
	lock := &contract.Lock{}
	require.NoError(t, lock.Accept("s", contract.Of(&before)))
	budget.Ceiling(t, "100,000 recorded calls checked against a contract", budget.Best(func() time.Duration {
		start := time.Now()
		if rep := run(t, &contract.Section{Lock: lock, Evidence: &contract.Recordings{Files: []string{file}}}, after); !strings.Contains(string(rep.Sections[1].Figures), `"calls":100000,"refused":1000,`) {
			t.Fatalf("%s", rep.Sections[1].Figures)
		}
		return time.Since(start)
	}), 5*time.Second)
}

// Of 5,000 tools, all of them changed, the comparison is quick.
func TestBudgetCompare(t *testing.T) {
	budget.Skip(t)
	var lists [2]strings.Builder
	for i := range 5_000 {
		for j := range lists {
			fmt.Fprintf(&lists[j], `{"name":"tool_%d","description":"Does %d.","inputSchema":{"type":"object","properties":{"a":{"type":"string","maxLength":%d},"b":{"type":"integer"},"c":{"enum":["x","y"]}}}},`, i, i, 9-j)
		}
	}
	a, b := tools(t, strings.TrimSuffix(lists[0].String(), ",")), tools(t, strings.TrimSuffix(lists[1].String(), ","))
	budget.Ceiling(t, "5,000 changed tools compared with a contract", budget.Best(func() time.Duration {
		start := time.Now()
		if n := len(contract.Compare(contract.Of(&a), contract.Of(&b))); n != 5_000 {
			t.Fatal(n)
		}
		return time.Since(start)
	}), 3*time.Second)
}
