package peertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/mcphud/mcphud/session/test/require"
)

// ClientScenarios are the names of the scenarios for clients: those that the revision requires, those that it runs without scoring, and
// those of extensions.
func (r Revision) ClientScenarios(t testing.TB) []string {
	t.Helper()
	if r.only != nil {
		return r.only
	}
	raw, err := os.ReadFile(conformance(t, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "requirements", r.Name+".yaml")))
	require.NoError(t, err)
	var set struct {
		Client    []string `yaml:"client"`
		NotScored []struct {
			Scenario string `yaml:"scenario"`
			Leg      string `yaml:"leg"`
		} `yaml:"not_scored"`
	}
	if err := yaml.Unmarshal(raw, &set); err != nil {
		t.Fatalf("%s.yaml: %v", r.Name, err)
	}
	if len(set.Client) != r.clients {
		t.Errorf("%d scenarios are required of clients, want %d: %v", len(set.Client), r.clients, set.Client)
	}
	names := set.Client
	for _, s := range set.NotScored {
		if s.Leg == "client" {
			names = append(names, s.Scenario)
		}
	}
	return append(names, clientExtensions...)
}

// RunClient runs a scenario with a client: the suite starts command, which has no spaces in its words, with the URL of its server added.
// All checks have to succeed, and the client to exit with 0. env are variables of the client.
func (r Revision) RunClient(t testing.TB, scenario, command string, env ...string) {
	t.Helper()
	const tries = 3
	for try := 1; ; try++ {
		passed, failed := r.runClient(t, scenario, command, env)
		// A client that reconnects later than is usual is warned, which says something only of a machine that is not busy. One that is early
		// fails.
		late := len(failed) == 1 && strings.Contains(failed[0], "WARNING client-sse-retry-timing")
		if late && try < tries {
			continue
		}
		if len(failed) > 0 || passed == 0 {
			t.Errorf("%s: %d checks passed, and these did not:\n%s", scenario, passed, strings.Join(failed, "\n"))
		}
		return
	}
}

func (r Revision) runClient(t testing.TB, scenario, command string, env []string) (passed int, failed []string) {
	t.Helper()
	node, script := Suite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, node, script, "client", "--command", command, "--scenario", scenario, "--spec-version", r.Name, "--force", "--output-dir", dir)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	// The suite's folder has the scenario's name, with its slashes as they are.
	files, globbed := filepath.Glob(filepath.Join(dir, filepath.Dir(scenario), "*", "checks.json"))
	if globbed != nil || len(files) != 1 {
		return 0, []string{fmt.Sprintf("the suite: %v, %d results\n%s", err, len(files), ending(out))}
	}
	passed, failed = checks(t, files[0])
	if err != nil && len(failed) == 0 {
		failed = append(failed, fmt.Sprintf("the suite: %v\n%s", err, ending(out)))
	}
	return passed, failed
}

// checks reads the checks of one scenario: how many succeeded, and those that failed or warned, but for those named.
func checks(t testing.TB, file string, not ...string) (passed int, failed []string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var all []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, c := range all {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "FAILURE", "WARNING":
			if slices.Contains(not, c.ID) {
				continue
			}
			failed = append(failed, fmt.Sprintf("%s %s: %s", c.Status, c.ID, c.ErrorMessage))
		}
	}
	return passed, failed
}

// OverSSE has the TypeScript SDK 1 list the tools at a URL of HTTP+SSE and call one of them without arguments, and returns what it got: how many
// tools, how much progress, and the content.
func OverSSE(t testing.TB, url, tool string) (got struct {
	Tools, Progress int
	Content         json.RawMessage
},
) {
	t.Helper()
	installed(t, "peers", filepath.Join("node_modules", "@modelcontextprotocol", "sdk"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Node(t), installed(t, "peers", "sse.mjs"), url, tool)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("sse.mjs: %v\n%s%s", err, out, &stderr)
	}
	return got
}
