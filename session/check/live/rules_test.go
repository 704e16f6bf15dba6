package live

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check/rules"
)

// Every rule has all that a finding needs, and a probe; and every probe a rule.
func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	parties := []rules.Party{rules.Client, rules.Server, rules.Sender, rules.Receiver}
	of := map[string]probe{}
	for _, p := range probes {
		if of[p.id].check != nil || p.on == 0 || p.check == nil || rules.Find("live", p.id) == nil {
			t.Errorf("the probe of %q is of no rule of live.yaml, the second of one, or of no entry", p.id)
		}
		of[p.id] = p
	}
	for _, r := range rules.Of("live") {
		if !regexp.MustCompile(`^[a-z0-9-]{5,24}$`).MatchString(r.ID) {
			t.Errorf("rule id %q", r.ID)
		}
		if of[r.ID].check == nil {
			t.Errorf("%s has no probe", r.ID)
		}
		if !slices.Contains(parties, r.By) || len(r.Title) > 41 /* in a list beside its detail */ || !strings.HasSuffix(r.Fix, ".") || len(r.Fix) > 130 {
			t.Errorf("%s: %+v", r.ID, r)
		}
		if r.By != rules.Client && (r.Why == "" || len(r.Why) > 130 || strings.HasSuffix(r.Why, ".") || strings.Contains(r.Why, r.Title)) {
			t.Errorf("%s does not say what it costs: %q", r.ID, r.Why)
		}
	}
}
