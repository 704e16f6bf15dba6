package shell

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// The command of every frame of a call over HTTP, read by a shell, sends what
// was sent, and secrets are masked.
func TestCurlSendsTheSameAgain(t *testing.T) {
	agent, err := agentsrv.New(agentsrv.Options{})
	require.NoError(t, err)
	defer agent.Close(context.Background())
	web := httptest.NewServer(agent.Handler())
	defer web.Close()
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		m := session.NewManager(session.Options{})
		defer m.Close()
		s, err := m.Register(config.Server{
			Name: "web", URL: web.URL + "/mcp?key=sesame", Transport: config.HTTP, Protocol: version,
			Headers: map[string]string{"Authorization": "Bearer sesame", "X-Team": "it's us"},
		})
		require.NoError(t, err)
		require.NoError(t, m.Connect(t.Context(), "web"))
		r, err := s.CallTool(t.Context(), "echo", []byte(`{"message":"it's $HOME\n\\"}`), session.CallOptions{})
		require.NoError(t, err)
		sent, err := m.Journal().Body(r.Request)
		require.NoError(t, err)
		carrier, ok := m.Journal().Get(r.Request)
		if ok {
			carrier, ok = alongside(m.Journal(), carrier, 1, func(e journal.Entry) bool { return e.Kind == journal.HTTP })
		}
		if !ok {
			t.Fatal("no HTTP request was journalled")
		}
		for _, seq := range []uint64{r.Request, r.Response, carrier.Seq} {
			text := Curl(m, seq)
			if text == nil {
				t.Fatalf("entry %d has no curl command", seq)
			}
			cmd, err := text()
			require.NoError(t, err)
			assert.Contains(t, cmd, `-H 'Authorization: Bearer '"$TOKEN"`)
			assert.NotContains(t, cmd, "sesame")
			url, h, body := readCurl(t, "TOKEN='open it'; "+cmd)
			if got := h.Get("Authorization"); got != "Bearer open it" {
				t.Errorf("with a token it sends %q", got)
			}
			if body != string(sent) || h.Get("X-Team") != "it's us" || h.Get("Content-Type") != "application/json" {
				t.Errorf("another request: %v %s\nwant the body %s", h, body, sent)
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
			require.NoError(t, err)
			if id := s.Status().SessionID; id != "" { // masked like every secret: whoever runs the command fills it in
				if got := h.Get("Mcp-Session-Id"); got == "" || got == id {
					t.Errorf("Mcp-Session-Id %q; want it there and masked", got)
				}
				h.Set("Mcp-Session-Id", id)
			}
			req.Header = h
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			got, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if !strings.Contains(string(got), `it's $HOME\n\\`) {
				t.Errorf("%s: the server answers the command with %s: %s", version, resp.Status, got)
			}
		}
		if Curl(m, 0) != nil {
			t.Error("a curl command for nothing")
		}
	}
}

// readCurl lets a shell read a curl command.
func readCurl(t *testing.T, cmd string) (url string, h http.Header, body string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `curl() { printf '%s\0' "$@"; }; `+cmd).Output()
	if err != nil {
		t.Fatalf("a shell does not read\n%s\n%v", cmd, err)
	}
	h = http.Header{}
	args := strings.Split(string(out), "\x00")
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-N", "":
		case "-H":
			i++
			name, value, _ := strings.Cut(args[i], ": ")
			h.Add(name, value)
		case "--data-raw":
			i++
			body = args[i]
		default:
			url = args[i]
		}
	}
	return url, h, body
}
