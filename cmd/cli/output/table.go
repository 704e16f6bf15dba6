package output

import (
	"github.com/mcphud/mcphud/tui/page"
)

// Table writes rows with aligned columns: see [page.AlignRows].
func (t *Text) Table(width int, rows [][]string) { t.B.WriteString(page.AlignRows(width, rows)) }

// Fields writes a name and a value per row, leaving out those without one.
func (t *Text) Fields(rows ...[2]string) {
	for _, line := range page.Fields(0, rows...) {
		t.Block(line)
	}
}
