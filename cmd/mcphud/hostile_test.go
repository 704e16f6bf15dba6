package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
)

// TestHostileTextOfEachCommand prints what a hostile server says on a terminal,
// with each command and in each format: nothing of it may act there.
func TestHostileTextOfEachCommand(t *testing.T) {
	t.Parallel()
	tool := hostile.Strings()[0].Value
	for _, c := range [][]string{
		{"info"},
		{"ping"},
		{"tools", "list"},
		{"tools", "show", tool},
		{"tools", "call", tool},
		{"tools", "call", "hostile"},
		{"tools", "call", "nothing\x1b[2J"},
		{"resources", "list"},
		{"resources", "templates"},
		{"resources", "read", "fake://text"},
		{"resources", "read", "x\x1b[2J"},
		{"prompts", "list"},
		{"prompts", "get", "greet"},
		{"complete", "greet", "a", "b"},
		{"raw", "initialize"},
		{"raw", "no\x1b[2J"},
		{"raw", "tools/list"},
	} {
		for _, format := range []string{"text", "json", "jsonl", "raw"} {
			t.Run(strings.Join(c, " ")+" "+format, func(t *testing.T) {
				t.Parallel()
				out := shown(t, fake(t, behave.HostileText, append(c, "--format", format, "--log-level", "debug")...)...)
				if len(out) < 10 {
					t.Errorf("only %q was printed", out)
				}
				for _, ours := range []string{"\r\x1b[K", "\r\n"} { // the progress line; the terminal's own line end
					out = strings.ReplaceAll(out, ours, "\n")
				}
				if why := hostile.Harm(out); why != "" {
					t.Errorf("the terminal was sent %s", why)
				}
			})
		}
	}
}

// shown is what a command line writes to a terminal, run in this process.
func shown(t *testing.T, args ...string) string {
	t.Helper()
	f, tty, err := pty.Open()
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 30, Cols: 120}))
	var b bytes.Buffer
	var read sync.WaitGroup
	read.Go(func() { _, _ = b.ReadFrom(f) }) // ends with an error once nobody has the other end
	run(args, cli.Standard{In: tty, Out: tty, Err: tty})
	_ = tty.Close()
	read.Wait()
	return b.String()
}

// TestHostileTextInLinearMode is the same for the UI without a screen.
func TestHostileTextInLinearMode(t *testing.T) {
	long(t, "TestHostileTextOnATerminal")
	t.Parallel()
	cmd := command(t, fake(t, behave.HostileText, "--linear")...)
	var in strings.Builder
	for _, line := range []string{
		"servers", "", "tools", "", "?", "1", "ctrl+g", "y", "", "resources", "1", "", "prompts", "1", "ctrl+g", "y", "", "templates", "1", "", "traffic", "", "logs", "", "y v", "q",
	} {
		in.WriteString(line + "\n")
	}
	cmd.Stdin = strings.NewReader(in.String())
	o := finish(t, cmd)
	if why := hostile.Harm(o.out); why != "" {
		t.Errorf("linear mode printed %s", why)
	}
	if !strings.Contains(o.out, "^[[2J") || o.code != 0 {
		t.Errorf("exit %d; the hostile text was not shown:\n%s\n%s", o.code, o.out, o.stderr)
	}
}

// TestEscaped: what is printed on a terminal is JSON of the same value.
func TestEscaped(t *testing.T) {
	t.Parallel()
	for _, h := range hostile.Strings() {
		var sent bytes.Buffer
		enc := json.NewEncoder(&sent)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode([]string{h.Value}))
		shown := output.Escaped(sent.Bytes())
		assert.Equalf(t, hostile.Harm(string(shown)), "", "%s", h.Name)
		var a, b []string
		if json.Unmarshal(sent.Bytes(), &a) != nil || json.Unmarshal(shown, &b) != nil || a[0] != b[0] {
			t.Errorf("%s: %.80q became %.80q", h.Name, sent.Bytes(), shown)
		}
		assert.Equalf(t, hostile.Harm(string(output.Escaped([]byte(strings.ReplaceAll(h.Value, "\t", " "))))), "", "%s, not JSON", h.Name)
	}
}
