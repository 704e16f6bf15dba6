package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The child says on stderr what it was given, and leaves: that is all it takes to see that flags arrive.
func TestEnvironmentAndFolderReachTheServer(t *testing.T) {
	t.Parallel()
	dir := mustRealPath(t, t.TempDir())
	o := mcphud(t, "info", "-e", "ONE=1=2", "-e", "TWO=", "--cwd", dir, "--", "sh", "-c", `echo "one:$ONE two:${TWO-unset} home:${HOME:+set} dir:$(pwd) args:$*" >&2; exit 3`, "sh", "-a", "--url")
	if want := "one:1=2 two: home:set dir:" + dir + " args:-a --url\n"; !strings.HasPrefix(o.stderr, want) || o.code != cli.ExitUnreachable {
		t.Errorf("exit %d, stderr %q, want %q", o.code, o.stderr, want)
	}
}

func TestHeadersReachTheServer(t *testing.T) {
	t.Parallel()
	var seen atomic.Pointer[http.Header]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		seen.CompareAndSwap(nil, &h)
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	defer srv.Close()
	journal := filepath.Join(t.TempDir(), "j.jsonl")
	o := mcphud(t, "info", "--url", srv.URL, "-H", "Authorization: Bearer s3cret-t0ken-value", "-H", "X-Two:2", "--journal", journal)
	h := seen.Load()
	if h == nil || h.Get("Authorization") != "Bearer s3cret-t0ken-value" || h.Get("X-Two") != "2" {
		t.Fatalf("exit %d, headers %v", o.code, h)
	}
	if j := contents(journal); j == "" || strings.Contains(j+o.stderr+o.out, "s3cret") {
		t.Errorf("the token is in the journal or the output: %s %s", j, o.stderr)
	}
}

func TestRootsAreOffered(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "j.jsonl")
	mcphud(t, fake(t, behave.Good, "info", "--root", t.TempDir(), "--journal", journal)...).ok(t)
	assert.Contains(t, contents(journal), `roots`)
	if info, err := os.Stat(journal); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("journal: %v, %v", info.Mode(), err)
	}
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		o := mcphud(t, "tools", "call", "log", "message=hello", "--log-level", "warning", "--url", url, "--protocol", version)
		o.ok(t)
		if strings.Count(o.stderr, "hello") != 5 || !strings.Contains(o.stderr, "warning demo: ") || strings.Contains(o.stderr, "info demo") {
			t.Errorf("%s: %s", version, o.stderr)
		}
	}
}

func TestNotificationsOverHTTP(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		out := mcphud(t, "tools", "call", "sleep", "seconds=0", "steps=200", "--format", "jsonl", "--url", url, "--protocol", version).ok(t)
		lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
		last := lines[len(lines)-1]
		if strings.Count(out, "notifications/progress") != 200 || !strings.Contains(last, "slept") {
			t.Errorf("%s: %d lines, the last is %q", version, len(lines), lines[len(lines)-1])
		}
	}
}

func TestMaxFrameIsNamed(t *testing.T) {
	t.Parallel()
	o := mcphud(t, fake(t, behave.Good, "tools", "call", "big", "bytes=2000000", "--max-frame", "1MiB")...)
	if e := o.errorLine(t); o.code != cli.ExitProtocol || !strings.Contains(e.Message, "--max-frame") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	out := mcphud(t, fake(t, behave.Good, "tools", "call", "big", "bytes=2000000", "--max-frame", "3MiB")...).ok(t)
	if len(out) < 2_000_000 {
		t.Errorf("%d bytes", len(out))
	}
}

func TestWhatTheServerLacks(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"resources", "list"}, {"resources", "templates"}, {"prompts", "list"}} {
		e := mcphud(t, fake(t, behave.Bare, args...)...).errorLine(t)
		if e.Kind != "RpcError" || e.Code == nil || *e.Code != -32601 || !strings.Contains(e.Message, "mcphud info") {
			t.Errorf("%v: %+v", args, e)
		}
	}
}

// Of several values that are wrong it is always the same one that is reported.
func TestTheFirstWrongFlagIsReported(t *testing.T) {
	t.Parallel()
	for range 10 {
		if o := mcphud(t, "info", "--connect-timeout", "0s", "--max-timeout", "0s", "--timeout", "0s", "--url", "http://127.0.0.1:1/mcp"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "--timeout is 0s") {
			t.Fatalf("exit %d, %s", o.code, o.stderr)
		}
		if o := mcphud(t, "info", "--insecure", "--client-key", "k", "--ca", "c", "--proxy", "none", "--transport", "http", "-H", "A: b", "--", "true"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "--header does not apply") {
			t.Fatalf("exit %d, %s", o.code, o.stderr)
		}
	}
}
