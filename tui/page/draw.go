package page

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// LabelWidth is the cells of the names of fields.
const LabelWidth = 13

// longest bounds a text of a page, in bytes: one of a line of its own, and others.
var longest = map[bool]int{true: 64 << 10, false: 4000}

// Lines draws the parts in lines of at most w cells.
func (p *Page) Lines(th *paint.Theme, w int) (out []string) {
	for i, x := range p.parts {
		style, s := x.Tone.Style(th), safe.Text(text.Clip(x.S, longest[x.kind == line]))
		switch x.kind {
		case field, short:
			label := safe.Line(x.label, LabelWidth-1)
			if x.kind == short && i > 0 && p.parts[i-1].kind <= short {
				beside := th.Muted.S(" · "+label+" ") + style.S(safe.Line(s, 0))
				if last := len(out) - 1; paint.Width(out[last])+paint.Width(beside) <= w {
					out[last] += beside
					continue
				}
			}
			out = labelled(out, label, s, th, style, w)
		case item:
			head := []string{style.S(s), th.Text.S(safe.Line(x.label, max(w-26, 20))), ""}
			head = slices.DeleteFunc(head, func(s string) bool { return paint.Width(s) == 0 })
			out = beside(out, strings.Join(append(head, ""), " "), safe.Text(text.Clip(x.about, longest[false])), th.Muted, w)
		case bar:
			out = append(out, th.Muted.S(paint.Fit(x.label, LabelWidth))+widget.Bar(th, max(min(w-LabelWidth-2, 60), 1), x.done, x.total))
		case line:
			out = styled(out, s, style, w)
		case note:
			out = styled(out, s, th.Muted, w)
		case hint:
			out = append(out, "", " "+th.Accent.S(x.label)+"  "+th.Text.S(paint.Cut(s, w-5)))
		case heading:
			out = append(out, "", th.Heading.S(safe.Line(s, w)))
		case bullet:
			dot := th.Muted.S("· ")
			for _, l := range paint.Wrap(s, w-2) {
				out = append(out, dot+th.Text.S(l))
				dot = "  "
			}
		case rawJSON:
			out = styled(out, safe.Text(indented(x.S)), style, w)
		case diff:
			out = append(out, DiffLines(th, w, x.S)...)
		}
	}
	return out
}

func labelled(out []string, label, s string, th *paint.Theme, style paint.Style, w int) []string {
	for _, l := range paint.Wrap(s, w-LabelWidth) {
		out = append(out, th.Muted.S(paint.Fit(label, LabelWidth))+style.S(l))
		label = ""
	}
	return out
}

func styled(out []string, s string, style paint.Style, w int) []string {
	for _, l := range paint.Wrap(s, w) {
		out = append(out, style.S(l))
	}
	return out
}

// DiffLines are the hunks of a unified diff as safe, styled lines of at most w cells.
func DiffLines(th *paint.Theme, w int, hunks string) (out []string) {
	for l := range strings.Lines(hunks) {
		l = strings.TrimRight(l, "\r\n")
		style, mark := th.Text, " "
		if l != "" {
			mark = l[:1]
		}
		switch mark {
		case "+":
			style = th.OK
		case "-":
			style = th.Error
		case "@":
			out = append(out, th.Muted.S(safe.Line(l, w)))
			continue
		}
		for i, row := range paint.Wrap(safe.Line(l[min(len(l), 1):], 4<<10), w-2) {
			if i > 0 {
				mark = " "
			}
			out = append(out, style.S(mark+" "+row))
		}
	}
	return out
}

// beside wraps a text behind what its first line begins with.
func beside(out []string, head, s string, style paint.Style, w int) []string {
	indent := paint.Blanks(paint.Width(head))
	for _, l := range paint.Wrap(s, max(w-len(indent), 20)) {
		out = append(out, strings.TrimRight(head+style.S(l), " "))
		head = indent
	}
	return out
}
