package rules

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mcphud/mcphud/session/test/require"
)

// names are the sections that have a file.
func names(t *testing.T) (all []string) {
	t.Helper()
	found, err := fs.Glob(files, "*.yaml")
	if err != nil || len(found) < 11 {
		t.Fatalf("%v %v", found, err)
	}
	for _, f := range found {
		if name := strings.TrimSuffix(f, ".yaml"); name != "specification" {
			all = append(all, name)
		}
	}
	return all
}

// Each rule has all that a report needs, under an id of its own; what a file says is named by its rules.
func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	id, day := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)
	withoutSource := []string{"cases/latency", "cases/snapshot", "cases/capture"} // the project's own words are what they rest on
	for _, name := range names(t) {
		raw, err := files.ReadFile(name + ".yaml")
		require.NoError(t, err)
		var written struct {
			Sources map[string]string `yaml:"sources"`
			Rules   []map[string]any  `yaml:"rules"`
		}
		require.NoError(t, yaml.Unmarshal(raw, &written))
		all, seen, named := Of(name), map[string]bool{}, map[string]bool{}
		if len(all) != len(written.Rules) || len(all) == 0 {
			t.Fatalf("%s has %d rules, and %d were read", name, len(written.Rules), len(all))
		}
		for i, r := range all {
			short, own := strings.CutPrefix(r.ID, name+"/")
			if own == (name == "live") || !id.MatchString(short) || seen[r.ID] || Find(name, r.ID) != r || r.Name() != short {
				t.Errorf("%s: the id %q", name, r.ID)
			}
			seen[r.ID] = true
			if written.Rules[i]["severity"] == nil || r.Title == "" || r.Fix == "" || r.Why == "" && r.By != Client {
				t.Errorf("%s lacks a severity, title, reason or fix", r.ID)
			}
			if slices.Contains(withoutSource, r.ID) != (r.Source == "") || (r.Source == "") != (r.Read == "") || r.Read != "" && !day.MatchString(r.Read) {
				t.Errorf("%s: its source is %q, read %q", r.ID, r.Source, r.Read)
			}
			if r.Source != "" && !strings.HasPrefix(r.Source, "https://") {
				t.Errorf("%s: %q is neither a URL nor one of the sources of its file", r.ID, r.Source)
			}
			if !slices.Contains([]string{"", "http", "stdio", "sse"}, r.Transport) || !slices.Contains([]Party{"", Client, Server, Sender, Receiver}, r.By) {
				t.Errorf("%s: transport %q, by %q", r.ID, r.Transport, r.By)
			}
			if s, _ := written.Rules[i]["source"].(string); s != "" {
				key, _, _ := strings.Cut(s, "#")
				named[key] = true
			}
		}
		for key := range written.Sources {
			if !named[key] {
				t.Errorf("%s: no rule has the source %s", name, key)
			}
		}
	}
}

// The specification has what rules link to: in each revision where the file does not name one.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/sections.txt")
	require.NoError(t, err)
	published, used := map[string]bool{}, map[string]bool{}
	for _, s := range strings.Fields(string(raw)) {
		published[s] = true
	}
	for _, name := range names(t) {
		for _, r := range Of(name) {
			used[r.Spec] = true
			links := []string{r.Source}
			if name == "live" || name == "conform" {
				for _, revision := range r.Revisions() {
					links = append(links, r.Link(revision))
				}
				if len(links) == 1 {
					t.Errorf("%s: no revision has it", r.ID)
				}
			}
			for _, link := range links {
				if s, ok := strings.CutPrefix(link, Site); ok && !published[s] {
					t.Errorf("%s: the specification has no section %s", r.ID, s)
				}
			}
		}
	}
	for part, moves := range specificationOf(t).Parts {
		if !used[part] {
			t.Errorf("specification.yaml: no rule names the part %s", part)
		}
		for revision := range moves {
			if !slices.Contains(Revisions(), revision) {
				t.Errorf("specification.yaml: %s moves in %s, which is not a revision", part, revision)
			}
		}
	}
}

func specificationOf(t *testing.T) *specification {
	t.Helper()
	if s := published(); len(s.Revisions) == 5 && slices.IsSorted(s.Revisions) && len(s.Parts) > 20 {
		return s
	}
	t.Fatal("specification.yaml lacks revisions or parts")
	return nil
}

// A part is linked where it is in a revision; where the revision does not have the rule, in the newest that does.
func TestLink(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule           Rule
		revision, want string
	}{
		{Rule{Spec: "errors"}, "2024-11-05", "2024-11-05/basic/messages#responses"},
		{Rule{Spec: "errors"}, "2025-06-18", "2025-06-18/basic#responses"},
		{Rule{Spec: "errors"}, "2025-11-25", "2025-11-25/basic#error-responses"},
		{Rule{Spec: "errors"}, "", "2026-07-28/basic#error-codes"},
		{Rule{Spec: "errors", Until: "2025-06-18"}, "2026-07-28", "2025-06-18/basic#responses"},
		{Rule{Spec: "server/tools#tool", Since: "2025-06-18"}, "2024-11-05", "2026-07-28/server/tools#tool"},
	} {
		if got := c.rule.Link(c.revision); got != Site+c.want {
			t.Errorf("%+v in %q: %s, want %s", c.rule, c.revision, got, c.want)
		}
	}
	if r := (Rule{Source: "https://cwe.mitre.org"}); r.Link("2025-11-25") != r.Source {
		t.Errorf("%s", r.Link("2025-11-25"))
	}
}

// Only rules of all revisions hold where it is not known which one is spoken.
func TestIn(t *testing.T) {
	t.Parallel()
	early, late, always := Rule{Until: "2025-11-25"}, Rule{Since: "2026-07-28"}, Rule{}
	for revision, want := range map[string][3]bool{"": {false, false, true}, "2025-11-25": {true, false, true}, "2026-07-28": {false, true, true}} {
		if got := [3]bool{early.In(revision), late.In(revision), always.In(revision)}; got != want {
			t.Errorf("%q: %v, want %v", revision, got, want)
		}
	}
}

// All who judge output beside messages say that it matters as much.
func TestNoiseIsOneSeverity(t *testing.T) {
	t.Parallel()
	for section, id := range map[string]string{"server": "server/stdout-noise", "conform": "conform/stdout-clean"} {
		if got, want := Find(section, id).Severity, Find("live", "stdout-noise").Severity; got != want {
			t.Errorf("%s is %s, stdout-noise %s", id, got, want)
		}
	}
}
