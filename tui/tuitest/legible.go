package tuitest

import (
	"fmt"

	"github.com/mcphud/mcphud/themes"
)

// Legible wants everything on the screen to stand out from what is behind it: letters by 4.5 to 1, lines and bars by 3 to 1, as
// WCAG 2 has it. Pictures are left out.
func (a *App) Legible() *App {
	a.t.Helper()
	a.Settle()
	fg, bg := a.ground()
	seen := map[string]bool{}
	for y, row := range a.screen.cells() {
		for x := range row {
			c := &row[x]
			least := 4.5
			switch r := []rune(c.Content + " ")[0]; {
			case r == ' ' || r == '▀' || r == '▄':
				continue
			case r >= 0x2500 && r < 0x25a0 || r >= 0x2800 && r < 0x2900:
				least = 3
			}
			f, g := (&run{style: c.Style}).colors(fg, bg)
			if what := fmt.Sprintf("%s on %s", f, g); !seen[what] {
				seen[what] = true
				if got := themes.Contrast(paletteColor(f), paletteColor(g)); got < least {
					a.t.Errorf("%q in row %d, column %d has a contrast of %.2f (%s), want %.1f", c.Content, y, x, got, what, least)
				}
			}
		}
	}
	return a
}

// paletteColor reads #rrggbb.
func paletteColor(s string) (c themes.Color) {
	_, _ = fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}
