package pane

import (
	"testing"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
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
