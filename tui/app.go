package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/picture"
)

// App is the program's only tea.Model. Its state is spread over small structs, one for each thing on the screen; Update
// hands every message to the one that it is for.
type App struct {
	cfg     Config
	actions *actionSet
	ctx     Ctx
	ops     *operations
	quit    quitting
	status  status
	beat    beat

	place   place            // what is visible
	history []place          // where esc goes back to
	focus   map[string]int   // pane index last focused, by view id
	panes   map[string]*Pane // by view id and pane id
	filters map[string]string
	// searched are the texts that `/` had, by filterKey.
	searched map[string]*recall
	servers  snapshot // snapshot of the sessions
	rail     rail

	overlays []*layer
	prompt   *prompt
	toasts   toasts
	recall   recall // history of the `:` line
	mouse    mouse
	look     look
	frame    frame
	arrange  LayoutState
	prefs    *preferences
	settings Settings
	pictures *picture.Store // nil in linear mode
	replaced time.Time      // when pictures that were lost were placed again
	start    tea.Cmd        // of taking over the settings
	arranged arrangement
	w, h     int

	linear    bool
	getenv    func(string) string
	clipboard []string
	rerender  bool // the frame must be drawn anew
	crash     *CrashError
	awaited   *awaited      // nil if nothing is
	soon      []tea.Msg     // to be dealt with before the next message, see now
	send      func(tea.Msg) // of the running program, nil before
}

// place is a screen as Back returns to it.
type place struct {
	view  string
	focus int
}

// NewApp makes the model. It fails when the views' declarations or the key bindings are not sound.
func NewApp(ctx context.Context, cfg Config) (*App, error) {
	reg, err := newActionSet(cfg.Views, globalActions(), cfg.Settings.Keys)
	if err != nil {
		return nil, err
	}
	if len(cfg.Views) == 0 {
		return nil, fmt.Errorf("no screens were given to the UI")
	}
	a := &App{
		cfg: cfg, actions: reg, ops: newOperations(ctx),
		focus: map[string]int{}, panes: map[string]*Pane{}, filters: map[string]string{}, searched: map[string]*recall{},
		linear: cfg.Linear, getenv: cfg.getenv(), rerender: true,
	}
	a.ctx = Ctx{app: a, Sessions: cfg.Sessions, ReadOnly: cfg.ReadOnly, Linear: cfg.Linear}
	a.recall.load(cfg.HistoryFile)
	a.prefs = loadPreferences(cfg.PreferencesFile)
	if cfg.NativeClipboard {
		a.clipboard = clipboardCommand(a.getenv, exec.LookPath)
	}
	if !a.linear {
		a.pictures = newPictures(cfg.Out)
	}
	a.look.init(a)
	a.start = a.applySettings(cfg.Settings)
	a.arrange.Zoom = a.prefs.get("zoom") == "true"
	a.servers.refresh(a)
	start := reg.views[0].ID
	if v := reg.find(cfg.Start); v != nil {
		start = v.ID
	} else if cfg.Start != "" {
		return nil, fmt.Errorf("there is no screen %q", cfg.Start)
	}
	a.place = place{view: start}
	a.sync()
	return a, nil
}

// Init opens what the program was started on, at once: as messages of commands, which need a goroutine each, they could come behind keys and
// take back what these opened.
func (a *App) Init() (cmd tea.Cmd) {
	for _, m := range a.first() {
		cmd = join(cmd, a.update(m))
	}
	return join(cmd, a.beside())
}

// first are the messages that open what the program was started on. What a person types is about the screen that they lead to.
func (a *App) first() []tea.Msg {
	all := []tea.Msg{Navigate{View: a.place.view, Arg: a.cfg.StartArg, Server: a.cfg.Server}}
	if a.cfg.Filter != "" {
		all = append(all, setFilter{a.cfg.Filter})
	}
	return all
}

// beside starts what runs beside the screens.
func (a *App) beside() tea.Cmd {
	cmds := []tea.Cmd{a.start, a.news()}
	if !a.linear && a.cfg.Theme == "" && !a.look.plain {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update hands the message to what it is for.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if a.crash != nil {
		return a, tea.Quit
	}
	return a, a.update(msg)
}

func (a *App) update(msg tea.Msg) (cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			a.crashed("Update", v)
			cmd = tea.Quit
		}
	}()
	a.rerender = true
	cmd = a.dispatch(msg)
	cmd = join(cmd, a.settle(), a.arrived())
	a.sync()
	if a.servers.missed {
		a.servers.missed = false
		cmd = join(cmd, a.broadcast(Looked{}))
	}
	return join(cmd, a.arrangePanes(), a.beat.next(a))
}

// dispatch is the table of messages; each line names who deals with one.
func (a *App) dispatch(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = m.Width, m.Height
	case tea.KeyPressMsg:
		return a.key(m)
	case tea.PasteMsg:
		return a.paste(m)
	case tea.MouseMsg:
		return a.mouse.event(a, m)
	case tea.BackgroundColorMsg:
		return a.look.background(a, m.IsDark())
	case tmuxPasses:
		return a.passed(m)
	case picturesLost:
		return a.replacePictures()
	case Reload:
		return a.reload(m)
	case tea.ColorProfileMsg:
		return a.look.profile(a, m.Profile)
	case SessionChanged:
		before := a.ctx.Server
		a.servers.refresh(a)
		if now := a.ctx.Server; before != nil && now != nil && before != now && before.Name() == now.Name() { // it was replaced
			return join(a.broadcast(ServerChanged{Name: now.Name()}), a.broadcast(m), a.deliver("", m))
		}
		return join(a.broadcast(m), a.deliver("", m))
	case Beat:
		return a.beat.tick(a, m)
	case OpDone:
		return a.opDone(m)
	case Rendered:
		return a.deliver(m.View, m)
	case Edited:
		return a.edited(m)
	case pagerDone:
		if m.err != nil {
			a.toasts.add(Failure, m.err.Error())
		}
	case Navigate:
		return a.navigate(m)
	case Back:
		return a.back()
	case Open:
		a.push(m.Overlay, m.Unsolicited)
	case Close:
		return a.pop()
	case askConfirm:
		a.push(newConfirm(m.q), m.q.Unsolicited)
	case askQuestion:
		width := 40
		if a.ctx.Linear {
			width = 1000 // a line of its own, which may list what can be answered
		}
		a.prompt = newQuestion(m.q, width)
	case setFilter:
		return a.setFilter(m.text, true)
	case search:
		if a.place.view == m.view && a.top() == nil && a.prompt == nil && !a.ctx.Linear {
			a.prompt = newFilter(a)
		}
		return nil
	case focusPane:
		return a.focusPane(m.id)
	case backTo:
		return a.backTo(m.views)
	case returnTo:
		return a.returnTo(m.view)
	case selectServer:
		return a.selectServer(m.name)
	case Probe:
		m.Do(a.state())
	case settled: // only what was put off
	case Toast:
		a.toasts.add(m.Level, m.Text)
	case chordWaits:
		a.reveal(m.menu)
	case toastExpired:
		a.toasts.expire(m)
	case interruptExpired:
		a.quit.expire(a, m)
	default:
		return a.broadcastUnknown(msg)
	}
	return nil
}

// sync brings what views read in Ctx up to date.
func (a *App) sync() {
	s := a.current()
	a.arrange = LayoutState{
		Panes: len(s.Panes), Focus: a.place.focus, Zoom: a.arrange.Zoom, StackUnder: s.StackUnder,
		Arrange: a.arrangementOf(s.ID), Split: a.splitOf("beside", s.ID), Above: a.splitOf("above", s.ID),
		NoRail: s.NoRail || a.servers.single(),
	}
	switch {
	case s.Lone != nil && s.Lone(&a.ctx):
		a.arrange.Panes = 1
	case s.Third != nil && !(FitsThird(a.w, a.arrange.Arrange) && s.Third(&a.ctx)):
		a.arrange.Panes = 2
	}
	a.place.focus = min(a.place.focus, a.arrange.Panes-1)
	a.arrange.Focus = a.place.focus
	if s.Rows != nil {
		a.arrange.Rows = func(w, h int) int { return s.Rows(&a.ctx, w, h) }
	}
	if a.arrange.Split == 0 {
		a.arrange.Split = s.Split
	}
	if a.arrange.Above == 0 && a.arrange.Rows == nil {
		a.arrange.Above = s.Split
	}
	a.ctx.View = a.place.view
	a.ctx.Focus = a.paneID()
	a.ctx.Width, a.ctx.Height = a.w, a.h
	looked := a.ctx.Server
	if s.NoRail {
		looked = nil
	}
	a.servers.look(looked)
}

// current is the visible screen.
func (a *App) current() *registered { return a.actions.find(a.place.view) }

// paneID is the id of the focused pane, "rail" for the server rail.
func (a *App) paneID() string {
	if a.place.focus == RailFocus {
		return "rail"
	}
	return a.current().Panes[min(a.place.focus, len(a.current().Panes)-1)].ID
}

// deliver gives a message to one view, or to the overlays when it is none's.
func (a *App) deliver(view string, msg tea.Msg) tea.Cmd {
	if v := a.actions.find(view); v != nil {
		cmd, _ := v.Handle(&a.ctx, msg)
		return cmd
	}
	var cmds []tea.Cmd
	for _, l := range a.overlays {
		cmd, _ := l.overlay.Handle(&a.ctx, msg)
		cmds = append(cmds, cmd)
	}
	return join(cmds...)
}

// broadcast gives a message to every view.
func (a *App) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i := range a.actions.views {
		cmd, _ := a.actions.views[i].Handle(&a.ctx, msg)
		cmds = append(cmds, cmd)
	}
	return join(cmds...)
}

// broadcastUnknown passes on messages that views send to themselves. What
// comes from Bubble Tea itself and means nothing here ends here.
func (a *App) broadcastUnknown(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case tea.EnvMsg, tea.KeyReleaseMsg, tea.FocusMsg, tea.BlurMsg, tea.ModeReportMsg,
		tea.KeyboardEnhancementsMsg, tea.CapabilityMsg, tea.TerminalVersionMsg, tea.ResumeMsg:
		return nil
	}
	return join(a.broadcast(msg), a.deliver("", msg))
}

func (a *App) opDone(m OpDone) tea.Cmd {
	op, wanted := a.ops.done(m.Op)
	a.status.ended(op, m.Err)
	a.toasts.ended(m.Op)
	a.quit.settle(a)
	if !wanted {
		return nil
	}
	return a.deliver(m.View, m)
}

func (a *App) edited(m Edited) tea.Cmd {
	if m.Err != nil {
		a.toasts.add(Failure, m.Err.Error())
	}
	return a.deliver(m.View, m)
}

// join is tea.Batch without wrapping for none or one.
func join(cmds ...tea.Cmd) tea.Cmd {
	live := cmds[:0:0]
	for _, c := range cmds {
		if c != nil {
			live = append(live, c)
		}
	}
	switch len(live) {
	case 0:
		return nil
	case 1:
		return live[0]
	}
	return tea.Batch(live...)
}

// lookupEnv is the environment that the program was given.
func lookupEnv(environ []string) func(string) string {
	if environ == nil {
		return os.Getenv
	}
	return func(key string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if k := environ[i]; len(k) > len(key) && k[len(key)] == '=' && k[:len(key)] == key {
				return k[len(key)+1:]
			}
		}
		return ""
	}
}
