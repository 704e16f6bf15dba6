package views_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/mcpgo"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// pooled is the UI on servers in memory, each with a tool that takes 20 seconds and a resource, and a pool of these limits.
func pooled(t *testing.T, limit config.Pool, names ...string) (*tuitest.App, *session.Manager) {
	t.Helper()
	m := session.NewManager(session.Options{Dial: func(c config.Server) (transport.Transport, bool) {
		srv := server.NewMCPServer(c.Name, "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
		srv.AddTool(mcp.NewTool("slow", mcp.WithDestructiveHintAnnotation(false)), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-time.After(20 * time.Second):
			case <-ctx.Done():
			}
			return mcp.NewToolResultText("done at last"), nil
		})
		srv.AddResource(mcp.NewResource("file:///log", "log"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return nil, nil
		})
		return mcpgo.From(mcptransport.NewInProcessTransport(srv)), true
	}})
	bridge := toolset.NewBridge(m, config.Settings{Pool: limit})
	t.Cleanup(func() {
		bridge.Close()
		assert.NoError(t, m.Close())
	})
	for _, name := range names {
		require.NoError(t, bridge.RegisterServer(config.Server{Name: name, Protocol: "2025-11-25"}))
	}
	deps := views.Deps{Registry: bridge.Registry(), Pool: bridge.Pool()}
	return tuitest.Start(t, tuitest.Views(views.All(deps)...), tuitest.Sessions(m), tuitest.At("servers", nil)), m
}

func stateOf(t *testing.T, m *session.Manager, name string) session.State {
	t.Helper()
	s, ok := m.Server(name)
	if !ok {
		t.Fatalf("there is no server %s", name)
	}
	return s.Status().State
}

// Connections that nobody looks at are closed after max_idle_time, and their rows say why. The server whose screen is visible
// keeps its own, however long.
func TestS10_O4_IdleConnectionsOfTheUIClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, m := pooled(t, config.Pool{MaxIdleTime: 5 * time.Second, CleanupInterval: time.Second}, "alpha", "beta")
		app.View("servers").Pane("list").HasNot("idle")
		app.Press("enter").View("tools")
		app.Press("1", "down", "enter").View("tools")
		app.Sleep(10 * time.Second)
		if a, b := stateOf(t, m, "alpha"), stateOf(t, m, "beta"); a != session.Disconnected || b != session.Connected {
			t.Errorf("alpha is %s and beta, which is on the screen, %s", a, b)
		}
		app.Press("1").View("servers").Pane("list").Has("closed        idle 5s, enter connects again")
		app.Whole().Has("0 active · 1 idle")
		app.Sleep(10 * time.Second)
		assert.Equalf(t, stateOf(t, m, "beta"), session.Disconnected, "on the list of servers beta")
		app.View("servers").Pane("detail").Has("The connection was closed: idle 5s.")
		app.Press("2").View("tools").Pane("list").Has("slow") // what is looked at again connects again
		app.Sleep(time.Second)
		assert.Equalf(t, stateOf(t, m, "beta"), session.Connected, "looked at again, beta")
		app.Sleep(time.Minute)
		assert.Equalf(t, stateOf(t, m, "beta"), session.Connected, "connected again, and on the screen, beta")
	})
}

// A call that runs and a subscription are uses: neither loses its connection.
func TestS10_UIClosesNoConnectionInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, m := pooled(t, config.Pool{MaxIdleTime: 2 * time.Second, CleanupInterval: time.Second}, "alpha")
		app.Press("enter").View("tools")
		app.Press("enter").View("call")
		app.Press("ctrl+g")
		app.Press("tab", "1").View("servers")
		app.Sleep(10 * time.Second)
		assert.Equalf(t, stateOf(t, m, "alpha"), session.Connected, "while its call runs, alpha")
		app.Sleep(20 * time.Second)
		assert.Equalf(t, stateOf(t, m, "alpha"), session.Disconnected, "after the call alpha")
		app.Press("enter").View("tools")
		s, _ := m.Server("alpha")
		require.NoError(t, s.Subscribe(t.Context(), "file:///log"))
		app.Press("1").View("servers")
		app.Sleep(20 * time.Second)
		assert.Equalf(t, stateOf(t, m, "alpha"), session.Connected, "while it is subscribed to, alpha")
		require.NoError(t, s.Unsubscribe(t.Context(), "file:///log"))
		app.Sleep(20 * time.Second)
		assert.Equalf(t, stateOf(t, m, "alpha"), session.Disconnected, "after the subscription alpha")
	})
}

// With one connection at most, the next server takes the place of the idle one, and is refused while that is in use.
func TestS10_X6_ConnectionLimitOfTheUI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, m := pooled(t, config.Pool{MaxConnections: 1}, "alpha", "beta")
		app.Press("enter").View("tools")
		app.Press("1", "down", "enter").View("tools")
		if a, b := stateOf(t, m, "alpha"), stateOf(t, m, "beta"); a != session.Disconnected || b != session.Connected {
			t.Errorf("alpha is %s and beta %s", a, b)
		}
		app.Press("1").View("servers").Pane("list").Has("closed        to make room for beta")
		app.Whole().Has("0 active · 1 idle · limit 1")
		app.Press("enter").View("tools")
		app.Press("enter").View("call")
		app.Press("ctrl+g", "tab", "1").View("servers")
		app.Press("up", "enter").Toast("every connection of the pool is in use (1)")
		if a, b := stateOf(t, m, "alpha"), stateOf(t, m, "beta"); a != session.Disconnected || b != session.Connected {
			t.Errorf("alpha is %s and beta, which is busy, %s", a, b)
		}
	})
}
