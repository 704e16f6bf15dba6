package session_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/transport"
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
func overMemory(s *server.MCPServer) func(config.Server) (transport.Transport, bool) {
	return func(config.Server) (transport.Transport, bool) {
		return transport.NewMemory(func(ctx context.Context, in io.Reader, out io.Writer) error {
			return server.NewStdioServer(s).Listen(ctx, in, out)
		}), true
	}
}

func TestMCPServerInMemory(t *testing.T) {
	for _, protocol := range []string{"", "2025-06-18"} {
		synctest.Test(t, func(t *testing.T) {
			m := session.NewManager(session.Options{Dial: overMemory(mcpServer())})
			s, err := m.Register(config.Server{Name: "one", Protocol: protocol})
			require.NoError(t, err)
			require.NoError(t, m.Connect(t.Context(), "one"))
			l, err := s.List(t.Context(), offer.Tools)
			if err != nil || len(l.Items) != 1 || l.Items[0].Name != "echo" {
				t.Fatal(l, err)
			}
			r, err := s.CallTool(t.Context(), "echo", []byte(`{"text":"hello"}`), session.CallOptions{})
			require.NoError(t, err)
			c, err := offer.Contents(r.Result)
			if err != nil || len(c) != 1 || c[0].Text != "hello" {
				t.Fatal(c, err)
			}
			st := s.Status()
			want := session.Modern
			if protocol != "" {
				want = session.Legacy
			}
			if st.Era != want || st.State != session.Connected || st.Capabilities == nil || st.ServerInfo == nil {
				t.Fatalf("%+v", st)
			}
			if _, err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			require.NoError(t, m.Close())
		})
	}
}

// A server that moved is reached where it is, and shown there.
func TestAServerMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialled []string
		dial := overMemory(mcpServer())
		m := session.NewManager(session.Options{Dial: func(c config.Server) (transport.Transport, bool) {
			dialled = append(dialled, c.URL)
			return dial(c)
		}})
		defer m.Close()
		s, err := m.Register(config.Server{Name: "one", URL: "http://127.0.0.1:1/"})
		require.NoError(t, err)
		if s.SetURL("http://127.0.0.1:1/") || s.SetURL("http://127.0.0.1:2/") {
			t.Error("nobody was connected to where it was")
		}
		require.NoError(t, s.Connect(t.Context()))
		rev := s.Rev()
		if s.SetURL("http://127.0.0.1:2/") || s.Rev() != rev || !s.SetURL("http://127.0.0.1:3/") || s.Rev() == rev {
			t.Error("it is not known where the connection leads")
		}
		require.NoError(t, s.Reconnect(t.Context()))
		const now = "http://127.0.0.1:3/"
		if len(dialled) != 2 || dialled[0] != "http://127.0.0.1:2/" || dialled[1] != now || s.Config().URL != now || s.Status().URL != now {
			t.Errorf("dialled %q, now %s", dialled, s.Status().URL)
		}
	})
}
