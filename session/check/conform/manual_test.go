package conform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/live"
)

// The manual of check says how many rules there are of each kind.
func TestManualCountsTheRules(t *testing.T) {
	t.Parallel()
	n := 0
	for _, r := range live.Rules() {
		if observed(r) {
			n++
		}
	}
	if said := fmt.Sprintf("%d rules that are tried, and %d about all that it sends", len(tables()), n); !strings.Contains(check.README, said) {
		t.Errorf("the manual does not say %q", said)
	}
}
