package widget_test

import (
	"testing"

	"github.com/mcphud/mcphud/tui/widget"
)

// Tiles cover all cells once, and their areas are as their values.
func TestTreemap(t *testing.T) {
	many := make([]int, 5000)
	for i := range many {
		many[i] = 1 + i%97
	}
	for name, values := range map[string][]int{
		"one": {7}, "none": {}, "zeros": {0, 0}, "two": {3, 1}, "steep": {1000, 300, 100, 30, 10, 3, 1}, "even": {5, 5, 5, 5, 5, 5, 5, 5}, "many": many,
	} {
		for _, size := range [][2]int{{78, 20}, {118, 36}, {198, 57}, {20, 5}, {1, 1}, {200, 1}, {1, 60}, {0, 5}} {
			w, h := size[0], size[1]
			tiles := widget.Treemap(values, w, h)
			sum := 0
			for _, v := range values {
				sum += v
			}
			if sum == 0 || w == 0 {
				if tiles != nil {
					t.Errorf("%s %v: %v", name, size, tiles)
				}
				continue
			}
			seen, listed := make([]int, w*h), 0
			for _, x := range tiles {
				listed += x.Value
				if x.Index >= 0 && values[x.Index] != x.Value {
					t.Errorf("%s %v: %+v", name, size, x)
				}
				for r := x.Y; r < x.Y+x.H; r++ {
					for c := x.X; c < x.X+x.W; c++ {
						seen[r*w+c]++
					}
				}
			}
			for i, n := range seen {
				if n != 1 {
					t.Fatalf("%s %v: cell %d,%d is in %d tiles: %+v", name, size, i%w, i/w, n, tiles)
				}
			}
			if w > 20 && h > 5 && name != "many" && listed != sum {
				t.Errorf("%s %v: %d of %d are in tiles", name, size, listed, sum)
			}
			if name == "many" && w > 20 && h > 5 && len(tiles) < 50 {
				t.Errorf("%s %v: %d tiles", name, size, len(tiles))
			}
			if name != "many" && len(tiles) > 1 && tiles[0].Value*w*h > 100*sum { // of a large one
				want, got := float64(tiles[0].Value)/float64(sum), float64(tiles[0].W*tiles[0].H)/float64(w*h)
				if got < want*0.85-0.02 || got > want*1.15+0.02 {
					t.Errorf("%s %v: a share of %.2f has %.2f of the cells", name, size, want, got)
				}
			}
		}
	}
}

// Each tile can be reached from the first one, and there is no step beyond the border.
func TestBeside(t *testing.T) {
	tiles := widget.Treemap([]int{1000, 300, 200, 150, 100, 90, 60, 40, 30, 20, 20, 20, 10, 10}, 78, 20)
	seen, next := map[int]bool{0: true}, []int{0}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			if to := widget.Beside(tiles, at, d[0], d[1]); !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	if len(seen) != len(tiles) {
		t.Errorf("%d of %d tiles are reached", len(seen), len(tiles))
	}
	if widget.Beside(tiles, 0, -1, 0) != 0 || widget.Beside(tiles, 0, 0, -1) != 0 {
		t.Error("a step leads off the map")
	}
}
