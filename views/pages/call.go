// Package pages says what there is to say of one thing, for the screens that show it, the commands that print it, and linear mode: each is a
// [page.Page], or a row of one.
package pages

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui/page"
)

// Verdict is how a call went.
func Verdict(verdict string) page.Mark {
	switch verdict {
	case calls.OK:
		return page.Mark{Glyph: "✓", Word: "ok", Tone: page.Good}
	case calls.Cancelled:
		return page.Mark{Glyph: "⊘", Word: "cancelled", Tone: page.Quiet}
	case calls.Ongoing:
		return page.Mark{Glyph: "…", Word: "task", Tone: page.Busy}
	}
	return page.Mark{Glyph: "✗", Word: verdict, Tone: page.Bad}
}

// When is a time as people write it: without the date today, without the year within one.
func When(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	switch {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format(time.TimeOnly)
	case now.Sub(at) < 300*24*time.Hour:
		return at.Format("Jan _2 15:04")
	}
	return at.Format(time.DateOnly)
}

// Took is how long a call took.
func Took(k calls.Call) string {
	return text.Duration(time.Duration(k.Took * float64(time.Millisecond)))
}

// Call is what is known of a call besides what was sent and came. A frame around it says its target, its verdict and how long it took.
func Call(k calls.Call) page.Page {
	server, verdict := k.Server.Where(), Verdict(k.Verdict).Text()
	if k.Server.Info != "" && k.Server.Info != server {
		server += " (" + k.Server.Info + ")"
	}
	if k.Code != nil {
		verdict.S += fmt.Sprintf(" %d", *k.Code)
	}
	p := page.Page{Title: k.Target}
	p.Field("call", strconv.FormatInt(k.ID, 10)).Short("name", k.Name).Short("note", k.Note).Short("at", k.At.Local().Format(time.DateTime)).Framed("took", Took(k)).
		Short("server", server).Short("protocol", k.Server.Protocol).Framed("method", k.Method).Framed("target", k.Target).Short("secrets", strings.Join(k.Secrets, " "))
	if k.Message == "" {
		p.Framed("verdict", verdict.S)
	} else {
		p.Styled("verdict", verdict)
	}
	p.Styled("message", page.Text{S: k.Message, Tone: page.Bad})
	if k.Size > 0 && !k.Kept {
		p.Line(page.Warn, fmt.Sprintf("the result was too large to keep: %s, SHA-256 %s", text.Bytes(k.Size), k.Hash))
	}
	return p
}

// CallWithResult is all of a call; an empty result is none that is kept.
func CallWithResult(k calls.Call, result []byte) page.Page {
	p := Call(k)
	if len(k.Arguments) > 0 {
		p.Heading("arguments").JSON(k.Arguments)
	}
	if len(result) > 0 {
		p.Heading("result").JSON(result)
	}
	return p
}

// Calls lists calls, made at one server or at several. star is the glyph before one on a screen, nil for that of those which are kept.
func Calls(all []calls.Call, several bool, star func(calls.Call) string) page.Page {
	now := time.Now()
	server := page.Column{Cells: 14, On: page.Printed}
	if several {
		server.On = page.Everywhere
	}
	return page.Page{
		None: [2]string{"no calls"},
		Table: page.Table{
			Columns: []page.Column{
				{On: page.Printed}, {Cells: 2, On: page.Drawn}, {Cells: 12}, {On: page.Printed}, server, {Cells: 20, Found: true}, {Cells: 7, Right: true, From: 60, On: page.Drawn}, {}, {},
			},
			Len: len(all),
			Row: func(i int) page.Row {
				k := all[i]
				verdict, glyph := Verdict(k.Verdict), " "
				if star != nil {
					glyph = star(k)
				}
				return page.Row{Cells: []page.Text{
					{S: strconv.FormatInt(k.ID, 10)},
					{S: glyph + verdict.Glyph, Tone: verdict.Tone},
					{S: When(k.At.Time, now), Tone: page.Quiet},
					verdict.Text(),
					{S: k.Server.Where(), Tone: page.Quiet},
					{S: k.Target},
					{S: Took(k), Tone: page.Quiet},
					{S: kept(k), Tone: page.Accent},
					{S: text.Clip(string(jsonrpc.OneLine(k.Arguments)), 200), Tone: page.Quiet},
				}}
			},
		},
	}
}

// kept is the name of a call, or that it is pinned, and its note.
func kept(k calls.Call) string {
	out := k.Name
	if out == "" && k.Pinned {
		out = "pinned"
	}
	if k.Note != "" {
		out = strings.TrimSpace(out + " (" + text.Clip(k.Note, 40) + ")")
	}
	return out
}
