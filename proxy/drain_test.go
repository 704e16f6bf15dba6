package proxy

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A router that drains serves everything; only /ready, and the connections, say that it will stop.
func TestDrainServesUntilBalancersNoticed(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{DrainDelay: time.Hour}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	ctx, cancel := context.WithCancel(t.Context())
	drained := make(chan struct{})
	go func() {
		f.Drain(ctx)
		close(drained)
	}()
	require.Eventually(t, "/ready to say so", func() bool { return f.send(t, "GET", "/ready", "").status == 503 })
	if got := f.send(t, "GET", "/ready", ""); !strings.Contains(got.body, "shutting down") {
		t.Errorf("%+v", got)
	}
	if got := f.send(t, "GET", "/health", ""); got.status != 200 {
		t.Errorf("it lives yet: %+v", got)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL()+"/mcps/a/mcp", strings.NewReader(callEcho))
	require.NoError(t, err)
	req.Header.Set("Mcp-Session-Id", id)
	req.Header.Set("Content-Type", "application/json")
	res, err := f.client.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	if res.StatusCode != 200 || !res.Close {
		t.Errorf("%d, closes: %t", res.StatusCode, res.Close)
	}
	select {
	case <-drained:
		t.Error("it did not wait")
	default:
	}
	cancel()
	<-drained
}

// Streams end between events, as by an agent that ends them, so that clients come again with the id of the last.
func TestStopEndsStreamsCleanly(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		rc := sseHead(w)
		_, _ = io.WriteString(w, "id: 7\ndata: {}\n\n")
		_ = rc.Flush()
		<-r.Context().Done()
	}
	f := start(t, Options{}, route("a", a.at(), `"stream":true`))
	res := f.stream(t.Context(), t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", f.open(t, "/mcps/a/mcp"))
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewReader(res.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != "id: 7\n" {
		t.Fatalf("%q, %v", line, err)
	}
	assert.NoError(t, f.Close(t.Context()))
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "data: {}\n\n" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestHostsOfABalancer(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Hosts: []string{"mcp.example", "127.0.0.1:8080"}}, route("a", a.at(), ""))
	for host, want := range map[string]int{"mcp.example": 200, "mcp.example:9": 200, "127.0.0.1:8080": 200, "127.0.0.1:8081": 403, "evil.example": 403} {
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Host", host); got.status != want {
			t.Errorf("%s: %+v", host, got)
		}
	}
}
