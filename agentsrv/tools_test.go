package agentsrv

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// shout is a tool of somebody else's, which tells its tenant, too.
func shout(name string, during func()) server.ServerTool {
	t := mcp.NewTool(name, mcp.WithDescription("Shout"), mcp.WithString("message", mcp.Required()))
	return server.ServerTool{Tool: t, Handler: func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if during != nil {
			during()
		}
		text, err := r.RequireString("message")
		if err != nil {
			return nil, errors.New("the arguments were not checked")
		}
		return mcp.NewToolResultText(strings.ToUpper(text) + " " + kit.TenantOf(ctx)), nil
	}}
}

// Whoever embeds the agent adds tools of their own, before it serves and after, and they are treated like built-in ones.
func TestA4_ToolsOfOnesOwn(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	var a *Agent
	running := 0
	a, cs := serve(t, Options{
		RateLimit: 5, Tools: []server.ServerTool{shout("shout", func() { running = a.queue.Status().Running })},
		Logger: slog.New(slog.NewJSONHandler(writer(func(p []byte) { mu.Lock(); defer mu.Unlock(); log.Write(p) }), nil)),
	})
	for era, c := range cs {
		if r := c.call("shout", `{"message":"hi","tenant_id":"acme-`+era+`"}`); r.Content[0].Text != "HI acme-"+era || running != 1 {
			t.Errorf("%s: %+v, %d running", era, r, running)
		}
		if r := c.call("shout", `{"message":5}`); !r.IsError || !strings.Contains(r.Content[0].Text, "message") || strings.Contains(r.Content[0].Text, "not checked") {
			t.Errorf("%s: %+v", era, r)
		}
		if !strings.Contains(string(c.result("tools/list", "")), `"name":"shout"`) {
			t.Errorf("%s: it is not listed", era)
		}
	}
	c := cs["modern"]
	for range 5 {
		c.roundTrip("tools/call", `{"name":"shout","arguments":{"message":"x","tenant_id":"limited"}}`)
	}
	if m, _ := c.roundTrip("tools/call", `{"name":"shout","arguments":{"message":"x","tenant_id":"limited"}}`); m.Error == nil || m.Error.Code != -31002 {
		t.Errorf("the sixth call of the minute: %s %+v", m.Result, m.Error)
	}
	require.NoError(t, a.RegisterTools(shout("later", nil)))
	if r := c.call("later", `{"message":"hi"}`); r.Content[0].Text != "HI default" {
		t.Errorf("%+v", r)
	}
	for _, tools := range [][]server.ServerTool{{shout("echo", nil)}, {shout("later", nil)}, {shout("", nil)}, {shout("new", nil), shout("new", nil)}} {
		if err := a.RegisterTools(tools...); err == nil || !strings.Contains(err.Error(), "taken") {
			t.Errorf("%s: %v", tools[0].Tool.Name, err)
		}
	}
	if _, ok := a.toolNamed("new"); ok {
		t.Error("a tool was added beside one that was refused")
	}
	if _, err := New(Options{Tools: []server.ServerTool{shout("add", nil)}}); err == nil {
		t.Error("a tool took the place of a built-in one")
	}
	mu.Lock()
	defer mu.Unlock()
	assert.Contains(t, log.String(), `"msg":"MCP tool called","tool":"shout"`)
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
