package views_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	checkview "github.com/mcphud/mcphud/views/check"
)

// trial is a section that does what a test says.
type trial struct {
	name string
	run  func(context.Context, *check.Subject, *check.Recorder) error
}

func (s trial) Name() string  { return s.name }
func (s trial) Title() string { return "tries " + s.name }
func (s trial) Rules() []*check.Rule {
	rule := func(name string, severity check.Severity) *check.Rule {
		return &check.Rule{ID: s.name + "/" + name, Severity: severity, Title: "is " + name, Why: "somebody stumbles", Fix: "mend it", Source: "https://example.com/rules", Read: "2026-11-23", Clients: []string{"Cursor"}}
	}
	return []*check.Rule{rule("wrong", check.Error), rule("odd", check.Warning), rule("notable", check.Info)}
}

func (s trial) Run(ctx context.Context, sub *check.Subject, r *check.Recorder) error {
	return s.run(ctx, sub, r)
}

// checks are sections for the screen: those that call tools are named so.
func checks(sections ...check.Section) checkview.Checks {
	return checkview.Checks{
		Tool: check.Tool{Name: "mcphud", Version: "test"},
		Sections: func(config.Server) (out []checkview.CheckSection) {
			for _, s := range sections {
				out = append(out, checkview.CheckSection{Section: s, Calls: strings.HasPrefix(s.Name(), "calls")})
			}
			return out
		},
		Open: func(ctx context.Context, srv config.Server) (*session.Session, func(), error) {
			srv.NoReconnect = true // whether it died is for the check to see
			m := session.NewManager(session.Options{})
			s, err := m.Register(srv)
			if err == nil {
				err = s.Connect(ctx)
			}
			return s, func() { _ = m.Close() }, err
		},
	}
}

// picky finds something of each severity at a tool of the bundled agent.
func picky(_ context.Context, _ *check.Subject, r *check.Recorder) error {
	at := check.Place{Kind: check.OfTool, Name: "form_gallery", Pointer: "/inputSchema"}
	r.Add("lint/odd", check.Finding{Place: at, Message: "the schema is 7 levels deep", Evidence: "{\n  \"a\": \x1b[31m1\n}", Sure: check.Likely})
	r.Add("lint/wrong", check.Finding{Place: check.Place{Kind: check.OfTool, Name: "add"}, Message: "oneOf at the root", Repro: "mcphud tools call add --args '{}'"})
	r.Add("lint/notable", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: "has no icons"})
	return nil
}

func examined(t *testing.T, s config.Server, with checkview.Checks, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{Checks: with})...), tuitest.Target(s), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.SessionOptions(patient),
	}, opts...)...)
}

// TestCheck goes from the tools of a real server to what is wrong with them, and back.
func TestCheck(t *testing.T) {
	t.Parallel()
	app := examined(t, faketest.Stdio(t, behave.Good), checks(trial{"lint", func(_ context.Context, _ *check.Subject, r *check.Recorder) error {
		r.Add("lint/odd", check.Finding{Place: check.Place{Kind: check.OfTool, Name: "sleep"}, Message: "the schema is 7 levels deep", Evidence: "seen \x1b[31mhere", Sure: check.Likely})
		r.Add("lint/wrong", check.Finding{Place: check.Place{Kind: check.OfTool, Name: "echo", Pointer: "/inputSchema"}, Message: "oneOf at the root", Repro: "mcphud tools call echo --args '{}'"})
		r.Add("lint/notable", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: "has no icons"})
		r.Figures(check.Figures{Table: [][]string{{"WHAT", "N"}, {"levels", "7"}}, Notes: []string{"Levels are counted from the root."}})
		return nil
	}}, &cost.Section{Budget: 10}), tuitest.Size(120, 40))
	state(app, session.Connected)
	shows(app, "list", "echo")
	app.Press(":check").View("check")
	shows(app, "list", "✓ server no findings", "✗ lint 1 error, 1 warning, 1 info", "✗ error lint/wrong echo oneOf at the root", "! warning lint/odd sleep", "cost/over-budget", "2 errors, 1 warning")
	app.Pane("list").Selected("lint/wrong")
	shows(app, "detail", "✗ error: is wrong", "tool echo /inputSchema", "clients Cursor", "why somebody stumbles", "fix mend it", "Shown by mcphud tools call echo --args '{}'", "https://example.com/rules", "read on 2026-11-23")
	app.Press("y", "c").Toast("copied mcphud command")
	assert.Equal(t, app.Copied(1), "mcphud tools call echo --args '{}'")
	app.Press("down")
	shows(app, "detail", "! warning: is odd · likely", "seen ^[[31mhere")
	app.Press("y", "c").Toast("copied mcphud command")
	if c := app.Copied(2); !strings.HasPrefix(c, "mcphud check lint ") {
		t.Error(c)
	}
	app.Press("y", "j").Toast("copied JSON")
	var r check.Report
	if err := json.Unmarshal([]byte(app.Copied(3)), &r); err != nil || r.Version != check.Version || len(r.Sections) != 3 || r.Counts.Error != 2 {
		t.Errorf("%v, %+v", err, r)
	}
	app.Press("k", "k")
	shows(app, "detail", "tries lint", "WHAT N levels 7", "Levels are counted")

	app.Press("j", "enter").View("tools")
	app.Pane("list").Selected("echo")
	app.Press("esc").View("check").Pane("list").Selected("lint/wrong")

	app.Press("m", "m")
	shows(app, "list", "errors", "lint/wrong", "cost/over-budget")
	app.Pane("list").HasNot("lint/odd")
	app.Press("m").Press(":section").Type("cost").Press("enter")
	shows(app, "list", "cost/over-budget")
	app.Pane("list").HasNot("lint/wrong")
	app.Press(":section").Type("all sections").Press("enter").Press("/").Type("icons").Press("enter")
	shows(app, "list", "lint/notable")
	app.Pane("list").HasNot("lint/wrong")
	app.Press("esc", "q").View("tools")
}

// A section that goes on says how far it is, can be cancelled, and what it found stays.
func TestCheckIsCancelled(t *testing.T) {
	t.Parallel()
	app := examined(t, faketest.Stdio(t, behave.Good), checks(trial{"slow", func(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
		r.Add("slow/odd", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: "first"})
		r.Step(34, 120, "echo")
		<-ctx.Done()
		return ctx.Err()
	}}, trial{"later", picky}))
	state(app, session.Connected)
	app.Press(":").Type("check").Press("enter").View("check")
	shows(app, "list", "◐ slow running 34/120", "! warning odd server first", "· later not yet", "slow… 34/120")
	app.Hints().Has("x cancel")
	app.Press("x").Toast("the check was cancelled")
	shows(app, "list", "1 warning", "– slow cancelled", "first", "– later cancelled")
	app.Hints().Has("r run again").HasNot("x cancel")
}

// Sections that call tools run when they are asked for and agreed to, over a connection of their own.
func TestCheckCallsTools(t *testing.T) {
	t.Parallel()
	var app *tuitest.App // the section needs it before it is there
	app = examined(t, faketest.Stdio(t, behave.Good), checks(trial{"quiet", func(context.Context, *check.Subject, *check.Recorder) error { return nil }},
		trial{"calls", func(ctx context.Context, s *check.Subject, r *check.Recorder) error {
			if s.Session == only(app) {
				return errors.New("this is the connection of the screens")
			}
			_, err := s.Session.CallTool(ctx, "crash", []byte("{}"), session.CallOptions{})
			if err == nil {
				return errors.New("the server did not crash")
			}
			return nil
		}}))
	state(app, session.Connected)
	app.Press(":check").View("check")
	shows(app, "list", "✓ quiet no findings", "rules looked at")
	app.Pane("list").HasNot("calls")
	app.Press("a").Overlay("Run sections").Has("calls", "Asks first")
	app.Type("tries calls").Press("enter")
	app.Confirm("Let calls call tools of").Says("read-only").No()
	app.Press("a").Type("tries calls").Press("enter")
	app.Confirm("Let calls call tools of").Yes()
	shows(app, "list", "✗ server 1 error", "died", "✓ quiet no findings", "✓ calls no findings")
	assert.Equalf(t, only(app).Status().State, session.Connected, "the screens' own connection")
}

// What a section measures is drawn while it does.
func TestCheckDrawsPlots(t *testing.T) {
	t.Parallel()
	app := examined(t, faketest.Stdio(t, behave.Good), checks(trial{"lint", picky}, trial{"calls", func(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
		r.Progress(check.Progress{Done: 1, Total: 3, What: "20 requests a second", Plots: []check.Plot{{Name: "p99", Values: []float64{1, 2, 8}, Last: "8ms \x1b[31m"}}})
		<-ctx.Done()
		return ctx.Err()
	}}))
	state(app, session.Connected)
	app.Press(":check").View("check")
	shows(app, "list", "wrong")
	app.Press("a").Type("tries calls").Press("enter")
	app.Confirm("Let calls call tools of").Yes()
	shows(app, "list", "calls running 1/3")
	shows(app, "detail", "20 requests a second", "p99", "▂▃█", "8ms ^[[31m")
	app.Press("x").Toast("the check was cancelled")
	shows(app, "detail", "▂▃█")
}

// The names of a server are compared with those of the others that are connected.
func TestCheckBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		with := checks(trial{"names", func(_ context.Context, s *check.Subject, r *check.Recorder) error {
			for _, o := range s.Others {
				r.Add("names/odd", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: fmt.Sprintf("%s has %d tools", o.Server, len(o.Tools))})
			}
			return nil
		}})
		one, two := newScribe(), newScribe()
		two.tools = strict("alpha", "") + "," + strict("beta", "")
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Checks: with})...), tuitest.Peer("one", one.serve), tuitest.Peer("two", two.serve), tuitest.At("tools", nil), tuitest.Size(100, 24))
		app.Press(":check").View("check").Pane("list").Has("1 warning", "two has 2 tools").HasNot("one has")
	})
}

// A list that cannot be read is a finding, and a server that is gone can be connected to from here.
func TestCheckOfBadServers(t *testing.T) {
	t.Parallel()
	app := examined(t, faketest.Stdio(t, behave.ListError), checks(&cost.Section{}))
	state(app, session.Connected)
	app.Press(":check").View("check")
	shows(app, "list", "✗ server", "list-failed", "tools/list")

	app = examined(t, faketest.Stdio(t, behave.Good), checks(&cost.Section{}), tuitest.At("servers", nil), tuitest.NoConnect())
	app.Press(":check").View("check")
	shows(app, "list", "The server is not connected.", "Press r to connect")
	app.Press("r").View("check")
	shows(app, "list", "✓ server no findings", "cost") // by itself, once it is connected
}

// A section that has nothing to do says why, and one that sends requests says which before it runs.
func TestCheckAbsentAndAsking(t *testing.T) {
	t.Parallel()
	with := checks(trial{"here", findsNothing}, trial{"gone", findsNothing}, trial{"calls", findsNothing})
	sections := with.Sections
	var there atomic.Bool
	with.Sections = func(cfg config.Server) []checkview.CheckSection {
		all := sections(cfg)
		all[1].Absent = func() string {
			if there.Load() {
				return ""
			}
			return "there is no such file"
		}
		all[2].Asks = "It sends 300 requests."
		return all
	}
	app := examined(t, faketest.Stdio(t, behave.Good), with)
	state(app, session.Connected)
	app.Press(":check").View("check")
	shows(app, "list", "✓ here no findings", "– gone there is no such file", "rules looked at")
	there.Store(true)
	app.Press("r")
	shows(app, "list", "✓ here no findings", "✓ gone no findings", "rules looked at")
	app.Press("a").Overlay("Run sections").Has("Asks first")
	app.Type("tries calls").Press("enter")
	app.Confirm("Run calls on").Says("It sends 300 requests.").Yes()
	shows(app, "list", "✓ calls no findings")
}

func findsNothing(context.Context, *check.Subject, *check.Recorder) error { return nil }

// In linear mode the findings are lines.
func TestCheckLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := librarian().serve
		inLinearOn(t, session.Options{
			Dial: func(config.Server) (transport.Transport, bool) { return transport.NewMemory(serve), true },
		}, config.Server{Name: "scribe", Transport: config.Stdio, Command: "memory"}, func(c *console) {
			c.enter("")
			out := c.enter(":check")
			for _, want := range []string{"✗ 1 error, 1 warning, 1 info", "✗ lint/wrong: is wrong (1 error)\n    - tool add: oneOf at the root", "→ mend it", "run again"} {
				assert.Contains(t, out, want)
			}
		}, views.Deps{Checks: checks(trial{"lint", picky})})
	})
}

// TestCheckPictures draws the screen with findings and without, as pictures.
func TestCheckPictures(t *testing.T) {
	for _, sc := range []struct {
		name     string
		sections []check.Section
		play     func(*tuitest.App)
	}{
		{"check", []check.Section{trial{"lint", picky}, &cost.Section{Budget: 1000}}, func(a *tuitest.App) { a.Press(":check").View("check").Pane("list").Has("cost") }},
		{"check-section", []check.Section{trial{"lint", picky}, &cost.Section{}}, func(a *tuitest.App) {
			a.Press(":check").View("check").Press("/").Type("what a model pays").Press("enter", "tab", "z")
		}},
	} {
		draw(t, sc.name, sc.name == "check", sizes, func(t *testing.T, look ...tuitest.Option) *tuitest.App {
			opts := append(agent(), tuitest.Views(views.All(views.Deps{Checks: checks(sc.sections...)})...), tuitest.At("tools", nil), tuitest.Latency(3100*time.Microsecond))
			app := tuitest.Start(t, append(opts, look...)...)
			sc.play(app.Idle())
			return app.Idle()
		})
	}
}

// 100,000 findings are listed while one moves among them.
func TestBudgetCheckManyFindings(t *testing.T) {
	budget.Skip(t)
	const n = 100_000
	with := checks(trial{"lint", func(_ context.Context, _ *check.Subject, r *check.Recorder) error {
		for i := range n {
			r.Add("lint/odd", check.Finding{Place: check.Place{Kind: check.OfTool, Name: fmt.Sprint("tool_", i)}, Message: "is odd"})
		}
		return nil
	}})
	r := newRig(t, faketest.Stdio(t, behave.Good), "tools", views.Deps{Checks: with})
	r.until("rpc_error")
	r.rest()
	r.send(tui.Navigate{View: "check"})
	_, slowest := r.until("100000 warnings")
	budget.Ceiling(t, "100,000 findings, slowest message while they come", slowest, 100*time.Millisecond)
	r.rest()
	budget.Ceiling(t, "100,000 findings, key", bestPress(r, "j", "j", "pgdown", "G", "k", "g"), perKey)
}

// The cursor goes to the section that somebody chose, and to the worst that it finds, though others found worse.
func TestCheckShowsTheChosenSection(t *testing.T) {
	t.Parallel()
	many := trial{"lint", func(_ context.Context, _ *check.Subject, r *check.Recorder) error {
		for i := range 30 {
			r.Add("lint/wrong", check.Finding{Place: check.Place{Kind: check.OfTool, Name: fmt.Sprint("tool", i)}, Message: "oneOf at the root"})
		}
		return nil
	}}
	found := make(chan struct{})
	calls := trial{"calls", func(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
		r.Step(3, 9, "echo")
		<-found
		r.Add("calls/odd", check.Finding{Place: check.Place{Kind: check.OfTool, Name: "echo"}, Message: "answers late"})
		return ctx.Err()
	}}
	app := examined(t, faketest.Stdio(t, behave.Good), checks(many, calls))
	state(app, session.Connected)
	shows(app, "list", "echo")
	app.Press(":check").View("check")
	shows(app, "list", "30 errors · ")
	app.Pane("list").Selected("tool0")
	app.Press("a").Overlay("Run sections")
	app.Type("calls").Press("enter").Confirm("Let calls call tools").Yes()
	shows(app, "list", "calls running 3/9")
	app.Pane("list").Selected("running 3/9")
	close(found)
	shows(app, "list", "! warning odd")
	app.Pane("list").Selected("answers late")
}
