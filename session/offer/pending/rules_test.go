package pending

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func question(method, params string) Question {
	return Question{Server: "s", Title: "S", Method: method, Params: []byte(params), Kind: KindOf(method, []byte(params))}
}

func asked(message, schema string) Question {
	return question("elicitation/create", `{"message":"`+message+`","requestedSchema":`+schema+`}`)
}

// said is what a script answers, as one text.
func said(t *testing.T, s *Script, q Question) string {
	t.Helper()
	result, fault, ok := s.Answer(context.Background(), q)
	switch {
	case !ok && fault != nil:
		return "left: " + fault.Message
	case fault != nil:
		return "fault: " + fault.Message
	}
	return string(result)
}

func script(t *testing.T, texts ...string) *Script {
	t.Helper()
	s := &Script{}
	for _, x := range texts {
		require.NoError(t, s.Add([]byte(x)))
	}
	return s
}

const sample = `{"systemPrompt":"Be terse","messages":[{"role":"user","content":{"type":"text","text":"Name a COLOUR"}},{"role":"user","content":[{"type":"text","text":"of the sky"}]}],"maxTokens":5}`

func TestAnswersAreUsedInOrder(t *testing.T) {
	form := asked("Name?", `{"type":"object","properties":{"name":{"type":"string","default":"Ann"},"age":{"type":"integer"}},"required":["name"]}`)
	s := script(t, `{"name":"Bob"}`, "decline", "accept")
	for _, want := range []string{`{"action":"accept","content":{"name":"Bob"}}`, `{"action":"decline"}`, `{"action":"accept","content":{"name":"Ann"}}`, `{"action":"accept","content":{"name":"Ann"}}`} {
		if got := said(t, s, form); got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
	}
	once := script(t, "decline", `{"name":"Bob"}`)
	said(t, once, form)
	said(t, once, form)
	assert.Equalf(t, said(t, once, form), "left: the prepared answers are used up: 2", "an object is used once, and")
}

func TestAnswersByKind(t *testing.T) {
	required := asked("Name?", `{"type":"object","properties":{"name":{"type":"string"},"b":{"type":"boolean","default":true}},"required":["name"]}`)
	page := question("elicitation/create", `{"mode":"url","message":"go","url":"https://example.com/x","elicitationId":"1"}`)
	script1 := question("elicitation/create", `{"mode":"url","message":"go","url":"javascript:alert(1)","elicitationId":"1"}`)
	model := question("sampling/createMessage", sample)
	other := question("vendor/ask", `{}`)
	for _, x := range []struct {
		answer string
		q      Question
		want   string
	}{
		{"accept", required, "left: these required fields have no default: name"},
		{"cancel", required, `{"action":"cancel"}`},
		{"accept", page, `{"action":"accept"}`},
		{"accept", script1, "left: the page must not be opened: "},
		{"decline", script1, `{"action":"decline"}`},
		{"accept", model, "left: sampling/createMessage has no defaults to accept: it takes a whole result"},
		{"decline", model, "fault: User rejected the request"},
		{`{"role":"assistant","content":{"type":"text","text":"blue"},"model":"m"}`, model, `{"role":"assistant","content":{"type":"text","text":"blue"},"model":"m"}`},
		{`{"x":1}`, other, `{"x":1}`},
	} {
		if got := said(t, script(t, x.answer), x.q); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s to %s: %s, want %s", x.answer, x.q.Method, got, x.want)
		}
	}
}

func TestRulesMatchByKindMessageAndFields(t *testing.T) {
	s := script(t, "decline", `[
		{"kind":"form","fields":["branch","force"],"answer":{"branch":"main","force":false}},
		{"kind":"elicitation","message":"delete","answer":"cancel"},
		{"kind":"sampling","message":"colour","answer":{"role":"assistant","content":{"type":"text","text":"blue"},"model":"m"}},
		{"server":"elsewhere","answer":"accept"}
	]`)
	branch := `{"type":"object","properties":{"branch":{"type":"string"},"force":{"type":"boolean"}}}`
	for _, x := range []struct {
		q    Question
		want string
	}{
		{asked("Which branch?", branch), `{"action":"accept","content":{"branch":"main","force":false}}`},
		{asked("Really DELETE it?", `{"type":"object","properties":{"branch":{"type":"string"}}}`), `{"action":"cancel"}`},
		{question("sampling/createMessage", sample), `{"role":"assistant","content":{"type":"text","text":"blue"},"model":"m"}`},
		{asked("Anything else?", `{"type":"object","properties":{}}`), `{"action":"decline"}`},
	} {
		for range 2 { // any number of times
			assert.Equalf(t, said(t, s, x.q), x.want, "%s", x.q.Params)
		}
	}
	assert.Equalf(t, said(t, script(t, `[]`), asked("x", "{}")), "left: no rule fits it", "no rules")
}

func TestBadAnswersAreRefused(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     `"" is not accept, decline, cancel or a JSON object`,
		"yes":                                  `"yes" is not accept, decline, cancel or a JSON object`,
		`"accept"`:                             "is not accept",
		`{"a":`:                                "not a valid JSON object",
		`[{"answer":"accept"},{"anser":"x"}]`:  `rule 2: unknown key "anser"; the keys are kind, server, message, fields and answer`,
		`[{"kind":"roots","answer":"accept"}]`: `rule 1: kind is "roots", and must be one of elicitation, form, url, sampling`,
		`[{"kind":"form"}]`:                    "rule 1: it has no answer",
		`[{"fields":"a","answer":"accept"}]`:   `rule 1: fields is "a", which is not a text (fields: a list of names)`,
		`[{"message":3,"answer":"accept"}]`:    "rule 1: message is 3",
		`[{"answer":"maybe"}]`:                 `rule 1: answer: "maybe" is not accept`,
		`["accept"]`:                           "rule 1: not an object",
		`[{"answer":"accept"}`:                 "not valid JSON",
	} {
		if err := (&Script{}).Add([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func TestUnansweredSaysWhy(t *testing.T) {
	s := script(t, "accept")
	q := New(Options{Rules: []Rule{s}})
	x := asked("Name?", `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
	if _, fault, err := q.Ask(context.Background(), x, func() {}); fault == nil || err != nil {
		t.Fatalf("fault %v, err %v", fault, err)
	}
	left := q.Unanswered()
	if len(left) != 1 || left[0].Kind != Form || left[0].Why != "these required fields have no default: name" {
		t.Errorf("unanswered: %+v", left)
	}
}

// A form with very many fields, a schema that lies and a long conversation are answered all the same.
func TestAnswersToHostileQuestions(t *testing.T) {
	var fields, content strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&fields, `,"f%d":{"type":"string","default":"x"}`, i)
		fmt.Fprintf(&content, `,"f%d":"x"`, i)
	}
	many := asked("many", `{"type":"object","properties":{`+fields.String()[1:]+`}}`)
	assert.Equalf(t, said(t, script(t, "accept"), many), `{"action":"accept","content":{`+content.String()[1:]+`}}`, "5,000 defaults")
	loop := `{"$ref":"#","type":"object","properties":{"a":{"$ref":"#"},"b":{"default":1}},"required":"a"}`
	assert.Equalf(t, said(t, script(t, "accept"), asked("loop", loop)), `{"action":"accept","content":{"b":1}}`, "a schema that loops")
	for _, lie := range []string{`[]`, `"x"`, `{"properties":[1]}`, `null`} {
		assert.Equalf(t, said(t, script(t, "accept"), asked("lie", lie)), `{"action":"accept","content":{}}`, "%s", lie)
	}
	long := question("sampling/createMessage", `{"messages":[`+strings.Repeat(`{"role":"user","content":{"type":"text","text":"`+strings.Repeat("y", 1<<16)+`"}},`, 100)+`{"role":"user","content":7},3,{"role":"user","content":[{"type":"what"},{"type":"text","text":"Needle"}]}]}`)
	assert.Equalf(t, said(t, script(t, `[{"kind":"sampling","message":"needle","answer":{"model":"m"}}]`), long), `{"model":"m"}`, "a long conversation")
}

// A server is told only what can be answered here.
func TestWhatCanBeAnswered(t *testing.T) {
	for prepared, want := range map[string][3]bool{ // form, url, sampling
		"accept":                              {true, true, false},
		"decline":                             {true, true, true},
		`{"name":"Ann"}`:                      {true, true, true},
		`[{"kind":"form","answer":"accept"}]`: {true, false, false},
		`[{"kind":"sampling","answer":"accept"}]`:          {false, false, false},
		`[{"kind":"sampling","answer":"cancel"}]`:          {false, false, true},
		`[{"kind":"elicitation","answer":{"name":"Ann"}}]`: {true, true, false},
		`[]`: {false, false, false},
	} {
		s := &Script{}
		require.NoError(t, s.Add([]byte(prepared)))
		for i, k := range []Kind{Form, URL, Sampling} {
			assert.Equalf(t, New(Options{Rules: []Rule{s}}).Answers(k), want[i], "%s: %s can be answered", prepared, k)
			if !New(Options{Rules: []Rule{s}, Attended: true}).Answers(k) || New(Options{}).Answers(k) || (*Queue)(nil).Answers(k) {
				t.Errorf("%s with or without somebody who attends", k)
			}
		}
	}
}
