package pane

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// A filter looks at rows beside the event loop: what it reads stays as it was when they changed.
func TestListPageFreezesItsWords(t *testing.T) {
	t.Parallel()
	names := []string{"one", "two"}
	v := ListPage{Page: func(*tui.Ctx) page.Page {
		return page.Page{Table: page.Table{Columns: []page.Column{{Found: true}, {}}, Len: len(names), Row: func(i int) page.Row {
			return page.Row{Cells: []page.Text{{S: names[i]}, {S: "about"}}}
		}}}
	}}
	v.Screen(tui.Screen{})
	v.Changed(nil)
	n, words := v.Freeze()
	names[0] = "other"
	if name, about := words(0); n != 2 || name != "one" || about != " about" {
		t.Errorf("%d rows, the first %q, %q", n, name, about)
	}
}

func numbered(n int) (*ListPage, *tui.Screen) {
	v := &ListPage{Page: func(*tui.Ctx) page.Page {
		return page.Page{Foot: "foot", Table: page.Table{Columns: []page.Column{{Found: true}, {}}, Len: n, Row: func(i int) page.Row {
			return page.Row{Cells: []page.Text{{S: fmt.Sprintf("row %d", i)}}}
		}}}
	}}
	v.About = func(_ *tui.Ctx, i int) page.Page { return page.Page{Title: fmt.Sprintf("about %d", i)} }
	v.Pick = func(*tui.Ctx, int) tea.Cmd { return nil }
	return v, v.Screen(tui.Screen{Panes: []tui.PaneSpec{{ID: "list", Title: "Rows"}, {ID: "detail", Title: "Row"}}})
}

// Linear mode numbers the first rows, and says how many there are; a filter that leaves none is said, too.
func TestListPageInLinearMode(t *testing.T) {
	t.Parallel()
	c := &tui.Ctx{Linear: true}
	for _, x := range []struct {
		rows    int
		typed   string
		choices int
		text    string
	}{
		{3, "", 3, "\n"},
		{5000, "", 100, "the first 100 of 5000; /text narrows\n"},
		{5000, "2", 100, "the first 100 of 2084; /text narrows\n"},
		{3, "nomatch", 0, NothingListed("nomatch") + "\n"},
	} {
		v, screen := numbered(x.rows)
		v.Changed(c)
		v.Typed, v.Query = x.typed, widget.ParseQuery(x.typed)
		if x.typed != "" {
			v.Settle()
		}
		var text strings.Builder
		screen.Plain(c, &text)
		if n := len(screen.Choices(c)); text.String() != x.text || n != x.choices {
			t.Errorf("%d rows, filter %q: %d choices below %q", x.rows, x.typed, n, text.String())
		}
		text.Reset()
		screen.Plain(&tui.Ctx{}, &text)
		if x.typed == "" && strings.Count(text.String(), "row ") != x.rows {
			t.Errorf("as a text: %d of %d rows", strings.Count(text.String(), "row "), x.rows)
		}
	}
}

// A pane without a row to be about has its own title, not that of what is gone.
func TestListPageTitles(t *testing.T) {
	t.Parallel()
	n := 1
	v, screen := numbered(1)
	all := v.Page
	v.Page = func(c *tui.Ctx) page.Page {
		p := all(c)
		if p.Table.Len = n; n > 0 {
			p.Title = "One row"
		}
		return p
	}
	c := &tui.Ctx{Theme: paint.New(themes.Default(true), colorprofile.TrueColor)}
	list, detail := &tui.Pane{ID: "list", W: 40, H: 10}, &tui.Pane{ID: "detail", W: 40, H: 10}
	for _, want := range [][2]string{{"One row", "about 0"}, {"Rows", "Row"}} {
		v.Changed(c)
		screen.Draw(c, list)
		screen.Draw(c, detail)
		if got := [2]string{list.Title, detail.Title}; got != want {
			t.Errorf("%d rows: titles %q, want %q", n, got, want)
		}
		n = 0
	}
}
