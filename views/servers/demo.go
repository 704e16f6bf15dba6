package servers

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pane"
)

// demo says what runs in the demo, and offers what to try first.
type demo struct {
	pane.ListPage
	seen uint64          // Seq of the newest entry that was looked at
	call uint64          // Seq of the newest call of a tool whose hops are recorded, 0 before there is one
	done map[string]bool // titles of what was tried
	next string          // title of what waits for its server to answer, "" for none
}

// trial is something to try.
type trial struct {
	title, about string
	server       string // that has to be connected, "" for none
	run          func(*tui.Ctx) tea.Cmd
	cannot       string // why it cannot be done yet, "" where it can
}

// NewDemo is the screen that the demo opens on.
func NewDemo() *tui.Screen {
	v := &demo{ListPage: pane.ListPage{Head: true}, done: map[string]bool{}}
	v.View, v.Page, v.Pick = "demo", v.page, v.try
	return v.Screen(tui.Screen{
		ID: "demo", Title: "Demo", Aliases: []string{"welcome"}, Tab: "servers", NoRail: true, AllServers: true,
		Panes: []tui.PaneSpec{{ID: "list", Title: "Demo"}}, Actions: v.actions, Handle: v.handle,
	})
}

func (v *demo) trials() []trial {
	hops := trial{title: "see its hops", about: "what client, router and agent did, and when", run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("trace", v.call) }}
	if v.call == 0 {
		hops.cannot = "once a tool was called"
	}
	return []trial{
		{title: "call a tool through the router", about: "add(19, 23) at demo@router", server: "demo@router", run: func(c *tui.Ctx) tea.Cmd {
			return c.NavigateOn("demo@router", "call", pane.Refill{Name: "add", Value: []byte(`{"a": 19, "b": 23}`), Run: true})
		}},
		hops,
		{title: "answer a question", about: "a tool of everything asks for your name", server: "everything", run: func(c *tui.Ctx) tea.Cmd {
			return c.NavigateOn("everything", "call", pane.Refill{Name: "test_input_required_result_elicitation", Run: true})
		}},
		{title: "check an agent", about: "schemas, tokens and safety of everything", server: "everything", run: func(c *tui.Ctx) tea.Cmd {
			return c.NavigateOn("everything", "check", "everything")
		}},
	}
}

func (v *demo) page(*tui.Ctx) page.Page {
	p := page.Page{Title: "The demo: three agents and a router", Foot: ":demo comes back here"}
	p.Line(page.Plain, "Three agents and a router run below mcphud, on this machine alone:").
		Field("demo", "finds texts, runs JavaScript, calls the others").
		Field("everything", "has each feature of the protocol, questions too").
		Field("fault", "breaks things on purpose").
		Field("router", "one address for all, as NAME@router; it records each hop")
	p.Heading("Try first")
	all := v.trials()
	p.Table = page.Table{Columns: []page.Column{{Cells: 1}, {Found: true, Cells: 30}, {}}, Len: len(all), Row: func(i int) page.Row {
		t := all[i]
		mark, about := page.Text{S: "›", Tone: page.Accent}, t.about
		if v.done[t.title] {
			mark = page.Text{S: "✓", Tone: page.Good}
		}
		switch {
		case t.title == v.next:
			mark, about = page.Text{S: "…", Tone: page.Accent}, "waits for "+t.server+" to answer"
		case t.cannot != "":
			mark.Tone, about = page.Quiet, t.cannot
		}
		return page.Row{Cells: []page.Text{mark, {S: t.title}, {S: about, Tone: page.Quiet}}}
	}}
	return p
}

func (v *demo) actions() []tui.Action {
	return []tui.Action{{
		ID: "demo.try", Verb: tui.VerbOpen, Title: "try", Group: "Demo", Hint: 1, Help: "Do what is under the cursor.",
		Disabled: func(*tui.Ctx) string {
			if i := v.List.Selected(); i >= 0 {
				return v.trials()[i].cannot
			}
			return "nothing is chosen"
		},
		Run: func(c *tui.Ctx) tea.Cmd { return v.try(c, v.List.Selected()) },
	}}
}

// startWait is how long a server that just started is given to answer, the router to know it, and startPause how long one waits between two attempts.
const startWait, startPause = 30 * time.Second, 250 * time.Millisecond

// ready is what to try, at a server whose tools are known.
type ready struct{ trial }

// trySlot is the slot of the wait for a server.
const trySlot = "try"

// try does something as soon as its server is connected: agents start while the screen is read.
func (v *demo) try(c *tui.Ctx, i int) tea.Cmd {
	t := v.trials()[i]
	if t.cannot != "" {
		return c.Toast(tui.Note, t.title+": "+t.cannot)
	}
	s, ok := c.Sessions.Server(t.server)
	if t.server == "" || !ok {
		v.tried(t)
		return t.run(c)
	}
	v.next = t.title
	v.Rev++
	cmd, _ := c.Replace(v.View, trySlot, "connect "+t.server, func(ctx context.Context) (any, error) {
		err := s.Connect(ctx)
		for end := time.Now().Add(startWait); err != nil && ctx.Err() == nil && time.Now().Before(end); err = s.Connect(ctx) {
			select {
			case <-ctx.Done():
			case <-time.After(startPause):
			}
		}
		if err == nil {
			_, err = s.List(ctx, offer.Tools)
		}
		return ready{t}, err
	})
	return cmd
}

// answered goes on with what waited for its server, or says why it cannot.
func (v *demo) answered(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	v.next = ""
	v.Rev++
	r, _ := m.Value.(ready)
	if m.Err != nil {
		return c.Toast(tui.Failure, r.title+": "+m.Err.Error()+"; enter tries again, :stack shows what the processes say")
	}
	v.tried(r.trial)
	return r.run(c)
}

func (v *demo) tried(t trial) {
	v.done[t.title] = true
	v.Rev++
}

func (v *demo) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		return v.Changed(c), true
	case tui.SessionChanged:
		v.look(c)
		return nil, true
	case tui.OpDone:
		if m.Slot == trySlot {
			return v.answered(c, m), true
		}
		return v.Filtered(c, m)
	}
	return v.Handle(c, msg, func() tea.Cmd { return v.try(c, v.List.Selected()) })
}

// look finds the newest call of a tool whose hops are recorded, among what came since.
func (v *demo) look(c *tui.Ctx) {
	before := v.call
	c.Sessions.Journal().Each(v.seen, func(e *journal.Entry) bool {
		v.seen = e.Seq
		if e.Kind == journal.Request && e.Dir == journal.Out && e.Tool != "" && e.Trace != "" {
			v.call = e.Seq
		}
		return true
	})
	if (v.call == 0) != (before == 0) {
		v.Rev++
	}
}
