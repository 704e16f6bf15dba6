package hostile

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// modern calls a tool as a client of 2026-07-28 does.
func (a *agent) modern(tool, params string) string {
	a.t.Helper()
	req, err := http.NewRequest(http.MethodPost, a.url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":`+params+`}`))
	require.NoError(a.t, err)
	for k, v := range map[string]string{"Content-Type": plain, "Accept": streamed, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(k, v)
	}
	res, err := a.hc.Do(req)
	require.NoError(a.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(a.t, err)
	return string(raw)
}

// frames are what a client that reads event streams finds in one.
func frames(body string) (out []string) {
	for event := range strings.SplitSeq(body, "\n\n") {
		if _, data, ok := strings.Cut(event, "data: "); ok {
			out = append(out, data)
		}
	}
	return out
}

// No broken tool gives an answer that the protocol allows, and none keeps the agent from the next call.
func TestBrokenToolsOverHTTP(t *testing.T) {
	exits := 0
	a := newAgent(t, Options{Exit: func(int) { exits++ }})
	allowed := map[string]bool{ // what is wrong with these is elsewhere
		"answer_late": true, "big_frame": true, "noise": true, "foreign_progress": true, "answer_lone_surrogate": true,
		"answer_huge_number": true, "answer_null_result": true, "answer_list_result": true,
	}
	for _, m := range wireTools() {
		if m.name == "never" {
			continue
		}
		_, body, err := a.post(streamed, "tools/call", `{"name":"`+m.name+`","arguments":{"ms":1,"bytes":3000000}}`)
		good := 0
		for _, f := range frames(body) {
			if env, serr := jsonrpc.Scan([]byte(f)); serr == nil && env.Kind == jsonrpc.Response && string(env.ID) == "7" {
				good++
			}
		}
		if (err == nil && good == 1) != allowed[m.name] {
			t.Errorf("%s: %d good answers, %v: %.300s", m.name, good, err, body)
		}
		if m.name == "answer_twice" && good != 2 {
			t.Errorf("%s: %s", m.name, body)
		}
		if m.name == "big_frame" && len(body) < 3_000_000 {
			t.Errorf("%s: %d bytes", m.name, len(body))
		}
		a.works(m.name)
	}
	assert.Equalf(t, exits, 1, "exits")
}

func TestBrokenToolsOfHTTP(t *testing.T) {
	a := newAgent(t, Options{})
	a.hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for name, ok := range map[string]func(res *http.Response, body string, err error) bool{
		"http_status": func(r *http.Response, _ string, _ error) bool { return r.StatusCode == 429 },
		"http_redirect": func(r *http.Response, _ string, _ error) bool {
			return r.StatusCode == 307 && r.Header.Get("Location") == "/mcp"
		},
		"http_redirect_away": func(r *http.Response, _ string, _ error) bool { return r.StatusCode == 307 },
		"http_empty":         func(r *http.Response, b string, _ error) bool { return r.StatusCode == 200 && b == "" },
		"http_accepted":      func(r *http.Response, _ string, _ error) bool { return r.StatusCode == 202 },
		"http_wrong_type": func(r *http.Response, _ string, _ error) bool {
			return strings.HasPrefix(r.Header.Get("Content-Type"), "text/html")
		},
		"http_no_type":      func(r *http.Response, b string, _ error) bool { return b != "" },
		"http_lying_length": func(_ *http.Response, b string, err error) bool { return err != nil && len(b) < 1000 },
		"http_gzip_bomb": func(r *http.Response, b string, _ error) bool {
			return r.Header.Get("Content-Encoding") == "gzip" && len(b) < 20_000
		},
		"http_session_swap": func(r *http.Response, _ string, _ error) bool {
			return r.Header.Get("Mcp-Session-Id") == "somebody-else"
		},
		"sse_torture": func(_ *http.Response, b string, _ error) bool { return strings.Contains(b, "retry: 999") },
	} {
		res, body, err := a.post(streamed, "tools/call", `{"name":"`+name+`","arguments":{"status":429,"bytes":3000000}}`)
		if res == nil || !ok(res, body, err) {
			t.Errorf("%s: %+v %.200s %v", name, res, body, err)
		}
		a.works(name)
	}
}

// What never answers ends when the client goes, or goleak finds it.
func TestSilenceEndsWithTheClient(t *testing.T) {
	for _, name := range []string{"never", "http_silent_stream", "http_never_flushed"} {
		a := newAgent(t, Options{})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+name+`"}}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", plain)
		req.Header.Set("Accept", streamed)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if res, err := a.hc.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}()
		a.works(name)
		select {
		case <-done:
			t.Errorf("%s was answered", name)
		default:
		}
		t.Cleanup(func() { <-done }) // the test's context has ended by then, and with it the request
	}
}

func TestBrokenToolsOverStdio(t *testing.T) {
	exited := make(chan int, 1)
	ask, next := pipes(t, New(Options{Exit: func(code int) { exited <- code }}))
	call := func(tool string) {
		ask(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"` + tool + `","arguments":{"ms":1,"bytes":2000000,"code":9}}}`)
	}
	call("answer_other_id")
	assert.Contains(t, next(), `"somebody else's"`)
	call("answer_twice")
	if a, b := next(), next(); !strings.Contains(a, "once") || !strings.Contains(b, "twice") {
		t.Error(a, b)
	}
	call("noise")
	if l := next(); !strings.HasPrefix(l, "loading") {
		t.Error(l)
	}
	for !strings.Contains(next(), "after the noise") {
		continue
	}
	call("big_frame")
	if l := next(); len(l) < 2_000_000 || jsonrpc.Valid([]byte(l)) != nil {
		t.Errorf("%d bytes", len(l))
	}
	call("http_redirect")
	assert.Contains(t, next(), "over HTTP only")
	call("never")
	// Every other call reaches the agent, also a line that is longer than what is looked at.
	ask(`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"cursor_position_query"}}`)
	assert.Contains(t, next(), `"id":"b"`, `\u001b[6n`)
	ask(strings.Repeat("x", maxLine*2+5))
	assert.Contains(t, next(), `"too_large"`)
	call("exit")
	if code := <-exited; code != 9 {
		t.Errorf("exit code %d", code)
	}
	call("half_frame")
	call("answer_null_id")
	// Half a frame has no end: what comes next is on its line.
	for !strings.Contains(next(), "null") {
		continue
	}
}
