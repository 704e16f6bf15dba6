package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// What the hostile agent lists is found; the demo does nothing that is found.
func TestCheckSafety(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string][]string{
		"hostile": {"safety/terminal-escapes", "safety/reordered-text", "safety/hidden-text", "safety/script-url", "safety/odd-url", "safety/invisible-characters", "hides the words \\\"ignore all previous"},
		"demo":    nil, "everything": nil,
	} {
		c := command(t, "check", "safety", "--format", "json")
		c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral", "--profile", profile)
		var out, stderr bytes.Buffer
		c.Stdout, c.Stderr = &out, &stderr
		err := c.Run()
		if want == nil && (err != nil || !strings.Contains(out.String(), `"findings":[]`)) {
			t.Errorf("%s: %v %s%s", profile, err, &out, &stderr)
		}
		if want != nil && c.ProcessState.ExitCode() != cli.ExitAssertion {
			t.Errorf("%s: %v %s", profile, err, &stderr)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %s", profile, w)
			}
		}
	}
}

// Real servers are not accused; one beside another of the same kind has its names.
func TestPeerCheckSafety(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]config.Server{"everything": peertest.Everything(t), "memory": peertest.Memory(t), "filesystem": peertest.Filesystem(t, t.TempDir())} {
		if o := mcphud(t, target(s, "check", "safety", "--format", "json")...); o.code != 0 || !strings.Contains(o.out, `"findings":[]`) {
			t.Errorf("%s: exit %d %s%s", name, o.code, o.out, o.stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	s := peertest.Memory(t)
	require.NoError(t, os.WriteFile(file, []byte("servers:\n  notes:\n    command: "+s.Command+"\n    args: ["+strings.Join(s.Args, ", ")+"]\n"), 0o600))
	o := mcphud(t, target(s, "check", "safety", "--beside", "notes", "--config", file, "--format", "text")...)
	if o.code != 0 || !strings.Contains(o.out, "safety/shadowed-name") || !strings.Contains(o.out, "notes has a tool of this name too") {
		t.Errorf("exit %d %s%s", o.code, o.out, o.stderr)
	}
}
