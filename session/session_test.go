package session

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/config"
)

// mcpServer is a server of mcp-go in memory, with one tool that echoes.
func mcpServer() *server.MCPServer {
	s := server.NewMCPServer("memory", "1.0", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	return s
}

// overMemory is Options.Dial for servers of mcp-go.
func overMemory(s *server.MCPServer) func(config.Server) (Transport, bool) {
	return func(config.Server) (Transport, bool) {
		return NewMemory(func(ctx context.Context, in io.Reader, out io.Writer) error {
			return server.NewStdioServer(s).Listen(ctx, in, out)
		}), true
	}
}

func TestMCPServerInMemory(t *testing.T) {
	for _, protocol := range []string{"", "2025-06-18"} {
		synctest.Test(t, func(t *testing.T) {
			m := NewManager(Options{Dial: overMemory(mcpServer())})
			s, err := m.Register(config.Server{Name: "one", Protocol: protocol})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Connect(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			l, err := s.List(t.Context(), Tools)
			if err != nil || len(l.Items) != 1 || l.Items[0].Name != "echo" {
				t.Fatal(l, err)
			}
			r, err := s.CallTool(t.Context(), "echo", []byte(`{"text":"hello"}`), CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			c, err := Contents(r.Result)
			if err != nil || len(c) != 1 || c[0].Text != "hello" {
				t.Fatal(c, err)
			}
			st := s.Status()
			want := Modern
			if protocol != "" {
				want = Legacy
			}
			if st.Era != want || st.State != Connected || st.Capabilities == nil || st.ServerInfo == nil {
				t.Fatalf("%+v", st)
			}
			if _, err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
