package fuzz

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// pairs are answers of a tool that break a rule, and some that nearly do and are right, whatever the arguments.
var pairs = map[string]struct{ bad, near, output string }{
	"silent-error": {`"result":{"content":[],"isError":true}`, `"result":{"content":[],"isError":false}`, ""},
	"wrong-layer":  {`"error":{"code":-32603,"message":"no such issue"}`, fails("no such issue"), ""},
	"frame":        {`"result":{"content":[{"type":"text"}]}`, `"result":{"content":[{"type":"text","text":""}],"com.example/more":1}`, ""},
	"stack-trace":  {fails("TypeError: x\n    at run (/srv/a.js:1:2)\n    at main (/srv/a.js:3:4)"), fails("Look at line 12 of the report, at the top."), ""},
	"path":         {fails("cannot open /home/alice/notes.db"), fails("cannot open notes/today.md and /"), ""},
	"secret":       {says("the key is sesame-open-1234"), says("the key is sesame-open-***"), ""},
	"output":       {`"result":{"content":[],"structuredContent":{"n":"1"}}`, `"result":{"content":[],"structuredContent":{"n":1,"m":"1"}}`, `{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}`},
}

// pairsElsewhere are rules whose near miss needs more than one answer, and the test that has it beside the fault.
var pairsElsewhere = map[string]string{
	"accepted": "TestOracles: well refuses what the schema does", "refused": "TestOracles: well takes what the schema does", "dead-link": "TestOracles: there can be read",
	"slow": "TestSlow: it was slow once", "memory": "TestMemoryThatGrows: keeps_nothing",
}

// nearless are rules with a planted fault (toolFaults, httpFaults), and no near miss but the tools that do nothing wrong. The list may only
// shrink.
var nearless = strings.Fields(`died no-answer http-status noise answer-twice unknown-id`)

// TestNearMisses: each rule finds what breaks it, and leaves what looks like that alone.
func TestNearMisses(t *testing.T) {
	t.Parallel()
	var tools []tool
	for rule, p := range pairs {
		for name, body := range map[string]string{"bad": p.bad, "near": p.near} {
			tools = append(tools, tool{name + "_" + rule, anything, p.output, func(string) string { return body }})
		}
	}
	rep := fuzzed(t, serve(t, tools...), Options{Seed: 3, Runs: 4, Timeout: 30 * time.Second})
	got := map[string]bool{}
	for _, f := range rep.Findings {
		got[strings.TrimPrefix(f.ID, "fuzz/")+" "+f.Place.Name] = true
	}
	for rule := range pairs {
		if !got[rule+" bad_"+rule] {
			t.Errorf("%s is not found: %s", rule, pairs[rule].bad)
		}
		if got[rule+" near_"+rule] {
			t.Errorf("%s is found: %s", rule, pairs[rule].near)
		}
	}
	planted := map[string]bool{}
	for _, faults := range []map[string]string{toolFaults, httpFaults} {
		for _, rule := range faults {
			planted[rule] = true
		}
	}
	ids := map[string]bool{}
	for _, r := range rules() {
		rule := strings.TrimPrefix(r.ID, "fuzz/")
		ids[rule] = true
		_, here := pairs[rule]
		_, elsewhere := pairsElsewhere[rule]
		if without := slices.Contains(nearless, rule); (here || elsewhere) == without || without && !planted[rule] {
			t.Errorf("%s needs a fault and a near miss in pairs, or in a test that pairsElsewhere names", rule)
		}
	}
	for _, rule := range nearless {
		if !ids[rule] {
			t.Errorf("there is no rule %s", rule)
		}
	}
}
