package page

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Print is the parts as text for a command, in lines of width cells; 0 breaks none. Nothing in it is made safe, and nobody makes lines in it.
func (p *Page) Print(width int) string {
	var out []string
	for i := 0; i < len(p.parts); i++ {
		x := p.parts[i]
		x.S, x.label, x.about = x.text(), OneLine(x.label), OneLine(x.about)
		switch x.kind {
		case field, short, framed, bar:
			var rows [][2]string
			for ; i < len(p.parts) && (p.parts[i].kind <= framed || p.parts[i].kind == bar); i++ {
				rows = append(rows, [2]string{p.parts[i].label, p.parts[i].text()})
			}
			i--
			out = append(out, Fields(width, rows...)...)
		case line, several, note, paragraph:
			if width > 0 {
				x.S = strings.Join(paint.Wrap(x.S, width), "\n")
			}
			out = append(out, x.S)
		case heading:
			out = append(out, "", x.S+":")
		case item:
			head := strings.TrimLeft(x.S+" "+strings.TrimRight(x.label, " "), " ")
			if x.S != "" && x.label == "" { // what is said of the item above
				head = x.S
			}
			indent, w := paint.Blanks(paint.Width(head)+1), width
			if x.Tone == Code {
				w = 0
			}
			out = append(out, strings.TrimRight(head+" "+strings.Join(paint.Words(x.about, w-len(indent)), "\n"+indent), " "))
		case bullet:
			out = append(out, "- "+strings.ReplaceAll(x.S, "\n", "\n  "))
		case rawJSON:
			out = append(out, indented(x.S))
		case diff:
			out = append(out, strings.TrimRight(x.S, "\n"))
		case quote:
			out = append(out, x.label+" │ "+strings.ReplaceAll(x.S, "\n", "\n"+x.label+" │ "))
		case grid:
			out = append(out, strings.TrimRight(AlignRows(width, x.rows), "\n"))
		}
	}
	return strings.Join(out, "\n")
}

// Fields are a name and a value per line, the values below each other and broken between words where lines have a width, without those that are
// empty.
func Fields(width int, rows ...[2]string) (out []string) {
	w := 0
	for _, r := range rows {
		if r[1] != "" {
			w = max(w, len(OneLine(r[0])))
		}
	}
	for _, r := range rows {
		if r[1] == "" {
			continue
		}
		lines := paint.Words(strings.TrimRight(r[1], "\n"), width-w-2)
		out = append(out, OneLine(r[0])+strings.Repeat(" ", w-len(OneLine(r[0]))+2)+lines[0])
		for _, l := range lines[1:] {
			out = append(out, strings.Repeat(" ", w+2)+l)
		}
	}
	return out
}

// Spoken is all of it as safe text without escapes or boxes: for linear mode, where the rows are numbered elsewhere if numbered says so,
// for $PAGER and for the clipboard.
func (p *Page) Spoken(numbered bool) string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	add(safe.Text(p.Print(0)))
	if p.Table.Len == 0 {
		add(safe.Text(OneLine(p.None[0])))
	}
	for i := range p.Table.Len {
		if numbered && len(p.Table.Row(i).Below) == 0 {
			continue
		}
		add(p.Table.Spoken(i))
	}
	for _, s := range append(p.After, p.Foot) {
		add(safe.Text(OneLine(s)))
	}
	return strings.Join(out, "\n")
}

// indented is JSON over several lines, anything else as it is.
func indented(raw string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil {
		return raw
	}
	return b.String()
}
