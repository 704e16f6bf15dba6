package page

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// widestCell bounds the width of a column, in cells.
const widestCell = 60

// AlignRows gives rows with aligned columns, a line each, two spaces between them. Cells are single safe lines. On a terminal of some width
// every line fits, and the first cell, which names the row, is cut last; with width 0 nothing is cut, and a cell that is too wide for its column pushes the next ones.
func AlignRows(width int, rows [][]string) string {
	var all, line strings.Builder
	widest, name := widestCell, widestCell
	if width > 0 {
		widest, name = max(width/2, 10), max(width*3/4, 10)
	}
	var widths []int
	rows = slices.Clone(rows)
	for r := range rows {
		row := slices.Clone(rows[r])
		rows[r] = row
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
		line.Reset()
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
		all.WriteString(out + "\n")
	}
	return all.String()
}

// mostRows is how many rows of a grid are drawn.
const mostRows = 500

// gridLines draws rows in w cells, the first column as wide as there is room: the others are figures.
func gridLines(th *paint.Theme, w int, rows [][]string, named bool) (out []string) {
	rows = rows[:min(len(rows), mostRows)]
	wide := make([]int, len(rows[0]))
	rest := 0
	for i := range wide {
		for _, row := range rows {
			if i < len(row) {
				wide[i] = max(wide[i], paint.Width(safe.Line(row[i], widestCell)))
			}
		}
		if i > 0 {
			rest += wide[i] + 2
		}
	}
	wide[0] = max(min(wide[0], w-rest), 8)
	for n, row := range rows {
		style, line := th.Text, ""
		if n == 0 && named {
			style = th.Muted
		}
		for i, cell := range row[:min(len(row), len(wide))] {
			cell = paint.Fit(safe.Line(cell, wide[i]), wide[i])
			if i > 0 {
				cell = "  " + cell
			}
			line += cell
		}
		out = append(out, style.S(paint.Cut(strings.TrimRight(line, " "), w)))
	}
	return out
}
