package widget

import "testing"

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
		if got := Spark(c.values, c.width); got != c.want {
			t.Errorf("%v in %d cells is %q, want %q", c.values, c.width, got, c.want)
		}
	}
}
