package files

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestT9_PathsOverHTTP(t *testing.T) {
	f, root := tree(t)
	if err := os.Symlink("../secret.txt", filepath.Join(root, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	engine := server.NewMCPServer("t", "1", append(front.EngineOptions(), server.WithResourceCapabilities(false, false))...)
	engine.AddTools(f.Tools()...)
	engine.AddResourceTemplates(f.Templates()...)
	fr := front.New(front.Options{Engine: engine})
	srv := httptest.NewServer(fr.Handler())
	defer srv.Close()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = fr.Close(ctx)
	}()
	ask := func(method string, params any) string {
		t.Helper()
		raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		require.NoError(t, err)
		res, err := http.Post(srv.URL+"/mcp", "application/json", strings.NewReader(string(raw)))
		require.NoError(t, err)
		defer res.Body.Close()
		defer http.DefaultClient.CloseIdleConnections()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(body)
	}
	read := func(path string) string {
		return ask("tools/call", map[string]any{"name": "read_file", "arguments": map[string]any{"path": path}})
	}
	if body := read("code/main.js"); !strings.Contains(body, "grüß") || strings.Contains(body, `"isError":true`) {
		t.Error(body)
	}
	for _, path := range []string{"../secret.txt", "link", "/etc/passwd", "code\x00", strings.Repeat("x", 10_000), ".."} {
		if body := read(path); !strings.Contains(body, `"isError":true`) || strings.Contains(body, secret) || strings.Contains(body, root) {
			t.Errorf("%.40q: %s", path, body)
		}
	}
	assert.Contains(t, ask("resources/read", map[string]any{"uri": "file:///code/main.js"}), "grüß")
	for _, uri := range []string{"file:///../secret.txt", "file:///%2e%2e/secret.txt", "file:///link", "file:////etc/passwd", "file:///none", "file:///a%2fb"} {
		if body := ask("resources/read", map[string]any{"uri": uri}); !strings.Contains(body, `"code":-32001`) || !strings.Contains(body, `"resource_not_found"`) || strings.Contains(body, secret) {
			t.Errorf("%s: %s", uri, body)
		}
	}
}
