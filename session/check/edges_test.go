package check

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Which errors say that nobody is there any more: whoever answers is, with whatever status.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("x"), false},
		{&failure.Error{Kind: failure.ChannelClosed}, true},
		{&failure.Error{Kind: failure.ServerNotConnected}, true},
		{&failure.Error{Kind: failure.Transport}, true},
		{&failure.Error{Kind: failure.Transport, Status: 503}, false},
		{&failure.Error{Kind: failure.Timeout}, false},
		{fmt.Errorf("more: %w", &failure.Error{Kind: failure.ChannelClosed}), true},
	} {
		if isUnreachable(c.err) != c.want {
			t.Errorf("%v: %v", c.err, !c.want)
		}
	}
	if closedReason(t.Context(), &Subject{}, 0) != "" || alive(t.Context(), &Subject{}) != nil {
		t.Error("what has no session died")
	}
}

// A report of nothing but why says so in its section, its findings and its counts.
func TestReportsOfNothing(t *testing.T) {
	began := time.Now().Add(-time.Second)
	r := Unreachable("s", errors.New("no such host\nmore "+strings.Repeat("x", 600)), Tool{Name: "t"}, began)
	if len(r.Findings) != 1 || r.Findings[0].ID != "server/unreachable" || r.Findings[0].Message != "no such host" || !strings.Contains(r.Findings[0].Evidence, "more") || r.Counts.Error != 1 || r.Interrupted || r.Sections[0].Counts.Error != 1 || r.Millis < 1000 {
		t.Errorf("%+v", r)
	}
	r = Stopped("s", Tool{Name: "t"}, began)
	if len(r.Findings) != 0 || !r.Interrupted || r.Sections[0].Error != "interrupted before the server was connected to" || r.Millis < 1000 || r.Counts != (Counts{}) {
		t.Errorf("%+v", r)
	}
}

// Findings count by how severe they are, those that are ignored only as that; and each counts for its section.
func TestCounts(t *testing.T) {
	of := func(section string, s Severity, ignored string) Finding {
		return Finding{Rule: &Rule{ID: section + "/x"}, Severity: s, Ignored: ignored}
	}
	r := &Report{Sections: []SectionReport{{Name: "a"}, {Name: "b", Counts: Counts{Error: 7}}}, Findings: []Finding{of("a", Error, ""), of("a", Warning, ""), of("a", Warning, ""), of("a", Info, ""), of("a", Error, "why"), of("b", Info, ""), of("c", Error, "")}}
	r.Recount()
	if want := (Counts{Error: 2, Warning: 2, Info: 2, Ignored: 1}); r.Counts != want {
		t.Errorf("%+v", r.Counts)
	}
	if a, b := r.Sections[0].Counts, r.Sections[1].Counts; a != (Counts{1, 2, 1, 1}) || b != (Counts{Info: 1}) {
		t.Errorf("%+v %+v", a, b)
	}
	for s, want := range map[Severity]int{Error: 2, Warning: 4, Info: 6} {
		assert.Equalf(t, r.Counts.AtLeast(s), want, "%s", s)
	}
}

// What a section does not say of a finding is as its rule says; a rule of another section is a fault of it.
func TestRecorder(t *testing.T) {
	var seen []Finding
	var at []Progress
	r := NewRecorder(serverSection{}, Watch{Found: func(f Finding) { seen = append(seen, f) }, Progress: func(p Progress) { at = append(at, p) }})
	r.Add("server/died", Finding{Message: "m", Evidence: strings.Repeat("x", MaxEvidence+10)})
	r.AddSeverity(Info, "server/died", Finding{Message: "m", Sure: Possible, Fix: "mine", Clients: []string{}})
	r.Step(3, 4, "what")
	a, b := seen[0], seen[1]
	if a.Severity != Error || a.Sure != Certain || a.Fix == "" || len(a.Evidence) > MaxEvidence+len("…") || !strings.HasSuffix(a.Evidence, "x…") || b.Severity != Info || b.Sure != Possible || b.Fix != "mine" || a.ID != "server/died" {
		t.Errorf("%s %s %d, %+v", a.ID, a.Severity, len(a.Evidence), b)
	}
	if len(at) != 1 || fmt.Sprint(at[0]) != fmt.Sprint(Progress{Section: "server", Done: 3, Total: 4, What: "what"}) {
		t.Errorf("%+v", at)
	}
	NewRecorder(serverSection{}, Watch{}).Step(1, 2, "nobody watches")
	for name, f := range map[string]func(){"finding": func() { r.Add("lint/x", Finding{}) }, "passed": func() { r.AddPassed("lint/x", Place{}, 0) }, "skipped": func() { r.AddSkipped("lint/x", Place{}, "") }} {
		func() {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, `section server has no rule "lint/x"`) {
					t.Errorf("%s: %s", name, why)
				}
			}()
			f()
		}()
	}
}
