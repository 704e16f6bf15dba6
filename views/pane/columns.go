package pane

import (
	"strings"
	"unicode"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Widest is how many cells the longest of n names takes, at most maxColumn.
func Widest(n int, name func(int) string) int {
	most := 0
	for i := range n {
		if s := name(i); len(s) > most { // cells are at most bytes
			most = max(most, min(paint.Width(safe.Line(s, 2*maxColumn)), maxColumn))
		}
		if most == maxColumn {
			break
		}
	}
	return most
}

// maxColumn bounds the column of names in a list; longer names push what follows them to the right.
const maxColumn = 32

// Column pads a styled name to its column, which takes half of a row of w
// cells at most. Names are never cut for it: they are what the row is about.
func Column(name string, col, w int) string {
	if n := min(col, w/2) - paint.Width(name); n > 0 {
		return name + paint.Blanks(n)
	}
	return name
}

// sameWords is whether a title says no more than the name: "Form gallery" of form_gallery.
func sameWords(title, name string) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	return len(title) <= 2*len(name)+8 && letters(title) == letters(name)
}
