package page

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// LabelWidth is the cells of the names of fields, and of a blank; a longer name has as many as it needs.
const LabelWidth = 13

// longest bounds a text of a page, in bytes: one of its own lines, and others.
var longest = map[bool]int{true: 64 << 10, false: 4000}

var breaks = strings.NewReplacer("\r\n", "⏎", "\n", "⏎")

// OneLine shows line feeds as [safe.Line] does, and leaves the rest to whoever makes it safe.
func OneLine(s string) string { return breaks.Replace(s) }

// text is what a part says, a single line unless it stands behind its name or has lines of its own.
func (x *part) text() string {
	switch x.kind {
	case field, paragraph:
		s, sep := x.S, " "
		if x.kind == paragraph {
			sep = "\n"
		}
		for _, t := range x.more {
			if t.S != "" {
				s += sep + t.S
			}
		}
		return s
	case short, framed, several, bullet, rawJSON, diff, quote:
		return x.S
	case line, note, hint, heading, bar, item, grid:
	}
	return OneLine(x.S)
}

// Lead is a line that leads somewhere.
type Lead struct {
	Line int
	To   string
}

// Lines draws the parts in lines of at most w cells.
func (p *Page) Lines(th *paint.Theme, w int) []string {
	out, _ := p.Leads(th, w)
	return out
}

// leadMark ends a line that leads somewhere.
const leadMark = " ▸"

// Leads is Lines with those of them that lead somewhere.
func (p *Page) Leads(th *paint.Theme, w int) (out []string, leads []Lead) {
	for i, x := range p.parts {
		style, s := x.Tone.Style(th), safe.Text(text.Clip(x.text(), longest[x.kind == several]))
		switch x.kind {
		case field, short:
			label := safe.Line(x.label, max(LabelWidth-1, min(2*LabelWidth, w/2)))
			if x.to != "" {
				leads = append(leads, Lead{len(out), x.to})
				out = append(out, th.Muted.S(paint.Fit(label, LabelWidth))+style.S(safe.Line(x.S, w-LabelWidth-len(" >")))+th.Muted.S(leadMark))
				continue
			}
			if len(x.more) > 0 {
				out = append(out, th.Muted.S(paint.Fit(label, LabelWidth))+spans(th, append([]Text{x.Text}, x.more...)))
				continue
			}
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
			out = beside(out, strings.Join(append(head, ""), " "), safe.Text(text.Clip(OneLine(x.about), longest[false])), th.Muted, w)
		case bar:
			out = append(out, th.Muted.S(paint.Fit(x.label, LabelWidth))+widget.Bar(th, max(min(w-LabelWidth-2, 60), 1), x.done, x.total))
		case line, several:
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
		case grid:
			out = append(out, gridLines(th, w, x.rows, x.named)...)
		case diff:
			out = append(out, DiffLines(th, w, x.S)...)
		case paragraph:
			out = append(out, "")
			for i, t := range append([]Text{x.Text}, x.more...) {
				lines := paint.Wrap(safe.Text(text.Clip(t.S, longest[false])), w-2)
				if i == 0 && len(lines) > x.most {
					lines = append(lines[:x.most], "…")
				}
				for _, l := range lines {
					out = append(out, " "+t.Tone.Style(th).S(l))
				}
			}
		case quote:
			out = append(out, "")
			label := " " + safe.Line(x.label, LabelWidth) + " │ "
			for l := range strings.SplitSeq(x.S, "\n") {
				for _, piece := range paint.Wrap(safe.Line(text.Clip(l, 500), 0), w-paint.Width(label)-1) {
					out = append(out, th.Muted.S(label)+th.Text.S(piece))
					label = paint.Blanks(paint.Width(label)-2) + "│ "
				}
			}
		}
	}
	return out, leads
}

// spans are texts in a line, each in its tone.
func spans(th *paint.Theme, all []Text) string {
	words := make([]string, 0, len(all))
	for _, t := range all {
		if t.S != "" {
			words = append(words, t.Tone.Style(th).S(safe.Line(t.S, 0)))
		}
	}
	return strings.Join(words, " ")
}

func labelled(out []string, label, s string, th *paint.Theme, style paint.Style, w int) []string {
	head := max(LabelWidth, paint.Width(label)+1) // that of an attribute of a span may be long
	for _, l := range paint.Wrap(s, w-head) {
		out = append(out, th.Muted.S(paint.Fit(label, head))+style.S(l))
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
