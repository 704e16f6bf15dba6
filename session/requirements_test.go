package session

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of testdata/requirements.tsv has a test that carries its id in its name, such as TestS10_IdleServerChildExits
// or TestN1_N2_BothSpellings, somewhere in the module.
func TestEveryRequirementHasItsTest(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile(filepath.Join(root, "testdata", "requirements.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	tested, err := testedIDs(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, row := range strings.Split(strings.TrimRight(string(rows), "\n"), "\n") {
		id, text, ok := strings.Cut(row, "\t")
		switch {
		case !ok || !regexp.MustCompile(`^[A-Z]+[0-9]+$`).MatchString(id) || strings.TrimSpace(text) == "":
			t.Errorf("requirements.tsv:%d: %q is not ID, tab, text", i+1, row)
		case seen[id]:
			t.Errorf("requirements.tsv:%d: %s is there twice", i+1, id)
		case !tested[id]:
			t.Errorf("%s has no test: no function Test%s_… is in the module", id, id)
		}
		seen[id] = true
	}
}

// testedIDs are the parts between underscores of the names of all test functions below root that look like ids.
func testedIDs(root string) (map[string]bool, error) {
	decl := regexp.MustCompile(`(?m)^func Test(\w+)\(`)
	id := regexp.MustCompile(`^[A-Z]+[0-9]+$`)
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); path != root && (strings.HasPrefix(n, ".") || n == "node_modules" || n == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte("func Test")) {
			return err
		}
		for _, m := range decl.FindAllSubmatch(b, -1) {
			for _, part := range strings.Split(string(m[1]), "_") {
				if id.MatchString(part) {
					found[part] = true
				}
			}
		}
		return nil
	})
	return found, err
}
