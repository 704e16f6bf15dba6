package pane

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

const (
	maxDefinition = 600       // lines of a definition in words; the rest is there as sent
	maxFieldDepth = 3         // levels of a schema that are listed
	maxInWords    = 256 << 10 // bytes of a schema that is listed
	maxAbout      = 32 << 10  // bytes of a description that are shown
	maxNameColumn = 30        // cells of the column of names of arguments
	leastType     = 12        // free cells from which on a type stands beside its argument
	leastBeside   = 20        // free cells from which on a description stands beside its argument

	maxUnfolded = 16 << 10 // bytes of schemas that are tried whole first

	foldedLines     = 6    // lines of a description that are shown at first
	foldedBytes     = 1500 // about as many bytes
	foldedSignature = 3    // lines
)

// definition is an item in words: its signature, what it takes, what it says of itself, what it gives, and the rest as sent.
type definition struct {
	item   offer.Item
	kind   offer.Kind
	open   bool     // whole descriptions, and schemas a few levels deep
	flat   bool     // one level of schemas all the same
	prose  []string // the description, rendered; nil for as it is
	mark   offer.Mark
	spare  int  // rows that are free for what is folded
	folded bool // lines left something out
}

// argument is one thing that an item takes or gives.
type argument struct {
	depth    int
	name     string
	required bool
	typ      string // with its limits
	about    string
	deeper   bool // what is in it is not listed
}

// canvas is what a definition is drawn on. What depends on the room that there is, it draws itself; all else is a page.
type canvas struct {
	th    *tui.Theme
	w     int
	spare int // rows that are free for what would be folded
	lines []string
}

// page adds the parts of a page.
func (l *canvas) page(p page.Page) { l.lines = append(l.lines, p.Lines(l.th, l.w)...) }

// notes adds remarks about a schema.
func (l *canvas) notes(texts []string) {
	var p page.Page
	for _, s := range texts {
		p.Note(safe.Line(s, 400))
	}
	l.page(p)
}

// lines draws the definition for w cells.
func (d *definition) lines(th *tui.Theme, w int) []string {
	l := &canvas{th: th, w: w, spare: d.spare}
	it := d.item
	if it.Flaw != nil {
		var p page.Page
		p.Paragraph(page.Bad, "✗ "+ErrorText(it.Flaw)).Paragraph(page.Quiet, "The list's other items are not affected. Press m for the raw definition.").Line(page.Plain, "")
		l.page(p)
	}
	takes, notes := d.takes()
	l.signature(d, takes)
	if title := cmp.Or(it.Title, jsonrpc.GetString(it.Annotations, "title")); title != "" && !sameWords(title, it.Name) {
		l.lines = append(l.lines, th.Heading.S(safe.Line(title, w)))
	}
	d.folded = l.arguments(takes, d.open)
	l.notes(notes)
	d.folded = l.prose(d) || d.folded
	if len(it.OutputSchema) > 0 {
		gives, notes := fields(it.OutputSchema, d.depth())
		var returns page.Page
		l.page(*returns.Heading("Returns"))
		d.folded = l.arguments(gives, d.open) || d.folded
		l.notes(notes)
	}
	var rest page.Page
	if d.folded {
		rest.Note("… " + unfoldKey + " shows all")
	}
	d.rest(rest.Line(page.Plain, ""))
	l.page(rest)
	if len(l.lines) >= maxDefinition {
		l.lines = l.lines[:maxDefinition]
		l.notes([]string{"… and more. Press m for the raw definition."})
	}
	return l.lines
}

// fit draws as much of the definition as h lines have room for: all of it, else all but what is in objects, else it is folded but for
// what the rows that are left have room for.
func (d *definition) fit(th *tui.Theme, w, h int) []string {
	d.spare = 0
	lines := d.lines(th, w)
	if !d.folded || d.open || len(lines) > h {
		return lines
	}
	small := len(d.item.InputSchema)+len(d.item.OutputSchema) <= maxUnfolded && len(strings.TrimSpace(d.item.Description)) <= foldedBytes
	more := *d
	for _, more.flat = range []bool{false, true} {
		if more.open = true; !small {
			break
		}
		if all := more.lines(th, w); len(all) <= h {
			d.folded = more.folded
			return all
		}
	}
	d.spare = h - len(lines)
	return d.lines(th, w)
}

// depth is how many levels of a schema are listed.
func (d *definition) depth() int {
	if d.open && !d.flat {
		return maxFieldDepth
	}
	return 1
}

// takes lists what an item takes, and what is to be said of that.
func (d *definition) takes() (out []argument, notes []string) {
	switch d.kind {
	case offer.Tools:
		out, notes = fields(d.item.InputSchema, d.depth())
	case offer.Prompts:
		for _, a := range d.item.Args {
			out = append(out, argument{name: a.Name, required: a.Required, about: cmp.Or(a.Description, a.Title)})
		}
	case offer.Templates:
		t, err := offer.ParseTemplate(d.item.URI)
		if err != nil {
			return nil, []string{err.Error()}
		}
		for _, n := range t.Varnames() {
			out = append(out, argument{name: n})
		}
		return out, nil
	default:
		return nil, nil
	}
	if len(out)+len(notes) == 0 {
		notes = []string{"takes no arguments"}
	}
	return out, notes
}

// fields lists the fields of a schema down to a level.
func fields(raw []byte, depth int) (out []argument, notes []string) {
	if len(raw) > maxInWords {
		return nil, []string{fmt.Sprintf("a schema of %s: press m for the raw schema", text.Bytes(len(raw)))}
	}
	s := schema.Parse(raw)
	if s.Err() != nil {
		return nil, []string{s.Err().Error()}
	}
	root := s.Root()
	if root.Shape() != schema.ShapeObject {
		out = append(out, argument{name: "value", required: true, typ: fieldType(root), about: root.Description})
	}
	return below(out, root.Children(nil), 0, depth), s.Notes()
}

// below appends the fields of one level, and of those below it that are wanted.
func below(out []argument, kids []schema.Child, level, depth int) []argument {
	for _, k := range kids {
		if len(out) >= maxDefinition {
			break
		}
		f := k.Field()
		out = append(out, argument{depth: level, name: k.Name, required: k.Required, typ: fieldType(f), about: cmp.Or(f.Description, f.Title)})
		in := f
		if f.Shape() == schema.ShapeArray && f.TupleLen() == 0 {
			in = f.Item(0)
		}
		if in.Shape() != schema.ShapeObject {
			continue
		}
		if level+1 >= depth {
			out[len(out)-1].deeper = depth < maxFieldDepth && len(in.Children(nil)) > 0
			continue
		}
		out = below(out, in.Children(nil), level+1, depth)
	}
	return out
}

// signature is the item's whole name, and what it takes.
func (l *canvas) signature(d *definition, takes []argument) {
	name := safe.Line(cmp.Or(d.item.URI, d.item.Name), 2000)
	s := name
	if d.kind == offer.Tools || d.kind == offer.Prompts {
		var in []string
		for _, a := range takes {
			if a.depth > 0 {
				continue
			}
			n := safe.Line(a.name, 120)
			if !a.required {
				n += "?"
			}
			in = append(in, n)
		}
		s += "(" + strings.Join(in, ", ") + ")"
	}
	rows := paint.Wrap(s, l.w)
	if n := len(paint.Wrap(name, l.w)) + foldedSignature - 1; len(rows) > n && !d.open {
		rows = append(rows[:n-1], paint.Cut(rows[n-1]+" …", l.w-1)+")")
	}
	for i, r := range rows {
		if head, ok := strings.CutPrefix(r, name); ok && i == 0 {
			l.lines = append(l.lines, l.th.Key.S(name)+l.th.Muted.S(head))
			continue
		}
		st := l.th.Muted
		if i < len(paint.Wrap(name, l.w))-1 {
			st = l.th.Key
		}
		l.lines = append(l.lines, st.S(r))
	}
	if d.item.URI != "" && d.item.Name != d.item.URI {
		l.lines = append(l.lines, l.th.Heading.S(safe.Line(d.item.Name, l.w)))
	}
}

// arguments lists names, whether they must be given, types and descriptions; without open a line or two each. It says
// whether it left something out.
func (l *canvas) arguments(list []argument, open bool) (folded bool) {
	col := Widest(len(list), maxNameColumn, func(i int) string {
		return strings.Repeat("  ", list[i].depth) + list[i].name + " *"
	})
	for _, a := range list {
		if len(l.lines) >= maxDefinition {
			return folded
		}
		folded = folded || a.deeper
		line := strings.Repeat("  ", a.depth) + l.th.Key.S(safe.Line(a.name, 120))
		if a.required {
			line += l.th.Warn.S(" *")
		}
		about := safe.Text(text.Clip(strings.TrimSpace(a.about), 2000))
		at := max(col, paint.Width(line)) + 2
		line += paint.Blanks(at - paint.Width(line))
		if l.w-at < leastType && a.typ != "" { // the type has a line of its own
			l.lines = append(l.lines, line)
			at = 2 * (a.depth + 1)
			line = paint.Blanks(at)
		}
		typ := paint.Wrap(safe.Line(a.typ, 400), l.w-at)
		if len(typ) > 2 && !open {
			typ, folded = append(typ[:1], paint.Cut(typ[1]+" …", l.w-at)), true
		}
		for i, t := range typ {
			if i > 0 {
				l.lines = append(l.lines, line)
				line = paint.Blanks(at)
			}
			line += l.th.Muted.S(t)
		}
		gap := 2
		if a.typ == "" {
			gap = 0
		}
		room := l.w - paint.Width(line) - gap
		one := strings.Join(strings.Fields(about), " ")
		var below []string
		if open || l.spare > 0 {
			below = paint.Wrap(about, l.w-2*(a.depth+1))
		}
		whole := open || paint.Width(one) > room && len(below) <= l.spare && l.spare > 0
		beside := !whole && room >= leastBeside || room >= paint.Width(about) && !strings.Contains(about, "\n")
		if beside && about != "" {
			folded = folded || paint.Width(one) > room
			line += paint.Blanks(gap) + l.th.Text.S(paint.Cut(one, room))
		}
		l.lines = append(l.lines, line)
		if beside || about == "" {
			continue
		}
		if !whole {
			folded = true
			continue
		}
		if !open {
			l.spare -= len(below)
		}
		for _, r := range below {
			l.lines = append(l.lines, paint.Blanks(2*(a.depth+1))+l.th.Text.S(r))
		}
	}
	return folded
}

// prose is what the item says of itself; it tells whether that was folded.
func (l *canvas) prose(d *definition) (folded bool) {
	about := d.about()
	if about == "" {
		return false
	}
	rows := d.prose
	if rows == nil {
		for _, r := range paint.Wrap(safe.Text(about), l.w) {
			rows = append(rows, l.th.Text.S(r))
		}
	}
	if most := foldedLines + l.spare; !d.open && (len(rows) > most || len(about) < len(strings.TrimSpace(d.item.Description))) {
		rows, folded = rows[:min(len(rows), most)], true
	}
	l.spare -= max(len(rows)-foldedLines, 0)
	l.lines = append(append(l.lines, ""), rows...)
	return folded
}

// about is as much of the description as is shown.
func (d *definition) about() string {
	most := foldedBytes
	if d.open {
		most = maxAbout
	}
	return text.Cut(strings.TrimSpace(d.item.Description), most)
}

// anyInteger is the largest integer that a float64 holds exactly.
const anyInteger = "9007199254740991"

// maxNamed is how many options or variants are named.
const maxNamed = 12

// fieldType is a field's type and limits in a few words.
func fieldType(f *schema.Field) string {
	out := []string{typeName(f)}
	for _, c := range f.Constraints {
		switch {
		case c.Keyword == "format", c.Keyword == "additionalProperties":
		case strings.Contains(c.Text, anyInteger): // what a generator puts where there is no limit
		default:
			out = append(out, c.Text)
		}
	}
	if f.Default != nil && f.Default.IsSet() {
		out = append(out, "default "+text.Clip(string(f.Default.JSON()), 60))
	}
	return strings.Join(out, ", ")
}

func typeName(f *schema.Field) string {
	switch f.Shape() {
	case schema.ShapeSelect:
		var names []string
		for _, o := range f.Options {
			if len(names) == maxNamed {
				names = append(names, fmt.Sprintf("… %d", len(f.Options)))
				break
			}
			names = append(names, o.Label())
		}
		return "one of " + strings.Join(names, " | ")
	case schema.ShapeConst:
		return "always " + f.Const.Text()
	case schema.ShapeVariants:
		var names []string
		for _, v := range f.Variants() {
			if names = append(names, strings.TrimSuffix(v.Title, " …")); len(names) == maxNamed {
				names = append(names, fmt.Sprintf("… %d", len(f.Variants())))
				break
			}
		}
		return "one of: " + strings.Join(names, ", ")
	case schema.ShapeArray:
		if f.TupleLen() > 0 {
			return fmt.Sprintf("tuple of %d", f.TupleLen())
		}
		return "array of " + f.Item(0).Types.String()
	case schema.ShapeNever:
		return "never allowed"
	case schema.ShapeAny:
		return "any JSON"
	case schema.ShapeString:
		return cmp.Or(f.Format, "string")
	}
	return f.Types.String()
}

// compact is a JSON value in a line, strings without quotes.
func compact(v []byte) string { return text.Clip(PlainValue(v), 2000) }

// PlainValue is a JSON value as people write it: a string without its quotes.
func PlainValue(raw []byte) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
