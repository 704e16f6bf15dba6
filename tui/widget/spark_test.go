package widget

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 5, ""},
		{[]float64{0, 0}, 5, "▁▁"},
		{[]float64{1, 2, 4, 8}, 8, "▂▃▅█"},
		{[]float64{8, 1, 2}, 2, "▅█"},
		{[]float64{1}, 0, ""},
		{[]float64{-1, 1}, 2, "▁█"},
	} {
		assert.Equalf(t, Spark(c.values, c.width), c.want, "%v in %d cells", c.values, c.width)
	}
}
