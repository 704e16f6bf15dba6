package pages

import (
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/tui/page"
)

// StageMark is how a stage of a diagnosis went.
func StageMark(s doctor.Status) page.Mark {
	m := page.Mark{Word: string(s)}
	switch s {
	case doctor.OK:
		m.Glyph, m.Tone = "✓", page.Good
	case doctor.Warning:
		m.Glyph, m.Tone = "!", page.Warn
	case doctor.Failed:
		m.Glyph, m.Tone = "✗", page.Bad
	case doctor.Running:
		m.Glyph, m.Tone = "◐", page.Warn
	case doctor.Skipped:
		m.Glyph, m.Tone = "–", page.Quiet
	case doctor.Pending:
		m.Glyph, m.Word, m.Tone = "·", "not yet", page.Quiet
	}
	return m
}

// stageTook is how long a stage took, "" for no time at all.
func stageTook(s doctor.Step) string {
	if s.Took < time.Millisecond || s.Status == doctor.Skipped {
		return ""
	}
	return text.Duration(s.Took)
}

// Diagnosis lists stages, with their evidence below those about which there is something to do, or below all of them; remedy adds to what there is
// to do how it is done here, "" for nothing.
func Diagnosis(steps []doctor.Step, all bool, remedy func(doctor.Step) string) page.Page {
	return page.Page{Table: page.Table{
		Columns: []page.Column{{Cells: 9}, {Cells: 17, Found: true}, {Cells: 7, Right: true}, {}}, Prose: true, Len: len(steps),
		Row: func(i int) page.Row {
			s := steps[i]
			mark, first, rest := StageMark(s.Status), "", s.Evidence
			if len(rest) > 0 {
				first, rest = rest[0], rest[1:]
			}
			title, about, r := page.Plain, page.Quiet, page.Row{}
			switch s.Status {
			case doctor.Failed:
				about = page.Bad
			case doctor.Pending, doctor.Skipped:
				title = page.Quiet
			}
			if all || s.Status == doctor.Failed || s.Status == doctor.Warning {
				r.Below = append(r.Below, rest...)
			}
			if s.Fix != "" {
				r.Below = append(r.Below, "→ "+s.Fix+remedy(s))
			}
			r.Cells = []page.Text{mark.Text(), {S: s.Title, Tone: title}, {S: stageTook(s), Tone: page.Quiet}, {S: first, Tone: about}}
			return r
		},
	}}
}

// Stage is one stage of a diagnosis, with a key that does what there is to do, "" for none.
func Stage(s doctor.Step, key, does string) page.Page {
	p := page.Page{Title: s.Title}
	mark := StageMark(s.Status).Text(stageTook(s))
	p.Line(mark.Tone, mark.S)
	if len(s.Evidence) > 0 {
		p.Line(page.Plain, "").Line(page.Plain, s.Evidence[0])
	}
	if s.Fix != "" {
		p.Heading("What to do").Bullet(s.Fix)
	}
	p.Key(key, does)
	if len(s.Evidence) > 1 {
		p.Heading("Evidence")
		for _, l := range s.Evidence[1:] {
			p.Bullet(strings.TrimSpace(l))
		}
	}
	return p
}
