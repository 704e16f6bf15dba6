package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const note1 = `{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1}}`

// events writes a stream and flushes it.
func writeEvents(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func TestS5_StreamAnswer(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		writeEvents(w, "retry: 10\n\n: hello\n\ndata: "+note1+"\r\n\r\nevent: odd\ndata: ?\n\nevent: message\ndata: nonsense\n\ndata: "+ask+"\n\n")
		writeEvents(w, "data: "+answer1[:17]+"\ndata: "+answer1[17:]+"\n\n")
		writeEvents(w, "data: "+note1+"\n\n") // after the answer
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	require.NoError(t, p.send(t, call("1", "tools/call")))
	p.got.await(t, "what follows the answer", func() bool { return len(p.got.frames) == 5 })
	want := []string{note1, "nonsense", ask, answer1[:17] + "\n" + answer1[17:], note1}
	if got := p.got.all(); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("frames: %q", got)
	}
	assert.Contains(t, p.journal(journal.Bad), `"odd"`)
}

// A connection whose stream has ended is used again.
func TestS5_StreamsShareAConnection(t *testing.T) {
	var mu sync.Mutex
	from := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from[r.RemoteAddr] = true
		mu.Unlock()
		writeEvents(w, "data: "+answer1+"\n\n")
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	const calls = 50
	for range calls {
		require.NoError(t, p.send(t, call("1", "ping")))
	}
	if len(from) > calls/2 {
		t.Errorf("%d connections for %d calls in a row", len(from), calls)
	}
}

func TestS5_StreamEndsWithoutAnswer(t *testing.T) {
	kind := ""
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch kind {
		case "closed":
			writeEvents(w, "data: "+note1+"\n\n")
		case "half an event":
			writeEvents(w, "data: "+answer1[:30])
		case "cut":
			writeEvents(w, "data: "+note1+"\n\n")
			panic(http.ErrAbortHandler)
		case "endless line":
			writeEvents(w, "data: ")
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		}
	})
	p := httpPeer(t, config.Server{URL: s.URL, MaxFrame: 100_000})
	for _, c := range []struct {
		kind  string
		want  failure.Kind
		words []string
	}{
		{"closed", failure.ChannelClosed, []string{"closed the response stream without answering"}},
		{"half an event", failure.ChannelClosed, []string{"cut before the answer"}},
		{"cut", failure.ChannelClosed, []string{"cut before the answer"}},
		{"endless line", failure.Protocol, []string{"limit of 100000 bytes", "raise the limit"}},
	} {
		kind = c.kind
		err := p.send(t, call("1", "tools/call"))
		t.Run(c.kind, func(t *testing.T) { fails(t, err, c.want, c.words...) })
	}
	if len(p.got.broken) != 2 || p.got.heads[0] != answer1[:30] || !strings.HasPrefix(p.got.heads[1], "xxxx") {
		t.Errorf("broken: %v", p.got.broken)
	}
}

func TestS5_CutStreamIsResumed(t *testing.T) {
	var mu sync.Mutex
	var gets []string
	answerGet := func(w http.ResponseWriter) {}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			writeEvents(w, "id: a-1\nretry: 50\ndata:\n\nid: a-2\ndata: "+note1+"\n\nid: a-3\ndata: {\"half")
			panic(http.ErrAbortHandler)
		}
		mu.Lock()
		defer mu.Unlock()
		gets = append(gets, r.Header.Get("Last-Event-Id")+" "+r.Header.Get("Accept"))
		answerGet(w)
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	answerGet = func(w http.ResponseWriter) {
		switch len(gets) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			writeEvents(w, "id: a-3\ndata: "+note1+"\n\n") // and ends again, as a server does that wants to be polled
		default:
			writeEvents(w, "id: a-4\ndata: "+answer1+"\n\n")
		}
	}
	assert.NoError(t, p.send(t, call("1", "tools/call")))
	assert.Equalf(t, strings.Join(p.got.all(), "|"), note1+"|"+note1+"|"+answer1, "frames")
	if got := strings.Join(gets, "|"); got != "a-2 text/event-stream|a-2 text/event-stream|a-3 text/event-stream" {
		t.Errorf("resumed with %s", got)
	}
	answerGet = func(w http.ResponseWriter) { w.WriteHeader(http.StatusMethodNotAllowed) }
	fails(t, p.send(t, call("1", "tools/call")), failure.ChannelClosed, "does not resume it (405", "try again")
	// The modern era has no streams to resume.
	gets = nil
	m := call("1", "tools/call")
	m.Header = http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}
	fails(t, p.send(t, m), failure.ChannelClosed, "cut before the answer")
	if len(gets) > 0 {
		t.Errorf("GETs in the modern era: %q", gets)
	}
}

// The stream for the server's own messages: opened after initialize, reopened where it broke off, and the end of the
// session noticed.
func TestS5_ListeningStream(t *testing.T) {
	step := make(chan string)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, _ := jsonrpc.Scan(body)
		switch {
		case r.Method == http.MethodGet:
			select {
			case step <- r.Header.Get("Mcp-Session-Id") + " " + r.Header.Get("Last-Event-Id"):
			case <-r.Context().Done():
				return
			}
			switch text := <-step; text {
			case "404":
				w.WriteHeader(http.StatusNotFound)
			default:
				writeEvents(w, text)
			}
		case env.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			_, _ = io.WriteString(w, answer1)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	p := httpPeer(t, config.Server{URL: s.URL, MaxFrame: 200})
	for _, m := range []Message{call("1", "initialize"), message(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)} {
		require.NoError(t, p.send(t, m))
	}
	serverAsks := `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`
	for _, c := range []struct{ came, send string }{
		{"s ", "retry: 50\nid: 7\ndata: " + note1 + "\n\ndata: " + strings.Repeat("x", 300) + "\n\ndata: " + serverAsks + "\n\n"},
		{"s 7", "id: 8\ndata: " + note1 + "\n\n"},
		{"s 8", "404"},
	} {
		if got := <-step; got != c.came {
			t.Errorf("GET with %q, want %q", got, c.came)
		}
		step <- c.send
	}
	p.got.await(t, "the session's end", func() bool { return p.got.lost != nil })
	if !errors.Is(p.got.lost, ErrSessionLost) {
		t.Errorf("lost: %v", p.got.lost)
	}
	assert.Equalf(t, strings.Join(p.got.all(), "|"), answer1+"|"+note1+"|"+serverAsks+"|"+note1, "frames")
	if len(p.got.broken) != 1 {
		t.Errorf("broken: %v", p.got.broken)
	}
}

// answering answers requests without a network.
type answering func(*http.Request) (*http.Response, error)

func (n answering) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// TestCallAwaitsServersStream: a call is sent once the server has its own stream to ask on, or when that takes too long; lists need not
// wait.
func TestCallAwaitsServersStream(t *testing.T) {
	for _, c := range []struct{ opens, called time.Duration }{
		{500 * time.Millisecond, 500 * time.Millisecond}, // and asks at once: nobody would hear it
		{time.Hour, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, sent := time.Now(), map[string]time.Duration{}
			tr := NewHTTP(config.Server{URL: "http://srv.test"}, Tap{}, answering(func(r *http.Request) (*http.Response, error) {
				resp := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}}, Request: r, ContentLength: -1}
				if r.Method == http.MethodGet {
					if err := pause(r.Context(), c.opens); err != nil {
						return nil, err
					}
					body, w := io.Pipe()
					context.AfterFunc(r.Context(), func() { _ = w.Close() })
					resp.Header.Set("Content-Type", "text/event-stream")
					resp.Body = body
					return resp, nil
				}
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				sent[jsonrpc.GetString(body, "method")] = time.Since(start)
				resp.Body = io.NopCloser(strings.NewReader(answer1))
				return resp, nil
			}))
			require.NoError(t, tr.Start(t.Context(), &received{news: make(chan struct{}, 1)}))
			for _, m := range []Message{message(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), call("1", "tools/list"), call("1", "tools/call"), call("1", "prompts/get")} {
				require.NoError(t, tr.Send(t.Context(), m))
			}
			if sent["tools/list"] != 0 || sent["tools/call"] != c.called || sent["prompts/get"] != c.called {
				t.Errorf("%v, want the list at once and the others after %v", sent, c.called)
			}
			assert.NoError(t, tr.Close())
		})
	}
}

// TestStreamIsResumedAfterRetry: a stream that ends after its priming event is resumed when the server's retry is over, not sooner or later.
func TestStreamIsResumedAfterRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var resumed []string
		tr := NewHTTP(config.Server{URL: "http://srv.test"}, Tap{}, answering(func(r *http.Request) (*http.Response, error) {
			text := "id: 1\nretry: 700\ndata: \n\n"
			if r.Method == http.MethodGet {
				resumed = append(resumed, fmt.Sprint(time.Since(start), " ", r.Header.Get("Last-Event-Id")))
				text = "id: 2\ndata: " + answer1 + "\n\n"
				if len(resumed) == 1 {
					text = "id: 1b\nretry: 100\ndata: \n\n" // and ends again
				}
			}
			return &http.Response{
				StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
				ContentLength: -1, Body: io.NopCloser(strings.NewReader(text)),
			}, nil
		}))
		in := &received{news: make(chan struct{}, 1)}
		require.NoError(t, tr.Start(t.Context(), in))
		assert.NoError(t, tr.Send(t.Context(), call("1", "tools/call")))
		assert.Equal(t, strings.Join(resumed, ", "), "700ms 1, 800ms 1b")
		assert.NoError(t, tr.Close())
	})
}

func ssePeer(t *testing.T, cfg config.Server) (*httpConn, error) {
	t.Helper()
	p := startPeer(t, cfg, config.SSE)
	ctx, cancel := context.WithTimeout(t.Context(), 10e9)
	defer cancel()
	return p, p.Start(ctx, p.got)
}

func TestS5_LegacySSE(t *testing.T) {
	posted, answered := make(chan string, 8), make(chan string, 8)
	end := make(chan struct{})
	status := http.StatusAccepted
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Mine") != "1" {
			t.Errorf("%s without the custom header", r.Method)
		}
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			posted <- r.URL.RequestURI() + " " + string(body)
			w.WriteHeader(status)
			return
		}
		writeEvents(w, "event: endpoint\ndata: /messages?sessionId=1\n\n")
		answered <- <-posted
		writeEvents(w, "event: message\ndata: "+answer1+"\n\ndata: "+strings.Repeat("x", 300)+"\n\n")
		<-end
	})
	p, err := ssePeer(t, config.Server{URL: s.URL + "/sse", Headers: map[string]string{"X-Mine": "1"}, MaxFrame: 200})
	require.NoError(t, err)
	require.NoError(t, p.send(t, call("1", "ping")))
	p.got.await(t, "answer", func() bool { return len(p.got.frames) > 0 && len(p.got.broken) > 0 })
	if got := <-answered; !strings.HasPrefix(got, "/messages?sessionId=1 {") || p.got.frames[0] != answer1 {
		t.Errorf("posted %s, got %q", got, p.got.frames)
	}
	status = 401
	var h *HTTPError
	if err := p.send(t, call("1", "ping")); !errors.As(err, &h) || h.Explain().Kind != failure.OAuth {
		t.Errorf("401: %v", err)
	}
	close(end)
	p.got.await(t, "loss", func() bool { return p.got.lost != nil })
	fails(t, p.got.lost, failure.ChannelClosed, "closed the event stream", "reconnect")
}

func TestS5_SSEThatIsNone(t *testing.T) {
	answer := func(http.ResponseWriter, *http.Request) {}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	endpoint := func(to string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, "event: endpoint\ndata: "+to+"\n\n") }
	}
	for name, c := range map[string]struct {
		f     func(http.ResponseWriter, *http.Request)
		words []string
	}{
		"evil host":      {endpoint("http://evil.example/x"), []string{"another origin", "evil.example"}},
		"evil port":      {endpoint("http://127.0.0.1:1/x"), []string{"another origin"}},
		"evil scheme":    {endpoint("https" + strings.TrimPrefix(s.URL, "http")), []string{"another origin"}},
		"protocol-less":  {endpoint("//evil.example/x"), []string{"another origin"}},
		"userinfo":       {endpoint(strings.Replace(s.URL, "://", "://evil:pw@", 1)), []string{"another origin", "http://***@"}},
		"javascript":     {endpoint("javascript:alert(1)"), []string{"not a URL"}},
		"no URL":         {endpoint("http://[::1"), []string{"not a URL"}},
		"another event":  {func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, "data: x\n\n") }, []string{`"message" instead of endpoint`}},
		"nothing":        {func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, ":\n\n") }, []string{"ended before its endpoint event"}},
		"not a stream":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<h1>hi") }, []string{"text/html", "or try Streamable HTTP"}},
		"endless line":   {func(w http.ResponseWriter, _ *http.Request) { endlessEvent(w) }, []string{"ended before its endpoint event"}},
		"Not Found (GET": {http.NotFound, nil},
	} {
		answer = c.f
		_, err := ssePeer(t, config.Server{URL: s.URL, MaxFrame: 1000})
		var h *HTTPError
		if c.words == nil {
			if !errors.As(err, &h) || h.Status != 404 || h.Method != http.MethodGet {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		t.Run(name, func(t *testing.T) { fails(t, err, failure.Protocol, c.words...) })
	}
	// A server that never flushes: the caller's patience ends it.
	answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	p := startPeer(t, config.Server{URL: s.URL}, config.SSE)
	ctx, cancel := context.WithTimeout(t.Context(), 30e6)
	defer cancel()
	if err := p.Start(ctx, p.got); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("never flushing: %v", err)
	}
}

func endlessEvent(w http.ResponseWriter) {
	writeEvents(w, "event: endpoint\ndata: ")
	for {
		if _, err := io.WriteString(w, strings.Repeat("/", 4096)); err != nil {
			return
		}
	}
}
