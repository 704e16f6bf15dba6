package aggregate_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/proxy/aggregate"
)

// lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func explode() { panic("kaboom") }

func TestR19_APanicOfTheRouterIsLogged(t *testing.T) {
	var log lockedBuffer
	s := router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "echo") })}, func(o *aggregate.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Router = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { explode() })
	})
	id, _ := s.open("{}", "2025-06-18")
	_ = s.ask(id, "tools/call", `{"name":"mcp__a__echo"}`) // fails, in which way does not matter here
	for _, want := range []string{"level=ERROR", "kaboom", "explode", "agent=a"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in the log:\n%s", want, log.String())
		}
	}
	log.b.Reset()
	s = router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "echo") })}, func(o *aggregate.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Router = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	})
	id, _ = s.open("{}", "2025-06-18")
	_ = s.ask(id, "tools/call", `{"name":"mcp__a__echo"}`) // as above
	if text := log.String(); strings.Contains(text, "level=ERROR") {
		t.Errorf("an aborted answer is an error:\n%s", text)
	}
}
