package servers

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *login) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.Same(c, v.Rev, v.detail.Top, v.List.Selected(), tui.WantsLogin(c.Server)) {
		return nil
	}
	p.Badge, p.Foot = "", ""
	if p.ID == "detail" {
		p.Title = v.title()
		lines := v.lines(c, p.W)
		for len(lines) > 0 && lines[0] == "" { // what a URL takes is more than there is
			lines = lines[1:]
		}
		v.detail.Draw(p, lines)
		if r := v.run(); r != nil && r.page.URL != "" && v.shows(v.at()) {
			r.drawn = true
		}
		return nil
	}
	p.Title = "Login"
	v.List.SetRows(loginRows{v, c})
	v.DrawList(c, p, func(w int) []string { return pane.NothingMatches(c.Theme, w, v.Typed) })
	return nil
}

// firstRows leaves the details what a URL takes.
func (v *login) firstRows(_ *tui.Ctx, _, h int) int {
	return min(len(v.rows)+1, max(h-12, h*2/5))
}

// title names what the detail pane is about.
func (v *login) title() string {
	if at := v.at(); at.step >= 0 {
		return v.steps[at.step].Name
	}
	return "Token"
}

// shows is whether the details of a row have the URL to open.
func (v *login) shows(at loginRow) bool {
	return at.step < 0 || v.steps[at.step].URL != ""
}

// lines are the details of the row under the cursor.
func (v *login) lines(c *tui.Ctx, w int) []string {
	s, at := c.Server, v.at()
	switch {
	case s == nil:
		return pane.Message(c.Theme, w, "No server is open.", "Press 1 for the servers.")
	case s.Authorizer() == nil:
		return pane.Message(c.Theme, w, safe.Line(s.Title(), 80)+" has no login: it is not reached over HTTP, and has no oauth block.", "Press q to go back.")
	}
	p := v.about(c, at)
	return p.Lines(c.Theme, w)
}

// about is what there is to say of a row, of a server that has a login.
func (v *login) about(c *tui.Ctx, at loginRow) (p page.Page) {
	if r := v.run(); r != nil && r.page.URL != "" && v.shows(at) {
		v.waiting(c, &p, r)
		if at.step < 0 {
			return p
		}
	}
	switch {
	case at.exchange != 0:
		x := v.exchanges[at.exchange]
		p.Field("request", x.Out.Note).Field("answer", x.In.Note)
		p.Paragraph(page.Quiet, "Press enter for all of it in the traffic. Tokens, codes and secrets are hidden there.")
	case at.step >= 0:
		pane.Step(&p, v.steps[at.step])
		if s := v.steps[at.step]; s.State == auth.Failed && s.Name != auth.StepResource && v.st.Flow.Issuer() == "" {
			p.Paragraph(page.Plain, "The server names no authorization server. If it takes a key of its own, put an Authorization header into its configuration.")
		}
		if n := len(v.steps[at.step].Exchanges); n > 0 {
			p.Paragraph(page.Quiet, fmt.Sprintf("%s on the wire: enter shows it.", text.Count(n, "exchange")))
		}
	default:
		v.token(c, &p)
	}
	return p
}

// waiting is what a person has to do now. The URL is whole and has nothing before it, so that it can be selected.
func (v *login) waiting(c *tui.Ctx, p *page.Page, r *loginRun) {
	p.Text(page.Login, tui.Locked.Glyph()+" Open this in a browser and log in there ("+v.keys(c)+"):")
	p.Text(page.Link, safe.Line(r.page.URL, 0))
	if r.note != "" {
		p.Paragraph(page.Warn, "! "+safe.Line(r.note, 400))
	}
	if r.page.Listens {
		p.Paragraph(page.Quiet, "It comes back to "+safe.Line(r.page.Redirect, 300)+", where mcphud waits. A browser on another machine ends at a page that cannot be "+
			"loaded: copy its URL from there, and press "+c.KeyOf("login.paste")+" to paste it here.")
	} else {
		p.Paragraph(page.Quiet, "It ends at "+safe.Line(r.page.Redirect, 300)+", which is not here: copy the URL from there, and press "+c.KeyOf("login.paste")+" to paste it.")
	}
}

// keys are what can be done with the URL.
func (v *login) keys(c *tui.Ctx) string {
	var out []string
	if v.browse != nil {
		out = append(out, c.KeyOf("login.open")+" opens it")
	}
	return strings.Join(append(out, c.KeyOf("copy.value")+" copies it", c.KeyOf("login.qr")+" as QR code"), ", ")
}

// token is what is known of the login itself.
func (v *login) token(c *tui.Ctx, p *page.Page) {
	st, wants := v.st, tui.WantsLogin(c.Server)
	switch {
	case wants:
		p.Paragraph(page.Login, tui.Locked.Glyph()+" "+safe.Line(c.Server.Title(), 80)+" wants a login.").Key(c.KeyOf("login.start"), "log in")
		if ch := st.Challenge; ch != nil {
			p.Heading("What it answered")
			p.Field("status", fmt.Sprint(ch.Status)).Field("scheme", ch.Scheme).Field("error", ch.Error).Field("", ch.Describe).
				Field("scopes", strings.Join(ch.Scopes, " ")).Field("metadata", ch.Metadata)
		}
	case st.Static:
		p.Paragraph(page.Plain, "The configuration has an Authorization header, which is sent as it is. Remove it there to log in instead.")
	case !st.LoggedIn:
		p.Paragraph(page.Plain, "Nobody is logged in at "+safe.Line(c.Server.Title(), 80)+", and it has not asked for it.").Key(c.KeyOf("login.start"), "log in all the same")
	}
	if st.LoggedIn {
		if wants || st.Static { // something stands above
			p.Line(page.Plain, "")
		}
		pane.Login(p, st, true)
		pane.Claims(p, st.Claims)
	}
}

// hints say how to leave the screen, which has no number.
func (v *login) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

func (v *login) breadcrumb(*tui.Ctx) string { return "" }

func (v *login) copyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	switch r := v.run(); {
	case k == tui.CopyValue && r != nil && r.page.URL != "":
		return tui.CopyString(r.page.URL, true)
	case k == tui.CopyJSON && v.st.Claims != nil:
		return tui.CopyBytes(v.st.Claims.Payload)
	}
	return nil
}

// pageText is the URL alone, where one waits: a line that can be selected whole.
func (v *login) pageText(*tui.Ctx) (text, ext string, ok bool) {
	if r := v.run(); r != nil && r.page.URL != "" {
		return r.page.URL + "\n", ".txt", true
	}
	return "", "", false
}

// choices are what can be done in linear mode.
func (v *login) choices(c *tui.Ctx) (out []tui.Choice) {
	for _, a := range v.actions() {
		if a.ID == "login.enter" || a.ID == "login.qr" || a.Danger && c.ReadOnly || a.Disabled(c) != "" {
			continue
		}
		label := a.Title
		if a.Now != nil && a.Now(c) != "" {
			label = a.Now(c)
		}
		out = append(out, tui.Choice{Label: label, Run: a.Run})
	}
	return out
}

// plain is the URL on a line of its own while one waits, then the login and its steps.
func (v *login) plain(c *tui.Ctx, w io.Writer) {
	if c.Server == nil || c.Server.Authorizer() == nil {
		for _, l := range v.lines(c, 100) {
			fmt.Fprintln(w, ansi.Strip(l))
		}
		return
	}
	_, words, _ := v.mark(c)
	fmt.Fprintln(w, words)
	for _, s := range v.steps {
		if s.State == "" {
			continue
		}
		_, word, _ := pane.StepMark(c.Theme, s)
		fmt.Fprintf(w, "%s: %s\n", s.Name, word)
		for _, n := range s.Notes {
			fmt.Fprintln(w, "  "+safe.Line(n, 400))
		}
		if s.Broken != nil {
			fmt.Fprintln(w, "  broken rule: "+safe.Line(s.Broken.Error(), 1000))
		} else if s.Err != nil {
			fmt.Fprintln(w, "  "+safe.Line(s.Err.Error(), 1000))
		}
	}
	if r := v.run(); r != nil && r.page.URL != "" {
		fmt.Fprintln(w, "Open this in a browser and log in there:")
		fmt.Fprintln(w, safe.Line(r.page.URL, 0))
		fmt.Fprintln(w, "It comes back to "+safe.Line(r.page.Redirect, 300)+"; on another machine copy the URL that it ends at, and give it to: paste callback")
		if r.note != "" {
			fmt.Fprintln(w, safe.Line(r.note, 400))
		}
		r.drawn = true
		return
	}
	if v.st.LoggedIn {
		var p page.Page
		pane.Login(&p, v.st, false)
		pane.Claims(&p, v.st.Claims)
		for _, line := range p.Lines(c.Theme, 100) {
			fmt.Fprintln(w, ansi.Strip(line))
		}
	}
}

// qrCode is a URL for the camera of a telephone.
type qrCode struct {
	url   string
	lines []string
	err   error
}

// qrFrame is what an overlay leaves free of the terminal, in both directions.
const qrFrame = 4

func newQR(url string) *qrCode {
	lines, err := browser.QR(url)
	return &qrCode{url, lines, err}
}

// Title implements tui.Overlay.
func (*qrCode) Title() string { return "The URL of the login" }

// Hints implements tui.Overlay.
func (*qrCode) Hints(*tui.Ctx) []tui.Hint { return nil }

// Size implements tui.Overlay.
func (q *qrCode) Size(maxW, maxH int) (w, h int) {
	if q.fits(maxW, maxH) {
		return paint.Width(q.lines[0]), len(q.lines)
	}
	return min(maxW, 60), 6
}

func (q *qrCode) fits(w, h int) bool {
	return q.err == nil && len(q.lines) > 0 && paint.Width(q.lines[0]) <= w && len(q.lines) <= h
}

// Handle implements tui.Overlay.
func (q *qrCode) Handle(_ *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if pane.IsBack(msg) {
		return func() tea.Msg { return tui.Close{} }, true
	}
	return nil, false
}

// Draw implements tui.Overlay. Telephones read black on white only, whatever the theme.
func (q *qrCode) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Lines = p.Lines[:0]
	switch {
	case q.err != nil:
		p.Lines = pane.Message(c.Theme, p.W, q.err.Error(), "Press "+c.KeyOf("copy.value")+" on the screen to copy the URL.")
	case !q.fits(p.W, p.H):
		p.Lines = pane.Message(c.Theme, p.W, fmt.Sprintf("The QR code needs a terminal of %d columns and %d rows; this one has %d and %d.", paint.Width(q.lines[0])+qrFrame, len(q.lines)+qrFrame, c.Width, c.Height),
			"Make it larger, or its font smaller. "+c.KeyOf("copy.value")+" copies the URL instead.")
	default:
		for _, line := range q.lines {
			p.Lines = append(p.Lines, ansi.Style{}.ForegroundColor(ansi.Black).BackgroundColor(ansi.BrightWhite).Styled(line))
		}
	}
	return nil
}
