package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// slow is how long clients may take to read in these tests; silence is longer.
const (
	slow    = 2 * time.Second
	silence = 3 * time.Second
)

// overTLS runs a test against a router that serves HTTPS, once over HTTP/1.1 and once over what client and router agree on.
func overTLS(t *testing.T, o Options, test func(t *testing.T, f *fixture, a *agent), more string) {
	own := nettest.SelfSigned(t)
	o.TLSCert, o.TLSKey = own.Cert, own.Key
	for major, name := range map[int]string{1: "HTTP/1.1", 2: "HTTP/2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			f := start(t, o, route("a", a.at(), more))
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own.Pool()}, ForceAttemptHTTP2: major == 2}
			f.client = &http.Client{Transport: transport}
			t.Cleanup(transport.CloseIdleConnections)
			if got := f.send(t, "GET", "/health", ""); got.status != 200 || got.proto != major || !strings.HasPrefix(f.URL(), "https://") {
				t.Fatalf("%s: %+v", f.URL(), got)
			}
			test(t, f, a)
		})
	}
}

func TestTLS_SessionsAndRefusals(t *testing.T) {
	t.Parallel()
	overTLS(t, Options{BodyTimeout: time.Second}, func(t *testing.T, f *fixture, a *agent) {
		id := f.open(t, "/mcps/a/mcp")
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 || !strings.Contains(got.body, "up-1") {
			t.Errorf("%+v", got)
		}
		if got := f.post(t, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); got.status != 200 || got.body != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("all agents as one: %+v", got)
		}
		for _, method := range []string{"PUT", "OPTIONS", "HEAD"} {
			if got := f.send(t, method, "/mcps/a/mcp", ""); got.status != 405 || got.header.Get("Allow") != "GET, POST, DELETE" {
				t.Errorf("%s: %+v", method, got)
			}
		}
		body, _ := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), "POST", f.URL()+"/mcps/a/mcp", body)
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := f.client.Do(req)
		require.NoError(t, err)
		_ = body.Close()
		_ = res.Body.Close()
		assert.Equalf(t, res.StatusCode, 408, "a body that does not come")
		if got := f.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id); got.status != 204 {
			t.Errorf("%+v", got)
		}
		f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
		a.answer = func(_ http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) { <-r.Context().Done() }
		f.post(t, "/mcps/a/mcp", callEcho).check(t, 504, -32003, "Agent 'a' did not answer within 2s")
	}, `"stream":true,"timeout":"2s"`)
}

func TestTLS_X2_OriginAndHost(t *testing.T) {
	overTLS(t, Options{}, func(t *testing.T, f *fixture, _ *agent) {
		host := strings.TrimPrefix(f.URL(), "https://")
		_, port, _ := strings.Cut(host, ":")
		for _, c := range []struct {
			host, origin string
			want         int
		}{
			{"", "", 200},
			{"localhost:" + port, "", 200},
			{"", "https://" + host, 200},
			{"localhost:" + port, "https://localhost:" + port, 200},
			{"", "http://" + host, 403},
			{"", "https://127.0.0.1", 403},
			{"", "https://evil.example", 403},
			{"", "null", 403},
			{"evil.example:" + port, "", 403},
			{"localhost", "", 403},
			{"evil.example:" + port, "https://evil.example:" + port, 403},
		} {
			var headers []string
			if c.origin != "" {
				headers = []string{"Origin", c.origin}
			}
			if c.host != "" {
				headers = append(headers, "Host", c.host)
			}
			if got := f.post(t, "/mcps/a/mcp", callEcho, headers...); got.status != c.want {
				t.Errorf("%+v: %d %s", c, got.status, got.body)
			}
		}
	}, "")
}

// Events come at once, also after a silence that is longer than a client may take to read.
func TestTLS_R5_EventsArePassedOnAsTheyCome(t *testing.T) {
	t.Parallel()
	overTLS(t, Options{WriteTimeout: slow}, func(t *testing.T, f *fixture, a *agent) {
		next := make(chan string)
		a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
			rc := sseHead(w)
			if r.Method == http.MethodDelete {
				return
			}
			_ = rc.Flush()
			for {
				select {
				case part := <-next:
					_, _ = io.WriteString(w, part) // the client sees what is missing
					_ = rc.Flush()
				case <-r.Context().Done():
					return
				}
			}
		}
		id := f.open(t, "/mcps/a/mcp")
		res := f.stream(t.Context(), t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", id)
		defer func() { _ = res.Body.Close() }()
		got := bufio.NewReader(res.Body)
		for i := range 3 {
			want := fmt.Sprintf("data: %d\n", i)
			if i == 2 {
				time.Sleep(silence)
			}
			select {
			case next <- want:
			case <-time.After(30 * time.Second):
				t.Fatal("the agent was told that its client left")
			}
			if line, err := got.ReadString('\n'); err != nil || line != want {
				t.Fatalf("%q, %v; want %q", line, err, want)
			}
		}
		// A stream without an end does not keep the router from leaving.
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if rest, err := io.ReadAll(got); err != nil || len(rest) > 0 {
			t.Errorf("%q, %v", rest, err)
		}
	}, `"stream":true`)
}

// A piece of a JSON text that comes late is passed on late; one that does not come is not an end.
func TestTLS_R6_AnswersInPieces(t *testing.T) {
	t.Parallel()
	overTLS(t, Options{WriteTimeout: slow}, func(t *testing.T, f *fixture, a *agent) {
		piece := strings.Repeat("x", 40_000)
		whole := true
		a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
			w.Header().Set("Content-Type", "application/json")
			rc := http.NewResponseController(w)
			_, _ = io.WriteString(w, piece) // the client sees what is missing
			_ = rc.Flush()
			time.Sleep(silence)
			if _, _ = io.WriteString(w, piece); whole { // as above
				return
			}
			_ = rc.Flush()
			if c, _, err := rc.Hijack(); err == nil {
				_ = c.Close()
			}
		}
		if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 || got.body != piece+piece {
			t.Errorf("%d, %d bytes", got.status, len(got.body))
		}
		whole = false
		res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", callEcho)
		if b, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("half an answer of %d bytes passed for a whole one", len(b))
		}
		_ = res.Body.Close()
	}, "")
}

func TestTLS_AClientThatLeavesIsNotServedOn(t *testing.T) {
	overTLS(t, Options{}, func(t *testing.T, f *fixture, a *agent) {
		ended := make(chan time.Time, 1)
		a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
			_ = sseHead(w).Flush()
			<-r.Context().Done()
			ended <- time.Now()
		}
		res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", callEcho)
		left := time.Now()
		_ = res.Body.Close()
		if d := (<-ended).Sub(left); d > 20*time.Second { // less than a call may take
			t.Errorf("the agent heard after %v", d)
		}
		require.Eventually(t, "the call to end", func() bool { return f.Calls("a") == 0 })
	}, "")
}

// A client that reads nothing is not waited for.
func TestAClientThatDoesNotRead(t *testing.T) {
	overTLS(t, Options{WriteTimeout: slow}, func(t *testing.T, f *fixture, a *agent) {
		ended := make(chan bool, 1)
		a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
			sseHead(w)
			line := []byte("data: " + strings.Repeat("x", 64<<10) + "\n\n")
			for r.Context().Err() == nil {
				if _, err := w.Write(line); err != nil {
					break
				}
			}
			ended <- true
		}
		res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", callEcho)
		<-ended
		require.Eventually(t, "the call to end", func() bool { return f.Calls("a") == 0 })
		if _, err := io.Copy(io.Discard, res.Body); err == nil {
			t.Error("the stream seems to have ended as it should")
		}
		_ = res.Body.Close()
	}, "")
}

// A router trusts an agent by the file that its route names, and tells nothing to another one.
func TestTLS_R3_ARouteNamesACertificate(t *testing.T) {
	own, other := nettest.SelfSigned(t, "agent.example"), nettest.SelfSigned(t, "agent.example")
	inner := func(c nettest.Pair) (*agent, string) {
		a := newAgent(t)
		f := start(t, Options{TLSCert: c.Cert, TLSKey: c.Key}, route("a", a.at(), ""))
		return a, f.URL() + "/mcps/a/mcp"
	}
	_, one := inner(own)
	stranger, two := inner(other)
	ca := fmt.Sprintf(`"ca":%q,"headers":{"Authorization":"Bearer hunter2"}`, own.Cert)
	f := start(t, Options{}, route("one", one, ca), route("two", two, ca), route("system", one, ""))
	if got := f.post(t, "/mcps/one/mcp", callEcho); got.status != 200 || !strings.Contains(got.body, "up-") {
		t.Errorf("%+v", got)
	}
	for name, says := range map[string]string{"two": "set ca in its route to a file", "system": "certificate"} {
		if got := f.post(t, "/mcps/"+name+"/mcp", callEcho); got.status != 502 || !strings.Contains(got.body, says) || strings.Contains(got.body, "hunter2") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if h, _ := stranger.seen(); h != nil {
		t.Errorf("a stranger was asked with %v", h)
	}
	// A file that has none leaves the last good routes in force.
	f.write(t, table(route("one", one, fmt.Sprintf(`"ca":%q`, own.Key))))
	assert.ErrorContains(t, f.Reload(), "no certificate in "+own.Key)
	if got := f.post(t, "/mcps/one/mcp", callEcho); got.status != 200 {
		t.Errorf("%+v", got)
	}
}

func TestTLS_OldVersionsAndPlainHTTP(t *testing.T) {
	o := Options{}
	own := nettest.SelfSigned(t)
	o.TLSCert, o.TLSKey = own.Cert, own.Key
	f := start(t, o)
	addr := strings.TrimPrefix(f.URL(), "https://")
	d := tls.Dialer{Config: &tls.Config{RootCAs: own.Pool(), MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}}
	if c, err := d.DialContext(t.Context(), "tcp", addr); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 is served")
	}
	res, err := http.Get("http://" + addr + "/health") //nolint:noctx // a moment
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equalf(t, res.StatusCode, 400, "plain HTTP")
}
