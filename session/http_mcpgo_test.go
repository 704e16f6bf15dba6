package session_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// mcp-go's servers in both eras, through a whole session: detection, lists, calls, cancellation, the server forgetting
// the session, Close.
func TestS5_AgainstMCPGo(t *testing.T) {
	for _, c := range []struct {
		transport, protocol string
		kind                string
		era                 session.Era
	}{
		{config.HTTP, "", "http", session.Modern},
		{config.HTTP, "2025-11-25", "http", session.Legacy},
		{config.HTTP, "2025-03-26", "http", session.Legacy},
		{config.SSE, "", "sse", session.Legacy},
		{config.Auto, "", "http", session.Modern},
		{"auto to SSE", "", "sse", session.Legacy},
	} {
		t.Run(c.transport+c.protocol, func(t *testing.T) {
			leaktest.Check(t)
			started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			ms := sessiontest.WaitingServer(started, ended)
			var h http.Handler = server.NewStreamableHTTPServer(ms, server.WithStateful(true))
			path := "/mcp"
			if c.kind == "sse" {
				h, path = server.NewSSEServer(ms), "/sse"
			}
			s := httptest.NewServer(h)
			t.Cleanup(s.Close)
			j := journal.New(journal.Options{Dir: t.TempDir()})
			m := session.NewManager(session.Options{Journal: j, HealthInterval: -1})
			t.Cleanup(func() { _, _ = m.Close(), j.Close() })
			if c.transport == "auto to SSE" {
				c.transport = config.Auto
			}
			ses, err := m.Register(config.Server{Name: "peer", URL: s.URL + path, Transport: c.transport, Protocol: c.protocol})
			require.NoError(t, err)
			require.NoError(t, ses.Connect(t.Context()))
			st := ses.Status()
			if st.Transport != c.kind || st.Era != c.era || (c.era == session.Legacy && c.kind == "http") != (st.SessionID != "") {
				t.Errorf("status: %+v", st)
			}
			l, err := ses.List(t.Context(), offer.Tools)
			if err != nil || len(l.Items) != 2 {
				t.Fatalf("list: %v, %+v", err, l)
			}
			for i := range 20 {
				r, err := ses.CallTool(t.Context(), "echo", fmt.Appendf(nil, `{"text":"%d é"}`, i), session.CallOptions{})
				if err != nil || !strings.Contains(string(r.Result), fmt.Sprintf(`"%d é"`, i)) {
					t.Fatalf("call: %v, %s", err, r.Result)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-started; cancel() }()
			if _, err := ses.CallTool(ctx, "wait", nil, session.CallOptions{}); failure.KindOf(err) != failure.Interrupted {
				t.Errorf("cancelled call: %v", err)
			}
			<-ended // the server was told
			if c.era == session.Legacy && c.kind == "http" {
				before := ses.Status().SessionID
				req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.URL+path, nil)
				require.NoError(t, err)
				req.Header.Set("Mcp-Session-Id", before)
				resp, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				_ = resp.Body.Close()
				http.DefaultClient.CloseIdleConnections()
				if _, err := ses.CallTool(t.Context(), "echo", []byte(`{"text":"again"}`), session.CallOptions{}); err != nil {
					t.Errorf("after the server forgot the session: %v", err)
				}
				if now := ses.Status().SessionID; now == before || now == "" {
					t.Errorf("session %q, before %q", now, before)
				}
			}
		})
	}
}
