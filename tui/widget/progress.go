package widget

import (
	"math"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
)

// Bar draws progress as a bar of w cells with its share in per cent at the end: ━━━━━──── 55%. Where the total is not
// known (total <= 0) it counts instead. Servers send what they like: nothing, more than all, NaN.
func Bar(th *paint.Theme, w int, progress, total float64) string {
	if w <= 0 {
		return ""
	}
	if total <= 0 || math.IsNaN(total) || math.IsInf(total, 0) || math.IsNaN(progress) || math.IsInf(progress, 0) {
		return paint.Cut(th.Accent.S(strconv.FormatFloat(progress, 'g', 6, 64)), w)
	}
	share := min(max(progress/total, 0), 1)
	label := strconv.Itoa(int(share*100)) + "%"
	n := w - 5
	if n < 3 {
		return paint.Cut(label, w)
	}
	done := int(share * float64(n))
	return th.Accent.S(strings.Repeat("━", done)) + th.Muted.S(strings.Repeat("─", n-done)) + paint.Blanks(5-len(label)) + label
}
