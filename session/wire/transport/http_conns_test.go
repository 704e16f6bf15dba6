package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// No connection outlives the transport, also not one that is in use for HTTP itself.
func TestCloseLeavesNoConnection(t *testing.T) {
	asked := make(chan struct{}, 1)
	states := make(chan http.ConnState, 100)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // from then on the server notices when the client leaves
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	web.Config.ConnState = func(_ net.Conn, s http.ConnState) { states <- s }
	web.Start()
	defer web.Close()
	c, err := newHTTPClient(config.Server{URL: web.URL}, Tap{})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		// Around the client, as what goes on within the transport is.
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, web.URL, strings.NewReader("{}"))
		if err == nil {
			var resp *http.Response
			if resp, err = c.rt.RoundTrip(req); err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}
		done <- err
	}()
	<-asked
	c.closeConnections()
	if err := <-done; err == nil {
		t.Error("the request had an answer")
	}
	late := time.After(30 * time.Second)
	for closed := false; !closed; {
		select {
		case s := <-states:
			closed = s == http.StateClosed
		case <-late:
			t.Fatal("the connection is still there")
		}
	}
	if _, err := c.conns.dialer((&net.Dialer{}).DialContext)(t.Context(), "tcp", web.Listener.Addr().String()); err == nil {
		t.Error("a connection was made after the end")
	}
}
