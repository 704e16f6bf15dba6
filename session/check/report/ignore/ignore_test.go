package ignore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/report/ignore"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// found is a report of findings, each as "RULE KIND NAME".
func found(sections string, findings ...string) *check.Report {
	r := &check.Report{Version: check.Version}
	for _, s := range strings.Fields(sections) {
		r.Sections = append(r.Sections, check.SectionReport{Name: s})
	}
	for _, f := range findings {
		part := strings.SplitN(f, " ", 3)
		r.Findings = append(r.Findings, check.Finding{
			Rule: &check.Rule{ID: part[0]}, ID: part[0], Severity: check.Error, Place: check.Place{Kind: part[1], Name: strings.Join(part[2:], " ")}, Message: "of " + f,
			Fingerprint: "of " + f,
		})
	}
	r.Recount()
	return r
}

func state(r *check.Report) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.ID+"="+f.Severity.String()+"/"+f.Ignored)
	}
	for _, e := range r.Ignores {
		out = append(out, fmt.Sprintf("%s %d%s", e.Rule, e.Matched, e.State))
	}
	return strings.Join(out, ", ")
}

func TestList(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "check.yaml"), `# ours
ignore:
  - rule: lint/no-title
    place: tool old_*
    reason: goes away
  - rule: "lint/*"
    place: new
    reason: |
      is being written
    until: 2026-11-22
  - {rule: cost/x, reason: we pay}
  - {rule: fuzz/x, reason: its section did not run}
  - {rule: "*", place: resource *, reason: none of ours}
severity:
  lint/*: info
  lint/no-desc: warning
`)
	l, err := ignore.Read(path)
	require.NoError(t, err)
	r := found("lint cost", "lint/no-title tool old_a", "lint/no-title tool new", "lint/no-desc tool x", "cost/y resource file:///a b")
	l.Apply(r, time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC))
	want := "lint/no-title=info/goes away, lint/no-title=info/is being written, lint/no-desc=warning/, cost/y=error/none of ours, " +
		"lint/no-title 1, lint/* 1, cost/x 0unused, fuzz/x 0, * 1"
	assert.Equal(t, state(r), want)
	if want := (check.Counts{Warning: 1, Ignored: 3}); r.Counts != want {
		t.Errorf("%+v", r.Counts)
	}
	if !strings.HasSuffix(r.Ignores[1].Where, "check.yaml:6") || r.Ignores[1].Until != "2026-11-22" {
		t.Errorf("%+v", r.Ignores[1])
	}
	// A day later the entry is over: its findings count, and it is not called unused.
	r = found("lint cost", "lint/no-title tool new")
	l.Apply(r, time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
	if want := "lint/no-title=info/, lint/no-title 0unused, lint/* 1expired, cost/x 0unused, fuzz/x 0, * 0unused"; state(r) != want {
		t.Errorf("got  %s\nwant %s", state(r), want)
	}
	// What was interrupted says nothing of entries: the last section may not have come to them.
	r = found("lint")
	r.Interrupted = true
	if l.Apply(r, time.Now()); strings.Contains(state(r), "unused") {
		t.Error(state(r))
	}
}

// What is wrong is said with its line and column.
func TestListRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"- a\n":                                                     ":1:1: is not a mapping",
		"ignor: []\n":                                               `:1:1: unknown key "ignor"`,
		"ignore: {rule: a}\n":                                       ":1:1: ignore must be a list",
		"ignore:\n  - lint/a\n":                                     ":2:5: an entry is not a mapping",
		"ignore:\n  - rule: lint/a\n":                               ":2:5: the entry has no reason",
		"ignore:\n  - rule: lint/a\n    reason:":                    ":3:5: reason must be a text",
		"ignore:\n  - rule: lint/a\n    reason: ''\n":               ":3:5: reason must be a text",
		"ignore:\n  - rule: a\n    reason: baseline\n":              ":2:5: the entry has no reason",
		"ignore:\n  - reason: a\n":                                  ":2:5: the entry has no rule",
		"ignore:\n  - rule: 12\n    reason: a\n":                    ":2:5: rule must be a text",
		"ignore:\n  - rule: a\n    reason: b\n    until: soon\n":    ":4:5: until must be a day",
		"ignore:\n  - rule: a\n    reason: b\n    until: [x]\n":     ":4:5: until must be a text",
		"ignore:\n  - rule: a\n    reason: b\n    plaze: c\n":       `:4:5: unknown key "plaze"`,
		"ignore:\n  - rule: a\n    rule: b\n":                       `:3:5: "rule" is there twice`,
		"severity: [a]\n":                                           ":1:11: severity must be a mapping",
		"severity:\n  lint/a: bad\n":                                `:2:3: lint/a: "bad" is not a severity: info, warning, error are`,
		"ignore:\n  - [\n":                                          "is not valid YAML",
		"ignore: " + strings.Repeat("[", 5000):                      "nests more than",
		"ignore:\n  - rule: a\n    reason: b\n    ? [x]\n    : 1\n": "",
		"ignore: \xff\n":                                            ":1:9: is not UTF-8",
	} {
		path := write(t, filepath.Join(t.TempDir(), "check.yaml"), text)
		if _, err := ignore.Read(path); err == nil || !strings.HasPrefix(err.Error(), path+want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v; want %q", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "ignore:\nseverity:\n", "ignore: []\n"} {
		if l, err := ignore.Read(write(t, filepath.Join(t.TempDir(), "check.yaml"), text)); err != nil || len(l.Entries) > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ignore.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	if e, err := ignore.Parse("lint/*: not ours: see #3"); err != nil || e.Rule != "lint/*" || e.Reason != "not ours: see #3" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, s := range []string{"", "lint/a", "lint/a:", ":because", "lint/a: ", "lint/a:baseline"} {
		if _, err := ignore.Parse(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "repo", ".git"), 0o755))
	below := filepath.Join(dir, "repo", "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	write(t, filepath.Join(dir, ".mcphud", "check.yaml"), "") // of another project
	assert.Equal(t, ignore.Find(below), "")
	want := write(t, filepath.Join(dir, "repo", ".mcphud", "check.yaml"), "")
	assert.Equal(t, ignore.Find(below), want)
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "a/b c", true},
		{"lint/*", "lint/a", true},
		{"lint/*", "linter/a", false},
		{"*a*b", "xaxxb", true},
		{"*a*b", "xaxxbc", false},
		{"?", "", false},
		{"a?c", "abc", true},
		{"a[b]", "a[b]", true},
		{strings.Repeat("*a", 50) + "b", strings.Repeat("a", 20_000), false}, // ends soon
	} {
		assert.Equalf(t, ignore.Match(c.pattern, c.s), c.want, "%q, %.20q", c.pattern, c.s)
	}
}

func TestBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	r := found("server lint fuzz", "server/died server", "lint/b tool y", "lint/a tool <x>", "lint/a tool <x>", "fuzz/z tool x", "lint/c tool n")
	r.Findings[5].Ignored = "a reason"
	require.NoError(t, ignore.Next(path, nil, r).Write())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	entry := func(rule, place, name string) string {
		return fmt.Sprintf(`{"fingerprint":"of %s %s","rule":"%s","severity":"error","place":"%s","message":"of %s %s"}`, rule, place, rule, place, rule, place)
	}
	want := "{\"version\":1,\"findings\":[\n" + entry("fuzz/z", "tool x", "") + ",\n" + entry("lint/a", "tool <x>", "") + ",\n" + entry("lint/a", "tool <x>", "") + ",\n" + entry("lint/b", "tool y", "") + "\n]}\n"
	assert.Equal(t, string(raw), want)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	b, err := ignore.ReadBaseline(path)
	require.NoError(t, err)
	// One is gone, one new, and one that was there twice is there three times. The section fuzz did not run.
	now := found("server lint", "server/died server", "lint/a tool <x>", "lint/a tool <x>", "lint/a tool <x>", "lint/d tool z")
	b.Apply(now)
	if got, want := state(now), "server/died=error/, lint/a=error/baseline, lint/a=error/baseline, lint/a=error/, lint/d=error/"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if bl := now.Baseline; bl.Known != 2 || bl.New != 3 || len(bl.Fixed) != 1 || bl.Fixed[0].Rule != "lint/b" || now.Counts.Error != 3 {
		t.Errorf("%+v %+v", bl, now.Counts)
	}
	// Of two that are the same one is left.
	fewer := found("server lint", "lint/b tool y", "lint/a tool <x>")
	b.Apply(fewer)
	if bl := fewer.Baseline; bl.Known != 2 || bl.New != 0 || len(bl.Fixed) != 1 || bl.Fixed[0].Rule != "lint/a" {
		t.Errorf("%+v", bl)
	}
	none := found("server lint")
	b.Apply(none)
	if got := len(none.Baseline.Fixed); got != 3 {
		t.Errorf("%d are fixed: %+v", got, none.Baseline)
	}
	// The next baseline keeps what did not run, and not what is fixed.
	next := ignore.Next(path, b, now)
	var rules []string
	for _, k := range next.Known {
		rules = append(rules, k.Rule)
	}
	assert.Equal(t, strings.Join(rules, " "), "fuzz/z lint/a lint/a lint/a lint/d")
}

// The baseline of several servers has the findings of each by its name: what one server has is new at another.
func TestBaselineOfSeveral(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	report := func(server, sections string, findings ...string) *check.Report {
		r := found(sections, findings...)
		r.Server.Name = server
		return r
	}
	require.NoError(t, ignore.NextOf(path, nil, report("two", "lint", "lint/a tool x"), report("one", "lint", "lint/a tool x", "lint/b tool y"), report("none", "lint")).Write())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	entry := func(rule, place string) string {
		return fmt.Sprintf(`{"fingerprint":"of %s %s","rule":"%s","severity":"error","place":"%s","message":"of %s %s"}`, rule, place, rule, place, rule, place)
	}
	want := "{\"version\":2,\"servers\":{\n\"none\":[],\n\"one\":[\n" + entry("lint/a", "tool x") + ",\n" + entry("lint/b", "tool y") + "\n],\n\"two\":[\n" + entry("lint/a", "tool x") + "\n]\n}}\n"
	assert.Equal(t, string(raw), want)
	b, err := ignore.ReadBaseline(path)
	if err != nil || b.Count() != 3 {
		t.Fatal(b, err)
	}
	for server, want := range map[string]string{"one": "lint/b=error/baseline", "two": "lint/b=error/", "none": "lint/b=error/", "other": "lint/b=error/"} {
		now := report(server, "lint", "lint/b tool y")
		b.Apply(now)
		fixed := map[string]int{"one": 1, "two": 1}[server]
		if got := state(now); got != want || len(now.Baseline.Fixed) != fixed {
			t.Errorf("%s: got %s, %d fixed; want %s, %d fixed", server, got, len(now.Baseline.Fixed), want, fixed)
		}
	}
	// The check of one server takes care of its own.
	next := ignore.Next(path, b, report("one", "lint", "lint/c tool z"))
	if one, two := next.Servers["one"], next.Servers["two"]; len(one) != 1 || one[0].Rule != "lint/c" || len(two) != 1 || next.Count() != 2 {
		t.Errorf("%+v", next)
	}
}

func TestBaselineRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     ":1:1: is not valid JSON: it ends too early",
		"{\"version\":1,\n \"findings\": [":    ":2:15: is not valid JSON: it ends too early",
		"{\"version\":1,\n  x}":                ":2:3: is not valid JSON: invalid character 'x'",
		"{\"version\":\"1\"}":                  ":1:14: is not a baseline: version is a string",
		"{\"version\":1,\"findings\":[\n\n1]}": ":3:1: is not a baseline: findings is a number",
		"{\"version\":3}":                      ":1:1: is not a baseline of version 1 or 2",
		"[]":                                   ":1:1: is not a baseline: it is a array",
		"{\"version\":1}\n{}":                  ":2:1: is not valid JSON: there is more after its end",
		"{\"version\":1,\"findings\":[{}]}":    ":1:14: is not a baseline: finding 1 has no fingerprint",
		"{\"version\":2,\"servers\":{\"a\":[],\n\"b\":[{}]}}":                                          ":2:1: is not a baseline: finding 1 of b has no fingerprint",
		"{\"version\":2,\"servers\":{\"a\":[],\n\"a\":[]}}":                                            ":2:1: is not a baseline: \"a\" is there twice",
		"{\"version\":2,\"servers\":{\"a\":[],\n\"b\":7}}":                                             ":2:5: is not a baseline: servers is a number",
		"{\"version\":2,\"findings\":[]}":                                                              ":1:1: is not a baseline: version 1 has findings, version 2 has servers",
		"{\"version\":1,\"servers\":{}}":                                                               ":1:1: is not a baseline: version 1 has findings, version 2 has servers",
		"{\"version\":1,\"findings\":[\n{\"fingerprint\":\"a\",\"rule\":\"b\",\"severity\":\"bad\"}]}": `:2:50: is not a baseline: "bad" is not a severity`,
	} {
		path := write(t, filepath.Join(t.TempDir(), "b.json"), text)
		if _, err := ignore.ReadBaseline(path); err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
