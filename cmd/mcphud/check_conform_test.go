package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
)

// conformed is the report of a check by the section conform.
func conformed(t *testing.T, out string) (r check.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// verdicts are how often a rule of each revision passed and was skipped.
func verdicts(r check.Report, revision string) (passed, skipped int) {
	for _, s := range r.Sections {
		for _, o := range s.Outcomes {
			switch {
			case o.Place.Name != revision:
			case o.Verdict == check.Passed:
				passed++
			default:
				skipped++
			}
		}
	}
	return passed, skipped
}

// ours are what our agent is known to do otherwise than the specification recommends: its numbers for errors of the legacy era are those
// that its own clients know.
func ours(f check.Finding) bool {
	return f.ID == "conform/unknown-resource" && f.Place.Name < "2026" || f.Severity == check.Info
}

// Our agent keeps to the protocol, in both eras, over stdio.
func TestCheckConformAgent(t *testing.T) {
	t.Parallel()
	c := command(t, "check", "conform", "--format", "json", "--rule", "[a-s]*,[u-z]*") // not those that call tools, which take their time
	c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral")
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Run(); err != nil {
		t.Errorf("%v: %s", err, &stderr)
	}
	r := conformed(t, out.String())
	for _, f := range r.Findings {
		if !ours(f) {
			t.Errorf("%s %s %s: %s\n%s", f.Severity, f.ID, f.Place, f.Message, f.Evidence)
		}
	}
	for _, v := range []string{"2026-07-28", "2025-11-25"} {
		if passed, _ := verdicts(r, v); passed < 60 {
			t.Errorf("%d rules passed in %s, want at least 60", passed, v)
		}
	}
}

// --rule chooses, and a pattern that is of no rule is wrong usage.
func TestCheckConformRule(t *testing.T) {
	t.Parallel()
	o := mcphud(t, fake(t, behave.Noise, "check", "conform", "--rule", "stdout-c*", "--fail-on", "never", "--format", "json")...)
	r := conformed(t, o.out)
	if o.code != 0 || len(r.Findings) != 1 || r.Findings[0].ID != "conform/stdout-clean" || !strings.Contains(r.Findings[0].Evidence, "handling") {
		t.Errorf("exit %d, %+v, %s", o.code, r.Findings, o.stderr)
	}
	mcphud(t, fake(t, behave.Good, "check", "conform", "--rule", "pings")...).exits(t, 1, "no rule of conform is named like")
}

// The command of a finding names the server and the revision, and makes the request that was answered wrong.
func TestCheckConformRepro(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	o := mcphud(t, "check", "conform", "--rule", "unknown-resource", "--format", "json", "--url", url)
	want := `mcphud raw resources/read '{"uri":"mcphud://mcphud-does-not-exist"}' --protocol 2025-11-25 --url ` + url
	if r := conformed(t, o.out); len(r.Findings) != 1 || r.Findings[0].Repro != want {
		t.Errorf("%+v, want one with %s", r.Findings, want)
	}
	if o := mcphud(t, "raw", "resources/read", `{"uri":"mcphud://mcphud-does-not-exist"}`, "--protocol", "2025-11-25", "--url", url); !strings.Contains(o.stderr, "-32001") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// Faults that were looked up by hand in the servers' own code: one takes requests from any web page and replays the events of all streams,
// the other serves a revision that does not exist.
func TestPeerCheckConform(t *testing.T) {
	t.Parallel()
	find := func(t *testing.T, rules string, want []string, target ...string) {
		t.Helper()
		o := mcphud(t, append([]string{"check", "conform", "--format", "json", "--fail-on", "never", "--rule", rules}, target...)...)
		var errs []string
		for _, f := range conformed(t, o.out).Findings {
			if f.Severity == check.Error {
				errs = append(errs, strings.TrimPrefix(f.ID, "conform/"))
			}
		}
		if o.code != 0 || !slices.Equal(errs, want) {
			t.Errorf("exit %d, %v, want %v: %s", o.code, errs, want, o.stderr)
		}
	}
	t.Run("everything", func(t *testing.T) {
		t.Parallel()
		find(t, "origin,resumption,event-ids,session-*,accepted,ping,echo-*,unknown-*,schema-*", []string{"origin", "resumption"}, peertest.EverythingHTTP(t).Server.URL)
	})
	t.Run("mcp-go", func(t *testing.T) {
		t.Parallel()
		s := peertest.MCPGoEverything(t)
		find(t, "version-*,ping,echo-*,unknown-*,stateless,notification-*,schema-*", []string{"version-refused"}, append([]string{"--", s.Command}, s.Args...)...)
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		s := peertest.Memory(t)
		find(t, "ping,echo-*,unknown-*,parse-error,notification-*,declared-lists,undeclared,schema-*,stdout-noise", nil, append([]string{"--", s.Command}, s.Args...)...)
	})
}

// The official suite's scenarios are outcomes of the same report: all pass at the agent that has what they ask for, and those that ask for
// tools of the suite are skipped at another.
func TestConformanceCheckSuite(t *testing.T) {
	t.Parallel()
	_, script := peertest.Suite(t)
	suite := filepath.Dir(filepath.Dir(script))
	o := mcphud(t, "check", "conform", "--suite", suite, "--rule", "suite-*", "--format", "json", "--protocol", "2025-11-25", agent(t, agentsrv.Options{Profile: agentsrv.Everything}))
	r := conformed(t, o.out)
	passed := map[string]bool{}
	for _, s := range r.Sections {
		for _, out := range s.Outcomes {
			passed[out.Place.Name] = out.Verdict == check.Passed
		}
	}
	if o.code != 0 || len(r.Findings) > 0 || len(passed) < 30 || !passed["2025-11-25 tools-call-simple-text"] {
		t.Errorf("exit %d, %+v, %v, %s", o.code, r.Findings, passed, o.stderr)
	}
	s := faketest.Stdio(t, behave.Good)
	o = mcphud(t, "check", "conform", "--suite", suite, "--rule", "suite-*", "--format", "json", "--", s.Command)
	if !strings.Contains(o.out, "this one is reached by stdio") {
		t.Errorf("exit %d, %s, %s", o.code, o.out, o.stderr)
	}
	mcphud(t, "check", "conform", "--suite", t.TempDir(), "--", s.Command).exits(t, 1, "not installed")
}
