package form

import (
	"strconv"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// drawRaw draws the raw JSON editor: numbered lines, and below them where
// the text is wrong or what is wrong with the value.
func (f *Form) drawRaw() {
	t, th := f.raw.text, f.theme
	status := f.rawStatus()
	h := max(f.h-len(status), 1)
	total := t.count()
	gutter := len(strconv.Itoa(total)) + 1
	lines, x, y := t.draw(th, max(f.w-gutter-1, 2), h)
	f.cx, f.cy, f.cursor = gutter+1+x, y, true
	top, _ := t.in.Scroll()
	for i, l := range lines {
		num := strconv.Itoa(top + i + 1)
		num = paint.Blanks(gutter-1-len(num)) + num
		if f.raw.err != nil && f.raw.err.Line == top+i+1 {
			num = th.Error.S(num + "✗")
		} else {
			num = th.Muted.S(num) + " "
		}
		f.lines = append(f.lines, paint.Cut(num+" "+l, f.w))
	}
	for len(f.lines) < f.h-len(status) {
		f.lines = append(f.lines, "")
	}
	f.lines = append(f.lines, status...)
	f.lines = f.lines[:min(len(f.lines), f.h)]
}

func (f *Form) rawStatus() []string {
	th := f.theme
	if f.h < 3 {
		return nil
	}
	switch {
	case f.raw.late:
		return []string{paint.Cut(th.Muted.S("· long text: it is read when you leave it (ctrl+r) or send"), f.w)}
	case f.raw.err != nil && f.raw.back:
		var out []string
		for _, l := range wrapped("✗ cannot go back to the form: not valid JSON, "+safe.Line(f.raw.err.Error(), 4*f.w), f.w, 2) {
			out = append(out, th.Error.S(l))
		}
		return append(out, paint.Cut(th.Muted.S("  correct it where the cursor is; ctrl+z undoes, ctrl+y starts over"), f.w))
	case f.raw.err != nil:
		return []string{paint.Cut(th.Error.S("✗ "+safe.Line(f.raw.err.Error(), 4*f.w)), f.w)}
	case f.sch.Err() != nil:
		return []string{paint.Cut(th.Warn.S("! "+safe.Line(f.sch.Err().Error(), 4*f.w)), f.w)}
	case f.quiet > 0 && f.quiet == len(f.problems):
		return []string{paint.Cut(th.Muted.S("· "+strconv.Itoa(f.quiet)+" to fill in  ctrl+r goes back to the form"), f.w)}
	case len(f.problems) == 0:
		return []string{paint.Cut(th.OK.S("✓ valid JSON")+th.Muted.S("  ctrl+r goes back to the form"), f.w)}
	}
	var out []string
	for i, p := range f.problems {
		if i == 3 || len(out) >= f.h/3 {
			break
		}
		out = append(out, paint.Cut(th.Error.S("✗ "+safe.Line(p.Sentence(), 4*f.w)), f.w))
	}
	return out
}
