package pending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// TestThousandQuestionsOf50Servers: all are open at once, in order, and each gets its own answer.
func TestThousandQuestionsOf50Servers(t *testing.T) {
	q := New(Options{Attended: true})
	changes := make(chan struct{}, 10000)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			result, fault, err := q.Ask(t.Context(), Question{Server: fmt.Sprint("s", i%50), Method: "elicitation/create", Key: fmt.Sprint(i)}, func() { changes <- struct{}{} })
			if want := fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, i); string(result) != want || fault != nil || err != nil {
				t.Errorf("%s %v %v, want %s", result, fault, err, want)
			}
		})
	}
	for range 1000 {
		<-changes
	}
	open := q.Open()
	if len(open) != 1000 || q.Len() != 1000 {
		t.Fatalf("%d open", len(open))
	}
	for i, x := range open {
		if i > 0 && x.ID <= open[i-1].ID {
			t.Fatal("not in the order of their ids")
		}
		assert.NoError(t, q.Answer(x.ID, AcceptResult(fmt.Appendf(nil, `{"n":%s}`, x.Key))))
	}
	wg.Wait()
	if n := len(q.History()); n != maxEnded || q.Len() != 0 || q.bytes != 0 {
		t.Errorf("%d ended are kept, %d open with %d bytes", n, q.Len(), q.bytes)
	}
}

// TestQueueIsBounded: in number and in bytes, open and ended.
func TestQueueIsBounded(t *testing.T) {
	q := New(Options{Attended: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	big := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	var wg sync.WaitGroup
	for range 300 {
		wg.Go(func() {
			if _, fault, err := q.Ask(ctx, Question{Method: "sampling/createMessage", Params: big}, func() {}); fault == nil && err == nil {
				t.Error("an answer that nobody gave")
			} else if fault != nil && !strings.Contains(fault.Message, "too many questions") {
				t.Error(fault)
			}
		})
	}
	cancel(errors.New("the test is over"))
	wg.Wait()
	if q.Len() != 0 || q.endedBytes > maxEndedBytes {
		t.Errorf("%d open, %d bytes of ended", q.Len(), q.endedBytes)
	}
	for _, e := range q.History() {
		if e.Why != "the test is over" || e.By != "" {
			t.Errorf("%q by %q", e.Why, e.By)
		}
	}
	full := New(Options{Attended: true})
	for i := range maxOpen {
		full.open[uint64(i)] = &waiting{}
	}
	if _, fault, _ := full.Ask(t.Context(), Question{}, func() {}); fault == nil {
		t.Error("one more than fit")
	}
}

func TestAnswersAreChecked(t *testing.T) {
	q := New(Options{Attended: true})
	opened := make(chan struct{}, 2)
	done := make(chan string, 1)
	go func() {
		_, fault, _ := q.Ask(t.Context(), Question{Method: "sampling/createMessage"}, func() { opened <- struct{}{} })
		done <- fault.Message
	}()
	<-opened
	id := q.Open()[0].ID
	for _, bad := range []string{``, `1`, `{"a":}`, `[]`} {
		if err := q.Answer(id, json.RawMessage(bad)); failure.KindOf(err) != failure.Usage {
			t.Errorf("%q: %v", bad, err)
		}
	}
	assert.NoError(t, q.Decline(id))
	assert.Equal(t, <-done, "User rejected the request")
	if err := q.Answer(id, json.RawMessage(`{}`)); failure.KindOf(err) != failure.NotFound || !strings.Contains(err.Error(), "answered already") {
		t.Error(err)
	}
}

func TestDefaults(t *testing.T) {
	content, missing := Defaults([]byte(`{"type":"object","required":["a","b","l"],"properties":{"a":{"default":"x"},"n":{"type":"number","default":1.0},"b":{"type":"boolean"},"l":{"type":"array","default":["u"]},"o":{"type":"string"}}}`))
	if string(content) != `{"a":"x","n":1.0,"l":["u"]}` || len(missing) != 1 || missing[0] != "b" {
		t.Errorf("%s %v", content, missing)
	}
	if content, missing := Defaults([]byte(`{"required":["ghost","a",7,"ghost"],"properties":{"a":{"default":1}}}`)); string(content) != `{"a":1}` || !slices.Equal(missing, []string{"ghost"}) {
		t.Errorf("%s %v", content, missing)
	}
	for _, schema := range []string{``, `{}`, `[]`, `{"properties":[]}`, `{"properties":{"a":1}}`} {
		if content, missing := Defaults([]byte(schema)); string(content) != "{}" || missing != nil {
			t.Errorf("%s: %s %v", schema, content, missing)
		}
	}
}

func TestViolations(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":1,"format":"email"},"b":{"type":"string","oneOf":[{"const":"x","title":"X"}]},"c":{"type":"array","items":{"type":"string","enum":["u"]},"minItems":1},"d":{"type":"boolean","default":true},"e":{"type":"integer","minimum":0}},"required":["a"]}`: "",
		`{"type":"object","properties":{"a":{"type":"object","properties":{}}}}`:       "a: objects inside of the object are not allowed",
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{}}`:         "the schema uses \"$defs\"\na: it has no type",
		`{"type":"object","properties":{"a":{"type":"array","items":{}}}}`:             "a: an array must list its values by enum or anyOf",
		`{"type":"object","properties":{"a":{"type":"string","format":"password"}}}`:   `a: format "password" is not allowed`,
		`{"type":"object","properties":{"a":{"type":"string","if":{},"contains":{}}}}`: "a: it uses if, contains",
		`{"type":"array"}`:                  "the schema's type is \"array\" and not \"object\"\nproperties is missing",
		`{"type":"object","properties":[]}`: "properties is not an object",
	} {
		assert.Equalf(t, strings.Join(Violations([]byte(schema)), "\n"), want, "%s", schema)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `,"f%d":{"type":"object"}`, i)
	}
	assert.Equalf(t, len(Violations([]byte(`{"type":"object","properties":{`+many.String()[1:]+`}}`))), maxViolations, "are named")
}

func TestPages(t *testing.T) {
	for raw, want := range map[string]struct {
		host, refused string
		warnings      int
	}{
		"https://example.com/a?b=c":              {"example.com", "", 0},
		"http://localhost:80/x":                  {"localhost:80", "", 0},
		"http://127.0.0.1:1/":                    {"127.0.0.1:1", "", 0},
		"http://[::1]:1/":                        {"[::1]:1", "", 0},
		"http://example.com/":                    {"example.com", "not encrypted", 0},
		"https://example.com@evil.example/":      {"evil.example", "user name", 0},
		"https://xn--pple-43d.com/":              {"xn--pple-43d.com", "", 1},
		"https://\u0430pple.com/":                {"\u0430pple.com", "", 1},
		"https://10.1.2.3/":                      {"10.1.2.3", "", 1},
		"javascript:alert(1)":                    {"", "no host", 0},
		"file:///etc/passwd":                     {"", "no host", 0},
		"file://host/etc/passwd":                 {"host", "only https", 0},
		"https:\\\\example.com":                  {"", "not a valid URL", 0},
		"https://example.com/\x1b]0;x":           {"", "not a valid URL", 0},
		"":                                       {"", "no host", 0},
		"https://localhost.evil.example/":        {"localhost.evil.example", "", 0},
		"http://localhost.evil.example/":         {"localhost.evil.example", "not encrypted", 0},
		"http://127.0.0.1.evil.example/":         {"127.0.0.1.evil.example", "not encrypted", 0},
		"https://" + strings.Repeat("a", 10_000): {strings.Repeat("a", 10_000), "", 1}, // a name of this network
		"https://2130706433/":                    {"2130706433", "", 1},
		"https://0x7f.1/":                        {"0x7f.1", "", 1},
		"https://0177.0.0.1:8443/":               {"0177.0.0.1:8443", "", 1},
		"https://134744072/":                     {"134744072", "", 1},
		"https://127。0。0。1/":                     {"127。0。0。1", "", 2},
		"https://127.0.0.1/":                     {"127.0.0.1", "", 1},
		"https://localhost/":                     {"localhost", "", 1},
		"https://router.local/":                  {"router.local", "", 1},
		"http://2130706433/":                     {"2130706433", "not encrypted", 1},
		"https://\u202eelpmaxe.live/":            {"\u202eelpmaxe.live", "no screen shows", 0},
		"https://%E2%80%AEelpmaxe.live/":         {"\u202eelpmaxe.live", "no screen shows", 0},
		"https://exam\u200bple.com/":             {"exam\u200bple.com", "no screen shows", 0},
		"https://exam\u00adple.com/":             {"exam\u00adple.com", "no screen shows", 0},
		"https://exam\u3164ple.com/":             {"exam\u3164ple.com", "no screen shows", 0},
		"https://exam\ufe0fple.com/":             {"exam\ufe0fple.com", "no screen shows", 0},
		"https://exam\U000e0041ple.com/":         {"exam\U000e0041ple.com", "no screen shows", 0},
		"https://exam\u009bple.com/":             {"exam\u009bple.com", "no screen shows", 0},
		"https://\u2066user\u2069@h.example/":    {"", "not a valid URL", 0},
	} {
		p := PageOf(raw)
		refused := ""
		if p.Refused != nil {
			refused = p.Refused.Error()
		}
		if p.Host != want.host || (want.refused == "") != (refused == "") || !strings.Contains(refused, want.refused) || len(p.Warnings) != want.warnings {
			t.Errorf("%.80q: host %.80q, refused %q, warnings %q", raw, p.Host, refused, p.Warnings)
		}
	}
}

func TestMessages(t *testing.T) {
	m := Message{Model: "gpt", StopReason: "toolUse", Content: []json.RawMessage{Text("a\"b"), ToolUse("1", "add", []byte(`{"a":1}`))}}
	if want := `{"role":"assistant","model":"gpt","stopReason":"toolUse","content":[{"type":"text","text":"a\"b"},{"type":"tool_use","id":"1","name":"add","input":{"a":1}}]}`; string(m.Result()) != want {
		t.Errorf("%s", m.Result())
	}
	if want := `{"role":"assistant","model":"","content":[]}`; string(Message{}.Result()) != want {
		t.Errorf("%s", Message{}.Result())
	}
}
