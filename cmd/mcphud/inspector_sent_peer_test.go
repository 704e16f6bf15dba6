package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/test/peertest"
)

// listener is a server that keeps what it is sent.
type listener struct {
	http.Handler
	mu   sync.Mutex
	sent []any
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var m struct {
		Method string         `json:"method"`
		Params map[string]any `json:"params"`
	}
	if r.Method == http.MethodPost && json.Unmarshal(body, &m) == nil && !strings.HasPrefix(m.Method, "notifications/") && m.Method != "logging/setLevel" {
		delete(m.Params, "clientInfo")
		if c, ok := m.Params["capabilities"].(map[string]any); ok {
			extensions, _ := c["extensions"].(map[string]any)
			delete(extensions, "io.modelcontextprotocol/tasks") // which mcphud declares in the modern era only
		}
		if meta, ok := m.Params["_meta"].(map[string]any); ok {
			if delete(meta, "progressToken"); len(meta) == 0 {
				delete(m.Params, "_meta")
			}
		}
		l.mu.Lock()
		l.sent = append(l.sent, map[string]any{"method": m.Method, "params": m.Params, "X-One": r.Header.Values("X-One"), "X-Two": r.Header.Get("X-Two"), "Authorization": r.Header.Get("Authorization")})
		l.mu.Unlock()
	}
	l.Handler.ServeHTTP(w, r)
}

// What options put into requests arrives at the server as the Inspector sends it.
func TestPeerInspectorSends(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	for name, args := range map[string][]string{
		"headers":        {"--method", "tools/list", "--header", "X-One: 1", "X-Two: a: b", "--header", "Authorization: Bearer x"},
		"metadata":       {"--method", "skills/list", "--metadata", "a=1", `b={"c":[true]}`, "d=x=y"},
		"metadata of it": {"--method", "resources/read", "--uri", "skill://lib/good/a.txt", "--metadata", "a=1"},
		"tool metadata":  {"--method", "tools/call", "--tool-name", "any", "--tool-arg", `a="1"`, "b=2", "--tool-metadata", "a=2", "--metadata", "a=1", "b=1"},
		"tool arguments": {"--method", "tools/call", "--tool-name", "any", "--tool-arg", "n=1e3", "list=[1]", "s=01", "t=true", "z=null"},
		"JSON arguments": {"--method", "tools/call", "--tool-name", "any", "--tool-args-json", `{"a":{"b":[1,"2"]}}`, "--tool-metadata", "k=v"},
		"apps":           {"--method", "tools/list", "--advertise-apps"},
		"cursor":         {"--method", "resources/directory/read", "--uri", "skill://lib/good", "--cursor", "next"},
		"skill":          {"--method", "skills/get", "--uri", "skill://lib/good/SKILL.md", "--metadata", "a=1"},
		"file":           {"--config", "l.json", "--method", "tools/list", "--metadata", "m=2"},
		"file and flags": {"--config", "l.json", "--method", "tools/list", "--header", "X-Two: flag"},
		"transport":      {"--method", "initialize", "--transport", "http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &listener{Handler: library{}}
			s := httptest.NewServer(l)
			t.Cleanup(s.Close)
			home := t.TempDir()
			write(t, filepath.Join(home, "l.json"), `{"mcpServers":{"l":{"type":"http","url":"`+s.URL+`/mcp","headers":{"X-One":"file","X-Two":"file"},"metadata":{"m":1,"n":{"o":2}},"roots":[{"uri":"file:///tmp","name":"t"}]}}}`)
			run := func(cmd *exec.Cmd) (outcome, []any) {
				cmd.Dir = home
				cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "MCPHUD_CONFIG=", "MCPHUD_CREDENTIALS=file", "CI=1", "MCP_CATALOG_PATH=", "MCP_INSPECTOR_SECRET_STORE=memory")
				o := finish(t, cmd)
				l.mu.Lock()
				defer l.mu.Unlock()
				sent := l.sent
				l.sent = nil
				return o, sent
			}
			args := args
			if args[0] != "--config" {
				args = append([]string{"--server-url", s.URL + "/mcp"}, args...)
			}
			theirs, want := run(exec.Command(program[0], append(program[1:len(program):len(program)], args...)...))
			ours, got := run(command(t, append([]string{verbinspect.Inspecting}, args...)...))
			if ours.code != theirs.code || lastLine(ours) != lastLine(theirs) || len(want) < 1 {
				t.Errorf("%q: exit %d, %s\nthe Inspector: exit %d, %s", args, ours.code, ours.stderr, theirs.code, theirs.stderr)
			}
			if !reflect.DeepEqual(got, want) {
				g, _ := json.Marshal(got)
				w, _ := json.Marshal(want)
				t.Errorf("%q sent\n%s\nthe Inspector\n%s", args, g, w)
			}
		})
	}
}

// Files that are written have the same bytes, and what is printed beside them is the same; --quiet leaves nothing but the error.
func TestPeerInspectorWrites(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	url := peertest.EverythingHTTP(t).Server.URL
	noisy := []string{"--", "sh", "-c", "echo started in $(pwd) >&2; exit 3"}
	for name, c := range map[string]struct {
		args   []string
		silent bool // but for the error
	}{
		"JSON":          {args: []string{url, "--method", "resources/templates/list", "--output", "out"}},
		"JSON in JSON":  {args: []string{url, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=x", "--output", "out", "--format", "json", "--output-format", "json"}},
		"text":          {args: []string{url, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=x", "--output", "out", "--output-format", "raw"}},
		"quiet":         {args: []string{url, "-q", "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=x", "--output", "out", "--output-format", "raw"}, silent: true},
		"of a resource": {args: []string{url, "--method", "resources/read", "--uri", "demo://resource/static/document/architecture.md", "--output", "out", "--output-format", "raw"}},
		"picture":       {args: []string{url, "--method", "tools/call", "--tool-name", "get-tiny-image", "--output", "out", "--output-format", "raw"}},
		"no folder":     {args: []string{url, "--method", "prompts/list", "--output", "none/out"}},
		"error":         {args: []string{url, "--method", "tools/call", "--tool-name", "nope", "--output", "out"}},
		"stderr":        {args: append([]string{"--method", "tools/list", "--cwd", "/"}, noisy...)},
		"stderr quiet":  {args: append([]string{"--method", "tools/list", "--cwd", "/", "--quiet"}, noisy...), silent: true},
		"lint quiet":    {args: []string{url, "--method", "tools/list", "--quiet"}, silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(cmd *exec.Cmd) (outcome, string) {
				home := t.TempDir()
				cmd.Dir = home
				cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "MCPHUD_CONFIG=", "CI=1", "MCP_CATALOG_PATH=", "MCP_INSPECTOR_SECRET_STORE=memory")
				o := finish(t, cmd)
				b, _ := os.ReadFile(filepath.Join(home, "out")) // it may not be there
				return o, string(b)
			}
			theirs, want := run(exec.Command(program[0], append(program[1:len(program):len(program)], c.args...)...))
			ours, got := run(command(t, append([]string{verbinspect.Inspecting}, c.args...)...))
			if ours.code != theirs.code || ours.out != theirs.out && !reflect.DeepEqual(jsonValues(t, ours.out), jsonValues(t, theirs.out)) {
				t.Errorf("%q: exit %d, %s%s\nthe Inspector: exit %d, %s%s", c.args, ours.code, ours.out, ours.stderr, theirs.code, theirs.out, theirs.stderr)
			}
			if name != "no folder" && lastLine(ours) != lastLine(theirs) {
				t.Errorf("%q: %s\nthe Inspector: %s", c.args, ours.stderr, theirs.stderr)
			}
			if got != want && (!json.Valid([]byte(got)) || !reflect.DeepEqual(jsonValues(t, got), jsonValues(t, want))) {
				t.Errorf("%q wrote\n%q\nthe Inspector\n%q", c.args, got, want)
			}
			lines := strings.Count(ours.stderr, "\n")
			if c.silent && (ours.code == 0 && lines > 0 || lines > 1) {
				t.Errorf("%q said %s", c.args, ours.stderr)
			}
			for _, said := range []string{"started in /\n", "Wrote 7 bytes (raw) to out\n"} {
				if strings.Contains(theirs.stderr, said) != strings.Contains(ours.stderr, said) {
					t.Errorf("%q said\n%s\nthe Inspector\n%s", c.args, ours.stderr, theirs.stderr)
				}
			}
		})
	}
}

// Who answers too late is reported in the same line, with the time that the options allow.
func TestPeerInspectorTimeouts(t *testing.T) {
	t.Parallel()
	peertest.Inspector(t)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client is gone
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	for _, args := range [][]string{
		{"--server-url", slow.URL + "/mcp", "--method", "tools/list", "--connect-timeout", "700"},
		{"--server-url", slow.URL + "/sse", "--method", "tools/list", "--connect-timeout", "700"},
		{"--config", "slow.json", "--method", "tools/list"},
		{"--config", "slow.json", "--method", "tools/list", "--connect-timeout", "600"},
		{"--method", "tools/list", "--connect-timeout", "700", "--", "sleep", "100"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			alike(t, map[string]string{"slow.json": `{"mcpServers":{"s":{"type":"http","url":"` + slow.URL + `/mcp","connectionTimeout":800}}}`}, args...)
		})
	}
}
