package page

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Table is the rows of a list. Row is asked for those that are looked at only: a million rows cost as much as forty.
type Table struct {
	Columns []Column
	Len     int
	Row     func(i int) Row
	Value   func(i int) any // what a row is as JSON, nil where only the page is asked for
	Prose   bool            // the columns have their width also in a text, where the last one goes on below itself, and what follows a row below that
}

// Column is how the cells below each other are drawn; the last one takes what is left.
type Column struct {
	Name  string // above the column in a text; "" in the first one for a text without names
	Cells int    // that it has, 0 for as many as the text, up to 40
	Found bool   // what a filter looks at: it has as many as the text, up to 60, and what was found is marked
	Right bool   // numbers
	From  int    // leave it out where a row has fewer cells
	Rest  bool   // it takes what is left although it is not the last one
	End   bool   // where it is too long its end is what tells most
	On    Where  // only a screen has it, or only a text
}

// Cells of columns that have as many as their text, at most: nobody's long name leaves the next column none.
const (
	widest      = 40
	widestFound = 60
)

// tooFew are so few cells that the beginning of a longer text says nothing in them.
const tooFew = 8

// Where is who has a column.
type Where uint8

// Who has a column.
const (
	Everywhere Where = iota
	Drawn
	Printed
)

// Row is a thing in one line, and in a text what follows below it.
type Row struct {
	Cells []Text
	Below []string
}

// Found marks in a text what a filter found.
type Found func(s string, style, match paint.Style) string

// Line draws row i in w cells.
func (t *Table) Line(i, w int, th *paint.Theme, found Found) string {
	var out strings.Builder
	cells, at := t.Row(i).Cells, 0
	for n, c := range t.Columns {
		if n >= len(cells) || w < c.From || c.On == Printed || cells[n].S == "" && c.Cells == 0 {
			continue
		}
		last := n == len(t.Columns)-1 || c.Rest
		style, s := cells[n].Tone.Style(th), safe.Line(cells[n].S, 300)
		wide, most := paint.Width(s), c.Cells
		switch {
		case last:
			most = max(w-at, 0)
		case c.Found:
			most = max(min(c.Cells, w/2), min(wide, widestFound))
		case c.Cells == 0:
			most = min(wide, widest)
		}
		if n > 0 && last && wide > most && most <= tooFew {
			break
		}
		switch {
		case wide > most && c.End:
			s, wide = ansi.TruncateLeft(s, wide-most+1, "…"), most
		case wide > most:
			s, wide = ansi.Truncate(s, most, "…"), most
		}
		gap := paint.Blanks(most - wide)
		if last {
			gap = ""
		}
		if c.Found && found != nil {
			s = found(s, style, th.Match)
		} else {
			s = style.S(s)
		}
		if c.Right {
			s, gap = gap+s, ""
		}
		out.WriteString(s + gap)
		if !last {
			out.WriteByte(' ')
		}
		at += most + 1
	}
	return out.String()
}

// Spoken is row i as lines for whoever hears them.
func (t *Table) Spoken(i int) string {
	var words []string
	r := t.Row(i)
	for n, c := range r.Cells {
		if s := strings.TrimSpace(c.S); s != "" && t.Columns[n].On != Drawn {
			words = append(words, safe.Line(s, 400))
		}
	}
	out := strings.Join(words, "  ")
	for _, l := range r.Below {
		out += "\n  " + strings.ReplaceAll(safe.Text(l), "\n", "\n  ")
	}
	return out
}

// Cells are the rows as lists of texts, without columns in which there is nothing, below the names of the columns if they have some.
func (t *Table) Cells() (rows [][]string) {
	if t.Len == 0 {
		return nil
	}
	all, some := make([]Row, t.Len), make([]bool, len(t.Columns))
	for i := range all {
		all[i] = t.Row(i)
		for n, c := range all[i].Cells {
			some[n] = some[n] || c.S != "" && t.Columns[n].On != Drawn
		}
	}
	if len(t.Columns) > 0 && t.Columns[0].Name != "" {
		names := Row{}
		for _, c := range t.Columns {
			names.Cells = append(names.Cells, Text{S: c.Name})
		}
		all = append([]Row{names}, all...)
	}
	for _, r := range all {
		var row []string
		for n, c := range r.Cells {
			if some[n] {
				row = append(row, strings.TrimSpace(c.S))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Words are what a filter looks at in row i: what it finds first, and the rest.
func (t *Table) Words(i int) (name, about string) {
	for n, c := range t.Row(i).Cells {
		if t.Columns[n].Found {
			name += c.S
		} else {
			about += " " + c.S
		}
	}
	return name, about
}

// Print is row i of prose as text, in lines of width cells; 0 breaks none.
func (t *Table) Print(i, width int) string {
	r, head := t.Row(i), ""
	for n, c := range t.Columns[:len(t.Columns)-1] {
		s := safe.Line(r.Cells[n].S, 0)
		gap := paint.Blanks(c.Cells - paint.Width(s))
		if c.Right {
			s, gap = gap+s, ""
		}
		head += s + gap + " "
	}
	indent := paint.Blanks(paint.Width(head))
	var out []string
	for _, s := range append([]string{r.Cells[len(r.Cells)-1].S}, r.Below...) {
		lines := []string{safe.Line(s, 0)}
		if width > 0 {
			lines = paint.Wrap(lines[0], max(width-len(indent), 20))
		}
		for _, l := range lines {
			out = append(out, strings.TrimRight(head+l, " "))
			head = indent
		}
	}
	return strings.Join(out, "\n")
}
