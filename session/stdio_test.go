package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// TestS4_StartFailures: every way not to start says what happened, where, with the child's last words, and what to do.
func TestS4_StartFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		cfg    config.Server
		kind   failure.Kind
		want   []string
		starts uint64
	}{
		"not found":  {config.Server{Command: "no-such-command-anywhere"}, failure.SpawnFailed, []string{`command "no-such-command-anywhere" not found`, "PATH"}, 1},
		"no folder":  {config.Server{Command: "sh", Cwd: filepath.Join(dir, "gone")}, failure.SpawnFailed, []string{"working folder", "gone"}, 1},
		"a folder":   {config.Server{Command: dir}, failure.SpawnFailed, []string{"cannot start"}, 1},
		"no command": {config.Server{Transport: config.Stdio}, failure.SpawnFailed, []string{"no command is configured"}, 1},
		"exits at once": {faketest.Stdio(t, behave.ExitAtOnce), failure.SpawnFailed, []string{
			"srv: /etc/fakemcp.conf does not exist (starting: the server exited with status 3 before it answered): ", "reading configuration | fakemcp: cannot open /etc/fakemcp.conf: no such file | fakemcp: giving up",
		}, 1},
		"exits in initialize": {faketest.Stdio(t, behave.ExitInitialize), failure.SpawnFailed, []string{"srv: fakemcp: panic: license expired (initialize: the server exited with status 4 after it answered server/discover): ", "initialize failed"}, 1},
		"never answers":       {with(faketest.Stdio(t, behave.NoAnswer), func(c *config.Server) { c.ConnectTimeout = 4 * time.Second }), failure.Timeout, []string{"no answer to initialize within 4s", "give it more time"}, 1},
		"disabled":            {with(faketest.Stdio(t, behave.Good), func(c *config.Server) { c.Disabled = true }), failure.ServerDisabled, []string{"disabled"}, 0},
		"flawed entry":        {with(faketest.Stdio(t, behave.Good), func(c *config.Server) { c.Problem = errors.New("variable X is not set") }), failure.Usage, []string{"variable X is not set"}, 0},
		"bad url":             {config.Server{URL: "localhost:80"}, failure.Usage, []string{"does not start with http:// or https://"}, 1},
		"odd transport":       {config.Server{Transport: "carrier-pigeon"}, failure.Usage, []string{"carrier-pigeon"}, 1},
		"silent":              {config.Server{Command: "false"}, failure.SpawnFailed, []string{"exited with status 1 before it answered", "run the command by itself"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.cfg.Name = "srv"
			_, s := sessiontest.Register(t, session.Options{}, c.cfg)
			err := s.Connect(t.Context())
			if failure.KindOf(err) != c.kind || !strings.HasPrefix(err.Error(), "srv: ") {
				t.Fatalf("%q: %v, want %q", failure.KindOf(err), err, c.kind)
			}
			if strings.Contains(err.Error(), "fakemcp: ") && strings.Contains(err.Error(), "by itself") {
				t.Errorf("advice to look at what is shown: %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in %q", w, err)
				}
			}
			if st := s.Status(); st.State != session.Failed || st.Conn != c.starts {
				t.Errorf("%+v", st)
			}
		})
	}
}

func with(cfg config.Server, change func(*config.Server)) config.Server {
	change(&cfg)
	return cfg
}

// TestS4_ExitOnDiscover: a child that dies of server/discover is started once more as legacy; one that needs no probe is
// started once.
func TestS4_ExitOnDiscover(t *testing.T) {
	t.Parallel()
	_, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.ExitDiscover))
	if st := s.Status(); st.Era != session.Legacy || st.Conn != 2 {
		t.Errorf("%+v", st)
	}
	_, s = sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.NoDiscover))
	if st := s.Status(); st.Era != session.Legacy || st.Conn != 1 {
		t.Errorf("%+v", st)
	}
	_, s = sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.Modern))
	if st := s.Status(); st.Era != session.Modern || st.Conn != 1 || st.PID == 0 {
		t.Errorf("%+v", st)
	}
}

func TestS4_C8_Environment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "tell-me")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$MINE|$HOME|$(pwd)|$1\" >&2\nexit 1\n"), 0o755))
	t.Setenv("HOME", "/inherited")
	var out bytes.Buffer
	_, s := sessiontest.Register(t, session.Options{Transport: transport.Options{Stderr: &out}}, config.Server{
		Command: "tell-me", Args: []string{"an argument; echo"}, Cwd: dir,
		Env: map[string]string{"PATH": dir + string(os.PathListSeparator) + os.Getenv("PATH"), "MINE": "added\tvalue"},
	})
	if err := s.Connect(t.Context()); failure.KindOf(err) != failure.SpawnFailed {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	if want := "added\tvalue|/inherited|" + real + "|an argument; echo\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestS4_NoChildOutlives: neither the server nor what it forked lives after Close, however deaf it is, and Close is quick.
func TestS4_NoChildOutlives(t *testing.T) {
	stay := transport.GracePeriod{Input: 50 * time.Millisecond, Term: 500 * time.Millisecond}
	for mode, most := range map[behave.Mode]time.Duration{behave.Good: 2 * stay.Input, behave.Fork: time.Second, behave.IgnoreTerm: stay.Input + stay.Term + time.Second} {
		t.Run(string(mode), func(t *testing.T) {
			m, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, mode))
			pids := []int{s.Status().PID}
			if mode == behave.Fork {
				r, err := s.CallTool(t.Context(), "pids", nil, session.CallOptions{})
				require.NoError(t, err)
				var all map[string]int
				if err := json.Unmarshal(offer.StructuredContent(r.Result), &all); err != nil || len(all) < 2 {
					t.Fatal(string(r.Result), err)
				}
				for _, pid := range all {
					pids = append(pids, pid)
				}
			}
			for _, pid := range pids {
				if !faketest.Alive(pid) {
					t.Fatalf("%d is not running", pid)
				}
			}
			start := time.Now()
			assert.NoError(t, m.Close())
			if took := time.Since(start); took > 4*most+20*time.Second { // the machine may be busy
				t.Errorf("closing took %v", took)
			}
			for _, pid := range pids {
				if faketest.Alive(pid) {
					t.Errorf("%d is still running", pid)
				}
			}
		})
	}
}

// TestS4_CrashMidCall: the caller learns at once, with the exit status, and the next call finds the server again.
func TestS4_CrashMidCall(t *testing.T) {
	_, s := sessiontest.Open(t, session.Options{Retry: session.Retry{Base: time.Millisecond}}, faketest.Stdio(t, behave.Good))
	pid := s.Status().PID
	_, err := s.CallTool(t.Context(), "crash", nil, session.CallOptions{})
	if failure.KindOf(err) != failure.ChannelClosed || !strings.Contains(err.Error(), "exited with status") || !strings.Contains(err.Error(), "tools/call crash") {
		t.Fatal(err)
	}
	if _, err := s.CallTool(t.Context(), "echo", nil, session.CallOptions{}); err != nil {
		t.Fatal(err)
	}
	if s.Status().PID == pid {
		t.Error("the same process")
	}
}

// TestS9_KilledFromOutside: kill the server; the next call succeeds.
func TestS9_KilledFromOutside(t *testing.T) {
	_, s := sessiontest.Open(t, session.Options{Retry: session.Retry{Base: time.Millisecond}}, faketest.Stdio(t, behave.Good))
	pid := s.Status().PID
	faketest.EndProcess(t, pid)
	for s.Status().PID == pid { // until the loss is noticed
		runtime.Gosched()
	}
	if _, err := s.CallTool(t.Context(), "echo", nil, session.CallOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestOutputThatIsNoFrame: logs on stdout, broken frames, foreign ids and duplicates are journalled and cost nothing.
func TestOutputThatIsNoFrame(t *testing.T) {
	t.Parallel()
	for mode, check := range map[behave.Mode]func(t *testing.T, m *session.Manager, s *session.Session){
		behave.Noise: func(t *testing.T, m *session.Manager, s *session.Session) {
			if l, err := s.List(t.Context(), offer.Tools); err != nil || len(l.Items) == 0 {
				t.Error(err)
			}
			assert.Contains(t, sessiontest.Notes(m, journal.Bad), "not JSON")
		},
		behave.Duplicate: func(t *testing.T, _ *session.Manager, s *session.Session) {
			for range 3 {
				if _, err := s.Refresh(t.Context(), offer.Tools); err != nil {
					t.Error(err)
				}
			}
		},
		behave.HalfFrameExit: func(t *testing.T, m *session.Manager, s *session.Session) {
			if _, err := s.List(t.Context(), offer.Tools); err == nil || failure.KindOf(err) != failure.Protocol && failure.KindOf(err) != failure.ChannelClosed {
				t.Error(err)
			}
			assert.Contains(t, sessiontest.Notes(m, journal.Bad), "without a line end")
		},
		behave.BadUTF8: func(t *testing.T, _ *session.Manager, s *session.Session) {
			if _, err := s.List(t.Context(), offer.Tools); failure.KindOf(err) != failure.Protocol || !strings.Contains(err.Error(), "UTF-8") {
				t.Error(err)
			}
		},
		behave.Oversize: func(t *testing.T, _ *session.Manager, s *session.Session) {
			_, err := s.List(t.Context(), offer.Tools)
			if failure.KindOf(err) != failure.Protocol || !strings.Contains(err.Error(), "67108864 bytes (67.1 MB)") || !strings.Contains(err.Error(), "raise the limit") {
				t.Fatal(err)
			}
			if _, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{}); err != nil {
				t.Error("the session did not survive:", err)
			}
		},
		behave.WrongID: func(t *testing.T, m *session.Manager, s *session.Session) {
			_, err := s.Call(t.Context(), "tools/list", nil, session.CallOptions{Timeout: 100 * time.Millisecond})
			if failure.KindOf(err) != failure.Timeout {
				t.Error(err)
			}
			require.Eventually(t, "what is said of the answer", func() bool {
				return strings.Contains(sessiontest.Notes(m, journal.Response), "no request has this id")
			})
		},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			m, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, mode))
			check(t, m, s)
		})
	}
	t.Run("half", func(t *testing.T) {
		t.Parallel()
		_, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.Good))
		errs := make(chan error, 1)
		go func() {
			_, err := s.CallTool(t.Context(), "half", nil, session.CallOptions{})
			errs <- err
		}()
		for len(s.Status().Inflight) == 0 {
			runtime.Gosched()
		}
		// Its line goes on with the answer to the next request, which is found there.
		for {
			r, err := s.CallTool(t.Context(), "echo", []byte(`{"a":1}`), session.CallOptions{})
			require.NoError(t, err)
			if c, err := offer.Contents(r.Result); err != nil || c[0].Text != `{"a":1}` {
				t.Fatal(string(r.Result), err)
			}
			select {
			case err := <-errs:
				if failure.KindOf(err) != failure.Protocol {
					t.Error(err)
				}
				return
			default:
			}
		}
	})
}

// TestStderrIsKept: floods do not block the child, and lines are journalled.
func TestStderrIsKept(t *testing.T) {
	m, _ := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.FloodStderr))
	n := 0
	for _, e := range m.Journal().Snapshot(0, nil) {
		if e.Kind == journal.Stderr {
			n += e.Size
		}
	}
	if n < 1<<20 {
		t.Errorf("%d bytes of stderr in the journal", n)
	}
}

// TestServerThatDoesNotRead: requests time out, cancelling them blocks nobody, and closing is quick.
func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	_, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.NoRead))
	if _, err := s.List(t.Context(), offer.Tools); err != nil {
		t.Fatal(err)
	}
	args := append(append([]byte(`{"x":"`), bytes.Repeat([]byte("a"), 4<<20)...), `"}`...)
	for range 3 {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := s.CallTool(ctx, "echo", args, session.CallOptions{})
		cancel()
		if failure.KindOf(err) != failure.Timeout || time.Since(start) > 20*time.Second {
			t.Error(err, time.Since(start))
		}
	}
	start := time.Now()
	if err := s.Disconnect(); err != nil || time.Since(start) > 20*time.Second {
		t.Error(err, time.Since(start))
	}
}

// TestS17_Capabilities: what is not advertised is not supported, whatever the server would answer.
func TestS17_Capabilities(t *testing.T) {
	_, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.Bare))
	for _, method := range []string{"tools/list", "tools/call", "resources/read", "resources/subscribe", "prompts/get", "logging/setLevel", "completion/complete"} {
		if s.Supports(method) {
			t.Errorf("%s", method)
		}
	}
	if !s.Supports("ping") {
		t.Error("ping")
	}
	_, s = sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.Liar))
	if !s.Supports("prompts/list") {
		t.Error("advertised prompts are not supported")
	}
	if _, err := s.List(t.Context(), offer.Prompts); failure.KindOf(err) != failure.RpcError {
		t.Error(err)
	}
}

// TestS16_Calls goes through the tools of a good server in both eras.
func TestS16_Calls(t *testing.T) {
	for _, mode := range []behave.Mode{behave.Good, behave.Modern} {
		t.Run(string(mode), func(t *testing.T) {
			m, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, mode))
			r, err := s.CallTool(t.Context(), "kinds", nil, session.CallOptions{})
			if c, cerr := offer.Contents(r.Result); err != nil || cerr != nil || len(c) != 6 || c[5].Type != "hologram" {
				t.Error(string(r.Result), err, cerr)
			}
			if r, err := s.CallTool(t.Context(), "is_error", nil, session.CallOptions{}); err != nil || !offer.IsError(r.Result) {
				t.Error(err)
			}
			_, err = s.CallTool(t.Context(), "rpc_error", nil, session.CallOptions{})
			var e *failure.Error
			if !errors.As(err, &e) || *e.Code != -32050 || string(e.Data) != `{"retryAfter":30,"big":9007199254740993,"list":[1.0,null]}` {
				t.Error(err)
			}
			var last rpc.Progress
			if _, err := s.CallTool(t.Context(), "progress", []byte(`{"count":10000}`), session.CallOptions{OnProgress: func(p rpc.Progress) { last = p }}); err != nil || last.Count != 10_000 {
				t.Error(last, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for len(s.Status().Inflight) == 0 {
					runtime.Gosched()
				}
				cancel()
			}()
			r, err = s.CallTool(ctx, "wait", nil, session.CallOptions{})
			if failure.KindOf(err) != failure.Interrupted {
				t.Error(err)
			}
			entry, _ := m.Journal().Get(r.Request)
			r, err = s.CallTool(t.Context(), "cancelled", nil, session.CallOptions{})
			if c, _ := offer.Contents(r.Result); err != nil || c[0].Text != fmt.Sprintf("[%s]", entry.ID) {
				t.Errorf("%s, want %s: %v", r.Result, entry.ID, err)
			}
			for _, kind := range []offer.Kind{offer.Tools, offer.Resources, offer.Templates, offer.Prompts} {
				l, err := s.List(t.Context(), kind)
				if err != nil || len(l.Items) == 0 {
					t.Error(kind, err)
				}
				for _, it := range l.Items {
					assert.NoError(t, it.Flaw)
				}
			}
			if r, err := s.ReadResource(t.Context(), "fake://text", session.CallOptions{}); err != nil || len(r.Result) == 0 {
				t.Error(err)
			}
			if r, err := s.GetPrompt(t.Context(), "greet", map[string]string{"who": "me"}, session.CallOptions{}); err != nil || len(r.Result) == 0 {
				t.Error(err)
			}
		})
	}
}
