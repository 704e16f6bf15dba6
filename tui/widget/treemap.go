package widget

import (
	"math"
	"slices"
)

// Tile is a rectangle of a treemap, in cells.
type Tile struct {
	X, Y, W, H int
	Index      int // of the value; -1 for all that are too small for a tile of their own
	Value      int // of all of them
}

const (
	leastTile = 12  // cells of a tile
	mostTiles = 250 // of a map
)

// Treemap divides w by h cells among values so that areas are as the values, in tiles that are as square as can be: the squarified
// treemaps of Bruls, Huizing and van Wijk. Values below 1 get none. What is too small is one tile together, or has none where that would be most of the map. A cell counts as
// twice as high as wide.
func Treemap(values []int, w, h int) []Tile {
	var tiles []Tile
	sum := 0
	for i, v := range values {
		if v > 0 {
			tiles = append(tiles, Tile{Index: i, Value: v})
			sum += v
		}
	}
	if w < 1 || h < 1 || sum == 0 {
		return nil
	}
	larger := func(a, b Tile) int { return b.Value - a.Value }
	slices.SortStableFunc(tiles, larger)
	n := min(len(tiles), mostTiles)
	for n > 1 && tiles[n-1].Value*w*h < leastTile*sum {
		n--
	}
	switch rest := tiles[n:]; {
	case len(rest) == 0:
	case 2*total(rest) > sum: // only the largest, among themselves
		for n = min(len(tiles), mostTiles); n > 1 && tiles[n-1].Value*w*h < leastTile*total(tiles[:n]); n-- {
		}
		sum = total(tiles[:n])
	default: // what is too small is put together
		tiles = append(tiles[:n:n], Tile{Index: -1, Value: total(rest)})
		slices.SortStableFunc(tiles, larger)
		n++
	}
	tiles = tiles[:n]
	const high = 2
	scale := float64(w*h*high) / float64(sum)
	area := func(t Tile) float64 { return float64(t.Value) * scale }
	x, y, dx, dy := 0.0, 0.0, float64(w), float64(h*high)
	for i := 0; i < n; {
		side := min(dx, dy)
		row, all := 1, area(tiles[i])
		for i+row < n {
			more := all + area(tiles[i+row])
			if worst(area(tiles[i]), area(tiles[i+row]), more, side) > worst(area(tiles[i]), area(tiles[i+row-1]), all, side) {
				break
			}
			row, all = row+1, more
		}
		if i+row == n { // what is left takes all that is left, whatever was lost in rounding
			all = dx * dy
		}
		thick, at := all/side, 0.0
		for j := range row {
			t := &tiles[i+j]
			long := area(*t) / thick
			if j == row-1 {
				long = side - at
			}
			if dx >= dy { // a column at the left
				t.place(x, (y+at)/high, thick, long/high)
			} else { // a row at the top
				t.place(x+at, y/high, long, thick/high)
			}
			at += long
		}
		if dx >= dy {
			x, dx = x+thick, dx-thick
		} else {
			y, dy = y+thick, dy-thick
		}
		i += row
	}
	return slices.DeleteFunc(tiles, func(t Tile) bool { return t.W < 1 || t.H < 1 })
}

func total(tiles []Tile) (sum int) {
	for _, t := range tiles {
		sum += t.Value
	}
	return sum
}

// place rounds to cells, so that tiles that touch still do.
func (t *Tile) place(x, y, w, h float64) {
	t.X, t.Y = int(math.Round(x)), int(math.Round(y))
	t.W, t.H = int(math.Round(x+w))-t.X, int(math.Round(y+h))-t.Y
}

// worst is how far the least square tile of a row is from a square, 1 being one. The row is along a side, and has a total area.
func worst(largest, smallest, total, side float64) float64 {
	s := side * side
	return max(s*largest/(total*total), total*total/(s*smallest))
}

// Beside is the tile that one comes to from tile i by a step to the right (dx 1), left (-1), down (dy 1) or up (-1); i where there
// is none.
func Beside(tiles []Tile, i, dx, dy int) int {
	if i < 0 || i >= len(tiles) {
		return i
	}
	a, best, least := tiles[i], i, math.MaxInt
	for j, b := range tiles {
		gap, apart := 0, 0
		switch {
		case dx > 0:
			gap, apart = b.X-(a.X+a.W), off(a.Y, a.H, b.Y, b.H)
		case dx < 0:
			gap, apart = a.X-(b.X+b.W), off(a.Y, a.H, b.Y, b.H)
		case dy > 0:
			gap, apart = b.Y-(a.Y+a.H), off(a.X, a.W, b.X, b.W)
		default:
			gap, apart = a.Y-(b.Y+b.H), off(a.X, a.W, b.X, b.W)
		}
		if gap < 0 {
			continue
		}
		if cost := gap*4 + apart*8; cost < least {
			best, least = j, cost
		}
	}
	return best
}

// off is how far the second of two stretches is beside the middle of the first.
func off(a, na, b, nb int) int {
	mid := a + na/2
	return max(b-mid, mid-(b+nb-1), 0)
}
