package tuitest

import (
	"fmt"
	"sort"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Ways out of a cell that a box-drawing character connects.
const (
	north = 1 << iota
	east
	south
	west
)

// boxed are the box-drawing characters that pictures draw as lines: as text
// they would be most of the file, and show gaps in many fonts.
var boxed = map[string]uint8{
	"─": east | west, "│": north | south,
	"╭": south | east, "╮": south | west, "╰": north | east, "╯": north | west,
	"┬": east | south | west, "├": north | east | south, "┴": north | east | west,
}

// boxLines takes the box-drawing characters out of cells and returns them as one path for each colour.
func boxLines(cells [][]uv.Cell, fg, bg string) string {
	kind := make([][]uint8, len(cells))
	colors := map[string][][2]int{} // cells of a colour, row by row
	for y, row := range cells {
		kind[y] = make([]uint8, len(row))
		for x := range row {
			k := boxed[row[x].Content]
			if k == 0 || row[x].Style.Attrs&uv.AttrReverse != 0 {
				continue
			}
			kind[y][x] = k
			c, _ := (&run{style: row[x].Style}).colors(fg, bg)
			colors[c] = append(colors[c], [2]int{x, y})
			row[x].Content = " "
			row[x].Style.Underline = 0
		}
	}
	names := make([]string, 0, len(colors))
	for c := range colors {
		names = append(names, c)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, c := range names {
		fmt.Fprintf(&b, `<path fill="none" stroke="%s" d="%s"/>`+"\n", c, boxPath(kind, colors[c]))
	}
	return b.String()
}

// boxPath joins what runs on in one direction.
func boxPath(kind [][]uint8, cells [][2]int) string {
	mine := make(map[[2]int]uint8, len(cells))
	for _, at := range cells {
		mine[at] = kind[at[1]][at[0]]
	}
	var b strings.Builder
	for _, at := range cells {
		x, y, k := float64(at[0])*cellW, float64(at[1])*cellH, mine[at]
		switch k {
		case east | west:
			if mine[[2]int{at[0] - 1, at[1]}] == k {
				continue
			}
			n := 1
			for mine[[2]int{at[0] + n, at[1]}] == k {
				n++
			}
			fmt.Fprintf(&b, "M%s %sh%s", px(x), px(y+cellH/2), px(float64(n)*cellW))
		case north | south:
			if mine[[2]int{at[0], at[1] - 1}] == k {
				continue
			}
			n := 1
			for mine[[2]int{at[0], at[1] + n}] == k {
				n++
			}
			fmt.Fprintf(&b, "M%s %sv%s", px(x+cellW/2), px(y), px(float64(n)*cellH))
		case east | south | west, north | east | west:
			fmt.Fprintf(&b, "M%s %sh%sM%s %sv%s", px(x), px(y+cellH/2), px(cellW), px(x+cellW/2), px(y+float64(k&south/south)*cellH/2), px(cellH/2))
		case north | east | south:
			fmt.Fprintf(&b, "M%s %sv%sM%s %sh%s", px(x+cellW/2), px(y), px(cellH), px(x+cellW/2), px(y+cellH/2), px(cellW/2))
		default:
			// A rounded corner: from one edge of the cell to the other, bent at its middle.
			fromX, fromY, toY := x, y+cellH/2, y
			if k&east != 0 {
				fromX = x + cellW
			}
			if k&south != 0 {
				toY = y + cellH
			}
			fmt.Fprintf(&b, "M%s %sQ%s %s %s %s", px(fromX), px(fromY), px(x+cellW/2), px(y+cellH/2), px(x+cellW/2), px(toY))
		}
	}
	return b.String()
}
