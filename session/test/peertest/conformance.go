package peertest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// Revision is a revision of the protocol as the official suite is frozen at its release.
type Revision struct {
	Name     string
	required int
	// Scenarios that the suite runs without scoring; they are about extensions and additions, and have to pass too.
	unscored []string
	clients  int      // scenarios that are required of clients
	only     []string // the scenarios for clients where the suite has no requirements for the revision any more
	not      []string // checks that may fail
}

// extensions are the scenarios of final extensions, which no revision requires; clientExtensions those for clients.
var (
	extensions       = []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"}
	clientExtensions = []string{"sep-2640-client-no-prefetch", "sep-2640-client-verify-digest", "sep-2640-client-verify-frontmatter", "sep-2640-client-verify-size"}
)

// Revisions are those that servers and clients are held to.
func Revisions() []Revision {
	return []Revision{
		{"2025-11-25", 30, []string{"json-schema-2020-12", "server-session-lifecycle", "server-sse-polling"}, 18, nil, nil},
		{"2026-07-28", 37, []string{
			"http-custom-header-server-validation", "http-header-validation", "json-schema-2020-12",
			"tasks-capability-negotiation", "tasks-dispatch-and-envelope", "tasks-lifecycle", "tasks-mrtr-composition", "tasks-mrtr-input",
			"tasks-request-headers", "tasks-request-state-removal", "tasks-required-task-error", "tasks-wire-fields",
		}, 32, nil, nil},
	}
}

// HasSchema reports whether the suite comes with the revision's schema.
func (r Revision) HasSchema() bool { return r.only == nil }

// ClientRevisions are those that clients are held to: among them one whose way to log in lives on at servers of that time.
func ClientRevisions() []Revision {
	return append(Revisions(), Revision{Name: "2025-03-26", only: []string{"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"}})
}

// Run runs the suite against the server at url, which must pass all of it, but for checks that are named as not for it.
func (r Revision) Run(t testing.TB, url string, not ...string) {
	t.Helper()
	r.not = not
	scenarios := r.scenarios(t, url, "--requirements", r.Name)
	for _, name := range extensions {
		if got := r.scenarios(t, url, "--scenario", name, "--spec-version", r.Name, "--force"); !slices.Contains(got, name) {
			t.Errorf("scenario %s did not run, or checked nothing", name)
		}
	}
	for _, name := range r.unscored {
		if !slices.Contains(scenarios, name) {
			t.Errorf("scenario %s did not run, or checked nothing", name)
		}
	}
	if got := len(scenarios) - len(r.unscored); got != r.required {
		t.Errorf("%d required scenarios passed, want %d: %v", got, r.required, scenarios)
	}
}

// scenarios runs the scenarios that which names, in the suite's own options, and fails the test for each check that
// failed or warned. It returns the names of the scenarios that checked something and found nothing.
func (r Revision) scenarios(t testing.TB, url string, which ...string) []string {
	t.Helper()
	node, script := Suite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir := t.TempDir()
	out, err := exec.CommandContext(ctx, node, append([]string{script, "server", "--url", url, "--output-dir", dir}, which...)...).CombinedOutput()
	if err != nil {
		t.Errorf("the suite: %v\n%s", err, ending(out))
	}
	folders, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	require.NoError(t, err)
	var passed []string
	for _, file := range folders {
		name := scenario(filepath.Base(filepath.Dir(file)))
		succeeded, failed := checks(t, file, r.not...)
		for _, f := range failed {
			t.Errorf("%s: %s", name, f)
		}
		if succeeded > 0 && len(failed) == 0 {
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

func ending(out []byte) string {
	const keep = 4 << 10
	if len(out) > keep {
		return fmt.Sprintf("… %s", out[len(out)-keep:])
	}
	return string(out)
}
