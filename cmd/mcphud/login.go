package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// logins are what sessions over HTTP log in with.
func (a *app) logins(set config.Settings) (*auth.Options, error) {
	if a.login != nil {
		return a.login, nil
	}
	store, err := credentials()
	if err != nil {
		return nil, err
	}
	document := documentURL{set.ClientMetadataURL}
	if env := os.Getenv(documentSetting.env); env != "" {
		if err := document.Set(env); err != nil {
			return nil, usageError(fmt.Sprintf("%s is %q: %v", documentSetting.env, env, err), "correct or unset "+documentSetting.env)
		}
	}
	a.login = &auth.Options{Store: store, Document: document.url}
	return a.login, nil
}

// documentSetting says where the client-id metadata document is. Files of servers may say it as well.
var documentSetting = setting{flag: "client-metadata-url", env: "MCPHUD_CLIENT_METADATA_URL"}

// documentURL is a flag's value.
type documentURL struct{ url string }

func (d *documentURL) String() string { return d.url }
func (d *documentURL) Type() string   { return "URL" }

// Set checks the URL.
func (d *documentURL) Set(text string) error {
	d.url = text
	return config.CheckClientMetadataURL(text)
}

// canLogIn reports whether somebody is there to log in without having been asked to: at a terminal, and not in CI.
func (a *app) canLogIn() bool {
	return !a.noLogin && terminal(a.in) && terminal(a.err) && slices.Contains([]string{"", "0", "false"}, strings.ToLower(os.Getenv("CI")))
}

// loginPage is how a login is shown on stderr.
type loginPage struct {
	standard
	side      *side
	title     string // of the server
	noBrowser string // why none is opened; "" to open one
	qr        *bool  // whether a QR code is drawn; nil where it fits
}

// browserPerson is the user who started this command: it shows the URL on stderr, and takes the callback or what is pasted.
func (a *app) browserPerson(sd *side, title string, qr *bool) *browser.Person {
	p := &loginPage{a.standard, sd, title, browser.Unavailable(), qr}
	if a.o.noBrowser {
		p.noBrowser = "as --no-browser says"
	}
	b := &browser.Person{Show: p.show, Note: func(err error) { sd.warn(noteOf(err)) }}
	if p.noBrowser == "" {
		b.Open = browser.Open
	}
	if terminal(a.in) && terminal(a.err) {
		b.Ask, b.Paste = p.ask, func(ctx context.Context) (string, error) { return lineOf(ctx, a.in) }
	}
	return b
}

// noteOf is an error that does not end the command.
func noteOf(err error) string {
	e := explain(context.Background(), err)
	if e.Next == "" || strings.Contains(e.Next, "report it") {
		return e.Message
	}
	return e.Message + "; " + e.Next
}

func (p *loginPage) ask(ctx context.Context, question string) (bool, error) {
	p.side.ask(choices(question, widthOf(p.err)))
	line, err := readLine(ctx, p.in)
	if err != nil {
		p.side.ask("\n")
		return false, err
	}
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"), nil
}

// show writes the URL, which stands alone in its line so that it can be copied.
func (p *loginPage) show(page browser.Page) {
	p.side.warn("to log in at " + safe.Line(p.title, 60) + ", open this URL in a browser:")
	p.side.plain("\n" + page.URL + "\n\n")
	if p.side.tty {
		p.side.raw(ansi.SetSystemClipboard(page.URL))
		p.code(page.URL)
	}
	pasted := terminal(p.in) && p.side.tty
	switch {
	case p.noBrowser != "":
		p.side.warn("no browser is opened here: " + p.noBrowser)
	default:
		p.side.warn("it opens in your browser now")
	}
	switch {
	case !page.Listens:
		p.side.warn("waiting for the URL that the browser ends at, at " + page.Redirect + ": paste it here")
	case pasted:
		p.side.warn("waiting for the browser to come back; its last URL can be pasted here")
	default:
		p.side.warn("waiting for the browser to come back to " + page.Redirect)
	}
}

// code draws a QR code where it fits.
func (p *loginPage) code(page string) {
	if p.qr != nil && !*p.qr {
		return
	}
	lines, err := browser.QR(page)
	width, height, sized := term.GetSize(p.err.Fd())
	const around = 8 // lines of text that have to stay on the screen
	fits := err == nil && sized == nil && utf8.RuneCountInString(lines[0]) <= width && len(lines)+around <= height
	switch {
	case p.qr != nil && err != nil:
		p.side.warn(err.Error())
	case err == nil && (fits || p.qr != nil):
		const blackOnWhite, normal = "\x1b[30;107m", "\x1b[0m"
		p.side.raw(blackOnWhite + strings.Join(lines, normal+"\r\n"+blackOnWhite) + normal + "\r\n\r\n")
	case err == nil && os.Getenv("TERM") != "dumb":
		p.side.warn(fmt.Sprintf("a QR code needs %d columns and %d lines, or --qr with mcphud auth login", utf8.RuneCountInString(lines[0]), len(lines)+around))
	}
}
