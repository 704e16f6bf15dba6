package forward

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/test/require"
)

// counting is a context that knows how many functions wait for its end.
type counting struct {
	context.Context
	done    chan struct{}
	all, on atomic.Int64
}

func (c *counting) Done() <-chan struct{} { return c.done }

func (c *counting) AfterFunc(func()) (stop func() bool) {
	c.all.Add(1)
	c.on.Add(1)
	return func() bool { c.on.Add(-1); return true }
}

func TestAStreamThatEndedIsForgotten(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", ingress.TypeSSE)
		_, _ = io.WriteString(w, "data: {}\n\n")
	}))
	defer agent.Close()
	u, err := url.Parse(agent.URL)
	require.NoError(t, err)
	drain := &counting{Context: t.Context(), done: make(chan struct{})}
	s := &Shared{Name: "r", Sessions: sessions.NewTable(sessions.Limits{}), Drain: t.Context(), Logger: slog.New(slog.DiscardHandler)}
	defer s.Sessions.Close()
	target := New(&routes.Route{Name: "a", URL: u, Stream: true, Timeout: time.Minute}, NewHTTP(&routes.Route{URL: u}), s)
	target.stays = drain
	defer func() { _ = target.Retire(t.Context()) }()
	id, err := s.Sessions.Mint(sessions.Binding{Agent: "a", Endpoint: target.where, Upstream: "up"})
	require.NoError(t, err)
	for range 3 {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/mcps/a/mcp", nil)
		r.Header.Set(ingress.HeaderSession, id)
		r.Header.Set("Accept", ingress.TypeSSE)
		target.Serve(&flow.Call{Request: flow.Request{W: w, R: r, Agent: "a", Began: time.Now()}, Route: target.Route})
		if w.Body.String() != "data: {}\n\n" {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
	}
	if all, on := drain.all.Load(), drain.on.Load(); all != 3 || on != 0 {
		t.Errorf("of %d streams %d are still waited for after their end", all, on)
	}
}
