package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// rootsSchema is the form of a list of roots.
const rootsSchema = `{"type":"object","properties":{"roots":{"type":"array","description":"folders and URIs that the server is told when it asks",` +
	`"items":{"type":"string","minLength":1}}}}`

// roots edits what the current server is told when it asks for roots, and notifies it of the change.
type roots struct {
	of     string // server whose roots the form holds
	form   *form.Form
	drafts map[string]*form.Form // of other servers, changed and not used yet
}

// NewRoots is the form for the roots that servers are told.
func NewRoots() *tui.Screen { return (&roots{drafts: map[string]*form.Form{}}).screen() }

func (v *roots) screen() *tui.Screen {
	return &tui.Screen{
		ID: "roots", Title: "Roots", Tab: "servers",
		Panes:   []tui.PaneSpec{{ID: "form", Title: "Roots"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, Typing: v.typing, Hints: v.hints,
	}
}

func (v *roots) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "roots.save", Verb: tui.VerbSend, Title: "use these", Group: "Roots", Hint: 1,
			Help: "Use these roots for this run, and notify the server of the change.", Disabled: v.none, Run: v.save,
		},
		{
			ID: "roots.back", Verb: tui.VerbLeave, Title: "back", Group: "Roots", Hint: 60,
			Help: "Go back; what was changed and not used is kept.", Run: func(c *tui.Ctx) tea.Cmd { return c.Back() },
		},
	}, pane.FormActions("roots", v.none, func() *form.Form { return v.form }, func(*tui.Ctx) tea.Cmd { return v.form.Cmd() })...)
}

func (v *roots) none(*tui.Ctx) string {
	if v.form == nil {
		return "no server is selected"
	}
	return ""
}

// typing is whether letters go into the form.
func (v *roots) typing(*tui.Ctx) bool { return v.form != nil && v.form.Typing() }

// hints are what the form's keys do at the focused field.
func (v *roots) hints(*tui.Ctx) (out []tui.Hint) {
	if v.form == nil {
		return nil
	}
	for _, h := range v.form.Hints() {
		out = append(out, tui.Hint{Key: h.Keys[0], Title: h.Text})
	}
	return out
}

// rootsSet is the outcome of using other roots.
type rootsSet struct{ n int }

func (v *roots) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate, tui.ServerChanged:
		return v.open(c), true
	case tui.OpDone:
		r, ok := m.Value.(rootsSet)
		switch {
		case m.Err != nil:
			return c.Toast(tui.Failure, m.Err.Error()), true
		case ok:
			return c.Toast(tui.Success, text.Count(r.n, "root")+" from now on; the server is notified where it is connected and supports that"), true
		}
		return nil, false
	}
	if v.form == nil {
		return nil, false
	}
	ok := false
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		ok = v.form.Key(m)
	case tea.PasteMsg:
		ok = v.form.Paste(m.Content)
	case tui.PaneMouse:
		if ok = true; m.Wheel != 0 {
			v.form.Wheel(3 * m.Wheel)
		} else if m.Click == tea.MouseLeft {
			v.form.Click(m.X, m.Y)
		}
	default:
		ok = v.form.Handle(msg)
	}
	return v.form.Cmd(), ok
}

// open shows the roots of the current server, unless something was changed and not used yet.
func (v *roots) open(c *tui.Ctx) tea.Cmd {
	if v.form != nil && v.form.Dirty() {
		v.drafts[v.of] = v.form
	}
	if c.Server == nil {
		v.form, v.of = nil, ""
		return nil
	}
	name := c.Server.Name()
	if draft := v.drafts[name]; draft != nil {
		v.of, v.form = name, draft
		return v.form.Cmd()
	}
	v.of, v.form = name, form.New(schema.Parse([]byte(rootsSchema)), c.Theme)
	list := c.Server.Roots()
	if list == nil {
		list = []string{}
	}
	b, err := json.Marshal(map[string]any{"roots": list})
	if err == nil { // strings always marshal
		err = v.form.SetJSON(b)
	}
	v.form.MarkClean()
	if err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return v.form.Cmd()
}

func (v *roots) save(c *tui.Ctx) tea.Cmd {
	var value struct{ Roots []string }
	if err := v.form.Err(); err != nil {
		return c.Toast(tui.Warning, "not valid JSON: "+err.Error())
	}
	if problems := v.form.Check(); len(problems) > 0 {
		return c.Toast(tui.Warning, problems[0].Sentence())
	}
	if err := json.Unmarshal(v.form.JSON(), &value); err != nil {
		return c.Toast(tui.Warning, "roots are a list of texts: "+err.Error())
	}
	s := c.Server
	v.form.MarkClean()
	delete(v.drafts, v.of)
	cmd, _ := c.Go("roots", "change the roots of "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
		return rootsSet{len(value.Roots)}, s.SetRoots(ctx, value.Roots)
	})
	return cmd
}

func (v *roots) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if v.form == nil {
		p.Lines, p.Scroll = pane.Message(c.Theme, p.W, "No server is selected.", "Pick one in the list of servers."), tui.Scroll{}
		return nil
	}
	return pane.DrawForm(c, p, v.form)
}

func (v *roots) plain(_ *tui.Ctx, w io.Writer) {
	if v.form == nil {
		fmt.Fprintln(w, "No server is selected.")
	}
}

// choices are the roots, each asked for by its number, adding one, and using them.
func (v *roots) choices(*tui.Ctx) []tui.Choice {
	if v.form == nil {
		return nil
	}
	add := func(c *tui.Ctx) tea.Cmd {
		return c.Ask(tui.Question{Label: "folder or URI", OnDone: func(_ *tui.Ctx, text string) tea.Cmd {
			var value struct {
				Roots []string `json:"roots"`
			}
			_ = json.Unmarshal(v.form.JSON(), &value) // a list of texts, or nothing yet
			if b, err := json.Marshal(map[string]any{"roots": append(value.Roots, text)}); err == nil {
				_ = v.form.SetJSON(b) // made just now
			}
			return v.form.Cmd()
		}})
	}
	return append(pane.FieldChoices(v.form, func() {}), tui.Choice{Label: "add a root", Run: add}, tui.Choice{Label: "use these", Run: v.save})
}
