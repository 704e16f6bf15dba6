package hostile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// agent is a server with the profile, over HTTP.
type agent struct {
	t   *testing.T
	s   *Server
	f   *front.Server
	url string
	hc  *http.Client
}

func newAgent(t *testing.T, o Options) *agent {
	t.Helper()
	s := New(o)
	engine := server.NewMCPServer("t", "1", front.EngineOptions()...)
	engine.AddTools(s.Tools()...)
	f := front.New(front.Options{Engine: engine, Use: []front.Middleware{s.Middleware}})
	srv := httptest.NewUnstartedServer(s.Wrap(f.Handler()))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	a := &agent{t, s, f, srv.URL + "/mcp", &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: 30 * time.Second}}
	t.Cleanup(func() {
		a.hc.CloseIdleConnections()
		srv.CloseClientConnections()
		srv.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = f.Close(ctx)
	})
	return a
}

// post sends a request as a caller without a session does, and returns what came, as far as it came.
func (a *agent) post(accept, method, params string) (*http.Response, string, error) {
	a.t.Helper()
	req, err := http.NewRequest(http.MethodPost, a.url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":`+params+`}`))
	require.NoError(a.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	res, err := a.hc.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res, string(raw), err
}

const (
	plain    = "application/json"
	streamed = "application/json, text/event-stream"
)

// result is the result of a request that must have one.
func (a *agent) result(method, params string) json.RawMessage {
	a.t.Helper()
	_, body, err := a.post(plain, method, params)
	if env, serr := jsonrpc.Scan([]byte(body)); serr == nil && env.Result != nil && string(env.ID) == "7" {
		return env.Result // of any depth
	}
	var m struct{ ID, Result json.RawMessage }
	if jerr := json.Unmarshal([]byte(body), &m); err != nil || jerr != nil || m.Result == nil || string(m.ID) != "7" { // any bytes
		a.t.Fatalf("%s %.80s: %.300s %v %v", method, params, body, err, jerr)
	}
	return m.Result
}

func (a *agent) call(tool, args string) json.RawMessage {
	a.t.Helper()
	return a.result("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// works tells whether the agent still answers an ordinary call.
func (a *agent) works(after string) {
	a.t.Helper()
	if r := a.call("list_mode", `{"mode":"normal"}`); !strings.Contains(string(r), "every tool") {
		a.t.Fatalf("after %s: %s", after, r)
	}
}

// pipes is the same over stdio: ask sends a line, next reads one.
func pipes(t *testing.T, s *Server) (ask func(line string), next func() string) {
	t.Helper()
	engine := server.NewMCPServer("t", "1", front.EngineOptions()...)
	engine.AddTools(s.Tools()...)
	f := front.New(front.Options{Engine: engine, Use: []front.Middleware{s.Middleware}})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	in, out := s.Stdio(ctx, inR, outW)
	done := make(chan error, 1)
	go func() { done <- f.ServeStdio(ctx, in, out) }()
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(outR); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		if err := <-done; err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		cancel()
		_ = outW.Close()
		for range lines { // to its end
		}
		_ = f.Close(context.Background())
	})
	ask = func(line string) {
		t.Helper()
		if _, err := io.WriteString(inW, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next = func() string {
		t.Helper()
		select {
		case l, ok := <-lines:
			if !ok {
				t.Fatal("stdout ended")
			}
			return l
		case <-time.After(20 * time.Second):
			t.Fatal("no line")
		}
		return ""
	}
	return ask, next
}
