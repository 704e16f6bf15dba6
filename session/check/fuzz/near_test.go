package fuzz

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require/assert"
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

// ways are how right answers come that look like what breaks a rule, whose fault is planted elsewhere (toolFaults, httpFaults).
var ways = map[string]func(w http.ResponseWriter, id, answer string){
	"died": func(w http.ResponseWriter, _, answer string) { // the connection ends, after the answer
		w.Header().Set("Connection", "close")
		plain(w, http.StatusOK, answer)
	},
	"no-answer": func(w http.ResponseWriter, _, answer string) { // another event first, and an answer in two lines
		before, after, _ := strings.Cut(answer, ",")
		stream(w, ": wait\n\nid: 1\ndata:\n\n", "data: "+before+",\ndata: "+after+"\n\n")
	},
	"http-status": func(w http.ResponseWriter, id, _ string) { // an error that says why
		plain(w, http.StatusBadRequest, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32602,"message":"not of mine"}}`)
	},
	"noise": func(w http.ResponseWriter, _, answer string) { plain(w, http.StatusOK, "\r\n\t "+answer+"\n\n") },
	"answer-twice": func(w http.ResponseWriter, id, answer string) { // a request of the server, whose ids are its own
		stream(w, `data: {"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`+"\n\n", "data: "+answer+"\n\n")
	},
	"unknown-id": func(w http.ResponseWriter, id, answer string) {
		stream(w, `data: {"jsonrpc":"2.0","id":"nobody knows `+id+`","method":"ping"}`+"\n\n", "data: "+answer+"\n\n")
	},
}

func plain(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that is gone misses nothing
}

func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		_, _ = io.WriteString(w, e)
		w.(http.Flusher).Flush()
	}
}

// TestNearWays: answers that come in an unusual way are answers.
func TestNearWays(t *testing.T) {
	t.Parallel()
	var tools []tool
	for rule := range ways {
		tools = append(tools, tool{name: "near_" + rule, input: anything, answer: func(string) string { return says("well") }})
	}
	all := handler(tools)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		frame, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		if env, _ := jsonrpc.Scan(frame); env.Method == "" && r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted) // an answer to one of our requests
			return
		} else if way := ways[strings.TrimPrefix(jsonrpc.GetString(env.Params, "name"), "near_")]; way != nil {
			way(w, string(env.ID), reply(frame, tools))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(frame))
		all.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	rep := fuzzed(t, config.Server{Transport: config.HTTP, URL: srv.URL + "/mcp"}, Options{Seed: 3, Runs: 3, Timeout: 30 * time.Second})
	for _, f := range rep.Findings { // that the arguments do not matter is another rule's
		if rule := strings.TrimPrefix(f.ID, "fuzz/"); ways[rule] != nil || rule == "frame" {
			t.Errorf("%s is found at %s: %s\n%s", rule, f.Place.Name, f.Message, f.Evidence)
		}
	}
	called := 0
	for _, s := range rep.Sections {
		for _, o := range s.Outcomes {
			if o.Rule == "fuzz/no-answer" && o.Verdict == check.Passed && strings.HasPrefix(o.Place.Name, "near_") {
				called++
			}
		}
	}
	if called != len(ways) {
		t.Errorf("%d of %d tools were called: %+v", called, len(ways), rep.Sections)
	}
}

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
	for _, r := range rules.Of("fuzz") {
		rule := strings.TrimPrefix(r.ID, "fuzz/")
		ids[rule] = true
		_, here := pairs[rule]
		_, elsewhere := pairsElsewhere[rule]
		if !here && !elsewhere && (ways[rule] == nil || !planted[rule]) {
			t.Errorf("%s needs a fault and a near miss in pairs, in ways, or in a test that pairsElsewhere names", rule)
		}
	}
	for rule := range ways {
		if !ids[rule] {
			t.Errorf("there is no rule %s", rule)
		}
	}
}
