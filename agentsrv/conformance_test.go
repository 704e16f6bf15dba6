package agentsrv_test

import (
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

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/peertest"
)

// start serves an agent until the test ends, and returns the URL of its endpoint.
func start(t *testing.T, o agentsrv.Options) string {
	t.Helper()
	a, err := agentsrv.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Errorf("close the agent: %v", err)
		}
	})
	return a.URL()
}

// The official suite, frozen at the release of each revision. Scenarios that it runs without scoring have to pass too:
// they are about extensions and additions that the agent has.
func TestConformance(t *testing.T) {
	node, script := peertest.Suite(t)
	for _, revision := range []struct {
		name     string
		required int
		unscored []string
	}{
		{"2025-11-25", 30, []string{"json-schema-2020-12", "server-session-lifecycle", "server-sse-polling"}},
		{"2026-07-28", 37, []string{
			"http-custom-header-server-validation", "http-header-validation", "json-schema-2020-12",
			"tasks-capability-negotiation", "tasks-dispatch-and-envelope", "tasks-lifecycle", "tasks-mrtr-composition", "tasks-mrtr-input",
			"tasks-request-headers", "tasks-request-state-removal", "tasks-required-task-error", "tasks-wire-fields",
		}},
	} {
		t.Run(revision.name, func(t *testing.T) {
			url := start(t, agentsrv.Options{Profile: agentsrv.Everything})
			scenarios := runSuite(t, node, script, url, revision.name)
			for _, name := range revision.unscored {
				if !slices.Contains(scenarios, name) {
					t.Errorf("scenario %s did not run, or checked nothing", name)
				}
			}
			if got := len(scenarios) - len(revision.unscored); got != revision.required {
				t.Errorf("%d required scenarios passed, want %d: %v", got, revision.required, scenarios)
			}
		})
	}
}

// runSuite runs the scenarios that a revision requires, and those without score, and fails the test for each check that
// failed or warned. It returns the names of the scenarios that checked something and found nothing.
func runSuite(t *testing.T, node, script, url, revision string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir := t.TempDir()
	out, err := exec.CommandContext(ctx, node, script, "server", "--url", url, "--requirements", revision, "--output-dir", dir).CombinedOutput()
	if err != nil {
		t.Errorf("the suite: %v\n%s", err, tail(out))
	}
	folders, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var passed []string
	for _, file := range folders {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(raw, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := scenario(filepath.Base(filepath.Dir(file)))
		succeeded, bad := 0, false
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				succeeded++
			case "FAILURE", "WARNING":
				bad = true
				t.Errorf("%s: %s %s: %s", name, c.Status, c.ID, c.ErrorMessage)
			}
		}
		if succeeded > 0 && !bad {
			passed = append(passed, name)
		}
	}
	slices.Sort(passed)
	return passed
}

// scenario is the name in "server-NAME-2026-11-21T08-00-00-000Z".
func scenario(folder string) string {
	const stamp = "-2006-01-02T15-04-05-000Z"
	name := strings.TrimPrefix(folder, "server-")
	return name[:max(0, len(name)-len(stamp))]
}

func tail(out []byte) string {
	const keep = 4 << 10
	if len(out) > keep {
		return fmt.Sprintf("… %s", out[len(out)-keep:])
	}
	return string(out)
}
