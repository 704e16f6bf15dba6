// Package servers is the screens about servers themselves: the list of them, how one is added, changed, found in a registry, told what it
// needs, logged in at and diagnosed; the roots and the name that this program shows it.
package servers

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// servers lists every server that the configs name or that was opened, with its state and what it says of itself. It is
// the only screen that starts one. Navigate's Arg may be the name (string) of a server to open.
type servers struct {
	pane.ListPage
	trust   *config.Trust
	configs *Configs
	secrets Secrets
	all     []*session.Session
	revs    uint64            // sum of the sessions' revisions
	nameCol int               // cells that the longest name takes
	opening map[string]string // screens on which connecting to a server should end
	returns map[string]bool   // servers of which that is where somebody was
	edited  []byte            // what the editor of ./mcphud.yaml was given, nil where there is no file
	pool    *toolset.Pool     // nil: connections have no limit, and stay
	stats   toolset.PoolStats
	cards   published
	about   pane.LeadPane // the page of the server under the cursor
	beside  Beside
	lastLog map[string]uint64 // the entry that each server logged last
	logSeen uint64            // of the journal
}

// NewServers is the list of servers. All that it takes may be nil.
func NewServers(trust *config.Trust, pool *toolset.Pool, configs *Configs, secrets Secrets, beside Beside) *tui.Screen {
	v := &servers{trust: trust, pool: pool, configs: configs, secrets: secrets, opening: map[string]string{}, returns: map[string]bool{}, beside: beside, lastLog: map[string]uint64{}}
	v.View, v.Page, v.Pick = "servers", v.page, func(c *tui.Ctx, _ int) tea.Cmd { return v.open(c) }
	v.Freeze = func() (int, func(int) (string, string)) { return 0, nil }
	v.Inputs = func(*tui.Ctx) any { return [3]any{v.revs, v.moving(), v.stats} }
	return v.screen()
}

func (v *servers) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "servers", Title: "Servers", Aliases: []string{"server", "s"}, NoRail: true, AllServers: true, Split: 50,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Servers"}, {ID: "detail", Title: "Server"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, CopyText: v.copyText, CopyShapes: v.copyShapes, CopyShape: v.copyShape, Lone: v.lone, Breadcrumb: v.breadcrumb, Badge: v.badge,
	})
}

// badge is how many there are, where that is not plain.
func (v *servers) badge(*tui.Ctx) string {
	if len(v.all) < 2 {
		return ""
	}
	return strconv.Itoa(len(v.all))
}

func (v *servers) none(*tui.Ctx) string {
	if v.selected() == nil {
		return "no server is selected"
	}
	return ""
}

func (v *servers) notUp(c *tui.Ctx) string {
	if s := v.selected(); s == nil || s.Status().State == session.Disconnected {
		return "the server is not connected"
	}
	return ""
}

func (v *servers) notConnected(*tui.Ctx) string {
	if s := v.selected(); s == nil || s.Status().State != session.Connected {
		return "the server is not connected"
	}
	return ""
}

func (v *servers) noLogin(c *tui.Ctx) string {
	if why := v.none(c); why != "" {
		return why
	}
	if v.selected().Authorizer() == nil {
		return "it has no login: a command needs an oauth block for one"
	}
	return ""
}

// lone says that there is no server to say anything about.
func (v *servers) lone(*tui.Ctx) bool { return len(v.all) == 0 }

// nothing is none, where the rows of the empty list are something.
func (v *servers) nothing(c *tui.Ctx) string {
	if len(v.all) == 0 {
		return ""
	}
	return v.none(c)
}

func (v *servers) open(c *tui.Ctx) tea.Cmd {
	if len(v.all) == 0 {
		list := v.starters(c)
		return list[min(max(v.List.Selected(), 0), len(list)-1)].run(c)
	}
	return v.openServer(c, v.selected())
}

func (v *servers) openServer(c *tui.Ctx, s *session.Session) tea.Cmd {
	switch s.Status().State {
	case session.Connected:
		return c.NavigateOn(s.Name(), "tools", nil)
	case session.NeedsLogin:
		return c.NavigateOn(s.Name(), "login", loginThen{"tools"})
	}
	v.opening[s.Name()] = "tools"
	return v.connect(c, s)
}

// openNamed puts the cursor on a server and opens it, on the tools screen or on another one.
func (v *servers) openNamed(c *tui.Ctx, name, screen string) tea.Cmd {
	for i, s := range v.all {
		if s.Name() == name {
			v.List.Select(i)
			v.Rev++
			cmd := v.openServer(c, s) // the filter may hide its row
			if v.opening[name] != "" {
				v.opening[name] = screen
			}
			return cmd
		}
	}
	return c.Toast(tui.Failure, "there is no server "+name)
}

func (v *servers) reconnect(c *tui.Ctx) tea.Cmd { return v.connect(c, v.selected()) }

// connect starts an attempt, after asking for trust where the entry came with a project.
func (v *servers) connect(c *tui.Ctx, s *session.Session) tea.Cmd {
	srv, name, m := current(s), s.Name(), c.Sessions
	switch {
	case srv.Problem == nil && v.trust != nil && !v.trust.Trusted(srv):
		return v.askTrust(c, s)
	case srv.Problem == nil && !srv.Disabled && len(srv.Inputs) > 0:
		return v.ask(c, srv)
	}
	cmd, _ := c.Replace("servers", "connect\x00"+name, "connect "+safe.Line(s.Title(), 80), func(ctx context.Context) (any, error) {
		s, err := m.Settle(name)
		if s == nil {
			return connected{name: name}, err
		}
		if st := s.Status().State; st == session.Connected || st == session.Connecting {
			return connected{name: name}, s.Reconnect(ctx)
		}
		return connected{name: name}, pane.ConnectFrom(ctx, v.pool, s)
	})
	return tea.Batch(c.SelectServer(name), cmd)
}

// connected is the outcome of connecting.
type connected struct {
	name string
	note string // what went wrong beside it
}

// askTrust shows what an entry would start that somebody else wrote.
func (v *servers) askTrust(c *tui.Ctx, s *session.Session) tea.Cmd {
	srv := current(s)
	title, whose := "Start a server from this project?", "This entry is in a file of the working folder, so it may be somebody else's."
	if p := srv.Source.Published; p != nil && p.Registry == "" {
		title, whose = "Start a server that somebody published?", "Nobody here has looked at this server: the file says all of this itself."
	} else if p != nil {
		title, whose = "Start a server that somebody published?", "Nobody here has looked at this server: whoever owns the namespace has published it."
	}
	return c.Confirm(tui.Confirmation{
		Title: title,
		Body:  pane.DescribeServer(srv) + "\n\n" + whose + " It would run or contact exactly this. If you trust it, it is remembered until that changes.",
		Yes:   "trust and start", No: "do not start", Danger: true,
		OnYes: func(c *tui.Ctx) tea.Cmd {
			if err := v.trust.Trust(srv); err != nil {
				return c.Toast(tui.Failure, err.Error())
			}
			return v.connect(c, s)
		},
		OnNo: func(*tui.Ctx) tea.Cmd { delete(v.opening, srv.Name); return nil },
	})
}

func (v *servers) disconnect(c *tui.Ctx) tea.Cmd {
	s, m := v.selected(), c.Sessions
	cmd, _ := c.Replace("servers", "disconnect\x00"+s.Name(), "disconnect "+safe.Line(s.Title(), 80), func(context.Context) (any, error) {
		err := s.Disconnect()
		if s.Outdated() != nil { // now its file counts
			_, _ = m.Settle(s.Name())
		}
		return nil, err
	})
	return cmd
}

func (v *servers) ping(c *tui.Ctx) tea.Cmd {
	s := v.selected()
	cmd, _ := c.Replace("servers", "ping\x00"+s.Name(), "ping "+safe.Line(s.Title(), 80), func(ctx context.Context) (any, error) {
		d, err := s.Ping(ctx)
		return pinged{s.Title(), text.Duration(d)}, err
	})
	return cmd
}

// pinged is the outcome of a ping.
type pinged struct{ name, took string }

func (v *servers) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged:
		return tea.Batch(v.sync(c), v.announce(c)), true
	case tui.Looked: // what the pool closed comes back when it is needed
		return v.connect(c, c.Server), true
	case tui.Navigate:
		cmd := v.sync(c)
		v.seek(c)
		switch to := m.Arg.(type) {
		case string:
			return tea.Batch(cmd, v.openNamed(c, to, "tools")), true
		case pane.Reopen:
			v.returns[to.Server] = true
			return tea.Batch(cmd, v.openNamed(c, to.Server, to.Screen)), true
		case addedServers:
			return tea.Batch(cmd, v.added(c, to)), true
		}
		return cmd, true
	case tui.FocusChanged:
		v.count()
	case tui.FilterChanged:
		return v.SetFilter(c, m.Text), true
	case tui.OpDone:
		return v.finished(c, m), true
	case tui.Edited:
		if m.Tag == ownFile && m.Err == nil {
			if !m.Changed {
				return c.Toast(tui.Note, "unchanged: nothing was written"), true
			}
			return v.write(c, m.Text), true
		}
		return nil, true
	case tea.PasteMsg: // there is nothing else here that takes one
		return c.Navigate("addserver", m.Content), true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return nil, v.about.Handle(msg)
		}
	}
	if c.Focus == "detail" {
		return nil, v.about.Handle(msg)
	}
	consumed, opened := v.MoveCursor("list", msg)
	if opened && v.nothing(c) == "" {
		return v.open(c), true
	}
	if consumed {
		v.about.First()
	}
	return nil, consumed
}

// finished takes the outcome of an operation. A failed connection needs no toast: the detail pane says why.
func (v *servers) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if cmd, ok := changed(c, m); ok {
		return cmd
	}
	if m.Slot == pane.EntrySlot {
		return pane.CopiedAs(c, m)
	}
	switch r := m.Value.(type) {
	case wantedInputs:
		cmd := v.askUser(c, r)
		if m.Err != nil && failure.KindOf(m.Err) != failure.Interrupted {
			cmd = tea.Batch(cmd, c.Toast(tui.Warning, m.Err.Error()))
		}
		return cmd
	case secretsKept:
		return v.showSecrets(c, r, m.Err)
	case secretsForgotten:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return c.Toast(tui.Success, "forgot "+safe.Line(strings.Join(r.names, ", "), 120)+" of "+safe.Line(r.server, 60))
	case readCards:
		return v.cards.keep(c, r, m.Err)
	case connected:
		if r.note != "" {
			return c.Toast(tui.Warning, r.note)
		}
		screen := v.opening[r.name]
		back := v.returns[r.name]
		delete(v.opening, r.name)
		delete(v.returns, r.name)
		if m.Err == nil && screen != "" && c.View == "servers" {
			if back { // esc leads from there to where one was before it, not to here
				return tea.Batch(c.SelectServer(r.name), c.Return(screen))
			}
			return c.NavigateOn(r.name, screen, nil)
		}
		if s, ok := c.Sessions.Server(r.name); ok && m.Err != nil && failure.KindOf(m.Err) != failure.Interrupted && s.Status().State == session.Disconnected {
			return c.Toast(tui.Warning, m.Err.Error()) // nothing was tried: the pool has no room
		}
	case copied:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return v.copyOf(c, r.server)
	case removed:
		return v.sync(c)
	case opened:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		v.edited = r.before
		return c.Edit("servers", ownFile, r.text, ".yaml")
	case reloaded:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return tea.Batch(v.sync(c), v.took(c, r))
	case pinged:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return c.Toast(tui.Success, r.name+" answered in "+r.took)
	}
	cmd, _ := v.Filtered(c, m)
	return cmd
}

// sync takes in the sessions.
func (v *servers) sync(c *tui.Ctx) tea.Cmd {
	at := v.selected()
	v.all = c.Sessions.Servers()
	if c.View == "servers" {
		v.lastLogs(c.Sessions.Journal())
	}
	var revs uint64
	for _, s := range v.all {
		revs += s.Status().Rev
	}
	v.revs = revs + uint64(len(v.all))
	v.nameCol = pane.Widest(len(v.all), pane.NameColumn, func(i int) string { return v.all[i].Title() })
	v.count()
	all := v.all
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(all), func(i int) (name, about string) {
			srv := all[i].Config()
			return all[i].Title(), srv.Name + " " + srv.Masked().Destination() + " " + string(all[i].Status().State) + " " + srv.Source.String()
		}
	}
	if len(all) == 0 {
		return v.SetRows(c, starterRows{v.starters(c), c.Theme})
	}
	cmd := v.Changed(c)
	for i, s := range v.all {
		if s == at {
			v.List.Select(i)
		}
	}
	return cmd
}

// seek puts the cursor on the current server.
func (v *servers) seek(c *tui.Ctx) {
	if c.Server != nil {
		v.selectNamed(c.Server.Name())
	}
}

func (v *servers) selectNamed(name string) {
	for i, s := range v.all {
		if s.Name() == name {
			v.List.Select(i)
			v.Rev++
		}
	}
}

func (v *servers) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Server = ""
	if s := v.selected(); s != nil {
		p.Server = s.Name()
	}
	if p.ID == "list" && len(v.all) > 0 {
		return v.ListPage.Draw(c, p)
	}
	if p.Same(c, v.Rev, v.revs, v.about.Key(), c.Sessions.Rev(), v.List.Selected(), v.moving(), v.stats, v.cards.rev) {
		return nil
	}
	if p.ID == "detail" {
		s := v.selected()
		if s == nil {
			v.about.Draw(c, p, pane.Message(c.Theme, p.W, "No server is selected.", ""), nil)
			return nil
		}
		p.Title = safe.Line(s.Title(), 80)
		v.drawServer(c, p, s)
		return nil
	}
	v.drawFirst(c, p)
	return nil
}

// moving is a key that changes while a countdown or spinner is on the screen.
func (v *servers) moving() any {
	for _, s := range v.all {
		if st := s.Status().State; st == session.Connecting || st == session.Failed {
			return pane.Tick()
		}
	}
	return nil
}

func (v *servers) breadcrumb(*tui.Ctx) string {
	if s := v.selected(); s != nil {
		return safe.Line(s.Title(), 40)
	}
	return ""
}

func (v *servers) copyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	s := v.selected()
	if s == nil {
		return nil
	}
	switch k {
	case tui.CopyValue:
		return tui.CopyString(s.Name(), true)
	case tui.CopyJSON:
		info := s.Status().ServerInfo
		return tui.CopyBytes(info)
	case tui.CopyCommand:
		return pane.CopyCommand(s.Config(), pane.WithMeta(s, shell.Invocation{}))
	case tui.CopyConfig:
		return tui.CopyString(pane.EntryText(s.Config()), true)
	}
	return nil
}

func (v *servers) choices(c *tui.Ctx) (out []tui.Choice) {
	if len(v.all) == 0 {
		for _, x := range v.starters(c) {
			out = append(out, tui.Choice{Label: x.title + ": " + x.about, Run: x.run})
		}
		return out
	}
	return v.Choices(c)
}

// place is where an entry is, as short as it can be said.
func (v *servers) place(src config.Source) string {
	if v.configs == nil || src.File == "" {
		return src.String()
	}
	src.File = pane.ShortPath(v.configs.Where, src.File, src.Project)
	return src.String()
}

func (v *servers) plain(c *tui.Ctx, w io.Writer) {
	if len(v.all) > 0 {
		v.ListPage.Plain(c, w)
		return
	}
	fmt.Fprintln(w, "No servers yet.")
	for _, l := range v.hints(c.Theme, 100, 1000) {
		fmt.Fprintln(w, ansi.Strip(l))
	}
}
