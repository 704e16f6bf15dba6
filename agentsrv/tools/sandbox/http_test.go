package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/test/require"
)

// overHTTP serves execute_code; the function it returns calls it in the given era.
func overHTTP(t *testing.T, s *Sandbox) func(ctx context.Context, modern bool, args string) (string, error) {
	t.Helper()
	engine := server.NewMCPServer("t", "1", front.EngineOptions()...)
	engine.AddTools(s.Tools()...)
	f := front.New(front.Options{Engine: engine})
	srv := httptest.NewServer(f.Handler())
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		hc.CloseIdleConnections()
		srv.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = f.Close(ctx)
	})
	return func(ctx context.Context, modern bool, args string) (string, error) {
		meta := ""
		if modern {
			meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/mcp",
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":`+args+meta+`}}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if modern {
			req.Header.Set("MCP-Protocol-Version", "2026-07-28")
			req.Header.Set("Mcp-Method", "tools/call")
			req.Header.Set("Mcp-Name", "execute_code")
		}
		res, err := hc.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		return string(raw), err
	}
}

func TestT1_ExecuteCodeOverHTTP(t *testing.T) {
	s := open(t, Options{})
	call := overHTTP(t, s)
	for modern, code := range map[bool]int{false: -32003, true: -31003} {
		ask := func(args string) (m struct {
			Result struct {
				IsError           bool
				StructuredContent Result
			}
			Error struct {
				Code int
				Data struct{ Kind, Phase string }
			}
		},
		) {
			t.Helper()
			body, err := call(t.Context(), modern, args)
			if jerr := json.Unmarshal([]byte(body), &m); err != nil || jerr != nil {
				t.Fatalf("%s: %s %v %v", args, body, err, jerr)
			}
			return m
		}
		if m := ask(`{"code":"1 + 1"}`); string(m.Result.StructuredContent.Result) != "2" || m.Result.IsError {
			t.Errorf("%+v", m)
		}
		if m := ask(`{"code":"for (;;);","timeout":100}`); m.Error.Code != code || m.Error.Data.Kind != "timeout" || m.Error.Data.Phase != "running" {
			t.Errorf("%+v", m)
		}
		if m := ask(`{"code":"new Uint8Array(1e8)"}`); !m.Result.IsError || m.Result.StructuredContent.Error.Message != "out of memory" {
			t.Errorf("%+v", m)
		}
		for _, name := range []string{"require", "process", "fetch"} {
			if m := ask(`{"code":"` + name + `"}`); !m.Result.IsError || m.Result.StructuredContent.Error.Name != "ReferenceError" {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}
