package widget

import (
	"cmp"
	"image/color"
	"math"
	"strconv"

	"charm.land/bubbles/v2/progress"
	"charm.land/lipgloss/v2"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// Bar draws progress as a bar of w cells with its share in per cent at the end: ━━━━━──── 55%. Where the total is not
// known (total <= 0) it counts instead. Servers send what they like: nothing, more than all, NaN.
func Bar(th *paint.Theme, w int, done, total float64) string {
	if w <= 0 {
		return ""
	}
	if total <= 0 || math.IsNaN(total) || math.IsInf(total, 0) || math.IsNaN(done) || math.IsInf(done, 0) {
		return paint.Cut(th.Accent.S(strconv.FormatFloat(done, 'g', 6, 64)), w)
	}
	share := min(max(done/total, 0), 1)
	if w < 8 {
		return paint.Cut(strconv.Itoa(int(share*100))+"%", w)
	}
	none := color.Color(lipgloss.NoColor{})
	bar := progress.New(progress.WithFillCharacters('━', '─'), progress.WithWidth(w), progress.WithColors(cmp.Or(th.Token(themes.Accent), none)))
	bar.EmptyColor = cmp.Or(th.Token(themes.Muted), none)
	return bar.ViewAs(share)
}
