package aggregate_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func explode() { panic("kaboom") }

func TestR19_APanicOfTheRouterIsLogged(t *testing.T) {
	var log faketest.Buffer
	s := router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "echo") })}, func(o *aggregate.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Router = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { explode() })
	})
	id, _ := s.open("{}", "2025-06-18")
	_ = s.ask(id, "tools/call", `{"name":"mcp__a__echo"}`) // fails, in which way does not matter here
	for _, want := range []string{"level=ERROR", "kaboom", "explode", "agent=a"} {
		assert.Contains(t, log.String(), want)
	}
	var quiet faketest.Buffer
	s = router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "echo") })}, func(o *aggregate.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&quiet, nil))
		o.Router = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	})
	id, _ = s.open("{}", "2025-06-18")
	_ = s.ask(id, "tools/call", `{"name":"mcp__a__echo"}`) // as above
	assert.NotContains(t, quiet.String(), "level=ERROR")
}
