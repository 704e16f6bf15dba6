package traffic

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
)

// noteOf is what somebody said of a row: of its entry, or of the answer in it.
func (v *traffic) noteOf(c *tui.Ctx, e *journal.Entry) journal.Note {
	j := c.Sessions.Journal()
	n := j.Note(e.Seq)
	if v.Feed.Exchanges && e.Kind == journal.Request && n == (journal.Note{}) {
		n = j.Note(e.Peer)
	}
	return n
}

func (v *traffic) mark(c *tui.Ctx) tea.Cmd {
	seq := v.Feed.Selected()
	n := c.Sessions.Journal().Note(seq)
	return v.annotate(c, seq, !n.Marked, n.Text)
}

// maxNote is how long a note may be, in bytes.
const maxNote = 400

func (v *traffic) note(c *tui.Ctx) tea.Cmd {
	seq := v.Feed.Selected()
	n := c.Sessions.Journal().Note(seq)
	return c.Ask(tui.Question{
		Label: "note", Initial: n.Text,
		OnDone: func(c *tui.Ctx, line string) tea.Cmd {
			return v.annotate(c, seq, n.Marked, text.Clip(strings.TrimSpace(line), maxNote))
		},
	})
}

func (v *traffic) annotate(c *tui.Ctx, seq uint64, marked bool, note string) tea.Cmd {
	if c.Sessions.Journal().Annotate(seq, marked, note) == 0 {
		return c.Toast(tui.Warning, "this row is no longer kept: mark another")
	}
	return v.list(c, tui.SessionChanged{Rev: c.Sessions.Rev()})
}

func (v *traffic) noMarks(c *tui.Ctx) string {
	if !c.Sessions.Journal().Noted() {
		return "no row has a mark or a note"
	}
	return ""
}

// toMark goes to the next row that somebody said something of, or to the one before.
func (v *traffic) toMark(c *tui.Ctx, back bool) tea.Cmd {
	seq := v.Feed.Seek(back, func(e *journal.Entry) bool { return v.noteOf(c, e) != (journal.Note{}) })
	if seq == 0 {
		return c.Toast(tui.Note, "no further mark in this direction")
	}
	v.Feed.Jump(seq)
	return v.Load(c)
}

// filterOn asks for a field of the row and adds it to the filter, behind a sign.
func (v *traffic) filterOn(c *tui.Ctx, sign string) tea.Cmd {
	e, ok := v.Entry(c)
	if !ok {
		return nil
	}
	terms := termsOf(&e, sign)
	what := "filter on this"
	if sign != "" {
		what = "filter out this"
	}
	return c.Choose(what, "", terms, func(c *tui.Ctx, term string) tea.Cmd {
		old := v.Feed.Typed()
		if strings.Contains(" "+old+" ", " "+term+" ") {
			return nil
		}
		return v.Filter(c, strings.TrimSpace(old+" "+term))
	})
}

// termsOf are conditions that an entry meets, behind a sign, as far as the language has them.
func termsOf(e *journal.Entry, sign string) (out []string) {
	add := func(term string) {
		if _, err := filter.Parse(sign + term); err == nil {
			out = append(out, sign+term)
		}
	}
	for _, field := range [][2]string{
		{"method", e.Method},
		{"tool", e.Tool},
		{"status", e.Status},
		{"server", e.Server},
		{"id", e.ID},
		{"trace", e.Trace},
		{"hop", e.Hop},
		{"kind", filter.KindWord(e.Kind)},
		{"dir", e.Dir.String()},
	} {
		if key, value := field[0], field[1]; value != "" {
			add(filter.Term(key, value))
		}
	}
	add("at:" + e.Time.Local().Format("15:04:05"))
	if e.Took > 0 {
		add(">=" + e.Took.Round(time.Microsecond).String())
	}
	return out
}
