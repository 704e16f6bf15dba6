package live

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check/rules"
)

var update = flag.Bool("update", false, "write the table of README.md")

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

// TestManual: the table of README.md is that of the program. With -update it is written.
func TestManual(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- generated: go generate ./session/check/live -->\n"
	head, _, ok := strings.Cut(string(raw), mark)
	if !ok {
		t.Fatal("README.md has no mark")
	}
	var b strings.Builder
	b.WriteString(head + mark + "\n| rule | severity | by | what is wrong | revisions |\n|---|---|---|---|---|\n")
	for _, r := range rules.Of("live") {
		when := "all"
		switch revs := r.Revisions(); {
		case len(revs) == 1:
			when = revs[0]
		case r.Since != "" && r.Until != "":
			when = revs[0] + " to " + revs[len(revs)-1]
		case r.Since != "":
			when = "since " + r.Since
		case r.Until != "":
			when = "up to " + r.Until
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | [%s](%s) | %s |\n", r.ID, Word(r.Severity), r.By, r.Title, r.Source, when)
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(raw) {
		t.Error("the table of README.md is not that of the program: go generate ./session/check/live")
	}
}
