//go:build unix

package session_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// TestS8_Stopped: a server under SIGSTOP is in state Error after three health checks.
func TestS8_Stopped(t *testing.T) {
	m, s := sessiontest.Open(t, session.Options{HealthInterval: 50 * time.Millisecond, Retry: session.Retry{Max: -1}}, faketest.Stdio(t, behave.Good))
	require.NoError(t, syscall.Kill(s.Status().PID, syscall.SIGSTOP))
	for s.Status().State == session.Connected {
		<-m.Changed()
	}
	if st := s.Status(); st.State != session.Failed || !strings.Contains(st.Err.Error(), "3 health checks") {
		t.Errorf("%+v", st)
	}
}

// TestS4_ClosedInput: a server that closes its input and stays, even when it is asked to end, is ended, and the caller learns
// why; one that still leaves by itself is reported as such.
func TestS4_ClosedInput(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`trap "" TERM; exec <&-; sleep 60`: "closed its standard input",
		`exec <&-; exit 3`:                 "exited with status 3",
	} {
		cfg := config.Server{Command: "/bin/sh", Transport: config.Stdio, Protocol: "2025-11-25", Args: []string{"-c", `read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
read line
` + script}}
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}}, cfg)
		start := time.Now()
		_, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{Timeout: time.Minute}) // it may be written just before
		if err == nil || !strings.Contains(err.Error(), want) || time.Since(start) > 45*time.Second {
			t.Errorf("%s: %v after %v", script, err, time.Since(start))
		}
	}
}
