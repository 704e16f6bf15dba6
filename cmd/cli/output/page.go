package output

import (
	"github.com/mcphud/mcphud/tui/page"
)

// Page writes the parts of a page, and below them its rows in at most width cells, or why there are none.
func (t *Text) Page(width int, is page.Page) {
	if s := is.Print(width); s != "" {
		t.Block(s)
	}
	if is.Table.Len == 0 && is.None[0] != "" {
		t.Block(is.None[0])
	}
	for i := range is.Table.Len {
		if is.Table.Prose {
			t.Block(is.Table.Print(i, width))
		}
	}
	if !is.Table.Prose && is.Table.Row != nil { // else the rows are for jsonl alone
		t.Table(width, is.Table.Cells())
	}
	for _, s := range is.After {
		t.Block("")
		t.Note(width, s)
	}
}

// Foreign is a value that others wrote: see MarshalForeign.
type Foreign struct{ Value any }

// MarshalJSON implements [json.Marshaler].
func (f Foreign) MarshalJSON() ([]byte, error) { return MarshalForeign(f.Value) }

// Show prints a value as JSON, or text in its place. frames are those that it came in, the value where there are none.
func (p *Printer) Show(value any, text func(*Text), frames ...[]byte) error {
	raw, err := Marshal(value)
	if err != nil {
		return err
	}
	if len(frames) == 0 {
		frames = [][]byte{raw}
	}
	return p.Print(Answer{Result: raw, Frames: frames, Text: text})
}

// Page prints a page, in the jsonl format the values of its rows where they have some.
func (p *Printer) Page(is page.Page, frames ...[]byte) error {
	if p.Format != FormatJSONL || is.Table.Value == nil {
		return p.Show(is.Value, func(t *Text) { t.Page(p.Width, is) }, frames...)
	}
	for i := range is.Table.Len {
		row, err := Marshal(is.Table.Value(i))
		if err == nil {
			err = p.Line(row)
		}
		if err != nil {
			return err
		}
	}
	raw, err := Marshal(is.Value)
	if err != nil {
		return err
	}
	return p.Judge(Answer{Result: raw})
}
