package session_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// Requests carry a trace context where there is somebody to read it, and never where the bytes have to be the caller's.
func TestTraceContextOfRequests(t *testing.T) {
	const own = `{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}`
	for _, c := range []struct {
		name    string
		server  string
		tracing session.Tracing
		params  string
		exact   bool
		want    string // "", "new" or the id of a trace
	}{
		{"plain server", "other", session.TraceRouted, `{}`, false, ""},
		{"agent through the router", "mcphud-router-proxy:demo", session.TraceRouted, `{}`, false, "new"},
		{"all agents", "mcphud-router", session.TraceRouted, `{}`, false, "new"},
		{"router, never", "mcphud-router", session.TraceNone, `{}`, false, ""},
		{"plain server, always", "other", session.TraceAll, `{}`, false, "new"},
		{"as it is", "other", session.TraceAll, `{}`, true, ""},
		{"named by the caller", "other", session.TraceAll, own, false, "0af7651916cd43dd8448eb211c80319c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make(chan string, 1)
			traced := 0
			m, s := sessiontest.Open(t, session.Options{Tracing: c.tracing, Traced: func() { traced++ }, HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
				p.Serve(func(env jsonrpc.Envelope) {
					if env.Method == "initialize" {
						p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"`+c.server+`","version":"1"}}`)
						return
					}
					if env.Method == "x" {
						got <- jsonrpc.GetString(env.Params, "_meta", "traceparent")
						p.Answer(env, `{}`)
					}
				})
			})}, config.Server{Protocol: "2025-11-25"})
			if _, err := s.Call(t.Context(), "x", []byte(c.params), session.CallOptions{Exact: c.exact}); err != nil {
				t.Fatal(err)
			}
			parent := <-got
			id := ""
			if part := strings.Split(parent, "-"); len(part) == 4 && part[0] == "00" && part[3] == "01" {
				id = part[1]
			}
			switch {
			case c.want == "new" && (!m.BeganTrace(id) || traced != 1), c.want == "" && (parent != "" || traced != 0), len(c.want) == 32 && (id != c.want || m.BeganTrace(id)):
				t.Errorf("%q, %d times", parent, traced)
			}
		})
	}
}

// Over HTTP the header says what the body says.
func TestTraceContextOverHTTP(t *testing.T) {
	got := make(chan [2]string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		env, _ := jsonrpc.Scan(raw)
		w.Header().Set("Content-Type", "application/json")
		result := `{}`
		switch env.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"mcphud-router","version":"1"}}`
		case "x":
			got <- [2]string{r.Header.Get("Traceparent"), jsonrpc.GetString(env.Params, "_meta", "traceparent")}
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
			return
		}
		_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(result)))
	}))
	defer srv.Close()
	m := session.NewManager(session.Options{HealthInterval: -1})
	defer m.Close()
	s, err := m.Register(config.Server{Name: "r", Transport: config.HTTP, URL: srv.URL, Protocol: "2025-11-25"})
	require.NoError(t, err)
	require.NoError(t, s.Connect(context.Background()))
	if _, err := s.Call(context.Background(), "x", nil, session.CallOptions{}); err != nil {
		t.Fatal(err)
	}
	if said := <-got; said[0] == "" || said[0] != said[1] {
		t.Errorf("%q", said)
	}
}
