package output

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// widestCell bounds the width of a column, in cells.
const widestCell = 60

// Table writes rows with aligned columns, two spaces between them. Cells are single safe lines. On a terminal of some width
// every line fits, and the first cell, which names the row, is cut last; with width 0 nothing is cut, and a cell that is too wide for its column pushes the next ones.
func (t *Text) Table(width int, rows [][]string) {
	widest, name := widestCell, widestCell
	if width > 0 {
		widest, name = max(width/2, 10), max(width*3/4, 10)
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = safe.Line(cell, 0)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			most := widest
			if i == 0 {
				most = name
			} else if width > 0 && i < len(row)-1 {
				row[i] = ansi.Truncate(row[i], widest, "…")
			}
			widths[i] = max(widths[i], min(most, ansi.StringWidth(row[i])))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", max(widths[i]-ansi.StringWidth(cell), 0)+2))
			}
		}
		out := strings.TrimRight(line.String(), " ")
		if width > 0 {
			out = ansi.Truncate(out, width, "…")
		}
		t.B.WriteString(out + "\n")
	}
}

// Fields writes a name and a value per row, leaving out those without one.
func (t *Text) Fields(rows ...[2]string) {
	for _, line := range page.Fields(rows...) {
		t.Block(line)
	}
}
