//go:build unix

package session_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/faketest"
	"github.com/mcphud/mcphud/session/faketest/behave"
	"github.com/mcphud/mcphud/session/sessiontest"
)

// TestS8_Stopped: a server under SIGSTOP is in state Error after three health checks.
func TestS8_Stopped(t *testing.T) {
	m, s := sessiontest.Open(t, session.Options{HealthInterval: 50 * time.Millisecond, Retry: session.Retry{Max: -1}}, faketest.Stdio(t, behave.Good))
	if err := syscall.Kill(s.Status().PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for s.Status().State == session.Connected {
		<-m.Changed()
	}
	if st := s.Status(); st.State != session.Failed || !strings.Contains(st.Err.Error(), "3 health checks") {
		t.Errorf("%+v", st)
	}
}
