package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
)

// secret is what must never be seen again once it was given.
const secret = "hunter2Sup3rS3cretValue"

var copied = regexp.MustCompile(`\x1b\]52;c;([A-Za-z0-9+/=]*)\x07`)

// TestSecretsStayHidden gives secrets in every way there is and looks for them
// on all screens, in what is copied, in messages and in the journal.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "session="+secret)
		w.Header().Set("Mcp-Session-Id", secret)
		w.Header().Set("WWW-Authenticate", `Bearer realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(refuse.Close)
	host := strings.TrimPrefix(refuse.URL, "http://")
	good := faketest.Stdio(t, behave.Good)
	for name, args := range map[string][]string{
		"header":         {"-H", "Authorization: Bearer " + secret, "-H", "X-Api-Key: " + secret, "--url", url},
		"query":          {"--url", url + "?token=" + secret},
		"user info":      {"--url", strings.Replace(url, "://", "://me:"+secret+"@", 1)},
		"refused":        {"-H", "Cookie: a=" + secret, "--url", refuse.URL + "/mcp"},
		"refused, user":  {"--url", "http://me:" + secret + "@" + host + "/mcp?api_key=" + secret},
		"nobody there":   {"-H", "Authorization: Basic " + secret, "--url", "http://me:" + secret + "@127.0.0.1:1/mcp?key=" + secret},
		"no such scheme": {"--url", "ftp://me:" + secret + "@127.0.0.1/mcp"},
		"environment":    {"-e", "API_TOKEN=" + secret, "--", good.Command, "good", "--token", secret, "--password=" + secret},
		"not found":      {"-e", "API_TOKEN=" + secret, "--", "/nonexistent/server", "--token", secret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "journal")
			hidden := func(where, text string) {
				t.Helper()
				for _, s := range []string{secret, base64.StdEncoding.EncodeToString([]byte("me:" + secret)), base64.StdEncoding.EncodeToString([]byte(secret))} {
					if i := strings.Index(text, s); i >= 0 {
						t.Errorf("%s shows the secret: …%q…", where, text[max(0, i-200):min(len(text), i+40)])
					}
				}
			}
			for _, format := range []string{"text", "json"} {
				o := mcphud(t, append([]string{"info", "--format", format, "--journal", file}, args...)...)
				hidden("info as "+format, o.out+o.stderr)
			}
			s := startUI(t, append([]string{"--journal", file}, args...)...)
			if name == "no such scheme" {
				s.exit()
				hidden("the message", s.written())
				return
			}
			s.shows("Tools")
			for _, keys := range []string{"1", "yc", "\x1b", "ym", "\x1b", "yj", "\x1b", "\t", "G", "6", "g", "\x1b[B", "\x1b[B", "\x1b[B", "\x1b[B", "\x1b[B", "[", "[", "2", "yc", "\x1b", ":", "\x1b", "\x10", "\x1b", "?", "\x1b"} {
				_, _ = io.WriteString(s.f, keys)
				s.settle(25 * time.Millisecond) // whatever is drawn by then
			}
			s.signal(os.Interrupt)
			s.exit()
			hidden("the screen", s.written())
			for _, m := range copied.FindAllStringSubmatch(s.written(), -1) {
				b, _ := base64.StdEncoding.DecodeString(m[1])
				hidden("the clipboard", string(b))
			}
			hidden("the journal", contents(file))
			if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("the journal has mode %v", info.Mode())
			}
		})
	}
}

// allSecrets is a text with the usual secrets, and arguments on a command line with those by name.
func allSecrets() (note string, args []string) {
	for what, v := range usualSecrets {
		note += what + " " + v + "\n"
	}
	for name, v := range namedSecrets {
		args = append(args, name+"="+v)
	}
	return note, args
}

// noSecret looks for all of them.
func noSecret(t *testing.T, where, text string) {
	t.Helper()
	for what, v := range namedSecrets {
		if strings.Contains(text, v) {
			t.Errorf("%s has %s", where, what)
		}
	}
	for what, v := range usualSecrets {
		if strings.Contains(text, secretPart(v)) {
			t.Errorf("%s has %s", where, what)
		}
	}
}

// Of what a program fell over, a report that people send has no secret: neither by its look nor by the name before it.
func TestACrashReportHasNoSecret(t *testing.T) {
	t.Parallel()
	note, _ := allSecrets()
	said := fmt.Sprintf("cannot handle %v: %s", map[string]string{"api_key": namedSecrets["api_key"], "password": namedSecrets["password"], "token": namedSecrets["token"]}, note)
	for _, v := range []any{said, errors.New(said), fmt.Sprintf("{%q: %q, %q: %q}", "password", namedSecrets["password"], "note", note)} {
		report := (&tui.CrashError{View: "call", Value: v, Stack: "main.go:1"}).Error()
		noSecret(t, "a crash report", report)
		assert.Contains(t, report, "main.go:1", "password")
	}
}

// An error of a server that repeats what it was sent is written to stderr without it, since that ends up in logs.
func TestStderrHasNoSecret(t *testing.T) {
	t.Parallel()
	note, args := allSecrets()
	for _, format := range []string{"text", "json", "jsonl"} {
		o := mcphud(t, append([]string{"tools", "call", "login", "user=refused", "note=" + note, "--url", echoing(t), "--format", format, "--journal", filepath.Join(t.TempDir(), "j")}, args...)...)
		o.exits(t, cli.ExitRPC, "nobody lets refused in")
		noSecret(t, "stderr as "+format, o.stderr)
	}
	o := mcphud(t, append([]string{"--cli", echoing(t), "--method", "tools/call", "--tool-name", "login", "--tool-arg", "user=refused", "--tool-arg", "note=" + note, "--tool-arg"}, strings.Split(strings.Join(args, "\x00--tool-arg\x00"), "\x00")...)...)
	if o.code == 0 || !strings.Contains(o.stderr, "nobody lets refused in") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	noSecret(t, "stderr of --cli", o.stderr)
}

// What client, router and agents tell a collector, what they log at every level, the router's audit log and their numbers have no secret of
// the calls that they are about.
func TestTelemetryAndLogsHaveNoSecret(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := map[string]string{}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // what ended early is looked at as far as it goes
		mu.Lock()
		defer mu.Unlock()
		told[r.URL.Path] += string(raw)
	}))
	sink.Config.SetKeepAlivesEnabled(false)
	t.Cleanup(sink.Close)
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + sink.URL, "OTEL_METRIC_EXPORT_INTERVAL=200"}
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	tm := &team{t: t, agents: map[string]*served{}, routes: map[string]any{}}
	tm.router = launch(t, routerCommand(t, `{"routes":{}}`, env, "--port", "0", "--audit", audit, "--log-level", "debug"), routerReady)
	a := tm.start("a", env, "--log-level", "debug")
	note, args := allSecrets()
	url := tm.router.url + "/mcps/a/mcp"
	arguments, err := json.Marshal(map[string]any{"name": "echo", "arguments": map[string]any{"message": note + strings.Join(args, "\n"), "token": namedSecrets["token"]}})
	require.NoError(t, err)
	for _, call := range [][]string{
		{"raw", "tools/call", string(arguments)},
		{"resources", "read", "https://ann:pa55-word-of-ann@db.example/?token=" + namedSecrets["token"]},
		{"raw", "tools/call", `{"name":"echo","arguments":{"message":7,"password":"` + namedSecrets["password"] + `"}}`},
		{"raw", "tools/call", `{"name":"` + usualSecrets["npm"] + `"}`},
	} {
		cmd := command(t, append(call, "--url", url, "--traceparent", "all")...)
		cmd.Env = append(cmd.Env, env...)
		finish(t, cmd) // some of them are refused, which is told and logged as well
	}
	defer func() {
		if t.Failed() {
			mu.Lock()
			defer mu.Unlock()
			for where, text := range told {
				t.Logf("%s: %d bytes, %d calls, echo %v", where, len(text), strings.Count(text, "tools/call"), strings.Contains(text, "echo"))
			}
		}
	}()
	require.Eventually(t, "spans and numbers of the calls", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Count(told["/v1/traces"], "tools/call") > 2 && strings.Contains(told["/v1/metrics"], "echo") && strings.Contains(contents(audit), "tools/call")
	})
	mu.Lock()
	defer mu.Unlock()
	for where, text := range told {
		noSecret(t, where, text)
	}
	noSecret(t, "the log of the router", tm.router.log())
	noSecret(t, "the log of the agent", a.log())
	noSecret(t, "the audit log", contents(audit))
	noSecret(t, "the numbers of the agent", a.get("/metrics").body)
	noSecret(t, "the numbers of the router", tm.router.get("/metrics").body)
}

// --journal promises the same in every manual, and keeps it.
func TestWhatAJournalHoldsIsOneSentence(t *testing.T) {
	t.Parallel()
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	texts := map[string]string{"--help": mcphud(t, "--help").ok(t), "tools call --help": mcphud(t, "tools", "call", "--help-all").ok(t)}
	for _, file := range []string{"../../README.md", "README.md", "../../session/traffic/README.md"} {
		b, err := os.ReadFile(filepath.FromSlash(file))
		require.NoError(t, err)
		texts[file] = string(b)
	}
	for where, text := range texts {
		if n := strings.Count(flat(text), cli.JournalHolds); n != 1 {
			t.Errorf("%s says %d times: %s", where, n, cli.JournalHolds)
		}
	}
	note, args := allSecrets()
	if n := len(usualSecrets) + len(namedSecrets); n < 17 {
		t.Errorf("only %d forms of secrets", n)
	}
	file := filepath.Join(t.TempDir(), "j.jsonl")
	if err := os.WriteFile(file, nil, 0o644); err != nil { // which others could read so far
		t.Fatal(err)
	}
	mcphud(t, append([]string{"tools", "call", "login", "user=ann", "note=" + note, "--url", echoing(t), "--journal", file}, args...)...).ok(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v %v", info.Mode(), err)
	}
	journal := contents(file)
	noSecret(t, "the journal", journal)
	for n := range 17 { // each is a placeholder
		if p := "[secret-" + strconv.Itoa(n+1) + "]"; !strings.Contains(journal, p) {
			t.Errorf("it has no %s", p)
		}
	}
}
