package views_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestHostileHTTP answers over HTTP with hostile status lines, headers and
// bodies, each status in another way, and looks at servers and traffic.
func TestHostileHTTP(t *testing.T) {
	t.Parallel()
	groups := groups()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s := groups[n%len(groups)].Value
			s = s[:min(len(s), 2000)]
			line := strings.NewReplacer("\r", "", "\n", "").Replace(s)
			status := []int{500, 401, 404, 403, 200, 302, 400, 429, 202}[n%9]
			kind := []string{"text/plain", "application/json", "text/event-stream", line}[n%4]
			body := []string{s, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"` + line + `"}}`, "event: " + line + "\ndata: " + s + "\n\n", s}[n%4]
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nLocation: %s\r\nWWW-Authenticate: %s\r\nMcp-Session-Id: %s\r\nX-%d: %s\r\nRetry-After: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
					status, line, kind, line, line, line, n, line, line, len(body), body)
			}
			_ = c.Close()
		}
	}()
	w := &watch{good: map[string]bool{}}
	opts := []tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Size(160, 50), tuitest.Beside(), tuitest.Env("EDITOR", "false"),
		tuitest.Config(func(c *tui.Config) { c.Frames = w.frame }),
	}
	for i := range 24 {
		opts = append(opts, tuitest.Target(config.Server{
			Name: fmt.Sprint("s", i), Transport: []string{config.HTTP, config.SSE, config.Auto}[i%3], URL: "http://" + ln.Addr().String() + "/mcp",
		}))
	}
	app := tuitest.Start(t, opts...)
	for range 24 {
		app.Press("down")
		w.check(t, app, "servers")
	}
	app.Send(tui.Navigate{View: "traffic"})
	for range 60 {
		app.Press("up")
		w.check(t, app, "traffic")
	}
	app.Press("tab", "down", "m", "G", "m")
	w.check(t, app, "traffic")
	quiet(app)
	assert.Equal(t, outside(app.Output(), 0), "")
	if len(app.Manager().Journal().Snapshot(0, nil)) < 100 {
		t.Error("little was said")
	}
}
