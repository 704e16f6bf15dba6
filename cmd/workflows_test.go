package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

var (
	// usesAction is a line of a workflow that runs an action, with the reference after the last @ and the comment.
	usesAction = regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(\S+)\s*(#.*)?$`)
	// pinned is an action of others by its commit.
	pinned = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+@[0-9a-f]{40}$`)
	// release is the comment beside it.
	release = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
	// runsSteps is a command of a workflow that runs steps of .ci/run.
	runsSteps = regexp.MustCompile(`\.ci/run((?: [a-z]+)*)`)
)

// looseActions are the actions of others in a workflow that are not named by a commit with its release beside it: a tag can be moved.
func looseActions(workflow string) (loose []string) {
	for _, m := range usesAction.FindAllStringSubmatch(workflow, -1) {
		if !strings.HasPrefix(m[1], "./") && (!pinned.MatchString(m[1]) || !release.MatchString(strings.TrimSpace(m[2]))) {
			loose = append(loose, m[1])
		}
	}
	return loose
}

func TestActionsAreNamedByCommit(t *testing.T) {
	actions := 0
	for path, workflow := range workflows(t) {
		actions += len(usesAction.FindAllString(workflow, -1))
		if n := strings.Count(workflow, "uses:"); n != len(usesAction.FindAllString(workflow, -1)) {
			t.Errorf("%s has %d lines with uses:, not all of which this test can read: give each a line of its own", path, n)
		}
		for _, action := range looseActions(workflow) {
			t.Errorf("%s uses %s: name the commit, in 40 digits, and the release as a comment, such as # v5.0.1", path, action)
		}
	}
	if actions == 0 {
		t.Error("no workflow uses an action")
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for workflow, want := range map[string][]string{
		"- uses: a/b@v5":                        {"a/b@v5"},
		"  uses: a/b@main # v5.0.0":             {"a/b@main"},
		"- uses: a/b@" + commit:                 {"a/b@" + commit},
		"- uses: a/b/c@" + commit + " # v5.0.1": nil,
		"- uses: ./.github/actions/check":       nil,
	} {
		if got := looseActions(workflow); !slices.Equal(got, want) {
			t.Errorf("%q: loose actions %q, want %q", workflow, got, want)
		}
	}
}

func TestWorkflowsRunStepsThatExist(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for path, workflow := range workflows(t) {
		for _, m := range runsSteps.FindAllStringSubmatch(workflow, -1) {
			steps := strings.Fields(m[1])
			seen["all"] = seen["all"] || len(steps) == 0
			for _, step := range steps {
				seen[step] = true
				if !strings.Contains(string(script), "\nstep_"+step+"()") {
					t.Errorf("%s runs .ci/run %s: .ci/run has no such step", path, step)
				}
			}
		}
	}
	// The jobs of a push are the steps of `.ci/run`.
	_, list, _ := strings.Cut(string(script), "\nreadonly all=(")
	list, _, _ = strings.Cut(list, ")")
	steps := strings.Fields(list)
	if len(steps) == 0 {
		t.Fatal("no list of steps in .ci/run")
	}
	for _, step := range append(steps, "nightly", "all") {
		if !seen[step] {
			t.Errorf("no workflow runs the step %s of .ci/run", step)
		}
	}
}

// workflows are the files below .github that say which actions run, by their path.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	eachFile(t, func(path string, content []byte) {
		if strings.HasPrefix(path, ".github/") && (strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")) {
			all[path] = string(content)
		}
	})
	if len(all) == 0 {
		t.Fatal("no workflows")
	}
	return all
}

// A script that names a folder that has moved fails where nobody looks: at night.
func TestScriptsNameWhatIsThere(t *testing.T) {
	named := regexp.MustCompile(`(?:^|[\s"'(=])\./((?:agentsrv|cmd|proxy|session|testdata|themes|tui|views)(?:/[\w.-]+)*)`)
	n := 0
	eachFile(t, func(file string, content []byte) {
		if !strings.HasPrefix(file, ".ci/") && !strings.HasPrefix(file, ".release/") && !strings.HasPrefix(file, ".github/") {
			return
		}
		for _, m := range named.FindAllSubmatch(content, -1) {
			n++
			if path := strings.TrimSuffix(string(m[1]), "/..."); exists(path) != nil {
				t.Errorf("%s names ./%s, which is not there", file, path)
			}
		}
	})
	if n < 10 {
		t.Errorf("the scripts name %d folders: does the expression still find them?", n)
	}
}

func exists(path string) error {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
	return err
}
