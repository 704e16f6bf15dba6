package check

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *checkScreen) actions() []tui.Action {
	g := "Check"
	return []tui.Action{
		{
			ID: "check.run", Verb: tui.VerbRun, Title: "run again", Group: g, Hint: 1,
			Help: "Examine the server by all sections that only read what it lists. No tool is called.", Disabled: v.cannot,
			Now: func(c *tui.Ctx) string {
				switch {
				case pane.Offline(c) != "":
					return "connect"
				case v.runs[v.server] == nil:
					return "run"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				if pane.Offline(c) != "" {
					v.wanted = c.Server.Name()
					return c.Navigate("servers", pane.Reopen{Server: c.Server.Name(), Screen: "check"})
				}
				v.goal = ""
				return v.start(c, v.usual(c))
			},
		},
		{
			ID: "check.cancel", Verb: tui.VerbCancel, Title: "cancel", Group: g, Hint: 2,
			Help:    "Leave the rest out; what was found stays.",
			Applies: func(*tui.Ctx) bool { return v.running() },
			Disabled: func(*tui.Ctx) string {
				if !v.running() {
					return "no check goes on"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { c.Cancel(v.runs[v.server].op); return nil },
		},
		{
			ID: "check.go", Verb: tui.VerbOpen, Title: "go to it", Group: g, Hint: 3,
			Help: "Go to the tool, prompt or resource that the finding is about; esc comes back.", Disabled: v.noPlace, Run: v.goTo,
		},
		{
			ID: "check.sections", Verb: tui.VerbAdd, Title: "choose sections", Group: g, Hint: 4,
			Help: "Choose which sections run: also conform, fuzz, load and the named calls of the project, which ask first.", Disabled: func(c *tui.Ctx) string {
				if why := pane.Offline(c); why != "" {
					return why
				}
				return v.cannot(c)
			}, Run: v.choose,
		},
		{
			ID: "check.least", Verb: tui.VerbShow, Title: "severity", Group: g, Hint: 5,
			Help: "List everything, warnings and errors, or errors only.",
			Run: func(c *tui.Ctx) tea.Cmd {
				v.least = (v.least + 1) % (check.Error + 1)
				return v.list(c)
			},
		},
		{
			ID: "check.only", Word: "section", Title: "section", Group: g, Hint: 6,
			Help: "List the findings of one section, or of all.", Disabled: v.nothing, Run: v.narrow,
		},
		{
			ID: "check.tokens", Word: "tokens", Title: "tokens", Group: g,
			Help: "Go to the section that counts what the lists cost a model, tool by tool.",
			Run: func(c *tui.Ctx) tea.Cmd {
				v.goal, v.moved = costSection, false
				return v.list(c)
			},
		},
		acceptAction("check", g, 0, v.lock), pane.DriftAction("check"),
		{
			ID: "check.save", Verb: tui.VerbSave, Title: "save report", Group: g,
			Help: "Save the report as JSON.", Disabled: v.noReport,
			Run: func(c *tui.Ctx) tea.Cmd {
				b, err := v.json()
				if err != nil {
					return c.Toast(tui.Failure, err.Error())
				}
				return pane.SaveAs(c, "check", v.server+"-check.json", append(b, '\n'))
			},
		},
	}
}

// running is whether a check of the current server goes on.
func (v *checkScreen) running() bool { x := v.runs[v.server]; return x != nil && x.op != 0 }

func (v *checkScreen) cannot(c *tui.Ctx) string {
	switch {
	case c.Server == nil:
		return "no server is open"
	case v.with.Sections == nil:
		return "there are no sections"
	case v.running():
		return "the check goes on; x cancels it"
	case c.Server.Status().State == session.Connecting:
		return pane.Offline(c)
	}
	return ""
}

func (v *checkScreen) nothing(*tui.Ctx) string {
	if len(v.parts) == 0 {
		return "nothing was examined yet"
	}
	return ""
}

func (v *checkScreen) noReport(*tui.Ctx) string {
	if x := v.runs[v.server]; x == nil || x.report == nil {
		return "there is no report yet"
	}
	return ""
}

func (v *checkScreen) json() ([]byte, error) {
	return json.MarshalIndent(v.runs[v.server].merged(), "", "  ")
}

// report is what is listed as mcphud check prints it.
func (v *checkScreen) report() string {
	r := v.runs[v.server].merged()
	r.Sections = slices.DeleteFunc(r.Sections, func(s check.SectionReport) bool { return v.only != "" && v.only != s.Name })
	r.Findings = slices.DeleteFunc(r.Findings, func(f check.Finding) bool { return f.Severity < v.least })
	var b strings.Builder
	if err := report.Write(&b, report.Text, r, report.Options{FailOn: check.Error, Table: page.AlignRows}); err != nil {
		return err.Error()
	}
	return b.String()
}

// all are all sections; usual those that only read.
func (v *checkScreen) all(c *tui.Ctx) []CheckSection { return v.with.Sections(c.Server.Config()) }

func (v *checkScreen) usual(c *tui.Ctx) []CheckSection {
	return slices.DeleteFunc(v.all(c), func(s CheckSection) bool { return s.Calls })
}

// choose asks which sections run.
func (v *checkScreen) choose(c *tui.Ctx) tea.Cmd {
	picks := []tui.Option{{Group: "Only reads", Title: "all that only read", Help: "what r runs", Run: func(c *tui.Ctx) tea.Cmd { return v.start(c, v.usual(c)) }}}
	for _, s := range v.all(c) {
		one := []CheckSection{s}
		p := tui.Option{Group: "Only reads", Title: s.Name(), Help: s.Title(), Run: func(c *tui.Ctx) tea.Cmd { return v.start(c, one) }}
		if s.Calls {
			p.Group, p.Run = "Asks first", func(c *tui.Ctx) tea.Cmd { return v.agree(c, one) }
			if c.ReadOnly {
				p.Disabled = "not in read-only mode"
			}
		}
		picks = append(picks, p)
	}
	return c.Pick("Run sections", picks)
}

// agree asks before a section runs that does more than read.
func (v *checkScreen) agree(c *tui.Ctx, sections []CheckSection) tea.Cmd {
	name, title := sections[0].Name(), safe.Line(c.Server.Title(), 40)
	q, body := "Let "+name+" call tools of "+title+"?", "It sends requests with arguments that nobody wrote, over a connection of its own. Only tools that are marked as read-only are called; "+
		"whether they keep that promise is up to the server."
	if asks := sections[0].Asks; asks != "" {
		q, body = "Run "+name+" on "+title+"?", asks
	}
	return c.Confirm(tui.Confirmation{
		Title: q, Body: body, Yes: "run it", OnYes: func(c *tui.Ctx) tea.Cmd { return v.start(c, sections) },
	})
}

// narrow asks whose findings are listed.
func (v *checkScreen) narrow(c *tui.Ctx) tea.Cmd {
	show := func(name string) func(*tui.Ctx) tea.Cmd {
		return func(c *tui.Ctx) tea.Cmd { v.only = name; return v.list(c) }
	}
	picks := []tui.Option{{Title: "all sections", Run: show("")}}
	for _, p := range v.parts {
		picks = append(picks, tui.Option{Title: p.name, Help: p.title, Run: show(p.name)})
	}
	return c.Pick("List", picks)
}

// screenOf are the screens of the kinds of places.
var screenOf = map[string]string{check.OfTool: "tools", check.OfPrompt: "prompts", check.OfResource: "resources", check.OfTemplate: "templates"}

func (v *checkScreen) noPlace(*tui.Ctx) string {
	_, f := v.selected()
	switch {
	case f == nil:
		return "no finding is selected"
	case screenOf[f.Place.Kind] == "":
		return "the finding is about the server as a whole"
	}
	return ""
}

func (v *checkScreen) goTo(c *tui.Ctx) tea.Cmd {
	_, f := v.selected()
	return c.NavigateOn(v.server, screenOf[f.Place.Kind], f.Place.Name)
}
