package widget

import (
	"math"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
)

// Bar draws progress as a bar of w cells with its share in per cent at the end:
// ━━━━━──── 55%. Where the total is not known (total <= 0) it counts instead.
// Servers send what they like: nothing, more than all, NaN.
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

// Spinner returns the frame of a spinner, one cell wide, for a beat that counts up.
func Spinner(beat int) string {
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	i := ((beat%10 + 10) % 10) * len("⠋")
	return frames[i : i+len("⠋")]
}

// Spark draws the last w values as a line of bars, the largest as high as the
// row. Values that are negative or no numbers count as none.
func Spark(th *paint.Theme, w int, values []float64) string {
	if len(values) > w {
		values = values[len(values)-max(w, 0):]
	}
	const bars = "▁▂▃▄▅▆▇█"
	top := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) && v > top {
			top = v
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case !(v > 0) || math.IsInf(v, 0): // NaN too
			b.WriteByte(' ')
		default:
			i := min(int(v/top*8), 7) * len("▁")
			b.WriteString(bars[i : i+len("▁")])
		}
	}
	return th.Accent2.S(b.String())
}

// Verdict is how something went or is going.
type Verdict uint8

// How something went or is going.
const (
	Idle Verdict = iota
	Running
	Good
	Careful
	Bad
)

// Status draws a verdict as glyph and word in its colour, so that the colour
// never stands alone: "● Connected", "✗ Error". word is safe text.
func Status(th *paint.Theme, v Verdict, word string) string {
	glyph, st := "○", th.Muted
	switch v {
	case Running:
		glyph, st = "◌", th.Info
	case Good:
		glyph, st = "●", th.OK
	case Careful:
		glyph, st = "⚠", th.Warn
	case Bad:
		glyph, st = "✗", th.Error
	}
	return st.S(glyph + " " + word)
}
