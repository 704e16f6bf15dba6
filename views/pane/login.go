package pane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Paragraph adds a blank line and wrapped text of ours.
func (l *Details) Paragraph(style paint.Style, s string) { l.paragraph(style, s) }

// Heading adds a blank line and a heading of ours.
func (l *Details) Heading(s string) { l.heading(s) }

// Key adds a blank line, a key and what it does.
func (l *Details) Key(key, does string) { l.key(key, does) }

// Login adds what is known of a login, with the time that is left where that moves, without the claims of its token. The token itself
// is not drawn anywhere.
func (l *Details) Login(st auth.Status, moves bool) {
	if !st.LoggedIn {
		return
	}
	l.Row("issuer", st.Issuer)
	l.Row("client id", st.ClientID+" ("+originWord(st.Origin)+")")
	if len(st.Scopes) > 0 {
		l.Row("scopes", strings.Join(st.Scopes, " "))
	}
	kind := st.Type
	if st.Refresh {
		kind += ", refreshed by itself"
	}
	l.Row("token", kind)
	if !st.Expires.IsZero() {
		at := st.Expires.Local().Format(time.DateTime)
		if left := tui.Countdown(st.Expires); moves && left != "" {
			at += ", in " + left
		}
		l.Row("expires", at)
	}
	l.Row("kept in", st.Where)
}

// originWord says where a client id is from.
func originWord(origin string) string {
	switch origin {
	case auth.Configured:
		return "from the configuration"
	case auth.Document:
		return "a metadata document"
	}
	return "registered by mcphud"
}

// Claims adds what an access token says, as it does. They are not verified, which is said.
func (l *Details) Claims(c *auth.Claims) {
	if c == nil {
		l.Paragraph(l.th.Muted, "The token is not a JWT: what it says is between the servers.")
		return
	}
	l.Heading("Claims of the access token (signature not verified)")
	l.text(indentedClaims(c.Payload))
	l.Heading("Its header")
	l.text(indentedClaims(c.Header))
}

func indentedClaims(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return text.Clip(string(raw), 8<<10)
	}
	return text.Clip(b.String(), 8<<10)
}

// Expiry is how long a login is good for, in words; "" if nobody knows.
func Expiry(st auth.Status) string {
	switch {
	case st.Expires.IsZero():
		return ""
	case !time.Now().Before(st.Expires):
		return "expired"
	}
	return "expires in " + tui.Countdown(st.Expires)
}

// Exchange is a request to an authorization server, and how it was answered.
type Exchange struct {
	Out, In journal.Entry // In has no Seq while there is no answer
}

// ExchangeOf finds the exchange of a request in the journal.
func ExchangeOf(j *journal.Journal, seq uint64) Exchange {
	x := Exchange{}
	x.Out, _ = j.Get(seq)
	const near = 200 // entries within which an answer is looked for
	for n := seq + 1; n < seq+near; n++ {
		e, ok := j.Get(n)
		if !ok {
			break
		}
		if e.Kind == journal.HTTP && e.Peer == seq {
			x.In = e
			break
		}
	}
	return x
}

// Line is an exchange in at most w cells: the status and the time are kept, the URL gives way in its middle.
func (x Exchange) Line(th *tui.Theme, w int) string {
	tail := "…"
	switch {
	case x.In.Seq == 0:
	case x.In.Status == journal.Failed:
		tail = "failed " + text.Duration(x.In.Took)
	default:
		tail = safe.Line(x.In.Note, 40) + " " + text.Duration(x.In.Took)
	}
	method, url, _ := strings.Cut(x.Out.Note, " ")
	room := max(w-paint.Width(tail)-paint.Width(method)-2, 4)
	return th.Muted.S(safe.Line(method, 10)) + " " + th.Text.S(paint.Fit(shortURL(safe.Line(url, 0), room), room)) + " " + th.Muted.S(tail)
}

// shortURL leaves out the middle of a URL that is longer than w cells: host and end tell it from others.
func shortURL(u string, w int) string {
	if paint.Width(u) <= w || w < 12 {
		return paint.Cut(u, w)
	}
	r := []rune(u)
	head := w / 3
	tail := w - head - 1
	if tail >= len(r) || head >= len(r) {
		return paint.Cut(u, w)
	}
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// StepMark is the sign of a login's step, its style and a word for it.
func StepMark(th *tui.Theme, s auth.Step) (sign, word string, style paint.Style) {
	switch s.State {
	case auth.Running:
		if s.URL != "" {
			return tui.Changing.Glyph(), "waits for you", th.Login
		}
		return tui.Spinner(time.Since(s.Start)), "running", th.Warn
	case auth.Done:
		return "✓", "done", th.OK
	case auth.Skipped:
		return "-", "not needed", th.Muted
	case auth.Failed:
		if errors.Is(s.Err, context.Canceled) {
			return "⊘", "cancelled", th.Muted
		}
		return tui.Unhealthy.Glyph(), "failed", th.Error
	}
	return "·", "not yet", th.Muted
}

// Step adds what a login's step is about: what went wrong first, then what was found, then what the specification asks.
func (l *Details) Step(s auth.Step) {
	if s.Broken != nil {
		l.Paragraph(l.th.Error, "✗ "+safe.Line(string(s.Broken.By), 60)+" broke a rule: "+safe.Line(s.Broken.What, 1000))
		l.Paragraph(l.th.Text, "The rule: "+s.Broken.Section)
	} else if errors.Is(s.Err, context.Canceled) {
		l.Paragraph(l.th.Text, "You cancelled the login here.")
	} else if s.Err != nil {
		l.Paragraph(l.th.Error, "✗ "+ErrorText(s.Err))
	}
	if len(s.Notes) > 0 {
		l.Heading("Found")
		for _, n := range s.Notes[:min(len(s.Notes), 50)] {
			l.bullet(n)
		}
	}
	if s.Asks != "" {
		l.Heading("What the specification asks")
		l.text(s.Asks)
		l.note(s.Section)
	}
}

// Bullet adds text of others, wrapped beside a dot.
func (l *Details) Bullet(s string) { l.bullet(s) }

// bullet is text, wrapped beside a dot.
func (l *Details) bullet(s string) {
	dot := l.th.Muted.S("· ")
	for _, line := range paint.Wrap(safe.Text(text.Clip(s, 4000)), l.w-2) {
		l.Lines = append(l.Lines, dot+l.th.Text.S(line))
		dot = "  "
	}
}

// Whole adds a text of one line that is wrapped wherever it must, without anything before it, so that it can be selected.
func (l *Details) Whole(style paint.Style, s string) {
	for _, line := range paint.Wrap(s, l.w) {
		l.Lines = append(l.Lines, style.S(line))
	}
}
