package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// Logins are what sessions over HTTP log in with.
func (a *App) Logins(set config.Settings) (*auth.Options, error) {
	if a.Login != nil {
		return a.Login, nil
	}
	store, err := Credentials()
	if err != nil {
		return nil, err
	}
	document := DocumentURL{set.ClientMetadataURL}
	if env := os.Getenv(DocumentSetting.Env); env != "" {
		if err := document.Set(env); err != nil {
			return nil, failure.UsageError(fmt.Sprintf("%s is %q: %v", DocumentSetting.Env, env, err), "correct or unset "+DocumentSetting.Env)
		}
	}
	a.Login = &auth.Options{Store: store, Document: document.url}
	return a.Login, nil
}

// DocumentSetting says where the client-id metadata document is. Files of servers may say it as well.
var DocumentSetting = settings.Setting{Flag: "client-metadata-url", Env: "MCPHUD_CLIENT_METADATA_URL"}

// DocumentURL is a flag's value.
type DocumentURL struct{ url string }

func (d *DocumentURL) String() string { return d.url }

// Type implements [pflag.Value].
func (d *DocumentURL) Type() string { return "URL" }

// Set checks the URL.
func (d *DocumentURL) Set(text string) error {
	d.url = text
	return config.CheckClientMetadataURL(text)
}

// CanLogIn reports whether somebody is there to log in without having been asked to: at a terminal, and not in CI.
func (a *App) CanLogIn() bool {
	return !a.NoLogin && output.Terminal(a.In) && output.Terminal(a.Err) && slices.Contains([]string{"", "0", "false"}, strings.ToLower(os.Getenv("CI")))
}

// loginPage is how a login is shown on stderr.
type loginPage struct {
	Standard
	side      *Side
	title     string // of the server
	noBrowser string // why none is opened; "" to open one
	qr        *bool  // whether a QR code is drawn; nil where it fits
}

// BrowserPerson is the user who started this command: it shows the URL on stderr, and takes the callback or what is pasted.
func (a *App) BrowserPerson(sd *Side, title string, qr *bool) *browser.Person {
	p := &loginPage{a.Standard, sd, title, browser.Unavailable(), qr}
	if a.Options.NoBrowser {
		p.noBrowser = "as --no-browser says"
	}
	b := &browser.Person{Show: p.show, Note: func(err error) { sd.Warn(noteOf(err)) }}
	if p.noBrowser == "" {
		b.Open = browser.Open
	}
	if output.Terminal(a.In) && output.Terminal(a.Err) {
		b.Ask, b.Paste = p.ask, func(ctx context.Context) (string, error) { return lineOf(ctx, a.In) }
	}
	return b
}

// noteOf is an error that does not end the command.
func noteOf(err error) string {
	e := Explain(context.Background(), err)
	if e.Next == "" || strings.Contains(e.Next, "report it") {
		return e.Message
	}
	return e.Message + "; " + e.Next
}

func (p *loginPage) ask(ctx context.Context, question string) (bool, error) {
	p.side.Ask(choices(question, output.WidthOf(p.Err)))
	line, err := ReadLine(ctx, p.In)
	if err != nil {
		p.side.Ask("\n")
		return false, err
	}
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"), nil
}

// show writes the URL, which stands alone in its line so that it can be copied.
func (p *loginPage) show(page browser.Page) {
	p.side.Warn("to log in at " + safe.Line(p.title, 60) + ", open this URL in a browser:")
	p.side.plain("\n" + page.URL + "\n\n")
	if p.side.Tty {
		p.side.Raw(ansi.SetSystemClipboard(page.URL))
		p.code(page.URL)
	}
	pasted := output.Terminal(p.In) && p.side.Tty
	switch {
	case p.noBrowser != "":
		p.side.Warn("no browser is opened here: " + p.noBrowser)
	default:
		p.side.Warn("it opens in your browser now")
	}
	switch {
	case !page.Listens:
		p.side.Warn("waiting for the URL that the browser ends at, at " + page.Redirect + ": paste it here")
	case pasted:
		p.side.Warn("waiting for the browser to come back; its last URL can be pasted here")
	default:
		p.side.Warn("waiting for the browser to come back to " + page.Redirect)
	}
}

// code draws a QR code where it fits.
func (p *loginPage) code(page string) {
	if p.qr != nil && !*p.qr {
		return
	}
	lines, err := browser.QR(page)
	width, height, sized := term.GetSize(p.Err.Fd())
	const around = 8 // lines of text that have to stay on the screen
	fits := err == nil && sized == nil && utf8.RuneCountInString(lines[0]) <= width && len(lines)+around <= height
	switch {
	case p.qr != nil && err != nil:
		p.side.Warn(err.Error())
	case err == nil && (fits || p.qr != nil):
		const blackOnWhite, normal = "\x1b[30;107m", "\x1b[0m"
		p.side.Raw(blackOnWhite + strings.Join(lines, normal+"\r\n"+blackOnWhite) + normal + "\r\n\r\n")
	case err == nil && os.Getenv("TERM") != "dumb":
		p.side.Warn(fmt.Sprintf("a QR code needs %d columns and %d lines, or --qr with mcphud auth login", utf8.RuneCountInString(lines[0]), len(lines)+around))
	}
}

// ResourceOf is what the login at a server is kept under.
func ResourceOf(s config.Server) string {
	if issuer := s.OAuth.LogsInAt(); issuer != "" {
		return auth.IdentityKey(issuer).Resource
	}
	return cmp.Or(auth.ResourceOf(s), s.URL)
}

// UnreadableLogins is an error of the store, which says itself what to do unless it is locked.
func UnreadableLogins(err error) error {
	e := &failure.Error{Kind: failure.OAuth, Message: "cannot read the logins: " + err.Error(), Err: err}
	if errors.Is(err, auth.ErrLocked) {
		e.Next = "unlock it, or remove it to start anew"
	}
	return e
}

// ErrorText is an error in a line, "" for none.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
