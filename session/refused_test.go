package session_test

import (
	"net/http/httptest"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// A call that finds nobody listening any more ends the connection at once; no
// health check has to find that out.
func TestRefusedCallEndsTheConnection(t *testing.T) {
	srv := httptest.NewServer(behave.Handler(behave.Good, behave.Fault{}))
	defer srv.Close()
	m := session.NewManager(session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}})
	defer func() { _ = m.Close() }()
	s, err := m.Register(config.Server{Name: "gone", Transport: config.HTTP, URL: srv.URL + "/mcp"})
	require.NoError(t, err)
	require.NoError(t, s.Connect(t.Context()))
	srv.CloseClientConnections()
	srv.Close()
	// The first call may be written to a kept connection before its end is noticed.
	for range 2 {
		_, err = s.CallTool(t.Context(), "echo", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.Transport {
			t.Fatalf("the call ended with %v", err)
		}
		if st := s.Status(); st.State == session.Failed && st.Err != nil {
			return
		}
	}
	t.Errorf("the server is %s after %v", s.Status().State, err)
}
