package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/serve/fault"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// planted is the rule of fuzz that names what a tool of the profile hostile does, over each transport, or "- " and why none does.
type planted struct{ http, stdio string }

func onBoth(rule string) planted { return planted{rule, rule} }

const (
	itsText  = "- what a text does to who reads it is for safety, and the sanitiser"
	itsSize  = "- the transport bounds what is large, and the journal what is many"
	onlyHTTP = "- only over HTTP"
)

// hostileFaults are those of all tools but the payloads.
var hostileFaults = map[string]planted{
	"list_mode": onBoth("- lint says what is wrong with lists"), "ask_trust": onBoth(itsText), "ask_password": onBoth(itsText), "ask_url": onBoth(itsText), "ask_model": onBoth(itsText),
	"deep_json": onBoth(itsSize), "long_line": onBoth(itsSize), "many_contents": onBoth(itsSize), "progress_flood": onBoth(itsSize), "log_flood": onBoth(itsSize),
	"list_changed_flood": onBoth(itsSize), "stderr_flood": onBoth(itsSize), "big_frame": onBoth(itsSize),
	"unknown_content": onBoth("frame"), "bad_base64": onBoth("frame"), "progress_lies": onBoth("frame"), "silent_error": onBoth("silent-error"),
	"bad_media": onBoth("- pictures are not decoded"), "evil_links": onBoth("- safety judges links; nothing here opens them"),
	"error_as_success": onBoth("- a failure with a text is one, whatever the text says"),
	"answer_other_id":  onBoth("unknown-id"), "answer_null_id": onBoth("unknown-id"), "answer_no_id": onBoth("unknown-id"), "answer_id_as_text": onBoth("unknown-id"),
	"answer_batch": onBoth("frame"), "answer_no_version": onBoth("frame"), "answer_both": onBoth("frame"), "answer_neither": onBoth("frame"), "answer_duplicate_keys": onBoth("frame"),
	"answer_null_result": onBoth("frame"), "answer_list_result": onBoth("frame"), "answer_bad_error": onBoth("frame"), "answer_error_code": onBoth("frame"),
	"answer_huge_number":    onBoth("- it is JSON: RFC 8259 leaves the range of numbers to who reads them"),
	"answer_lone_surrogate": onBoth("- it is JSON: RFC 8259 calls it unpredictable, and does not forbid it"),
	"answer_request":        {"died", "no-answer"}, "bad_json": onBoth("frame"), "trailing_garbage": onBoth("frame"), "bad_utf8": onBoth("frame"), "not_json": onBoth("noise"),
	"answer_byte_order_mark": onBoth("noise"), "noise": {"- between the events of a stream it means nothing", "noise"}, "answer_twice": onBoth("answer-twice"),
	"answer_late": onBoth("- a second is not slow in a tool that always takes it"), "half_frame": {"died", "no-answer"}, "never": onBoth("no-answer"), "hang_up": {"died", "no-answer"},
	"exit": {"- the test would end with it", "died"}, "foreign_progress": onBoth("frame"),
	"http_status": {"http-status", onlyHTTP}, "http_redirect": {"died", onlyHTTP}, "http_redirect_away": {"- the test would leave this machine", onlyHTTP},
	"http_silent_stream": {"no-answer", onlyHTTP}, "http_never_flushed": {"no-answer", onlyHTTP}, "http_empty": {"frame", onlyHTTP}, "http_accepted": {"frame", onlyHTTP},
	"http_wrong_type": {"frame", onlyHTTP}, "http_no_type": {"frame", onlyHTTP}, "http_lying_length": {"died", onlyHTTP}, "http_gzip_bomb": {itsSize, onlyHTTP},
	"http_session_swap": {"- conform says what is wrong with sessions", onlyHTTP}, "sse_torture": {"answer-twice", onlyHTTP},
}

// hostilePlanted is what a tool of the profile does.
func hostilePlanted(tool string) (planted, bool) {
	for _, p := range fault.Payloads() {
		switch {
		case p.Slug() != tool:
		case utf8.ValidString(p.Text):
			return onBoth(itsText), true
		default:
			return onBoth("frame"), true
		}
	}
	p, ok := hostileFaults[tool]
	return p, ok
}

// hostileTools are the names of all tools of the profile.
func hostileTools(t *testing.T, url string) (names []string) {
	t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(mcphud(t, "raw", "tools/list", "{}", "--format", "json", "--url", url).ok(t)), &list); err != nil || len(list.Tools) < 100 {
		t.Fatalf("%v, %d tools", err, len(list.Tools))
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// hostileWanted is the rule that names what a tool does, by transport and tool, where one does.
func hostileWanted(t *testing.T, url string) map[string]map[string]string {
	t.Helper()
	over := map[string]map[string]string{"http": {}, "stdio": {}}
	for _, tool := range hostileTools(t, url) {
		p, ok := hostilePlanted(tool)
		if !ok {
			t.Errorf("say in hostileFaults which rule names what %s does", tool)
		}
		for how, rule := range map[string]string{"http": p.http, "stdio": p.stdio} {
			if rule != "" && !strings.HasPrefix(rule, "- ") {
				over[how][tool] = rule
			}
		}
	}
	return over
}

// TestCheckFuzzFindsHostileAnswers: over both transports each fault of the profile hostile that a rule names is found, and shown without
// arguments; of the others the table says why none does.
func TestCheckFuzzFindsHostileAnswers(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: "hostile"})
	over := hostileWanted(t, url)
	if !budget.All() { // over stdio each of them costs some processes
		for tool := range over["stdio"] {
			if !slices.Contains([]string{"answer_other_id", "answer_neither", "not_json", "noise", "answer_twice", "silent_error", "never", "half_frame", "exit"}, tool) {
				delete(over["stdio"], tool)
			}
		}
	}
	target := map[string][]string{"http": {"--url", url}, "stdio": ownAgent(t, "hostile")}
	for how, want := range over {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var tools []string
			for name := range want {
				tools = append(tools, name)
			}
			slices.Sort(tools)
			only := strings.Join(tools, ",")
			c := command(t, append([]string{"check", "fuzz", "--seed", "1", "--runs", "1", "--for", "4m", "--call-timeout", "3s", "--failures", "", "--fail-on", "never", "--format", "json", "--allow", only, "--only", only, "--protocol", "2025-11-25"}, target[how]...)...)
			var out, stderr bytes.Buffer
			c.Stdout, c.Stderr = &out, &stderr
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %s", err, &stderr)
			}
			found, r := findings(t, out.Bytes())
			for tool, rule := range want {
				if !slices.Contains(found, rule+" "+tool) {
					t.Errorf("%s of %s was not found", rule, tool)
				}
			}
			for _, f := range r.Findings {
				if f.Place.Kind == check.OfTool && strings.TrimPrefix(f.ID, "fuzz/") == want[f.Place.Name] && strings.Contains(f.Repro, "--args") {
					t.Errorf("not small: %s", f.Repro)
				}
			}
		})
	}
}

// injected is an agent whose next call suffers.
func injected(t *testing.T, kind fault.Kind) (url string) {
	t.Helper()
	url = agent(t, agentsrv.Options{Profile: "fault"})
	mcphud(t, "tools", "call", "fault_set", "delay_ms=300000", "--url", url).ok(t) // how long a request is delayed that is picked
	mcphud(t, "tools", "call", "fault_next", "kind="+string(kind), "--url", url).ok(t)
	return url
}

// injectedWanted is the rule that names what the call suffers.
func injectedWanted(kind fault.Kind) string {
	return map[fault.Kind]string{
		fault.Delay: "no-answer", fault.SlowBody: "no-answer", fault.Drop: "died", fault.HTTP500: "http-status", fault.JSONRPCError: "wrong-layer",
		fault.PartialJSON: "frame", fault.TruncatedSSE: "frame", fault.WrongID: "unknown-id",
	}[kind]
}

// TestCheckFuzzFindsInjectedFaults: each fault that the profile fault injects into one request is a finding of the rule that names it, with
// the plainest call, and the word that it is not due to that; of a share of all requests the report says how often it came.
func TestCheckFuzzFindsInjectedFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			url := injected(t, kind)
			dir := t.TempDir()
			found, r := fuzzed(t, "--runs", "1", "--only", "echo", "--for", "4m", "--call-timeout", "3s", "--failures", dir, "--url", url)
			i := slices.Index(found, injectedWanted(kind)+" echo")
			if i < 0 {
				t.Fatalf("%q", found)
			}
			assert.Contains(t, r.Findings[i].Message, `arguments: {"message":""} (seen once, and not again with the same arguments: it does not depend on them)`)
			if o := mcphud(t, "check", "fuzz", "--replay", "--failures", dir, "--format", "text", "--fail-on", "never", "--url", url); !strings.Contains(o.ok(t), "  fixed ") || strings.Contains(o.out, "still there") {
				t.Errorf("%s", o.out)
			}
		})
	}
	url := agent(t, agentsrv.Options{Profile: "fault"})
	if found, _ := fuzzed(t, "--runs", "5", "--only", "panic", "--url", url); !slices.Contains(found, "wrong-layer panic") {
		t.Errorf("%q", found)
	}
}
