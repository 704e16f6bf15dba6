package duplex

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// stream is the event stream of a client.
type stream struct {
	*bufio.Reader
	res      *http.Response
	messages string // the URL for its messages
}

func openStream(t *testing.T, h *host, token string) *stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/sse", nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(res, err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	s := &stream{Reader: bufio.NewReader(res.Body), res: res}
	name, data := s.event(t)
	if name != "endpoint" || !strings.HasPrefix(data, "/messages?sessionId=") {
		t.Fatalf("%s %s", name, data)
	}
	s.messages = h.url + data
	return s
}

// event reads the next one.
func (s *stream) event(t *testing.T) (name, data string) {
	t.Helper()
	for {
		line, err := s.ReadString('\n')
		require.NoError(t, err)
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && name != "":
			return name, data
		}
	}
}

func (s *stream) hears(t *testing.T, want string) {
	t.Helper()
	if name, data := s.event(t); name != "message" || !strings.Contains(data, want) {
		t.Fatalf("%s %.300s, want %s", name, data, want)
	}
}

func post(t *testing.T, url, token, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

func TestR3b_EventsAndMessages(t *testing.T) {
	h := newHost(t, Options{Heartbeat: 10 * time.Millisecond, Limit: 10_000})
	s := openStream(t, h, "ann")
	want := func(body, token string, status int, says string) {
		t.Helper()
		if got := post(t, s.messages, token, body); got != status {
			t.Fatalf("%.100s: %d, want %d", body, got, status)
		}
		if says != "" {
			s.hears(t, says)
		}
	}
	want(handshake, "ann", http.StatusAccepted, `"id":1,"result":{"protocolVersion":"2024-11-05"`)
	if head := wait(t, "a request", h.headers); head.Get("Authorization") != "Bearer ann" || !strings.HasPrefix(head.Get("Traceparent"), "00-0af7") {
		t.Errorf("headers %v", head)
	}
	want(ready, "ann", http.StatusAccepted, "notifications/tools/list_changed")
	want(`{"jsonrpc":"2.0","id":2,"method":"hang"}`, "ann", http.StatusAccepted, "")
	wait(t, "the call", h.started)
	want("{\"jsonrpc\":\"2.0\",\n\"id\":3,\n\"method\":\"big\",\"params\":{\"n\":3000000}}", "ann", http.StatusAccepted, `"id":3,"result":"xxx`)
	want("nonsense", "ann", http.StatusAccepted, `"error":{"code":-32700`)
	want(`{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"`+strings.Repeat("x", 20_000)+`"}}`, "ann", http.StatusRequestEntityTooLarge, "")
	// Whoever learns the id does not have the session.
	want(ping, "bob", http.StatusNotFound, "")
	want(ping, "", http.StatusNotFound, "")
	want(ping, "eve", http.StatusUnauthorized, "")
	if got := post(t, h.url+"/messages?sessionId=none", "ann", ping); got != http.StatusNotFound {
		t.Errorf("status %d", got)
	}
	for url, method := range map[string]string{h.url + "/sse": http.MethodPost, s.messages: http.MethodGet} {
		req, _ := http.NewRequestWithContext(t.Context(), method, url, nil)
		if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %v %v", method, url, res, err)
		}
	}
	_ = s.res.Body.Close()
	wait(t, "the end of the session", h.ended)
	require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })
	want(ping, "ann", http.StatusNotFound, "")
}

func TestR3b_PagesOfOthersOpenNoStream(t *testing.T) {
	h := newHost(t, Options{Most: 1})
	get := func(origin, token string) int {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/sse", nil)
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	if got := get("https://evil.example", ""); got != http.StatusForbidden {
		t.Errorf("status %d", got)
	}
	if got := get("", "eve"); got != http.StatusUnauthorized {
		t.Errorf("status %d", got)
	}
	openStream(t, h, "")
	if got := get("", ""); got != http.StatusServiceUnavailable {
		t.Errorf("status %d", got)
	}
}

// What a client never reads is not kept for it: once it takes nothing in time, its stream and its calls are over.
func TestR3b_ClientThatNeverReads(t *testing.T) {
	h := newHost(t, Options{Write: 300 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /sse HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(h.url, "http://")); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	messages := ""
	for messages == "" {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			messages = h.url + at
		}
	}
	for i := range 20 {
		status := post(t, messages, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"big","params":{"n":3000000}}`, i))
		if status != http.StatusAccepted && status != http.StatusNotFound {
			t.Fatalf("status %d", status)
		}
	}
	require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })
	if got := post(t, messages, "", ping); got != http.StatusNotFound {
		t.Errorf("status %d", got)
	}
}

func TestR3b_CloseLetsCallsEnd(t *testing.T) {
	h := newHost(t, Options{})
	s := openStream(t, h, "")
	post(t, s.messages, "", `{"jsonrpc":"2.0","id":1,"method":"hang","params":{"for":"xxx"}}`)
	wait(t, "the call", h.started)
	over := make(chan struct{})
	go func() {
		defer close(over)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		h.Close(ctx)
	}()
	s.hears(t, `"id":1,"result":"late"`)
	if rest, err := io.ReadAll(s); err != nil {
		t.Errorf("%q %v", rest, err)
	}
	wait(t, "the end", over)
}
