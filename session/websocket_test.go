package session_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// socketServer serves mcp-go's engine over WebSocket. A call of the tool "hang up" ends the connection in the middle of it.
func socketServer(t *testing.T) (url string, opened *atomic.Int32) {
	t.Helper()
	opened = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		opened.Add(1)
		s := server.NewMCPServer("socket", "1", server.WithToolCapabilities(true))
		s.AddTool(mcp.NewTool("echo", mcp.WithString("message")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("said " + r.GetString("message", "")), nil
		})
		s.AddTool(mcp.NewTool("hang-up"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, c.Close(websocket.StatusServiceRestart, "upgrade")
		})
		for {
			_, frame, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if answer := s.HandleMessage(r.Context(), frame); answer != nil {
				out, err := json.Marshal(answer)
				if err != nil || c.Write(r.Context(), websocket.MessageText, out) != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http"), opened
}

func TestP14_WebSocket(t *testing.T) {
	for _, protocol := range []string{"", "2025-11-25", "2026-07-28"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			url, opened := socketServer(t)
			_, s := sessiontest.Open(t, session.Options{}, config.Server{Name: "socket", URL: url, Protocol: protocol})
			if st := s.Status(); st.Transport != "ws" || protocol != "" && st.Version != protocol {
				t.Errorf("%+v", st)
			}
			list, err := s.List(t.Context(), offer.Tools)
			if err != nil || len(list.Items) != 2 {
				t.Fatalf("%+v, %v", list.Items, err)
			}
			r, err := s.CallTool(t.Context(), "echo", []byte(`{"message":"hi"}`), session.CallOptions{})
			if err != nil || !strings.Contains(string(r.Result), "said hi") {
				t.Errorf("%s, %v", r.Result, err)
			}
			_, err = s.CallTool(t.Context(), "hang-up", nil, session.CallOptions{})
			if failure.KindOf(err) != failure.ChannelClosed || !strings.Contains(err.Error(), "1012 service restart: upgrade") {
				t.Error(err)
			}
			if _, err := s.CallTool(t.Context(), "echo", []byte(`{"message":"again"}`), session.CallOptions{}); err != nil || opened.Load() < 2 {
				t.Errorf("after %d connections: %v", opened.Load(), err)
			}
		})
	}
}
