package live

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of README.md")

// Every rule has all that a finding needs, and sections that the specification has.
func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/sections.txt")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		sections[strings.TrimSpace(line)] = true
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		if !regexp.MustCompile(`^[a-z0-9-]{5,24}$`).MatchString(r.ID) || seen[r.ID] {
			t.Errorf("rule id %q", r.ID)
		}
		seen[r.ID] = true
		if r.Severity == 0 || r.By == 0 || r.on == 0 || r.check == nil || r.Title == "" || len(r.Title) > 41 /* in a list beside its detail */ || !strings.HasSuffix(r.Fix, ".") || len(r.Fix) > 130 {
			t.Errorf("%s: %+v", r.ID, r)
		}
		if r.By != Client && (r.Why == "" || len(r.Why) > 130 || strings.HasSuffix(r.Why, ".") || strings.Contains(r.Why, r.Title)) {
			t.Errorf("%s does not say what it costs: %q", r.ID, r.Why)
		}
		for _, rev := range r.Revisions() {
			if s := strings.TrimPrefix(r.Section(rev), Site); !sections[s] {
				t.Errorf("%s: the specification has no section %s", r.ID, s)
			}
		}
		if Find(r.ID) != r {
			t.Errorf("%s is not found", r.ID)
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
	for _, r := range Rules() {
		when := "all"
		switch revs := r.Revisions(); {
		case len(revs) == 1:
			when = revs[0]
		case r.First != "" && r.Last != "":
			when = revs[0] + " to " + revs[len(revs)-1]
		case r.First != "":
			when = "since " + r.First
		case r.Last != "":
			when = "up to " + r.Last
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | [%s](%s) | %s |\n", r.ID, r.Severity, r.By, r.Title, r.Section(slices.Max(r.Revisions())), when)
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
