package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// StepRow is one step of auth explain as JSON.
type StepRow struct {
	Step    string         `json:"step"`
	State   auth.StepState `json:"state"`
	Asks    string         `json:"asks"`    // by the specification
	Section string         `json:"section"` // of it
	Found   []string       `json:"found"`
	Sent    []sentRow      `json:"requests"`
	Broken  *brokenRow     `json:"broken,omitempty"`
	Error   string         `json:"error,omitempty"`
	Ms      float64        `json:"ms"`
	took    time.Duration
}

// sentRow is one exchange of a step.
type sentRow struct {
	Request string  `json:"request"`
	Answer  string  `json:"answer"`
	Ms      float64 `json:"ms"`
	took    time.Duration
}

// brokenRow is a rule that somebody broke.
type brokenRow struct {
	By      auth.Party `json:"by"`
	Section string     `json:"section"`
	What    string     `json:"what"`
}

// authExplain goes through the steps before a login, and prints what was found.
func (a *app) authExplain(ctx context.Context, _ *cobra.Command, s config.Server) (err error) {
	logins, err := a.Logins(a.Options.Settings)
	if err != nil {
		return err
	}
	j, done, err := a.Journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	au := auth.New(s, *logins)
	au.Journal(transport.Tap{Journal: j, Server: s.Name})
	out := a.Printer()
	sd := cli.NewSide(j, a.Err, out, false)
	defer sd.Stop()
	var person auth.Person
	if a.CanLogIn() {
		person = a.BrowserPerson(sd, s.Name, nil)
	}
	flow, failed := au.Discover(ctx, person)
	if ctx.Err() != nil {
		return errors.Join(cli.ErrNotLoggedIn, ctx.Err())
	}
	rows := []StepRow{}
	for _, step := range flow.Steps() {
		rows = append(rows, explainedStep(j, step))
	}
	sd.Finish()
	if err := out.Show(map[string]any{"url": mask.URL(s.URL), "issuer": mask.URL(flow.Issuer()), "ok": failed == nil, "steps": rows}, func(t *output.Text) { printSteps(t, out.Width, rows) }); err != nil || failed == nil {
		return err
	}
	failed = failure.Wrap(failed, s.Name, "discovery")
	var v *auth.Violation
	if errors.As(failed, &v) && (v.By == auth.ByServer || v.By == auth.ByIssuer) {
		failed = &cli.StrictError{Err: failed}
	}
	return failed
}

func explainedStep(j *journal.Journal, step auth.Step) StepRow {
	row := StepRow{Step: step.Name, State: step.State, Asks: step.Asks, Section: step.Section, Found: append([]string{}, step.Notes...), Sent: []sentRow{}, Ms: output.Ms(step.Took), took: step.Took}
	for _, seq := range step.Exchanges {
		sent := sentRow{Answer: "none"}
		for _, e := range j.Snapshot(0, nil) {
			switch {
			case e.Seq == seq:
				sent.Request = e.Note
			case e.Peer == seq && e.Dir == journal.In:
				sent.Answer, sent.Ms, sent.took = e.Note, output.Ms(e.Took), e.Took
			}
		}
		row.Sent = append(row.Sent, sent)
	}
	if v := step.Broken; v != nil {
		row.Broken = &brokenRow{v.By, v.Section, v.What}
	}
	if step.Err != nil {
		row.Error = step.Err.Error()
	}
	return row
}

// printSteps writes the steps for people.
func printSteps(t *output.Text, width int, rows []StepRow) {
	for i, r := range rows {
		if i > 0 {
			t.Block("")
		}
		mark := map[auth.StepState]string{auth.Done: "✓", auth.Failed: "✗", auth.Skipped: "–"}[r.State]
		t.Prose(width, fmt.Sprintf("%s %d %s: %s, %s", cmp.Or(mark, " "), i+1, r.Step, r.State, text.Duration(r.took)))
		t.Prose(width, "    asked: "+r.Asks+" ("+r.Section+")")
		for _, s := range r.Sent {
			t.Prose(width, fmt.Sprintf("    %s: %s, %s", s.Request, s.Answer, text.Duration(s.took)))
		}
		for _, f := range r.Found {
			t.Prose(width, "    "+f)
		}
		switch {
		case r.Broken != nil:
			t.Prose(width, fmt.Sprintf("    broken by %s: %s (%s)", r.Broken.By, r.Broken.What, r.Broken.Section))
		case r.Error != "":
			t.Prose(width, "    failed: "+r.Error)
		}
	}
}
