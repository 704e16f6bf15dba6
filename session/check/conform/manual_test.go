package conform

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/test/require"
)

var update = flag.Bool("update", false, "write how many rules there are into the manual of check")

// The manual of check says how many rules there are of each kind. With -update it is written.
func TestManualCountsTheRules(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../README.md") // not what is embedded: another section may just have written its numbers
	require.NoError(t, err)
	n := 0
	for _, r := range rules.Of("live") {
		if isObserved(r) {
			n++
		}
	}
	counts := regexp.MustCompile(`\d+ rules that are tried, and \d+ about all that it sends`)
	said := counts.ReplaceAllString(string(manual), fmt.Sprintf("%d rules that are tried, and %d about all that it sends", len(tables()), n))
	if *update {
		require.NoError(t, os.WriteFile("../README.md", []byte(said), 0o600))
	} else if said != string(manual) || !counts.MatchString(said) {
		t.Errorf("the manual does not say that %d rules are tried, and %d are about all that it sends: go test ./session/check/conform -run TestManual -update", len(tables()), n)
	}
}
