package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// allRequirements is how many rows testdata/requirements.tsv has. A requirement may change its state; none goes away.
const allRequirements = 173

// Every row of testdata/requirements.tsv that says built has a test that carries its id as a word of its name, such as
// TestS10_IdleServerChildExits or TestN1_N2_BothSpellings, somewhere in the module. One that says partial has a test of what
// is there, and a reason: what is missing. One that says planned has a reason, and no test: it is built once there is one.
func TestEveryRequirementHasItsTest(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root, "testdata", "requirements.tsv"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(string(table), "\n"), "\n")
	if lines[0] != "id\tstate\ttext\treason" {
		t.Fatalf("the columns are %q", lines[0])
	}
	tested, seen := testedIDs(t), map[string]bool{}
	for i, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		if len(columns) < 3 || !requirementID.MatchString(columns[0]) || strings.TrimSpace(columns[2]) == "" {
			t.Errorf("requirements.tsv:%d: %q is not ID, state, text and reason", i+2, line)
			continue
		}
		id, state, reason := columns[0], columns[1], strings.Join(columns[3:], "\t")
		if seen[id] {
			t.Errorf("requirements.tsv:%d: %s is there twice", i+2, id)
		}
		seen[id] = true
		switch {
		case state == "built" && reason == "" && len(columns) == 3:
			if tested[id] == "" {
				t.Errorf("%s has no test: no function Test%s_… is in the module", id, id)
			}
		case state == "partial" && len(columns) == 4 && len(reason) > 20:
			if tested[id] == "" {
				t.Errorf("%s is partly built, but nothing of it has a test", id)
			}
		case state == "planned" && len(columns) == 4 && len(reason) > 20:
			if name := tested[id]; name != "" {
				t.Errorf("%s is planned, but has the test %s: change its state, or the test's name", id, name)
			}
		default:
			t.Errorf("requirements.tsv:%d: %s is neither built without a reason nor partial or planned for a reason", i+2, id)
		}
	}
	if len(seen) != allRequirements {
		t.Errorf("requirements.tsv has %d rows, not %d", len(seen), allRequirements)
	}
}

var requirementID = regexp.MustCompile(`^[A-Z]+[0-9]+b?$`)

// testedIDs are the words of the names of test functions that look like ids, with the name of one such function.
func testedIDs(t *testing.T) map[string]string {
	decl := regexp.MustCompile(`(?m)^func Test(\w+)\(`)
	found := map[string]string{}
	eachFile(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "testdata/") {
			return
		}
		for _, m := range decl.FindAllSubmatch(content, -1) {
			for word := range strings.SplitSeq(string(m[1]), "_") {
				if requirementID.MatchString(word) {
					found[word] = "Test" + string(m[1])
				}
			}
		}
	})
	return found
}
