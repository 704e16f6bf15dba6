package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestP14_ToolsOverWebSocket(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		s := server.NewMCPServer("socket", "1", server.WithToolCapabilities(true))
		s.AddTool(mcp.NewTool("echo"), nil)
		for {
			_, frame, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if answer := s.HandleMessage(r.Context(), frame); answer != nil {
				if out, err := json.Marshal(answer); err != nil || c.Write(r.Context(), websocket.MessageText, out) != nil {
					return
				}
			}
		}
	}))
	defer srv.Close()
	url := "ws" + strings.TrimPrefix(srv.URL, "http") + "/mcp"
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"one":{"type":"websocket","url":"`+url+`","headers":{"X-Key":"k1"}},"two":{"url":"`+url+`","headers":{"X-Key":"k1"}}}}`), 0o600))
	for _, args := range [][]string{
		{url, "-H", "X-Key: k1"},
		{"--url", url, "-H", "X-Key: k1", "--transport", "ws", "--protocol", "2025-11-25"},
		{"--url", srv.URL, "-H", "X-Key: k1", "--transport", "ws"},
		{"--server", "one", "--config", file},
		{"--server", "two", "--config", file},
	} {
		if out := mcphud(t, append([]string{"tools", "list"}, args...)...).ok(t); !strings.Contains(out, `"name":"echo"`) {
			t.Errorf("%q: %s", args, out)
		}
	}
	assert.Contains(t, mcphud(t, "info", "--format", "text", "-H", "X-Key: k1", url).ok(t), "over ws (experimental)\n", url)
	for want, args := range map[string][]string{
		"401":                      {url},
		"does not start with http": {"--url", url, "--transport", "http", "-H", "X-Key: k1"},
	} {
		if o := mcphud(t, append([]string{"tools", "list"}, args...)...); o.code == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%q: %d %s", args, o.code, o.stderr)
		}
	}
	assert.Contains(t, mcphud(t, "tools", "list", "--help-all").ok(t), "ws (experimental)")
}
