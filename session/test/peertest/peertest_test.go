package peertest

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/process"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peertest","version":"1"}}}`

// Every pinned server starts and answers an initialize written by hand.
func TestPeersAnswer(t *testing.T) {
	for _, s := range All(t) {
		t.Run(s.Name, func(t *testing.T) {
			line := exchange(t, s, initialize)
			assert.Contains(t, line, `"protocolVersion":"2025-11-25"`, `"serverInfo"`)
		})
	}
}

func TestPeersAnswerHTTP(t *testing.T) {
	for _, start := range []func(testing.TB) *HTTP{EverythingHTTP, GoSDKEverythingHTTP} {
		h := start(t)
		post := func() (int, error) {
			req, err := http.NewRequest(http.MethodPost, h.Server.URL, strings.NewReader(initialize))
			if err != nil {
				return 0, err
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return 0, err
			}
			return resp.StatusCode, resp.Body.Close()
		}
		for range 2 {
			if code, err := post(); err != nil || code != http.StatusOK {
				t.Fatalf("%s: POST initialize: %d, %v", h.Server.Name, code, err)
			}
			h.Kill()
			if _, err := post(); err == nil {
				t.Errorf("%s: still answers after Kill", h.Server.Name)
			}
			h.Restart()
		}
	}
}

func TestPeersAnswerSSE(t *testing.T) {
	h := EverythingSSE(t)
	resp, err := http.Get(h.Server.URL)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != "event: endpoint\n" {
		t.Errorf("first line of the stream: %q, %v", line, err)
	}
}

// exchange starts s, writes one frame and returns the first line of stdout.
func exchange(t *testing.T, s config.Server, frame string) string {
	t.Helper()
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env = os.Environ()
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	process.Group(cmd)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		process.SignalGroup(cmd.Process.Pid, process.Kill)
		_ = cmd.Wait()
	}()
	if _, err := in.Write([]byte(frame + "\n")); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	return line
}

func TestTailKeepsTheEnd(t *testing.T) {
	var o tail
	for range 5000 {
		_, _ = o.Write([]byte("0123456789"))
	}
	_, _ = o.Write([]byte("the end"))
	if s := o.String(); len(s) > 16<<10 || !strings.HasSuffix(s, "9the end") {
		t.Errorf("kept %d bytes ending in %q", len(s), s[max(0, len(s)-20):])
	}
}
