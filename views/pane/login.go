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
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Login adds what is known of a login, with the time that is left where that moves, without the claims of its token. The token itself
// is not drawn anywhere.
func Login(p *page.Page, st auth.Status, moves bool) {
	if !st.LoggedIn {
		return
	}
	p.Field("issuer", st.Issuer)
	p.Field("client id", st.ClientID+" ("+originWord(st.Origin)+")")
	if len(st.Scopes) > 0 {
		p.Field("scopes", strings.Join(st.Scopes, " "))
	}
	kind := st.Type
	if st.Refresh {
		kind += ", refreshed by itself"
	}
	p.Field("token", kind)
	if !st.Expires.IsZero() {
		at := st.Expires.Local().Format(time.DateTime)
		if left := tui.Countdown(st.Expires); moves && left != "" {
			at += ", in " + left
		}
		p.Field("expires", at)
	}
	p.Field("kept in", st.Where)
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
func Claims(p *page.Page, c *auth.Claims) {
	if c == nil {
		p.Paragraph(page.Quiet, "The token is not a JWT: what it says is between the servers.")
		return
	}
	p.Heading("Claims of the access token (signature not verified)")
	p.Text(page.Plain, indentedClaims(c.Payload))
	p.Heading("Its header")
	p.Text(page.Plain, indentedClaims(c.Header))
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
func Step(p *page.Page, s auth.Step) {
	if s.Broken != nil {
		p.Paragraph(page.Bad, "✗ "+safe.Line(string(s.Broken.By), 60)+" broke a rule: "+safe.Line(s.Broken.What, 1000))
		p.Paragraph(page.Plain, "The rule: "+s.Broken.Section)
	} else if errors.Is(s.Err, context.Canceled) {
		p.Paragraph(page.Plain, "You cancelled the login here.")
	} else if s.Err != nil {
		p.Paragraph(page.Bad, "✗ "+ErrorText(s.Err))
	}
	if len(s.Notes) > 0 {
		p.Heading("Found")
		for _, n := range s.Notes[:min(len(s.Notes), 50)] {
			p.Bullet(n)
		}
	}
	if s.Asks != "" {
		p.Heading("What the specification asks")
		p.Text(page.Plain, s.Asks)
		p.Note(s.Section)
	}
}
