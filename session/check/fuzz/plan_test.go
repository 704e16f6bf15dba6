package fuzz

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A plan has each input once, no arguments and an example first, and then what is allowed and what is wrong in turn.
func TestPlan(t *testing.T) {
	t.Parallel()
	const schemaOfA = `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"integer","minimum":0,"maximum":3},"c":{"enum":["x"]}}}`
	tool := newTarget(check.OfTool, "one", schema.ParseArguments([]byte(schemaOfA)), true)
	all := tool.plan(1, NewPool(), 1000)
	seen, verdicts := map[string]bool{}, map[int]int{}
	for _, in := range all {
		key := string(in.JSON())
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		verdicts[in.verdict]++
	}
	if all[0].IsSet() || all[0].verdict != forbidden || all[0].cause != "required /a" || verdicts[allowed] < 5 || verdicts[forbidden] < 5 || len(all) == 1000 {
		t.Errorf("%d: %v, first %+v", len(all), verdicts, all[0])
	}
	for _, what := range []string{"no arguments", "an example", "what is required", "/a is missing", "arguments are an array"} {
		if !slices.ContainsFunc(all, func(in input) bool { return in.What == what }) {
			t.Errorf("nothing is made as %s", what)
		}
	}
	if !seen[`"text"`] || !seen["[]"] {
		t.Error("nothing but objects")
	}
	few := tool.plan(1, NewPool(), 7)
	if len(few) != 7 || !slices.EqualFunc(few, all[:7], func(a, b input) bool { return a.String() == b.String() }) {
		t.Errorf("%d", len(few))
	}
	// What the schema refuses of an example is left out, where there is no other value for it.
	refused := newTarget(check.OfTool, "three", schema.ParseArguments([]byte(`{"type":"object","properties":{"a":false,"b":{"const":1}}}`)), true)
	assert.Equalf(t, refused.base(newRand(1), nil).String(), `{"b":1}`, "the base")
	prompt := newTarget(check.OfPrompt, "two", schema.FromArguments([]schema.Argument{{Name: "a"}}), true)
	for _, in := range prompt.plan(1, NewPool(), 1000) {
		if in.Kind() == schema.Array || in.Kind() == schema.String {
			t.Errorf("arguments of a prompt are %s", in)
		}
		if in.Get("a").Kind() == schema.String && in.Get("a").Text() == "" && in.verdict == allowed {
			t.Error("an empty argument is none to many")
		}
	}
}

// A template of which nothing is left is not called, so that it is not counted either.
func TestTemplateThatCannotBeExpanded(t *testing.T) {
	t.Parallel()
	tpl := newTarget(check.OfTemplate, "{a}", schema.FromArguments([]schema.Argument{{Name: "a"}}), false)
	r := newRun(&check.Subject{}, Options{For: time.Minute, Timeout: time.Second}, nil)
	r.targets = []*target{tpl}
	none := tpl.classify(Value{Value: schema.ObjectValue()})
	if err := r.try(t.Context(), r.conns.current(), tpl, none); err != nil || tpl.tally.Calls != 0 {
		t.Errorf("%v, %+v", err, tpl.tally)
	}
	some := tpl.classify(Value{Value: schema.ObjectValue(schema.Member{Name: "a", Value: schema.StringValue("x")})})
	if tpl.canExpand(none) || !tpl.canExpand(some) {
		t.Error("what can be called is mixed up")
	}
	if least := r.plainestInput(tpl, some); !tpl.canExpand(least) {
		t.Errorf("%s is not callable", least)
	}
}

// Of a target there are as many causes as are said; one more is dropped, and its rule has not passed.
func TestCausesOfATarget(t *testing.T) {
	t.Parallel()
	r, one := &run{}, newTarget(check.OfTool, "a", schema.FromArguments(nil), true)
	for i := range 2 * maxPerTarget {
		r.note(pendingFailure{t: one, h: hit{rule: "fuzz/frame", cause: fmt.Sprint(i)}})
	}
	r.note(pendingFailure{t: one, h: hit{rule: "fuzz/accepted", cause: "x"}})
	if len(r.pending) != maxPerTarget || !one.hasFinding("fuzz/accepted") || one.hasFinding("fuzz/refused") {
		t.Errorf("%d causes, %v", len(r.pending), one.found)
	}
}

// A sample has the ends, and no more than was asked for.
func TestSample(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1, 2: 2, 3: 3, 9: 5} {
		got := Sample(newRand(1), []int{1, 2, 3, 4, 5}, n)
		if len(got) != want || n > 1 && (got[0] != 1 || got[len(got)-1] != 5) {
			t.Errorf("%d: %v", n, got)
		}
	}
}

// What a server makes of arguments is held to what the schema says of them, and only where both say something.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	code := func(n int64) *failure.Error { return &failure.Error{Code: &n} }
	well, failed := outcome{}, outcome{text: "no such issue"}
	failed.result.IsError = true
	invalid := outcome{text: "Input validation error: a is a required property"}
	invalid.result.IsError = true
	for name, c := range map[string]struct {
		kind    string
		verdict int
		cause   string
		extreme bool
		out     outcome
		want    string
	}{
		"wrong, accepted":             {check.OfTool, forbidden, "required /a", false, well, "fuzz/accepted error"},
		"one too many, accepted":      {check.OfTool, forbidden, "additionalProperties /a", false, well, "fuzz/accepted info"},
		"one not looked at, accepted": {check.OfTool, forbidden, "unevaluatedProperties /a", false, well, "fuzz/accepted info"},
		"wrong, of a prompt":          {check.OfPrompt, forbidden, "required /a", false, well, "fuzz/accepted error"},
		"extreme, accepted":           {check.OfTool, forbidden, "required /a", true, well, ""},
		"wrong, refused":              {check.OfTool, forbidden, "required /a", false, outcome{err: code(-32602)}, ""},
		"wrong, failed":               {check.OfTool, forbidden, "required /a", false, failed, ""},
		"right, accepted":             {check.OfTool, allowed, "", false, well, ""},
		"right, refused":              {check.OfTool, allowed, "", false, outcome{err: code(-32602)}, "fuzz/refused warning"},
		"right, another error":        {check.OfTool, allowed, "", false, outcome{err: code(-32000)}, ""},
		"right, an error of ours":     {check.OfTool, allowed, "", false, outcome{err: &failure.Error{}}, ""},
		"right, failed":               {check.OfTool, allowed, "", false, failed, ""},
		"right, said to be invalid":   {check.OfTool, allowed, "", false, invalid, "fuzz/refused warning"},
		"extreme, refused":            {check.OfTool, allowed, "", true, outcome{err: code(-32602)}, ""},
		"a prompt, refused":           {check.OfPrompt, allowed, "", false, outcome{err: code(-32602)}, "fuzz/refused warning"},
		"a resource, refused":         {check.OfResource, allowed, "", false, outcome{err: code(-32602)}, ""},
		"a template, refused":         {check.OfTemplate, allowed, "", false, outcome{err: code(-32602)}, ""},
		"unclear, refused":            {check.OfTool, unclear, "", false, outcome{err: code(-32602)}, ""},
		"unclear, accepted":           {check.OfTool, unclear, "", false, well, ""},
	} {
		target := newTarget(c.kind, "x", schema.FromArguments(nil), true)
		h, ok := target.verdictHit(input{verdict: c.verdict, cause: c.cause, Value: Value{Extreme: c.extreme}}, &c.out)
		got := ""
		if ok {
			got = h.rule + " " + h.severity.String()
		}
		assert.Equalf(t, got, c.want, "%s", name)
	}
}

// Messages that differ only in what they quote and count are of one kind.
func TestPlainly(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		`no "issue 7" of 12`: "no  of ", "a `b` c": "a  c", `it's 5`: "it's ", `"a" and "b"`: " and ", `open "quote`: "open ", "": "", strings.Repeat("x", 200): strings.Repeat("x", 101),
	} {
		assert.Equalf(t, withoutVariables(s), want, "%q", s)
	}
	for s, want := range map[string]string{"/a/0/b": "/a/*/b", "/a/b1/9z": "/a/b1/*", "": "", "x": "x", "//a": "//a"} {
		assert.Equalf(t, anyIndex(s), want, "%s", s)
	}
}

// Why a failure is less than certain is said once, by the most that is known.
func TestSeen(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]recurrence{
		"": {}, "it went": {gone: "it went", notRetried: true}, "seen once, and not tried again": {notRetried: true, firstOnly: true}, "only as the first call of a connection": {firstOnly: true, times: 1},
		"in 1 of 10 equal calls: it does not depend on the arguments": {times: 1, calls: 10}, "seen once, and not again with the same arguments: it does not depend on them": {once: true, calls: 10},
	} {
		if why, _ := s.describe(); why != want {
			t.Errorf("%+v: %q, want %q", s, why, want)
		}
	}
	for _, c := range []struct {
		s    recurrence
		want bool
	}{{recurrence{}, false}, {recurrence{calls: 1}, true}, {recurrence{once: true}, true}, {recurrence{before: true}, true}, {recurrence{firstOnly: true, notRetried: true, gone: "x"}, false}} {
		if c.s.isRandom() != c.want {
			t.Errorf("%+v: %v", c.s, !c.want)
		}
	}
}

// What may be called is called once, and what its schema leaves open is not judged by it.
func TestTargets(t *testing.T) {
	t.Parallel()
	item := func(name, input string) offer.Item {
		return offer.Item{Name: name, InputSchema: []byte(input)}
	}
	s := &check.Subject{Allow: []string{"*"}, Offer: check.Offer{
		Tools:     []offer.Item{item("a", `{"type":"object"}`), item("a", `{"type":"object"}`), item("", `{}`), item("none", ""), item("broken", `{`), item("large", strings.Repeat(" ", maxSchema)+"{}")},
		Prompts:   []offer.Item{{Name: "p"}, {}},
		Templates: []offer.Item{{URI: "x://{a}"}, {URI: "x://{"}},
		Resources: []offer.Item{{URI: "x://y"}, {}},
	}}
	all, left := targets(s)
	var got []string
	for _, x := range all {
		one := x.kind + " " + x.name
		if x.checked {
			one += "!"
		}
		got = append(got, one)
	}
	want := []string{"tool a!", "tool none", "tool broken", "tool large", "prompt p!", check.OfTemplate + " x://{a}", "resource x://y"}
	if !slices.Equal(got, want) || len(left) > 0 {
		t.Errorf("%q, want %q", got, want)
	}
	s.Allow = nil
	if _, left := targets(s); len(left) == 0 {
		t.Error("each tool may be called")
	}
}

// A failure of the server's whole reading of requests is told at one target of a kind.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	r := &run{general: map[string]bool{}}
	tool, prompt := newTarget(check.OfTool, "a", schema.FromArguments(nil), true), newTarget(check.OfPrompt, "a", schema.FromArguments(nil), true)
	layer := hit{rule: "fuzz/wrong-layer", cause: "-32603"}
	for i, c := range []struct {
		t     *target
		cause string
		h     hit
		want  bool
	}{
		{tool, "type ", layer, false},
		{tool, "type ", layer, true},
		{tool, "type /a", layer, false},
		{tool, "type /a", layer, false},
		{prompt, "type /a", layer, false},
		{prompt, "type /b", layer, true},
		{tool, "type ", hit{rule: "fuzz/wrong-layer", cause: "-32000"}, false},
		{tool, "type ", hit{rule: "fuzz/died", cause: "-32603"}, false},
		{tool, "type ", hit{rule: "fuzz/died", cause: "-32603"}, false},
		{tool, "required ", layer, false},
		{tool, "required ", layer, false},
	} {
		assert.Equalf(t, r.knownElsewhere(c.t, input{cause: c.cause}, c.h), c.want, "%d", i)
	}
	for _, o := range []Options{{}, {Runs: -1, For: -1, Timeout: -1}} {
		s := Section(o).(*section)
		if s.o.Runs != 100 || s.o.For != time.Minute || s.o.Timeout != 5*time.Second || s.o.Repro(Call{}) != "" {
			t.Errorf("%+v", s.o)
		}
	}
	if s := Section(Options{Runs: 1, For: 1, Timeout: 1}).(*section); s.o.Runs != 1 || s.o.For != 1 || s.o.Timeout != 1 {
		t.Errorf("%+v", s.o)
	}
}
