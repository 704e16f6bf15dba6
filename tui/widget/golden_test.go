package widget

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

type names []string

func (n names) Len() int            { return len(n) }
func (n names) Row(i, _ int) string { return safe.Line(n[i], 0) }

// screenful is every widget with wide, joined and hostile text, in boxes of one
// size.
func screenful(th *paint.Theme, w, h int) string {
	var out []string
	boxed := func(title string, pos, total int, lines []string) {
		var b paint.Box
		out = b.Draw(out, lines, paint.BoxSpec{W: w, H: h, Title: title, Badge: fmt.Sprint(total), Focused: true, Theme: th, Pos: pos, Total: total})
	}
	iw, ih := w-2, h-2

	rows := names{"echo", "日本語のツール", "family 👨‍👩‍👧 and ❤️", "esc \x1b]0;owned\x07 here", "rtl \u202eevil", strings.Repeat("long ", 60)}
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("tool_%02d", i))
	}
	var l List
	l.SetTheme(th)
	l.SetSize(iw, ih)
	l.SetFocus(true)
	l.SetRows(rows)
	l.Key("down")
	pos, total := l.Scroll()
	boxed("List", pos, total, l.Lines())

	var tb Table
	tb.SetTheme(th)
	tb.SetSize(iw, ih)
	tb.SetColumns([]Column{{Title: "Method", Width: 12}, {Title: "What", Width: 8, Grow: 1}, {Title: "ms", Width: 5, Right: true}})
	tb.SetCells(grid{})
	pos, total = tb.Scroll()
	boxed("Table", pos, total, tb.Lines())

	var p Pager
	p.SetTheme(th)
	p.SetSize(iw, ih)
	p.SetWrap(true)
	p.SetText([]byte("{\"name\": \"日本語\", \"n\": -1.50, \"ok\": true, \"none\": null}\n"+strings.Repeat("words that wrap 한국어 ", 12)+"\n\x1b[31mred\x9b\ttab\n"+strings.Repeat("x", 5000)), PaintJSON)
	p.SetQuery("wrap")
	pos, total = p.Scroll()
	boxed("Pager", pos, total, p.Lines())

	ix, err := NewIndex(context.Background(), []byte(sample))
	if err != nil {
		panic(err)
	}
	var j JSON
	j.SetTheme(th)
	j.SetSize(iw, ih)
	j.SetFocus(true)
	j.SetIndex(ix)
	for range 5 {
		j.Key("down")
	}
	j.Key("left")
	pos, total = j.Scroll()
	boxed("JSON", pos, total, j.Lines())

	var in Input
	in.SetTheme(th)
	in.SetSize(iw, ih)
	in.SetFocus(true)
	in.SetMulti(true)
	in.SetPainter(PaintJSON)
	in.SetValue("{\n  \"emoji\": \"👍🏽 🇩🇪\",\n\t\"日本\": 1\n}\x1b")
	boxed("Input", 0, 1, append(in.Lines(), Bar(th, iw, 2, 3)))

	doc, err := Markdown(context.Background(), th, page, iw)
	if err != nil {
		panic(err)
	}
	boxed("Markdown", 0, len(doc.Lines), doc.Lines)
	return strings.ReplaceAll(strings.Join(out, "\n"), "\x1b", "␛") + "\n"
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 15}, {80, 24}} {
		for _, look := range []struct {
			name    string
			theme   string
			profile colorprofile.Profile
		}{{"dark", "dark", colorprofile.TrueColor}, {"light", "light", colorprofile.TrueColor}, {"16", "dark", colorprofile.ANSI}, {"nocolor", "dark", colorprofile.ASCII}, {"plain", "dark", colorprofile.NoTTY}} {
			t.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], look.name), func(t *testing.T) {
				p, ok := themes.Find(look.theme)
				if !ok {
					t.Fatal("no such theme")
				}
				got := screenful(paint.New(p, look.profile), size[0], size[1])
				for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
					if w := paint.Width(strings.ReplaceAll(line, "␛", "\x1b")); w != size[0] {
						t.Errorf("a row is %d cells: %q", w, line)
					}
				}
				golden.RequireEqual(t, got)
			})
		}
	}
}
