package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestC2_FileInTheConfigurationFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".config", "mcphud", "agent.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	port := strconv.Itoa(nettest.FreePort(t))
	require.NoError(t, os.WriteFile(path, []byte("name: from file\nmaxRequestSize: 1kb\nconcurrency: 3\ncolour: blue\nport: "+port+"\n"), 0o600))
	s := serveIn(t, home, []string{"AGENT_PORT=" + port})
	if r := s.get("/health"); !strings.Contains(r.body, `"from file"`) {
		t.Errorf("name: %s", r.body)
	}
	if r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"` + strings.Repeat("x", 1024) + `"}}}`); r.status != 413 {
		t.Errorf("maxRequestSize: %d %.200s", r.status, r.body)
	}
	if r := s.get("/queue"); !strings.Contains(r.body, `"concurrency":3`) {
		t.Errorf("concurrency: %s", r.body)
	}
	if !strings.Contains(s.log(), `"line":4`) || !strings.Contains(s.log(), "colour") {
		t.Errorf("the unknown key is not warned about: %s", s.log())
	}
	e := refused(t, nil, "--port", "0", "--config", filepath.Join(home, "none.yaml"))
	if !strings.Contains(e.Message, "none.yaml") {
		t.Errorf("a file that is not there: %s", e.Message)
	}
}

// On stderr is the line that says it is ready, and log records as JSON.
func TestAgentLogsJSONLines(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral", "--log-level", "debug")
	s.call("echo", `{"message":"a\nb"}`).text(t)
	require.Eventually(t, "the call in the log", func() bool { return strings.Contains(s.log(), "MCP tool called") })
	called, settings := 0, map[string]any{}
	for line := range strings.Lines(s.log()) {
		if strings.HasPrefix(line, "listening on ") {
			continue
		}
		var rec map[string]any
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Errorf("no JSON: %q", line)
			continue
		}
		switch rec["msg"] {
		case "MCP tool called":
			called++
			for _, key := range []string{"tool", "tenant_id", "duration_ms", "trace_id"} {
				if _, ok := rec[key]; !ok {
					t.Errorf("no %s in %s", key, line)
				}
			}
		case "settings":
			settings = rec
		}
	}
	if called != 1 || settings["ephemeral"] != "true (flag)" || settings["concurrency"] != "1 (default)" {
		t.Errorf("%d calls, settings from %v", called, settings)
	}
}
