package fuzz

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// answer is what a tool answers: a result or an error as JSON, by the arguments.
type answer func(args string) string

// tool is a tool of a server of the test.
type tool struct {
	name, input, output string
	answer              answer
}

func says(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return `"result":{"content":[{"type":"text","text":` + string(raw) + `}]}`
}

func fails(s string) string { return strings.TrimSuffix(says(s), "}") + `,"isError":true}` }

// reply answers one request of the legacy protocol, "" for a notification.
func reply(frame []byte, tools []tool) string {
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			URI       string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(frame, &q); err != nil || q.ID == nil {
		return ""
	}
	body := `"error":{"code":-32601,"message":"no such method"}`
	switch q.Method {
	case "initialize":
		body = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"made","version":"1"}}`
	case "ping":
		body = `"result":{}`
	case "resources/list":
		body = `"result":{"resources":[{"uri":"made://there","name":"there"},{"uri":"made://gone","name":"gone"}]}`
	case "resources/templates/list":
		body = `"result":{"resourceTemplates":[]}`
	case "resources/read":
		body = `"result":{"contents":[{"uri":"made://there","text":"x"}]}`
		if q.Params.URI != "made://there" {
			body = `"error":{"code":-32002,"message":"there is none"}`
		}
	case "tools/list":
		var all []string
		for _, t := range tools {
			one := `{"name":"` + t.name + `","annotations":{"readOnlyHint":true},"inputSchema":` + t.input
			if t.output != "" {
				one += `,"outputSchema":` + t.output
			}
			all = append(all, one+"}")
		}
		body = `"result":{"tools":[` + strings.Join(all, ",") + `]}`
	case "tools/call":
		body = `"error":{"code":-32602,"message":"no such tool"}`
		for _, t := range tools {
			if t.name == q.Params.Name {
				body = t.answer(string(q.Params.Arguments))
			}
		}
	}
	return `{"jsonrpc":"2.0","id":` + string(q.ID) + `,` + body + `}`
}

// serve is a server with these tools over HTTP.
func serve(t *testing.T, tools ...tool) config.Server {
	t.Helper()
	srv := httptest.NewServer(handler(tools))
	t.Cleanup(srv.Close)
	return config.Server{Transport: config.HTTP, URL: srv.URL + "/mcp", Headers: map[string]string{"X-Api-Key": "sesame-open-1234"}}
}

func handler(tools []tool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		frame, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		out := reply(frame, tools)
		if out == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, out) // a client that is gone misses nothing
	})
}

const anything = `{"type":"object"}`

// TestOracles: each rule that no other server here breaks, with the least arguments that show it.
func TestOracles(t *testing.T) {
	t.Parallel()
	number := `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":500},"s":{"type":"string"}}}`
	type given struct {
		N *json.Number
		S *string
	}
	// read takes what the schema of number allows, but for the maximum.
	read := func(args string) (in given, ok bool) {
		if args == "" {
			return in, true
		}
		var members map[string]any
		if json.Unmarshal([]byte(args), &in) != nil || json.Unmarshal([]byte(args), &members) != nil || members == nil {
			return in, false
		}
		for name, v := range members {
			if _, isText := v.(string); v == nil || name == "n" && isText {
				return in, false
			}
		}
		n, err := json.Number("1"), error(nil)
		if in.N != nil {
			n = *in.N
		}
		whole, err := n.Int64()
		return in, err == nil && whole >= 1
	}
	refuse := fails("Input validation error")
	cfg := serve(
		t,
		tool{"trace", number, "", func(a string) string {
			if in, ok := read(a); ok && in.N != nil && *in.N == "500" {
				return fails("Error: no\n    at Object.run (/srv/app/index.js:10:5)\n    at main (/srv/app/index.js:20:1)")
			}
			return fails("no")
		}},
		tool{"path", anything, "", func(string) string { return fails("cannot open /home/alice/secret/data.db") }},
		tool{"secret", anything, "", func(string) string { return says("the key is sesame-open-1234") }},
		tool{"structured", anything, `{"type":"object","required":["sum"],"properties":{"sum":{"type":"number"}}}`, func(string) string {
			return `"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{"sum":"1"}}`
		}},
		tool{"refuses", number, "", func(a string) string {
			if in, ok := read(a); !ok || in.S != nil && utf8.RuneCountInString(*in.S) > 12 {
				return refuse
			}
			return says("ok")
		}},
		tool{"accepts", number, "", func(a string) string {
			if _, ok := read(a); !ok {
				return refuse
			}
			return says("ok")
		}},
		tool{"well", number, "", func(a string) string {
			in, ok := read(a)
			if n := json.Number("1"); ok && in.N != nil {
				n = *in.N
				whole, err := n.Int64()
				ok = err == nil && whole <= 500
			}
			if !ok {
				return refuse
			}
			return says("ok")
		}},
	)
	rep := fuzzed(t, cfg, Options{Seed: 5, Runs: 60, Timeout: 30 * time.Second})
	got := found(rep)
	for _, want := range []string{ // and in accepts the maximum
		`stack-trace trace {"n":500}`, "path path", "secret secret", "output structured", `accepted accepts {"n":501}`, "dead-link made://gone",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("not found: %s", want)
		}
	}
	if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, `refused refuses {"s":"aaaaaaaaaaaaa"}`) }) {
		t.Errorf("not found, or not small: refused refuses")
	}
	for _, f := range rep.Findings {
		if f.Place.Name == "well" && f.ID != "fuzz/slow" {
			t.Errorf("nothing is wrong with well: %s %s", f.ID, f.Message)
		}
		assert.NotContains(t, f.Message, "sesame")
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

// slowly is a section that looks only at which calls are slow, of a tool whose calls took as long as told.
type slowly struct {
	section
	times []timing
}

func (s *slowly) Run(ctx context.Context, subject *check.Subject, rec *check.Recorder) error {
	s.o.For = time.Hour
	r := newRun(subject, s.o, rec)
	r.conns.turn.Lock()
	defer r.conns.turn.Unlock()
	defer func() { r.conns.current().close(sentCall{}) }()
	t := newTarget(check.OfTool, "waits", schema.ParseArguments(nil), true)
	t.times = s.times
	return r.checkSlow(ctx, t)
}

// TestSlow: what takes long each time is told, with its arguments; what did so once is not.
func TestSlow(t *testing.T) {
	t.Parallel()
	cfg := serve(t, tool{"waits", anything, "", func(a string) string {
		if strings.Contains(a, `"n":7}`) {
			time.Sleep(slowest + 50*time.Millisecond)
		}
		return says("ok")
	}})
	for args, want := range map[string]int{`{"n":7}`: 1, `{"n":8}`: 0} {
		v, err := schema.ParseValue([]byte(args))
		require.NoError(t, err)
		usual := timing{took: time.Millisecond}
		if want == 0 {
			usual.took = 20 * time.Second // so that no call of now is slow
		}
		most := timing{in: input{Value: Value{Value: v}}, took: time.Hour}
		rep, err := fuzzedBy(t.Context(), t, cfg, func(j *journal.Journal) check.Section {
			o := Options{Timeout: time.Minute, Journal: j, Repro: func(c Call) string { return c.Name + " " + string(c.Arguments) }}
			return &slowly{section{o}, []timing{usual, usual, usual, usual, most}}
		}, check.Watch{})
		require.NoError(t, err)
		if got := found(rep); len(got) != want || want == 1 && got[0] != "slow waits "+args {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// TestBigResults: 50 MB are taken, and what is too much to look into is not looked into.
func TestBigResults(t *testing.T) {
	t.Parallel()
	big := says(strings.Repeat("0123456789", 5_000_000))
	cfg := serve(t, tool{"big", anything, "", func(a string) string {
		if a == "" || a[0] == '{' {
			return big
		}
		return fails("Input validation error")
	}})
	rep := fuzzed(t, cfg, Options{Seed: 1, Runs: 1, Timeout: time.Minute})
	if len(found(rep)) > 1 { // the resource that is gone
		t.Errorf("%q", found(rep))
	}
}

const leaks = "FUZZ_TEST_LEAKS"

// leaking is a server over stdio that keeps a megabyte with each call of one tool.
func leaking() {
	var kept [][]byte
	tools := []tool{
		{"leaks", anything, "", func(string) string {
			kept = append(kept, bytes.Repeat([]byte("x"), 1<<20))
			return says("ok")
		}},
		{"keeps_nothing", anything, "", func(string) string { return says("ok") }},
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if out := reply(in.Bytes(), tools); out != "" {
			fmt.Println(out)
		}
	}
	_ = kept
}

// TestNoAnswerBesides: a call without an answer is one, unless what came may have been meant as that.
func TestNoAnswerBesides(t *testing.T) {
	t.Parallel()
	c := newClient(&check.Subject{}, Options{}, nil)
	for id, want := range map[string]string{"server-request": "fuzz/frame fuzz/no-answer", "id-unknown": "fuzz/unknown-id", "answer-twice": "fuzz/answer-twice fuzz/no-answer"} {
		out := outcome{err: &failure.Error{Kind: failure.Timeout}, wire: []live.Finding{{Rule: rules.Find("live", id)}}}
		var got []string
		for _, h := range c.oracles(newTarget(check.OfTool, "x", schema.FromArguments(nil), false), input{}, &out) {
			got = append(got, h.rule)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", id, got, want)
		}
	}
}

// TestTooLarge: a server that refuses what is huge by a status does as HTTP says; one that refuses little does not.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := newClient(&check.Subject{}, Options{}, nil)
	for _, extreme := range []bool{true, false} {
		out := outcome{err: &failure.Error{Kind: failure.Transport, Status: http.StatusRequestHeaderFieldsTooLarge}}
		got := c.oracles(newTarget(check.OfTemplate, "x:{id}", schema.FromArguments(nil), false), input{Value: Value{Extreme: extreme}}, &out)
		if found := len(got) == 1 && got[0].rule == "fuzz/http-status"; found == extreme || len(got) > 1 {
			t.Errorf("extreme %v: %+v", extreme, got)
		}
	}
}
