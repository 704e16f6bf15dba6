package pane

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/schema"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

const (
	maxDefinition = 600       // lines of a definition in words; the rest is there as sent
	maxFieldDepth = 3         // levels of a schema that are listed
	maxInWords    = 256 << 10 // bytes of a schema that is listed
)

// definitionLines is an item in words: what it says of itself, its schemas as fields, and every other member as sent.
func definitionLines(th *tui.Theme, it offer.Item, w int) []string {
	l := NewDetails(th, w)
	if it.Flaw != nil {
		l.failure(it.Flaw, "The list's other items are not affected. Press s for the raw definition.")
	}
	if it.Title != "" && it.Title != it.Name {
		l.Lines = append(l.Lines, th.Heading.S(safe.Line(it.Title, w)))
	}
	if it.Description != "" {
		l.text(text.Clip(it.Description, 32<<10))
	}
	_ = jsonrpc.Members(it.Raw, func(key string, value []byte) bool {
		switch key {
		case "name", "title", "description":
		case "inputSchema":
			l.schema("Takes", value)
		case "outputSchema":
			l.schema("Gives", value)
		case "arguments":
			l.arguments(value)
		case "annotations":
			l.heading("Annotations")
			l.members(value)
		default:
			l.Row(safe.Line(key, labelWidth-1), compact(value))
		}
		return len(l.Lines) < maxDefinition
	})
	if len(l.Lines) >= maxDefinition {
		l.note("… and more. Press s for the raw definition.")
	}
	return l.Lines
}

func (l *Details) members(value []byte) {
	_ = jsonrpc.Members(value, func(key string, v []byte) bool {
		l.Lines = append(l.Lines, l.th.Muted.S(paint.Fit(safe.Line(key, 24), 16))+" "+safe.Line(compact(v), 300))
		return len(l.Lines) < maxDefinition
	})
}

// arguments lists a prompt's arguments.
func (l *Details) arguments(value []byte) {
	l.heading("Takes")
	none := true
	_ = jsonrpc.Elements(value, func(v []byte) bool {
		none = false
		var name, about string
		required := false
		_ = jsonrpc.Members(v, func(key string, v []byte) bool {
			switch key {
			case "name":
				name = PlainValue(v)
			case "description":
				about = PlainValue(v)
			case "required":
				required = string(v) == "true"
			}
			return true
		})
		l.field(0, name, required, "string", about, nil)
		return len(l.Lines) < maxDefinition
	})
	if none {
		l.note("no arguments")
	}
}

// schema lists the fields of a schema, a few levels deep.
func (l *Details) schema(title string, raw []byte) {
	l.heading(title)
	if len(raw) > maxInWords {
		l.note(fmt.Sprintf("a schema of %s: press s for the raw schema", text.Bytes(len(raw))))
		return
	}
	s := schema.Parse(raw)
	if s.Err() != nil {
		l.note(safe.Line(s.Err().Error(), 400))
		return
	}
	root := s.Root()
	if root.Shape() != schema.ShapeObject {
		l.field(0, "value", true, fieldType(root), root.Description, root.Constraints)
	}
	kids := root.Children(nil)
	if len(kids) == 0 && root.Shape() == schema.ShapeObject {
		l.note("no declared properties")
	}
	l.fields(kids, 0)
	for _, n := range s.Notes() {
		l.note(safe.Line(n, 300))
	}
}

func (l *Details) fields(kids []schema.Child, depth int) {
	for _, k := range kids {
		if len(l.Lines) >= maxDefinition {
			return
		}
		f := k.Field()
		about := f.Description
		if about == "" {
			about = f.Title
		}
		l.field(depth, k.Name, k.Required, fieldType(f), about, f.Constraints)
		if depth+1 >= maxFieldDepth {
			continue
		}
		switch f.Shape() {
		case schema.ShapeObject:
			l.fields(f.Children(nil), depth+1)
		case schema.ShapeArray:
			if item := f.Item(0); f.TupleLen() == 0 && item.Shape() == schema.ShapeObject {
				l.fields(item.Children(nil), depth+1)
			}
		}
	}
}

// field is name, type and constraints, and the description below them.
func (l *Details) field(depth int, name string, required bool, typ, about string, cs []schema.Constraint) {
	in := strings.Repeat("  ", depth)
	line := in + l.th.Key.S(safe.Line(name, 120))
	if required {
		line += l.th.Warn.S(" * required")
	}
	var limits []string
	for _, c := range cs {
		limits = append(limits, c.Text)
	}
	put := func(s string, st paint.Style) { // on the line, or below it where it does not fit
		if s == "" {
			return
		}
		if paint.Width(line)+1+paint.Width(s) <= l.w {
			line += " " + st.S(s)
			return
		}
		l.Lines = append(l.Lines, line)
		rows := wrap(s, l.w-len(in)-2)
		for _, r := range rows[:len(rows)-1] {
			l.Lines = append(l.Lines, in+"  "+st.S(r))
		}
		line = in + "  " + st.S(rows[len(rows)-1])
	}
	put(safe.Line(typ, 400), l.th.Muted)
	put(safe.Line(strings.Join(limits, ", "), 400), l.th.Info)
	l.Lines = append(l.Lines, line)
	for _, d := range wrap(safe.Text(text.Clip(about, 2000)), l.w-len(in)-2) {
		if about != "" {
			l.Lines = append(l.Lines, in+"  "+l.th.Text.S(d))
		}
	}
}

// fieldType is a field's type in a few words.
func fieldType(f *schema.Field) string {
	switch f.Shape() {
	case schema.ShapeSelect:
		var names []string
		for _, o := range f.Options {
			if len(names) == 12 {
				names = append(names, fmt.Sprintf("… %d", len(f.Options)))
				break
			}
			names = append(names, o.Label())
		}
		return "one of " + strings.Join(names, " | ")
	case schema.ShapeConst:
		return "always " + f.Const.Text()
	case schema.ShapeVariants:
		return fmt.Sprintf("%s of %d variants", f.VariantKeyword(), len(f.Variants()))
	case schema.ShapeArray:
		if f.TupleLen() > 0 {
			return fmt.Sprintf("tuple of %d", f.TupleLen())
		}
		return "array of " + f.Item(0).Types.String()
	case schema.ShapeNever:
		return "never allowed"
	}
	out := f.Types.String()
	if f.Format != "" {
		out += " (" + f.Format + ")"
	}
	return out
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
