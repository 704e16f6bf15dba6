package transport

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

type discard struct{ n int }

func (d *discard) Frame(b []byte)              { d.n += len(b) }
func (d *discard) Broken(_, _ []byte, _ error) {}
func (d *discard) Lost(error)                  {}

// One result of 50 MB over Streamable HTTP, as JSON and as a stream, next to plain io.ReadAll of the same response in the
// same run: the ratio is the figure that counts.
func BenchmarkHTTPResult50MB(b *testing.B) {
	result := append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`), bytes.Repeat([]byte("0123456789abcde "), 50<<16)...), `"}]}}`...)
	event := append(append([]byte("event: message\ndata: "), result...), "\n\n"...)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sse" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(event)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(result)))
		_, _ = w.Write(result)
	}))
	defer s.Close()
	for _, path := range []string{"/json", "/sse"} {
		b.Run(path[1:], func(b *testing.B) {
			t := newHTTP(config.Server{URL: s.URL + path}, Tap{})
			defer func() { _ = t.Close() }()
			d := &discard{}
			require.NoError(b, t.Start(b.Context(), d))
			m := call("1", "tools/call")
			ours, raw := time.Hour, time.Hour // the best of each: the machine has other work
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				start := time.Now()
				require.NoError(b, t.Send(b.Context(), m))
				ours = min(ours, time.Since(start))
				start = time.Now()
				resp, err := http.Post(s.URL+path, "application/json", bytes.NewReader(m.Frame))
				require.NoError(b, err)
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				require.NoError(b, err)
				raw = min(raw, time.Since(start))
			}
			if d.n != b.N*len(result) {
				b.Fatalf("%d bytes delivered", d.n)
			}
			b.ReportMetric(float64(ours)/float64(raw), "x-of-ReadAll")
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

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
