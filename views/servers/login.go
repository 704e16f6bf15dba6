package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// login is the login at the current server: what it is known by there, and the steps of the last login, each with what was found, what
// the specification asks and the exchanges behind it. Navigate's Arg may be a tui.LogIn, to start at once.
type login struct {
	loginList
	detail pane.TextPane
	trust  *config.Trust
	pool   *toolset.Pool
	browse func(ctx context.Context, url string) error // nil for no browser
	auto   bool                                        // it opens the page by itself

	server    string // whose login it is
	read      string // server whose store was read
	st        auth.Status
	steps     []auth.Step // of the last login, and those to come
	exchanges map[uint64]pane.Exchange
	rows      []loginRow
	open      int  // step whose exchanges are listed
	follows   bool // the cursor goes with the step that runs
	ticking   bool
	runs      map[string]*loginRun // by server
	// unfinished are what logins were for that failed, by server.
	unfinished map[string]loginAim
}

// loginList is the list of steps; as pane.Rows it would hide the method that says how tall it is.
type loginList = pane.Rows

// loginRow is a row of the list: the login itself (step -1), a step, or an exchange of it.
type loginRow struct {
	step     int
	exchange uint64
}

// loginRun is a login that goes on.
type loginRun struct {
	*visitor
	op    uint64
	page  browser.Page // what to open; its URL is "" while there is nothing to do
	drawn bool         // the URL was on the screen
	asked bool         // a question is open
	note  string       // what did not help
	loginAim
}

// loginAim is what comes after a login.
type loginAim struct {
	again func(*tui.Ctx) tea.Cmd // does again what was refused; nil for nothing
	then  string                 // screen to go to, "" for the one before
}

// loginThen is a tui.LogIn that goes on to another screen.
type loginThen struct{ screen string }

// NewLogin is the screen of the login at a server; browse opens a page by itself where auto says so.
func NewLogin(trust *config.Trust, pool *toolset.Pool, browse func(context.Context, string) error, auto bool) *tui.Screen {
	v := &login{
		loginList: pane.Rows{View: "login"}, trust: trust, pool: pool, browse: browse, auto: auto && browse != nil,
		exchanges: map[uint64]pane.Exchange{}, runs: map[string]*loginRun{}, unfinished: map[string]loginAim{}, open: -1, follows: true,
	}
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(v.rows), func(i int) (name, about string) { return v.rowName(v.rows[i]), "" }
	}
	return v.screen()
}

func (v *login) screen() *tui.Screen {
	return &tui.Screen{
		ID: "login", Title: "Login", Aliases: []string{"auth"}, Tab: "servers", Split: 45, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Login"}, {ID: "detail", Title: "Step"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, PageText: v.pageText, CopyText: v.copyText, Hints: v.hints, Rows: v.firstRows, Breadcrumb: v.breadcrumb,
		Waits: v.waits,
	}
}

func (v *login) actions() []tui.Action {
	g := "Login"
	return []tui.Action{
		{
			ID: "login.refresh", Verb: tui.VerbRun, Title: "refresh token", Group: g, Hint: 7,
			Help:    "Get a new token now, with the refresh token; :login logs in again.",
			Applies: func(*tui.Ctx) bool { return v.st.Refresh && v.run() == nil },
			Disabled: func(*tui.Ctx) string {
				switch {
				case v.run() != nil:
					return "a login is going on; x cancels it"
				case !v.st.Refresh:
					return "there is no refresh token"
				}
				return ""
			},
			Run: v.refresh,
		},
		{
			ID: "login.start", Verb: tui.VerbRun, Word: "login", Title: "log in", Group: g, Hint: 1,
			Help: "Log in at the server, with a browser.", Disabled: v.cannotStart,
			Now: func(*tui.Ctx) string {
				if v.st.LoggedIn || v.failed() {
					return "log in again"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return v.start(c, v.unfinished[v.server], auth.LoginOptions{}) },
		},
		{
			ID: "login.enter", Verb: tui.VerbOpen, Title: "traffic", Group: g, Hint: 8, Pane: "list",
			Help: "Show what was said on the wire: the exchange under the cursor, or the last one of the step.", Disabled: v.noExchange, Run: v.traffic,
		},
		{
			ID: "login.open", Verb: tui.VerbElsewhere, Title: "open URL", Group: g, Hint: 2,
			Help: "Open the URL of the login in the browser of this machine.",
			Disabled: func(c *tui.Ctx) string {
				if v.browse == nil {
					return "there is no browser here"
				}
				return v.noURL(c)
			},
			Run: v.openPage,
		},
		{
			ID: "login.copy", Word: "copy-url", Title: "copy URL", Group: g, Hint: 3,
			Help: "Copy the URL of the login, also over SSH, to open it in any browser.", Disabled: v.noURL,
			Run: func(c *tui.Ctx) tea.Cmd { return c.Copy("URL", v.run().page.URL) },
		},
		{
			ID: "login.qr", Word: "qr", Title: "QR code", Group: g, Hint: 6,
			Help: "Draw the URL of the login as a QR code, to log in with a telephone.", Disabled: v.noURL,
			Run: func(c *tui.Ctx) tea.Cmd { return c.Open(newQR(v.run().page.URL)) },
		},
		{
			ID: "login.paste", Verb: tui.VerbAdd, Title: "paste callback", Group: g, Hint: 4,
			Help: "Paste the URL that the browser ended at, where it is on another machine and could not come back.", Disabled: v.noURL, Run: v.paste,
		},
		{
			ID: "login.cancel", Verb: tui.VerbCancel, Title: "cancel", Group: g, Hint: 5,
			Help:    "Give up the login; nothing waits for the browser any more.",
			Applies: func(*tui.Ctx) bool { return v.run() != nil },
			Disabled: func(*tui.Ctx) string {
				if v.run() == nil {
					return "no login is going on"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { c.Cancel(v.run().op); return nil },
		},
		{
			ID: "login.other", Word: "account", Title: "another account", Group: g, Hint: 9,
			Help: "Log in as somebody else: the authorization server shows its own login, whoever its browser knows.", Disabled: v.cannotStart,
			Hinted: func(*tui.Ctx) bool { return v.st.LoggedIn },
			Run:    func(c *tui.Ctx) tea.Cmd { return v.start(c, v.unfinished[v.server], auth.LoginOptions{Other: true}) },
		},
		{
			ID: "login.forget", Word: "logout", Title: "forget", Group: g, Hint: 10, Danger: true,
			Help: "Forget the login: the token is revoked where the authorization server knows how, and removed from where it is kept.",
			Disabled: func(*tui.Ctx) string {
				if !v.st.LoggedIn {
					return "nobody is logged in"
				}
				return ""
			},
			Run: v.forget,
		},
	}
}

// run is the login that goes on at the server shown, nil for none.
func (v *login) run() *loginRun { return v.runs[v.server] }

// failed is whether the last login failed.
func (v *login) failed() bool {
	return slices.ContainsFunc(v.steps, func(s auth.Step) bool { return s.State == auth.Failed })
}

func (v *login) cannotStart(c *tui.Ctx) string {
	switch {
	case c.Server == nil:
		return "no server is open"
	case c.Server.Authorizer() == nil:
		return "it has no login: a command needs an oauth block for one"
	case v.st.Static:
		return "the configuration has an Authorization header, which is used instead"
	case v.run() != nil:
		return "a login is going on; x cancels it"
	case v.trust != nil && !v.trust.Trusted(c.Server.Config()):
		return "open the server in the server list first: it is from a project file"
	}
	return ""
}

func (v *login) noURL(*tui.Ctx) string {
	if r := v.run(); r == nil || r.page.URL == "" {
		return "no login waits for a browser"
	}
	return ""
}

func (v *login) noExchange(*tui.Ctx) string {
	if v.exchangeHere() == 0 {
		return "nothing was exchanged at this step"
	}
	return ""
}

// at is the row under the cursor.
func (v *login) at() loginRow {
	if i := v.List.Selected(); i >= 0 && i < len(v.rows) {
		return v.rows[i]
	}
	return loginRow{step: -1}
}

// exchangeHere is what enter shows, 0 for nothing.
func (v *login) exchangeHere() uint64 {
	row := v.at()
	if row.exchange != 0 || row.step < 0 {
		return row.exchange
	}
	if all := v.steps[row.step].Exchanges; len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

func (v *login) traffic(c *tui.Ctx) tea.Cmd {
	x := v.exchanges[v.exchangeHere()]
	return c.Navigate("traffic", max(x.In.Seq, x.Out.Seq))
}

func (v *login) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged:
		return v.sync(c), true
	case tui.Navigate:
		v.follows = true
		cmd := tea.Batch(v.sync(c), v.tick(c))
		switch to := m.Arg.(type) {
		case tui.LogIn:
			return tea.Batch(cmd, v.begin(c, loginAim{again: to.Again})), true
		case loginThen:
			return tea.Batch(cmd, v.begin(c, loginAim{then: to.screen})), true
		}
		return cmd, true
	case tui.FocusChanged:
		return tea.Batch(v.sync(c), v.tick(c)), true
	case loginTick:
		v.ticking = false
		return v.tick(c), true
	case tui.Beat:
		v.Rev++
		return v.seen(c), true
	case tui.OpDone:
		return v.finished(c, m), true
	case loginAsked, loginWaits, loginNoted:
		return v.event(c, m)
	case loginAgain:
		return m.again(c), true
	}
	at := v.at()
	cmd, ok := pane.ListAndText(c, &v.loginList, &v.detail, msg, func() tea.Cmd {
		if v.noExchange(c) != "" {
			return nil
		}
		return v.traffic(c)
	})
	if v.at() != at {
		v.follows = false
		v.detail.Top = 0
		cmd = tea.Batch(cmd, v.unfold(c))
	}
	return cmd, ok
}

// sync takes in what is known of the login.
func (v *login) sync(c *tui.Ctx) tea.Cmd {
	s := c.Server
	if s == nil || s.Authorizer() == nil {
		v.server, v.st, v.steps = "", auth.Status{}, nil
		return v.list(c)
	}
	if v.server != s.Name() {
		v.server, v.follows, v.open = s.Name(), true, -1
	}
	a := s.Authorizer()
	var load tea.Cmd
	if c.View == "login" && v.read != v.server { // the store may be slow, or locked
		v.read = v.server
		load = func() tea.Msg {
			_ = a.Status()
			return tui.SessionChanged{}
		}
	}
	v.st = a.Known()
	v.steps = steps(v.st.Flow)
	j := c.Sessions.Journal()
	for _, st := range v.steps {
		for _, seq := range st.Exchanges {
			if v.exchanges[seq].In.Seq == 0 {
				v.exchanges[seq] = pane.ExchangeOf(j, seq)
			}
		}
	}
	return tea.Batch(load, v.list(c), v.tick(c))
}

// steps are those of a login, and those to come: all of them where there was none.
func steps(f *auth.Flow) []auth.Step {
	all := auth.Plan()
	var out []auth.Step
	if f != nil {
		out = f.Steps()
	}
	next := 0
	for _, s := range out {
		next = max(next, slices.IndexFunc(all, func(p auth.Step) bool { return p.Name == s.Name })+1)
	}
	if len(out) > 0 && next == 0 {
		return out // of another kind
	}
	return append(out, all[next:]...)
}

// list makes the rows, and keeps the cursor on its own or takes it to the step that runs.
func (v *login) list(c *tui.Ctx) tea.Cmd {
	at := v.at()
	if v.follows {
		at = loginRow{step: -1}
		for i, s := range v.steps {
			if s.State == auth.Running || s.State == auth.Failed {
				at = loginRow{step: i}
			}
		}
		v.open = at.step
	}
	v.rows = append(v.rows[:0], loginRow{step: -1})
	for i, s := range v.steps {
		v.rows = append(v.rows, loginRow{step: i})
		for _, seq := range s.Exchanges {
			if i == v.open {
				v.rows = append(v.rows, loginRow{i, seq})
			}
		}
	}
	cmd := v.SetRows(c, loginRows{v, c})
	i := slices.Index(v.rows, at)
	if i < 0 {
		i = slices.Index(v.rows, loginRow{step: at.step})
	}
	v.List.Select(max(i, 0))
	return cmd
}

// unfold lists the exchanges of the step under the cursor.
func (v *login) unfold(c *tui.Ctx) tea.Cmd {
	if at := v.at(); at.step != v.open {
		v.open = at.step
		return v.list(c)
	}
	return nil
}

// seen opens the page, once its URL was on the screen.
func (v *login) seen(c *tui.Ctx) tea.Cmd {
	if r := v.run(); r != nil && r.drawn && c.View == "login" {
		r.show()
	}
	return nil
}

// tick keeps the countdown of the token moving while it is on the screen.
func (v *login) tick(c *tui.Ctx) tea.Cmd {
	if c.View != "login" || v.ticking || v.st.Expires.IsZero() || time.Until(v.st.Expires) < -time.Second {
		return nil
	}
	v.ticking = true
	v.Rev++
	return c.After(time.Second, func() tea.Msg { return loginTick{} })
}

// rowName is what a row is called.
func (v *login) rowName(r loginRow) string {
	switch {
	case r.step < 0:
		return "login"
	case r.exchange != 0:
		return v.exchanges[r.exchange].Out.Note
	}
	return v.steps[r.step].Name
}

// loginRows draws them.
type loginRows struct {
	v *login
	c *tui.Ctx
}

// Len is the number of rows.
func (r loginRows) Len() int { return len(r.v.rows) }

// Row is a step with its sign, its time and the first thing to know of it.
func (r loginRows) Row(i, w int) string {
	v, th, row := r.v, r.c.Theme, r.v.rows[i]
	if row.step < 0 {
		mark, word, style := v.mark(r.c)
		return paint.Cut(" "+style.S(mark)+" "+style.S(word), w)
	}
	if row.exchange != 0 {
		return paint.Cut("     "+v.exchanges[row.exchange].Line(th, w-6), w)
	}
	s := v.steps[row.step]
	sign, word, style := pane.StepMark(th, s)
	took := ""
	switch s.State {
	case auth.Done, auth.Failed:
		took = text.Duration(s.Took)
	case auth.Running:
		took = tui.Elapsed(time.Since(s.Start))
	}
	out := " " + style.S(sign) + " " + paint.Fit(th.Text.S(s.Name), 18)
	if s.State == "" {
		return paint.Cut(" "+style.S(sign)+" "+th.Muted.S(s.Name), w)
	}
	out += style.S(paint.Fit(word, 14)) + th.Muted.S(fmt.Sprintf("%7s", took))
	about, ink := "", th.Muted
	switch {
	case s.Broken != nil:
		about, ink = string(s.Broken.By)+": "+s.Broken.What, th.Error
	case s.Err != nil && !errors.Is(s.Err, context.Canceled):
		about, ink = s.Err.Error(), th.Error
	case len(s.Notes) > 0:
		about = s.Notes[len(s.Notes)-1]
	}
	if room := w - paint.Width(out) - 2; room > 8 {
		out += "  " + ink.S(safe.Line(about, room))
	}
	return paint.Cut(out, w)
}

// mark is the login itself: sign, words and style.
func (v *login) mark(c *tui.Ctx) (sign, words string, style paint.Style) {
	th := c.Theme
	switch r := v.run(); {
	case r != nil && r.page.URL != "":
		return tui.Locked.Glyph(), "waits for you in the browser", th.Login
	case r != nil:
		return tui.Changing.Glyph(), "logging in…", th.Warn
	case tui.WantsLogin(c.Server):
		return tui.Locked.Glyph(), "the server wants a login · " + c.KeyOf("login.start") + " logs in", th.Login
	case v.st.LoggedIn && pane.Expiry(v.st) == "expired" && !v.st.Refresh:
		return tui.Locked.Glyph(), "the token has expired", th.Login
	case v.st.LoggedIn:
		words = "logged in"
		if e := pane.Expiry(v.st); e != "" {
			words += " · " + e
		}
		return tui.Healthy.Glyph(), words, th.OK
	case v.st.Static:
		return tui.Stopped.Glyph(), "the configuration has an Authorization header", th.Muted
	}
	return tui.Stopped.Glyph(), "not logged in", th.Muted
}
