package page_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
)

var theme = paint.New(themes.Default(true), colorprofile.TrueColor)

func sample() page.Page {
	var p page.Page
	p.Field("mcp.tool.name", "echo").Field("call", "7").Short("at", "12:00:00").Framed("took", "3ms").Field("empty", "").Line(page.Bad, "refused \x1b[2J").
		Key("enter", "opens it").Heading("Evidence").Bullet("one two three four five").JSON([]byte(`{"a":1}`)).Item(page.Text{S: "✓", Tone: page.Good}, "tools", "listChanged")
	return p
}

// What is drawn, printed and spoken is the same: a screen leaves out what its frame says, a text what keys do.
func TestOnePageFourWays(t *testing.T) {
	t.Parallel()
	p := sample()
	drawn := paint.Strip(strings.Join(p.Lines(theme, 40), "\n"))
	wantDrawn := "mcp.tool.name echo\ncall         7 · at 12:00:00\nrefused ^[[2J\n\n enter  opens it\n\nEvidence\n· one two three four five\n{\n  \"a\": 1\n}\n✓ tools listChanged"
	printed := "mcp.tool.name  echo\ncall           7\nat             12:00:00\ntook           3ms\nrefused \x1b[2J\n\nEvidence:\n- one two three four five\n{\n  \"a\": 1\n}\n✓ tools listChanged"
	for _, x := range []struct{ got, want string }{
		{drawn, wantDrawn},
		{p.Print(0), printed},
		{p.Spoken(false), strings.ReplaceAll(printed, "\x1b", "^[")},
	} {
		if x.got != x.want {
			t.Errorf("got\n%s\nwant\n%s", x.got, x.want)
		}
	}
	for _, w := range []int{24, 40} {
		for _, l := range p.Lines(theme, w) {
			if n := paint.Width(l); n > w {
				t.Errorf("%d cells where there are %d: %q", n, w, l)
			}
		}
	}
}

// A paragraph stands apart and is not long, a quote says whose each line is, and a value may have several tones.
func TestParagraphs(t *testing.T) {
	t.Parallel()
	var p page.Page
	p.Paragraph(page.Bad, "one two three", page.Text{S: "below", Tone: page.Quiet}).Brief(1, page.Plain, "aaaa bbbb cccc dddd eeee ffff gggg").Quote("stderr", "x\ny").
		Styled("state", page.Text{S: "●", Tone: page.Good}, page.Text{S: "up"}, page.Text{}, page.Text{S: "now", Tone: page.Quiet}).Paragraph(page.Plain, "").Styled("none", page.Text{}, page.Text{S: "x"}).Quote("nobody", "")
	var drawn []string
	for _, l := range p.Lines(theme, 30) {
		drawn = append(drawn, strings.TrimRight(paint.Strip(l), " "))
	}
	for _, x := range []struct{ got, want string }{
		{strings.Join(drawn, "\n"), "\n one two three\n below\n\n aaaa bbbb cccc dddd eeee\n …\n\n stderr │ x\n        │ y\nstate        ● up now"},
		{p.Print(0), "one two three\nbelow\naaaa bbbb cccc dddd eeee ffff gggg\nstderr │ x\nstderr │ y\nstate  ● up now"},
	} {
		if x.got != x.want {
			t.Errorf("got\n%s\nwant\n%s", x.got, x.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	rows := []page.Row{
		{Cells: []page.Text{{S: "1"}, {S: "★"}, {S: "echo"}, {}, {S: "a rather long text"}}},
		{Cells: []page.Text{{S: "22"}, {S: " "}, {S: "a_long_name"}, {}, {S: "b\x1b"}}, Below: []string{"more"}},
	}
	table := page.Table{
		Columns: []page.Column{{Cells: 2, Right: true, On: page.Printed}, {Cells: 1, On: page.Drawn}, {Cells: 6, Found: true}, {}, {}}, Len: 2, Row: func(i int) page.Row { return rows[i] },
	}
	p := page.Page{Table: table, Foot: "2 rows"}
	for _, x := range []struct{ got, want string }{
		{paint.Strip(table.Line(0, 20, theme, nil)), "★ echo   a rather l…"},
		{paint.Strip(table.Line(0, 14, theme, nil)), "★ echo   "}, // nothing instead of five cells of a longer text
		{paint.Strip(table.Line(1, 20, theme, nil)), "  a_long_name b^["},
		{p.Spoken(false), "1  echo  a rather long text\n22  a_long_name  b^[\n  more\n2 rows"},
		{p.Spoken(true), "22  a_long_name  b^[\n  more\n2 rows"},
	} {
		if x.got != x.want {
			t.Errorf("got %q, want %q", x.got, x.want)
		}
	}
	if cells := table.Cells(); len(cells[0]) != 3 { // neither what only a screen has nor what is empty
		t.Errorf("%q", cells)
	}
}

// What others sent does not make a line that looks as if it were ours, nor cells that leave none for the next ones.
func TestOthersMakeNoLines(t *testing.T) {
	t.Parallel()
	forged := "x\n✓ forged\r\n✓ forged \x1b[2J"
	var p page.Page
	p.Field(forged, "a\nb").Line(page.Warn, "≠ "+forged).Text(page.Code, "as\nsent").Note(forged).Heading(forged).Bullet(forged).
		Item(page.Text{S: "−"}, forged, forged).Item(page.Text{}, "", forged)
	p.Foot, p.None = forged, [2]string{forged}
	for _, got := range []string{paint.Strip(strings.Join(p.Lines(theme, 200), "\n")), p.Print(0), p.Print(200), p.Spoken(false)} {
		if strings.Contains(got, "\n✓") || !strings.Contains(got, "as\nsent") || !strings.Contains(got, "\n− x") {
			t.Errorf("%s", got)
		}
	}
	long := strings.Repeat("long", 40)
	table := page.Table{Columns: []page.Column{{}, {Cells: 6, Found: true}, {}}, Len: 1, Row: func(int) page.Row {
		return page.Row{Cells: []page.Text{{S: long}, {S: long}, {S: "evidence"}}}
	}}
	if got := paint.Strip(table.Line(0, 120, theme, nil)); !strings.Contains(got, "evidence") {
		t.Error(got)
	}
}

// A table in which there is nothing is nothing, not the names of its columns without columns.
func TestNoRows(t *testing.T) {
	t.Parallel()
	table := page.Table{Columns: []page.Column{{Name: "server"}, {Name: "outcome"}}}
	if rows := table.Cells(); len(rows) > 0 {
		t.Errorf("%q", rows)
	}
}
