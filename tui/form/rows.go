package form

const (
	maxExplained = 5   // lines of explanation that a form keeps room for
	maxMeasured  = 100 // rows that are looked at for that
)

// Rows is how many lines the form takes at a width of w cells, so that a screen can make room for it. It hardly changes while
// the focus moves: there is room for what each field has to say.
func (f *Form) Rows(w int) int {
	f.ready()
	if w < 4 {
		return 1
	}
	if f.raw != nil {
		return max(f.raw.text.count(), 4) + max(min(len(f.problems), 3), 1)
	}
	if len(f.rows) == 0 {
		return 2
	}
	note := 0
	if f.notice() != "" {
		note = 1
	}
	d := drawer{f: f, t: f.theme, w: w}
	now := len(d.row(f.cur, true))
	for i := range f.rows {
		if i != f.cur {
			now += f.rows[i].height()
		}
	}
	if f.calm.build != f.builds || f.calm.w != w {
		f.calm = calm{build: f.builds, w: w, lines: len(f.rows) + d.mostExplained()}
	}
	return max(now, f.calm.lines) + note
}

// calm is what was measured of a form without popups and problems.
type calm struct {
	build, w, lines int
}

// mostExplained is how many lines the field takes that has the most to say.
func (d *drawer) mostExplained() int {
	most := 0
	for i := range d.f.rows[:min(len(d.f.rows), maxMeasured)] {
		r := &d.f.rows[i]
		if r.bare() {
			continue
		}
		pad, room := d.below(r)
		most = max(most, len(d.explain(nil, r, pad, room)))
	}
	return min(most, maxExplained)
}
