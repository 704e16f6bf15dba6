package peertest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// TestConformanceScenarios: every scenario that the suite has for clients is run in some revision.
func TestConformanceScenarios(t *testing.T) {
	var run []string
	for _, r := range ClientRevisions() {
		run = append(run, r.ClientScenarios(t)...)
	}
	node, script := Suite(t)
	out, err := exec.CommandContext(t.Context(), node, script, "list", "--client").Output()
	require.NoError(t, err)
	found := 0
	for line := range strings.Lines(string(out)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		found++
		if name, _, _ = strings.Cut(name, " "); !slices.Contains(run, name) {
			t.Errorf("%s is not run", name)
		}
	}
	const atLeast = 48
	if found < atLeast {
		t.Errorf("the suite lists %d scenarios, want at least %d:\n%s", found, atLeast, out)
	}
}
