package duplex

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	ready     = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// host is a small server of Streamable HTTP with sessions, and the links to it.
type host struct {
	*Server
	url     string
	started chan string // methods of requests that hang
	ended   chan string // sessions that ended
	headers chan http.Header
}

// newHost serves ping, hang, which waits for the end of its request, big, with n bytes, and events on the session's own stream.
func newHost(t *testing.T, o Options) *host {
	t.Helper()
	h := &host{started: make(chan string, 1000), ended: make(chan string, 1000), headers: make(chan http.Header, 1000)}
	o.Handler = http.HandlerFunc(h.serve)
	if o.Admit == nil {
		o.Admit = func(w http.ResponseWriter, r *http.Request) (string, bool) {
			switch r.Header.Get("Authorization") {
			case "", "Bearer ann", "Bearer bob":
				return r.Header.Get("Authorization"), true
			}
			http.Error(w, "no", http.StatusUnauthorized)
			return "", false
		}
	}
	o.Panicked = func(v any) { t.Error(v) }
	h.Server = New(o)
	mux := http.NewServeMux()
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		if !IsWebSocket(r) {
			http.Error(w, "no WebSocket", http.StatusBadRequest)
			return
		}
		h.WebSocket(w, r, "/mcp")
	})
	mux.HandleFunc("/sse", func(w http.ResponseWriter, r *http.Request) { h.Events(w, r, "/mcp", "/messages") })
	mux.HandleFunc("/messages", h.Message)
	srv := httptest.NewUnstartedServer(listen.Guard(mux))
	listen.Harden(srv.Config, time.Minute)
	srv.Start()
	h.url = srv.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		h.Close(ctx)
		srv.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	select {
	case h.headers <- r.Header.Clone():
	default:
	}
	switch {
	case r.URL.Path != "/mcp" || r.RequestURI != "/mcp" || !Carried(r.Context()):
		http.Error(w, "not here", http.StatusNotFound)
		return
	case r.Method == http.MethodDelete:
		h.ended <- r.Header.Get("Mcp-Session-Id")
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/tools/list_changed\"}\n\n")
		<-r.Context().Done()
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	env, err := ingress.Scan(body)
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, result)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case env.Kind != jsonrpc.Request:
		w.WriteHeader(http.StatusAccepted)
	case env.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		answer(`{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"h","version":"1"}}`)
	case env.Method == "hang":
		h.started <- string(env.ID)
		select {
		case <-r.Context().Done():
		case <-time.After(time.Duration(len(jsonrpc.GetString(env.Params, "for"))) * 100 * time.Millisecond):
			if len(jsonrpc.GetString(env.Params, "for")) == 0 {
				<-r.Context().Done()
			}
			answer(`"late"`)
		}
	case env.Method == "big":
		var n int
		_ = json.Unmarshal(jsonrpc.Get(env.Params, "n"), &n)
		answer(`"` + strings.Repeat("x", n) + `"`)
	default:
		answer(`{}`)
	}
}

func wait[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: not within 30 s", what)
		panic("not reached")
	}
}
