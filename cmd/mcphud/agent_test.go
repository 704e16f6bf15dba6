package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/tui/safe"
)

func TestAgentHelpHasOnlyItsOwnFlags(t *testing.T) {
	t.Parallel()
	out := mcphud(t, "agent", "--help").ok(t)
	for _, flag := range []string{"--port", "--profile", "--ephemeral", "--stdio", "--drain-timeout", "--format", "--config"} {
		if !strings.Contains(out, flag+" ") {
			t.Errorf("no %s in %s", flag, out)
		}
	}
	for _, flag := range []string{"--url", "--server", "--journal", "--cwd", "--linear"} {
		if strings.Contains(out, flag+" ") {
			t.Errorf("%s, which does not apply to a server, is in %s", flag, out)
		}
	}
}

func TestAgentUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"--url http://127.0.0.1:1/mcp", "--url does not apply to the agent"},
		{"--linear", "--linear does not apply"},
		{"--profile nice", "demo, everything, hostile, fault"},
		{"--port many", "from 0 to 65535"},
		{"--concurrency 0", "from 1 to"},
		{"--timeout never", "30s"},
		{"--max-request-size big", "10mb"},
		{"--log-level loud", "debug, info, warning, error"},
		{"--config /nowhere/at/all.yaml", "/nowhere/at/all.yaml"},
		{"--ephemeral --store x.db", "--store exclude each other"},
		{"--kb /nowhere/at/all --ephemeral --port 0", "/nowhere/at/all"},
		{"--host 0.0.0.0 --port 0", "AGENT_TOKEN"},
		{"--host :: --port 0", "--jwks"},
		{"more", "unknown command"},
	} {
		o := mcphud(t, append([]string{"agent"}, strings.Fields(c.args)...)...)
		if e := o.errorLine(t); o.code != exitFailure || o.out != "" || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: exit %d, stdout %q, stderr %s", c.args, o.code, o.out, o.stderr)
		}
	}
}

func TestAgentCompletion(t *testing.T) {
	t.Parallel()
	if out := mcphud(t, "__complete", "agent", "--profile", "").ok(t); !strings.HasPrefix(out, "demo\neverything\nhostile\nfault\n") {
		t.Error(out)
	}
	if out := mcphud(t, "__complete", "agent", "--log-level", "").ok(t); !strings.HasPrefix(out, "debug\ninfo\nwarning\nerror\n") || strings.Contains(out, "critical") {
		t.Error(out)
	}
	if out := mcphud(t, "__complete", "agent", "--").ok(t); !strings.Contains(out, "--queue-capacity") || strings.Contains(out, "--journal") {
		t.Error(out)
	}
}

// What a client sends ends up in log lines, and must neither act on the terminal nor start a line of its own.
func TestAgentLogLinesForPeople(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	log := slog.New(newLineHandler(&b, slog.LevelInfo))
	log.With("session", "a b").WithGroup("tool").Info("MCP tool called", "tool", "x\x1b]52;c;eA==\a\u202e\ny", "duration_ms", 3)
	log.Debug("not shown")
	log.Error("\x1b[2Jline\nbreak")
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], ` INFO  MCP tool called session="a b" tool.tool="x\x1b]52;c;eA==\a\u202e\ny" tool.duration_ms=3`) || !strings.Contains(lines[1], " ERROR ") {
		t.Errorf("%q", lines)
	}
	marks := strings.Repeat("\u0301", 30)
	b.Reset()
	log.Info("e"+marks, "tool", "x"+marks, slog.Group("args", "e"+marks, 1))
	if n := strings.Count(b.String(), "\u0301"); n > 3*safe.MaxMarks {
		t.Errorf("%d combining marks reached the terminal: %q", n, b.String())
	}
	for _, r := range b.String() {
		if r < ' ' && r != '\n' || r == 0x202e {
			t.Errorf("%U reached the terminal: %q", r, b.String())
		}
	}
}

// Whoever only looks at the agent over stdio leaves its database closed. A client waits only some ms for a server to end,
// which a busy machine may not give it.
func TestStdioAgentClosesItsDatabase(t *testing.T) {
	var left []string
	for range 20 {
		c := command(t, "info")
		c.Args = append(c.Args, "--", c.Path, "agent", "--stdio")
		finish(t, c).ok(t)
		var err error
		if left, err = filepath.Glob(filepath.Join(c.Dir, ".state", "mcphud", "*")); err != nil {
			t.Fatal(err)
		}
		if len(left) == 1 && filepath.Base(left[0]) == stdioStore {
			return
		}
	}
	t.Errorf("20 agents left %v", left)
}
