// Package cases reports named calls of a project, and what their files expect of the answers.
package cases

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// Section is the section "cases": it makes the named calls of a project, and reports what their files do not expect.
type Section struct {
	// Make makes all calls and gives what came of each, in the order of the files. total is how many there are.
	Make  func(ctx context.Context, each func(o calls.Outcome, done, total int)) error
	File  func(file string) string     // as a report names it
	Repro func(o calls.Outcome) string // a command line that makes the call again; its file is as a report names it
}

// Name is "cases".
func (*Section) Name() string { return "cases" }

// Title says what is tried.
func (*Section) Title() string { return "named calls, and what their files expect" }

// ofCall is the rule of calls without an answer.
const ofCall = "cases/call"

// ids are the rules of assertions.
var ids = map[string]string{
	expect.OfQuery: "cases/expect", expect.OfSchema: "cases/schema", expect.OfLatency: "cases/latency", expect.OfIsError: "cases/is-error",
	expect.OfError: "cases/error", expect.OfSnapshot: "cases/snapshot", expect.OfCapture: "cases/capture",
}

// Rules are one for each kind of assertion, and one for calls without an answer.
func (*Section) Rules() []*check.Rule { return rules.Of("cases") }

// figures count the calls.
type figures struct {
	Calls   int `json:"calls"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Run makes the calls. The subject is not asked: each call has a server of its own.
func (s *Section) Run(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
	var fig figures
	err := s.Make(ctx, func(c calls.Outcome, done, total int) {
		fig.Calls++
		c.File = s.File(c.File)
		place := check.Place{Kind: check.OfCall, Name: c.Name}
		switch {
		case c.Skipped != "":
			fig.Skipped++
			r.AddSkipped(ofCall, place, c.Skipped)
		case c.Err == nil && len(c.Failures) == 0:
			r.AddPassed(ofCall, place, c.Reply.Took)
		default:
			fig.Failed++
			report(r, place, c, s.Repro(c))
		}
		r.Step(done, total, c.Name)
	})
	r.Figures(check.Figures{Value: fig, Notes: []string{fmt.Sprintf("%d calls, %d failed, %d skipped", fig.Calls, fig.Failed, fig.Skipped)}})
	return err
}

func report(r *check.Recorder, place check.Place, c calls.Outcome, repro string) {
	add := func(id, key, message string, line int, evidence ...string) {
		evidence[0] = fmt.Sprintf("%s:%d: %s", c.File, max(line, c.Line, 1), evidence[0])
		r.Add(id, check.Finding{
			Place: place, Key: key, Message: message, Evidence: strings.Join(evidence, "\n"), Repro: repro, File: c.File, Line: max(line, c.Line, 1),
		})
	}
	called := text.Clip(c.Method+" "+c.Target, 200) + " of " + c.Server
	switch {
	case c.Verdict == calls.IsError:
		add("cases/is-error", "", text.Clip(c.Err.Error(), 300), 0, called, "expected: a result without isError")
	case c.Err != nil && len(c.Failures) == 0:
		add(ofCall, "", text.Clip(text.FirstLine(c.Err.Error()), 300), 0, called, c.Err.Error())
	}
	for i, f := range c.Failures {
		id, ok := ids[f.Assertion]
		if !ok {
			id = ofCall
		}
		key := f.Assertion
		if f.Assertion == expect.OfQuery {
			key = f.Expected
		}
		for _, before := range c.Failures[:i] { // the same expression twice
			if before.Assertion == f.Assertion && before.Expected == f.Expected {
				key += "+"
			}
		}
		evidence := append([]string{called, "expected: " + f.Expected, "got: " + f.Got}, f.Lines()...)
		add(id, key, text.Clip(f.String(), 300), f.Line, evidence...)
	}
}
