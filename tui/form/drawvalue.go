package form

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// maxTextRows is how many lines of a long text the focused field shows.
const maxTextRows = 8

// value draws what is in a row, dim while it is what an earlier run left: its first line, and the lines below it of a text
// with several.
func (d *drawer) value(r *row, focused bool, x, w int) (first string, more []string) {
	first, more = d.current(r, focused, x, w)
	if r.kind == rowField && !(focused && r.textual()) && d.f.recalled(r) {
		first = d.t.Muted.S(ansi.Strip(first))
		if r.textual() {
			first = d.t.Field.S(first)
		}
	}
	if r.selectable() && d.t.Field != (paint.Style{}) {
		first = d.t.Field.S(paint.Fit(" "+first, w))
	}
	return first, more
}

func (d *drawer) current(r *row, focused bool, x, w int) (first string, more []string) {
	t := d.t
	if n := d.f.rename; n != nil && focused && n.ptr+"/"+jsonrpc.EscapeToken(n.old) == r.ptr && !n.isNew {
		line := d.keyInput("", x)
		return line[0], line[1:]
	}
	switch {
	case r.kind == rowVariant:
		title := "unset"
		if r.child.Required {
			title = "choose"
		}
		if r.pick >= 0 {
			title = safe.Line(r.field.Variants()[r.pick].Title, 200)
		} else if r.val.IsSet() {
			title = safe.Line(brief(r.val), 200)
		}
		return t.Punct.S("‹ ") + t.Accent2.S(title) + t.Punct.S(" ▾ ›"), nil
	case r.kind == rowGroup:
		return d.group(r), nil
	case focused && r.textual():
		return d.editing(r, x, w)
	case r.textual() && r.val.IsSet():
		return d.input(d.scalar(r, w), max(w-2, 1)), nil
	case r.textual():
		return d.input(d.placeholder(r), max(w-2, 1)), nil
	case r.isBoolean():
		return d.boolean(r, w), nil
	case !r.val.IsSet():
		return d.unset(r), nil
	}
	switch r.field.Shape() {
	case schema.ShapeSelect:
		for _, o := range r.field.Options {
			if schema.Equal(o.Value, r.val) {
				label := safe.Line(optionLabel(o), 4*w)
				if o.Title != "" && paint.Width(label)+6 > w { // the list has the value
					label = safe.Line(o.Title, 4*w)
				}
				return t.Punct.S("‹ ") + t.Accent2.S(label) + t.Punct.S(" ▾ ›"), nil
			}
		}
		return t.Punct.S("‹ ") + d.scalar(r, w) + t.Punct.S(" ▾ ›"), nil
	case schema.ShapeConst:
		return t.Muted.S("= ") + d.scalar(r, w), nil
	}
	return d.scalar(r, w), nil
}

func (d *drawer) unset(r *row) string {
	t := d.t
	s := t.Muted.S("unset")
	switch {
	case r.selectable() && r.child.Required:
		s = t.Punct.S("‹ ") + t.Muted.S("choose") + t.Punct.S(" ▾ ›")
	case r.selectable():
		s = t.Punct.S("‹ ") + s + t.Punct.S(" ▾ ›")
	}
	if c := r.field.Const; c.IsSet() {
		return s + t.Muted.S("  only "+safe.Line(brief(c), 100))
	}
	if r.field.Default.IsSet() {
		return s + t.Muted.S("  default "+safe.Line(brief(r.field.Default), 100))
	}
	if len(r.field.Examples) > 0 {
		return s + t.Muted.S("  e.g. "+safe.Line(brief(r.field.Examples[0]), 100))
	}
	return s
}

func (d *drawer) group(r *row) string {
	t := d.t
	n := r.val.Len()
	switch r.val.Kind() {
	case schema.Null:
		return t.Null.S("null")
	case schema.Unset:
		return d.unset(r)
	case schema.Array:
		if n == 0 {
			return t.Punct.S("[]") + t.Muted.S("  empty")
		}
		return t.Punct.S("[") + t.Muted.S(text.Count(n, "item")) + t.Punct.S("]")
	}
	if n == 0 {
		return t.Punct.S("{}") + t.Muted.S("  empty")
	}
	return t.Punct.S("{") + t.Muted.S(text.Count(n, "key")) + t.Punct.S("}")
}

// scalar draws a value that is not being edited. Strings stand in quotes, so
// that blanks at their ends and the empty string can be seen.
func (d *drawer) scalar(r *row, w int) string {
	t := d.t
	switch r.val.Kind() {
	case schema.String:
		lit := r.val.Literal()
		if r.field.Format == "password" && lit != `""` {
			return t.String.S("••••••••") + t.Muted.S("  hidden")
		}
		if lit == `""` {
			return t.String.S(`""`) + t.Muted.S("  empty")
		}
		whole := r.val.Text()
		if r.textual() && r.field.Shape() == schema.ShapeString && strings.TrimSpace(whole) == whole && !strings.Contains(whole, "\n") {
			return t.String.S(safe.Line(whole, 4*w)) // its ends are those of the input
		}
		first, _, several := strings.Cut(whole, "\n")
		s := t.String.S(`"` + safe.Line(first, 4*w) + `"`)
		if several {
			s = t.String.S(`"`+safe.Line(first, 4*w)) + t.Muted.S("  ↵ "+text.Count(strings.Count(whole, "\n")+1, "line"))
		}
		return s
	case schema.Number:
		return t.Number.S(safe.Line(r.val.Literal(), 4*w))
	case schema.Bool:
		return t.Bool.S(r.val.Literal())
	case schema.Null:
		return t.Null.S("null")
	}
	return t.Text.S(safe.Line(brief(r.val), 4*w))
}

// editing draws the text of the focused row and finds the cursor's cell.
func (d *drawer) editing(r *row, x, w int) (first string, more []string) {
	in := d.f.edit()
	x, w = x+1, max(w-2, 1) // within the blanks
	if in.empty() {
		d.cx, d.cy, d.cursor = x, 0, true
		return d.input(d.placeholder(r), w), nil
	}
	in.mask = r.field.Format == "password"
	total := in.count()
	rows := min(total, maxTextRows)
	lines, cx, cy := in.draw(d.t, w, rows)
	d.cx, d.cy, d.cursor = x+cx, cy, true
	for i, l := range lines {
		if l = d.input(l, w); in.all {
			l = d.t.Selection.S(paint.Strip(l))
		}
		if i == 0 {
			first = l
		} else {
			more = append(more, paint.Blanks(x-1)+l)
		}
	}
	if total > rows {
		more = append(more, paint.Blanks(x)+d.t.Muted.S(text.Count(total, "line")+" in all; ctrl+e opens them in $EDITOR"))
	}
	return first, more
}

// input draws what stands in an input, w cells wide and a blank at each side, on a ground of its own. Where there is none, as in
// what is written to a file, brackets say where it is.
func (d *drawer) input(s string, w int) string {
	if s = paint.Fit(s, w); d.t.Field == (paint.Style{}) {
		return "[" + s + "]"
	}
	return d.t.Field.S(" " + s + " ")
}

// placeholder is what an empty input says: nothing where it is unset and nothing is known of it.
func (d *drawer) placeholder(r *row) string {
	switch {
	case r.val.IsSet():
		return d.scalar(r, 200)
	case r.field.Default.IsSet():
		return d.t.Muted.S("default " + safe.Line(brief(r.field.Default), 100))
	case len(r.field.Examples) > 0:
		return d.t.Muted.S("e.g. " + safe.Line(brief(r.field.Examples[0]), 100))
	}
	return ""
}

// detail is what the focused row shows below its value: popup, problems and all the schema says.
func (d *drawer) detail(out []string, r *row, pad string, room int) []string {
	if n := d.f.rename; n != nil && n.isNew {
		at := len(out)
		out = append(out, d.keyInput(pad, len(pad))...)
		d.cy = at
	}
	if p := d.f.pop; p != nil {
		out = d.popup(out, p, pad, room)
	}
	out = d.problems(out, r, pad, room, 4)
	if no := d.f.refused; no.why != "" && no.ptr == r.ptr {
		for _, l := range wrapped(safe.Text("! no completions: "+limit(no.why, 4*room)), room, 2) {
			out = append(out, pad+d.t.Warn.S(l))
		}
	}
	return d.explain(out, r, pad, room)
}

// explain adds what the schema says of a field.
func (d *drawer) explain(out []string, r *row, pad string, room int) []string {
	t := d.t
	wrap := func(st paint.Style, text string, rows int) {
		for _, l := range wrapped(safe.Text(limit(text, rows*room*4)), room, rows) {
			out = append(out, pad+st.S(l))
		}
	}
	if r.field.Title != "" && r.field.Title != r.name {
		wrap(t.Heading, r.field.Title, 1)
	}
	if r.field.Description != "" {
		wrap(t.Text, r.field.Description, 8)
	}
	if sum := d.summary(r); d.w < wide || paint.Width(sum) >= d.typeWidth() {
		wrap(t.Muted, sum, 3)
	}
	if r.union != nil {
		wrap(t.Muted, typeLabel(r.union), 2)
	}
	if r.field.Default.IsSet() && r.val.IsSet() {
		wrap(t.Muted, "default "+brief(r.field.Default), 1)
	}
	if len(r.field.Examples) > 0 {
		var ex []string
		for i, e := range r.field.Examples {
			if i == 5 {
				break
			}
			ex = append(ex, brief(e))
		}
		wrap(t.Muted, "examples "+strings.Join(ex, ", "), 2)
	}
	if r.field.Header != "" {
		wrap(t.Muted, "x-mcp-header: sent over HTTP as Mcp-Param-"+r.field.Header+" too", 1)
	}
	for i, m := range r.field.Unknown {
		if i == 6 {
			break
		}
		wrap(t.Muted, m.Name+": "+brief(m.Value), 1)
	}
	if r.field.Comment != "" {
		wrap(t.Muted, "$comment "+r.field.Comment, 2)
	}
	for i, n := range r.field.Notes {
		if i == 3 {
			break
		}
		wrap(t.Warn, "! "+n, 2)
	}
	if r.depth*2 > d.w/3 {
		wrap(t.Muted, "at "+r.ptr, 2)
	}
	return out
}

// problems adds what is wrong with a row, most of it in the focused one.
func (d *drawer) problems(out []string, r *row, pad string, room, rows int) []string {
	if r.problems == 0 {
		return out
	}
	shown, seen := 0, 0
	for _, p := range d.f.problems[r.first:] {
		if seen == r.problems || shown == rows {
			break
		}
		inner, below := strings.CutPrefix(p.Pointer, r.ptr)
		if !below || inner != "" && inner[0] != '/' {
			continue
		}
		if inner != "" && d.f.visible(p.Pointer, r.ptr) || d.f.toFill(p) {
			continue // it is shown at a row of its own, or later
		}
		seen++
		msg := p.Message
		if inner != "" {
			msg = inner[1:] + " " + msg
		}
		if shown++; shown == rows && r.problems > rows {
			msg += " (and " + strconv.Itoa(r.problems-shown) + " more)"
		}
		out = append(out, pad+d.t.Error.S(paint.Cut("✗ "+safe.Line(msg, 4*room), room)))
	}
	return out
}

// visible reports whether a pointer below ptr has a row nearer to it.
func (f *Form) visible(pointer, ptr string) bool {
	for i := range f.rows {
		if r := f.rows[i].ptr; len(r) > len(ptr) && !f.rows[i].bare() &&
			strings.HasPrefix(pointer, r) && (len(pointer) == len(r) || pointer[len(r)] == '/') {
			return true
		}
	}
	return false
}

func (d *drawer) popup(out []string, p *popup, pad string, room int) []string {
	t := d.t
	if p.filterable && len(p.choices) > popRows || !p.filter.empty() {
		w := max(room-10, 4)
		lines, cx, _ := p.filter.draw(t, w, 1)
		d.cx, d.cy, d.cursor = len(pad)+8+cx, len(out), true
		out = append(out, pad+t.Muted.S("filter: ")+t.Field.S(paint.Fit(lines[0], w)))
	}
	for i, c := range p.visible() {
		label := safe.Line(p.choices[c].label, 4*room)
		if label == "" {
			label = `""`
		}
		line := "  " + label
		if h := p.choices[c].help; h != "" {
			line += t.Muted.S("  " + safe.Line(h, 4*room))
		}
		if p.top+i == p.at {
			line = t.SelectRow("›"+line[1:], room, true)
		}
		out = append(out, pad+paint.Cut(line, room))
	}
	switch rest := len(p.shown) - popRows; {
	case p.note != "":
		out = append(out, pad+t.Muted.S("  "+p.note))
	case len(p.shown) == 0:
		out = append(out, pad+t.Muted.S("  nothing matches; backspace widens the filter"))
	case rest > 0:
		out = append(out, pad+t.Muted.S("  "+strconv.Itoa(len(p.shown))+" in all; type to filter"))
	}
	return out
}

// limit cuts s at n bytes on a character boundary.
func limit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// wrapped breaks safe text into at most rows lines of w cells, between words where it can.
func wrapped(s string, w, rows int) []string {
	var out []string
	for _, para := range strings.Split(s, "\n") {
		line, x := "", 0
		for _, word := range strings.Fields(para) {
			ww := paint.Width(word)
			if x > 0 && x+1+ww > w {
				out = append(out, line)
				line, x = "", 0
			}
			for ww > w && len(out) <= rows {
				head := ahead(word, w)
				if head == "" {
					break
				}
				out = append(out, head)
				word = word[len(head):]
				ww = paint.Width(word)
			}
			if x > 0 {
				line, x = line+" ", x+1
			}
			line, x = line+word, x+ww
		}
		if line != "" {
			out = append(out, line)
		}
		if len(out) > rows {
			out = out[:rows]
			out[rows-1] = paint.Cut(out[rows-1]+" …", w)
			return out
		}
	}
	return out
}

// ahead returns what of safe text fits into w cells.
func ahead(s string, w int) string {
	n := 0
	for n < len(s) {
		size, cells, _ := paint.Next(s[n:])
		if w -= cells; w < 0 {
			break
		}
		n += size
	}
	return s[:n]
}
