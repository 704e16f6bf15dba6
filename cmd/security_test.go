package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Each promise of SECURITY.md names a test, and each of these exists.
func TestPromisesAreTests(t *testing.T) {
	t.Parallel()
	said, err := os.ReadFile(filepath.Join("..", ".github", "SECURITY.md"))
	require.NoError(t, err)
	_, promises, _ := strings.Cut(string(said), "**Promises**")
	want := map[string]bool{}
	for i, p := range regexp.MustCompile(`(?m)^\d\. `).Split(promises, -1)[1:] {
		names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(p, -1)
		if len(names) == 0 {
			t.Errorf("promise %d names no test", i+1)
		}
		for _, n := range names {
			want[n[1]] = true
		}
	}
	if len(want) < 5 {
		t.Fatalf("%d tests are named", len(want))
	}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for n := range want {
			if strings.Contains(string(b), "\nfunc "+n+"(") {
				delete(want, n)
			}
		}
		return err
	})
	require.NoError(t, err)
	for n := range want {
		t.Errorf("there is no test %s", n)
	}
}
