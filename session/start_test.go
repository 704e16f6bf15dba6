package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// TestPatience: a child process has two minutes to answer, or where somebody watches as long as it lives; a limit that the user
// set always holds.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		cfg     config.Server
		patient bool
		want    time.Duration // 0: never
	}{
		"command":              {config.Server{Command: "slow"}, false, config.DefaultStartTimeout},
		"URL":                  {config.Server{URL: "http://slow/mcp"}, false, config.DefaultConnectTimeout},
		"URL, somebody there":  {config.Server{URL: "http://slow/mcp"}, true, config.DefaultConnectTimeout},
		"somebody there":       {config.Server{Command: "slow"}, true, 0},
		"somebody set a limit": {config.Server{Command: "slow", ConnectTimeout: time.Minute}, true, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, s := sessiontest.Register(t, session.Options{Patient: c.patient, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
					p.Serve(func(jsonrpc.Envelope) {})
				})}, c.cfg)
				over := make(chan error, 1)
				start := time.Now()
				go func() { over <- s.Connect(t.Context()) }()
				select {
				case err := <-over:
					if took := time.Since(start); took != c.want || failure.KindOf(err) != failure.Timeout || !strings.Contains(err.Error(), fmt.Sprintf("within %v", c.want)) {
						t.Errorf("after %v: %v", took, err)
					}
				case <-time.After(time.Hour):
					if c.want != 0 || s.Status().State != session.Connecting {
						t.Errorf("after an hour it is %s", s.Status().State)
					}
					assert.NoError(t, s.Disconnect())
					if err := <-over; failure.KindOf(err) != failure.Interrupted {
						t.Error(err)
					}
				}
			})
		})
	}
}

// script writes a program of the shell and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	return path
}

// TestAnInstallationIsNotCut: a package runner whose attempt is given up may finish what it does, and others are ended.
func TestAnInstallationIsNotCut(t *testing.T) {
	stay := transport.GracePeriod{Input: time.Millisecond, Term: time.Millisecond, Install: time.Minute}
	for program, finished := range map[string]bool{"npx": true, "server": false} {
		t.Run(program, func(t *testing.T) {
			done := filepath.Join(t.TempDir(), "done")
			_, s := sessiontest.Register(t, session.Options{Transport: transport.Options{GracePeriod: stay}}, config.Server{
				Command:        script(t, program, `echo installing >&2; while read -r line; do :; done; sleep 1; : > "$0.tmp"; mv "$0.tmp" "$1"`),
				Args:           []string{done},
				ConnectTimeout: time.Second,
			})
			err := s.Connect(t.Context())
			var e *failure.Error
			if !errors.As(err, &e) || e.Kind != failure.Timeout || e.Detail != "installing" {
				t.Fatalf("%+v", err)
			}
			if _, err := os.Stat(done); (err == nil) != finished {
				t.Errorf("finished: %v", err)
			}
		})
	}
}

// TestStartingShowsWhatTheChildSays: while a child has not answered, its process id and its last words are there to be shown.
func TestStartingShowsWhatTheChildSays(t *testing.T) {
	_, s := sessiontest.Register(t, session.Options{Patient: true}, config.Server{
		Command: script(t, "slow", `for i in $(seq 1 1000); do echo line $i >&2; done; while read -r line; do :; done`),
	})
	over := make(chan error, 1)
	go func() { over <- s.Connect(t.Context()) }()
	for deadline := time.Now().Add(30 * time.Second); !strings.HasSuffix(s.Status().Stderr, "line 999\nline 1000"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("stderr is %q", s.Status().Stderr)
		}
	}
	if st := s.Status(); st.State != session.Connecting || st.PID == 0 {
		t.Errorf("%s, process %d", st.State, st.PID)
	}
	assert.NoError(t, s.Disconnect())
	<-over
	if st := s.Status(); st.Stderr != "" || st.PID != 0 {
		t.Errorf("afterwards: %+v", st)
	}
}

// TestAMissingVariableIsNamed: what stderr asks for is in the error, and the next start has it.
func TestAMissingVariableIsNamed(t *testing.T) {
	_, s := sessiontest.Register(t, session.Options{}, config.Server{Command: script(t, "token", `
if [ -z "$MY_TOKEN" ]; then echo "Error: MY_TOKEN environment variable is required" >&2; exit 1; fi
echo "token is $MY_TOKEN" >&2; exit 2`)})
	var e *failure.Error
	if err := s.Connect(t.Context()); !errors.As(err, &e) || e.Remedy != failure.SetVariable || e.Object != "MY_TOKEN" {
		t.Fatalf("%+v", err)
	}
	s.SetVariable("MY_TOKEN", "sesame")
	if err := s.Connect(t.Context()); !errors.As(err, &e) || !strings.Contains(e.Detail, "token is sesame") || e.Remedy != "" {
		t.Fatalf("%+v", err)
	}
	if got := s.Config().Masked().Env["MY_TOKEN"]; got == "sesame" {
		t.Error("the value is not masked")
	}
}

// TestTitle: a server that nobody named has the name that it gives itself, and no two servers have the same one.
func TestTitle(t *testing.T) {
	info := []string{`{"name":"srv","title":"My  Server"}`, `{"name":"srv","title":"My  Server"}`, `{"name":"srv","title":""}`, `{"name":7}`, `{"name":"srv"}`, `{"name":"@scope/pkg"}`}
	dial := func(info string) func(config.Server) (transport.Transport, bool) {
		return sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Method == "server/discover" {
					p.Refuse(env, -32601, "")
				} else if env.Method == "initialize" {
					p.Answer(env, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":`+info+`}`)
				}
			})
		})
	}
	m := session.NewManager(session.Options{HealthInterval: -1, Dial: func(cfg config.Server) (transport.Transport, bool) {
		return dial(cfg.Args[0])(cfg)
	}})
	defer m.Close()
	want := []string{"My  Server", "My  Server (2)", "srv", "d", "configured", "pkg"}
	for i, info := range info {
		cfg := config.Server{Name: string(rune('a' + i)), Command: "x", Args: []string{info}, Unnamed: true}
		if i == 4 {
			cfg.Name, cfg.Unnamed = "configured", false
		}
		s, err := m.Register(cfg)
		require.NoError(t, err)
		assert.Equalf(t, s.Title(), s.Name(), "before")
		require.NoError(t, s.Connect(t.Context()))
		assert.Equalf(t, s.Title(), want[i], "%s", info)
		_, err = s.CallTool(t.Context(), "x", json.RawMessage("{"), session.CallOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), want[i]+": ") {
			t.Errorf("%v", err)
		}
	}
}
