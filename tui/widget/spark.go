package widget

import "strings"

// Spark draws the last values as columns, at most width of them; the largest is the highest.
func Spark(values []float64, width int) string {
	const columns = "▁▂▃▄▅▆▇█"
	values = values[max(len(values)-max(width, 0), 0):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	for _, v := range values {
		i := 0
		if top > 0 {
			i = min(max(int(v/top*8), 0), 7)
		}
		b.WriteRune([]rune(columns)[i])
	}
	return b.String()
}
