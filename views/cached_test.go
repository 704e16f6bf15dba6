package views_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/mcpgo"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// Where it was asked for, an equal call of a read-only, idempotent tool shows the earlier result and says so; the server gets one call.
func TestF6_CachedResultIsMarked(t *testing.T) {
	for _, ttl := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			srv := server.NewMCPServer("counter", "1", server.WithToolCapabilities(true))
			srv.AddTool(mcp.NewTool("count", mcp.WithReadOnlyHintAnnotation(true), mcp.WithIdempotentHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false)),
				func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					calls++
					return mcp.NewToolResultText(fmt.Sprintf("call number %d", calls)), nil
				})
			m := session.NewManager(session.Options{ResultTTL: ttl, Dial: func(config.Server) (transport.Transport, bool) {
				return mcpgo.From(mcptransport.NewInProcessTransport(srv)), true
			}})
			t.Cleanup(func() { assert.NoError(t, m.Close()) })
			if _, err := m.Register(config.Server{Name: "counter"}); err != nil {
				t.Fatal(err)
			}
			app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Sessions(m), tuitest.At("servers", nil))
			app.Press("enter").View("tools").Pane("list").Has("count")
			app.Press("enter").View("call")
			app.Press("ctrl+g").Pane("result").Has("call number 1")
			app.Pane("result").HasNot("cached")
			app.Sleep(12 * time.Second)
			app.Press("ctrl+g")
			if ttl == 0 {
				app.Pane("result").Has("call number 2")
				app.Pane("result").HasNot("cached")
				return
			}
			app.Pane("result").Has("call number 1", "cached 12", "nothing was sent")
			assert.Equalf(t, calls, 1, "calls arrived")
		})
	}
}
