package exectool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/process"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// call calls a tool that runs a shell script.
func call(t *testing.T, ctx context.Context, script, args string) (*mcp.CallToolResult, error) {
	t.Helper()
	tool, err := Spec{Name: "x", Command: "sh", Args: []string{"-c", script}, Env: map[string]string{"OWN": "set here"}}.Tool()
	require.NoError(t, err)
	var r mcp.CallToolRequest
	r.Params.Name = "x"
	if args != "" {
		r.Params.Arguments = json.RawMessage(args)
	}
	return tool.Handler(ctx, r)
}

func TestWhatAProgramWritesIsTheResult(t *testing.T) {
	t.Setenv("AGENT_TOKEN", "s3cret")
	for _, c := range []struct {
		script, args     string
		text, structured string
		failed           bool
	}{
		{script: "cat", args: `{"a": [1, 2.50]}`, text: `{"a": [1, 2.50]}`, structured: `{"a": [1, 2.50]}`},
		{script: "cat", text: "{}", structured: "{}"},
		{script: "echo plain; echo aside >&2", text: "plain"},
		{script: "true", text: ""},
		{script: "echo '[1]'", text: "[1]"},
		{script: `printf 'a\377b'`, text: "a\ufffdb"},
		{script: `printf '{"a":"\377"}'`, text: "{\"a\":\"\ufffd\"}"},
		{script: `echo '{"a":1,"a":2}'`, text: `{"a":1,"a":2}`},
		{script: `echo "$OWN $AGENT_TOKEN"`, text: "set here "},
		{script: "echo partly; echo because >&2; exit 3", text: "x exited with status 3: because", failed: true},
		{script: "kill -9 $$", text: "x was ended by signal killed", failed: true},
		{script: "exec <&-; sleep 0.1; echo unread", args: `{"big":"` + strings.Repeat("x", 1<<20) + `"}`, text: "unread"},
		{script: "yes", text: "x was ended: it wrote more than 1.0 MB", failed: true},
		{script: "head -c 100000 /dev/zero >&2; echo ok", text: "ok"},
	} {
		r, err := call(t, t.Context(), c.script, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		if got := r.Content[0].(mcp.TextContent).Text; got != c.text || r.IsError != c.failed || string(r.RawStructuredContent) != c.structured {
			t.Errorf("%s: %.200q %v %.100s", c.script, got, r.IsError, r.RawStructuredContent)
		}
	}
}

// When a call ends, its program and whatever that started end too.
func TestACancelledCallLeavesNoProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	began := time.Now()
	go func() {
		for ctx.Err() == nil { // until it runs
			if raw, _ := os.ReadFile(file); len(strings.Fields(string(raw))) == 2 {
				began = time.Now()
				cancel(errors.New("too late"))
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if r, err := call(t, ctx, "trap '' TERM INT; sleep 300 & echo $! $$ >"+file+"; cat /dev/zero >/dev/null", `{}`); err == nil {
		t.Fatalf("%+v", r)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("ended after %v", took)
	}
	raw, err := os.ReadFile(file)
	if err != nil || len(strings.Fields(string(raw))) != 2 {
		t.Fatal(string(raw), err)
	}
	for _, f := range strings.Fields(string(raw)) {
		pid, _ := strconv.Atoi(f)
		for end := time.Now().Add(20 * time.Second); process.Alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d is left", pid)
			}
		}
	}
}

// A process in the background does not keep a call from ending.
func TestWhatGoesOnInTheBackgroundIsNotWaitedFor(t *testing.T) {
	began := time.Now()
	r, err := call(t, t.Context(), "sleep 300 & echo done", "")
	if err != nil || r.IsError || r.Content[0].(mcp.TextContent).Text != "done" || time.Since(began) > 20*time.Second {
		t.Errorf("%+v %v after %v", r, err, time.Since(began))
	}
}

func TestSpecsAreChecked(t *testing.T) {
	for raw, says := range map[string]string{
		`{"name":"a b","command":"sh"}`: "letters, digits",
		`{"name":"","command":"sh"}`:    "letters, digits",
		`{"name":"a"}`:                  "no command",
		`{"name":"a","command":"sh","inputSchema":{"type":"string"}}`: "type: object",
		`{"name":"a","command":"sh","shell":true}`:                    "shell",
		`"a"`: "must be an object",
		`{"name":"a","command":"sh","args":"-c"}`:                              "args",
		`{"name":"mcphud-not-there","command":"/nowhere/at/all"}`:              "command not found",
		`{"name":"a","command":"sh","cwd":"/nowhere/at/all","description":""}`: "working folder",
	} {
		s, err := Parse([]byte(raw))
		if err == nil {
			_, err = s.Tool()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", raw, err, says)
		}
	}
}
