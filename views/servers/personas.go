package servers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// personas picks as which client the current server sees this program, and shows what a server offers to another client. Navigate's
// Arg may be a comparison to make at once.
type personas struct {
	pane.ListPage
	all  []persona.Persona // the first is this program as it was started
	seen map[string]persona.Comparison
}

// comparison asks for the comparison with a persona, by its name.
type comparison struct{ persona string }

// asStarted is the name of the first row.
const asStarted = "mcphud"

// NewPersonas is the screen of the clients as which a server can be seen.
func NewPersonas() *tui.Screen {
	v := &personas{seen: map[string]persona.Comparison{}}
	v.View, v.Page, v.About, v.Pick = "personas", v.page, v.about, func(c *tui.Ctx, _ int) tea.Cmd { return v.present(c) }
	v.all = append([]persona.Persona{{Name: asStarted, Title: "this program, as it was started"}}, persona.All()...)
	return v.screen()
}

func (v *personas) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "personas", Title: "Personas", Aliases: []string{"persona", "as"}, Tab: "servers", Split: 40, StackUnder: 100,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Personas"}, {ID: "detail", Title: "Persona"}},
		Actions: v.actions, Handle: v.handle, CopyText: v.copyText, Breadcrumb: v.breadcrumb,
	})
}

func (v *personas) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "personas.present", Verb: tui.VerbOpen, Title: "present as", Group: "Personas", Hint: 1, Pane: "list",
			Help: "Present this program to the server as the client under the cursor from now on, and reconnect.", Disabled: v.none, Run: v.present,
		},
		{
			ID: "personas.compare", Verb: tui.VerbDiff, Title: "compare", Group: "Personas", Hint: 2,
			Help:     "Show what the server offers to the client under the cursor and not here: over a second connection, which is closed again.",
			Disabled: v.incomparable, Run: func(c *tui.Ctx) tea.Cmd { return v.askCompare(c, v.selected()) },
		},
	}
}

// personaActions lead to the screen from where servers are.
func personaActions(view string, of func(*tui.Ctx) *session.Session) []tui.Action {
	to := func(arg any) func(*tui.Ctx) tea.Cmd {
		return func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(of(c).Name(), "personas", arg) }
	}
	none := func(c *tui.Ctx) string {
		if of(c) == nil {
			return "no server is selected"
		}
		return ""
	}
	return []tui.Action{
		{
			ID: view + ".persona", Word: "persona", Title: "persona", Group: "Server",
			Help: "Choose as which client the server sees this program.", Disabled: none, Run: to(nil),
		},
		{
			ID: view + ".without", Word: "without", Title: "without capabilities", Group: "Server",
			Help: "Show what a client that can answer neither elicitation nor sampling nor roots is offered and what it is not.",
			Disabled: func(c *tui.Ctx) string {
				if why := none(c); why != "" {
					return why
				}
				if of(c).Status().State != session.Connected {
					return "the server is not connected"
				}
				return ""
			},
			Run: to(comparison{persona.None}),
		},
	}
}

func (v *personas) selected() persona.Persona {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i]
	}
	return persona.Persona{}
}

func (v *personas) none(c *tui.Ctx) string {
	switch {
	case c.Server == nil:
		return "no server is selected"
	case v.selected().Name == "":
		return "nothing is selected"
	}
	return ""
}

func (v *personas) incomparable(c *tui.Ctx) string {
	if why := cmp.Or(v.none(c), pane.Offline(c)); why != "" {
		return why
	}
	if v.selected().Name == asStarted {
		return "it is what the others are compared with"
	}
	return ""
}

// clientOf is what a row makes a session present; nil for the first.
func clientOf(p persona.Persona) *session.Client {
	if p.Name == asStarted {
		return nil
	}
	return p.Client()
}

// current is the row of what a server is presented.
func (v *personas) current(s *session.Session) int {
	if s == nil {
		return 0
	}
	is, known := persona.Of(s.Presented())
	return max(0, slices.IndexFunc(v.all, func(p persona.Persona) bool { return known && p.Name == is.Name }))
}

// presentedAs is the outcome of presenting another client.
type presentedAs struct{ name string }

func (v *personas) present(c *tui.Ctx) tea.Cmd {
	v.Settle()
	if why := v.none(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	p, s := v.selected(), c.Server
	up := s.Status().State != session.Disconnected
	s.Present(clientOf(p))
	for _, other := range v.all { // they were compared with what is not presented any more
		delete(v.seen, v.key(s.Name(), other.Name))
	}
	v.Rev++
	if !up {
		return c.Toast(tui.Note, "presented as "+p.Name+" from the next connection on")
	}
	cmd, _ := c.Replace("personas", "present\x00"+s.Name(), "reconnect as "+safe.Line(p.Name, 60), func(ctx context.Context) (any, error) {
		return presentedAs{p.Name}, s.Reconnect(ctx)
	})
	return cmd
}

// askCompare says first that a command is started a second time.
func (v *personas) askCompare(c *tui.Ctx, p persona.Persona) tea.Cmd {
	s := c.Server
	if s.Config().Command == "" {
		return v.compare(c, s, p)
	}
	return c.Confirm(tui.Confirmation{
		Title: "Start a second process?",
		Body: fmt.Sprintf("To see what %s offers to %s, its command is started once more, and ended when its lists are read:\n\n%s",
			safe.Line(s.Title(), 60), safe.Line(p.Called(), 60), safe.Line(s.Config().Masked().Destination(), 500)),
		Yes: "start and compare", No: "cancel",
		OnYes: func(c *tui.Ctx) tea.Cmd { return v.compare(c, s, p) },
	})
}

// comparedTo is the outcome of a comparison.
type comparedTo struct {
	server string
	persona.Comparison
}

func (v *personas) compare(c *tui.Ctx, s *session.Session, p persona.Persona) tea.Cmd {
	cmd, _ := c.Replace("personas", "compare\x00"+s.Name(), "compare with "+safe.Line(p.Name, 60), func(ctx context.Context) (any, error) {
		seen, err := persona.Compare(ctx, s, p)
		return comparedTo{s.Name(), seen}, err
	})
	return cmd
}

func (v *personas) key(server, name string) string { return server + "\x00" + name }

func (v *personas) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged:
		v.Rev++
		return nil, true
	case tui.Navigate:
		cmd := v.Changed(c)
		v.List.Select(v.current(c.Server))
		to, ok := m.Arg.(comparison)
		if !ok {
			return cmd, true
		}
		i := slices.IndexFunc(v.all, func(p persona.Persona) bool { return p.Name == to.persona })
		v.List.Select(i)
		if why := v.incomparable(c); why != "" {
			return tea.Batch(cmd, c.Toast(tui.Warning, why)), true
		}
		return tea.Batch(cmd, v.askCompare(c, v.all[i])), true
	case tui.OpDone:
		return v.finished(c, m)
	}
	return v.Handle(c, msg, func() tea.Cmd { return v.present(c) })
}

func (v *personas) finished(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	switch r := m.Value.(type) {
	case presentedAs:
		v.Rev++
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error()), true
		}
		return c.Toast(tui.Success, "connected, presented as "+r.name), true
	case comparedTo:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error()), true
		}
		v.seen[v.key(r.server, r.Persona.Name)] = r.Comparison
		v.Rev++
		v.Detail.Top = 0
		return nil, true
	}
	return v.Filtered(c, m)
}

func (v *personas) breadcrumb(*tui.Ctx) string { return v.selected().Name }

func (v *personas) copyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	p := v.selected()
	switch k {
	case tui.CopyValue:
		return tui.CopyString(p.Name, true)
	case tui.CopyJSON:
		return tui.CopyBytes(p.Capabilities)
	}
	return nil
}
