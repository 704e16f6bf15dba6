package widget

import (
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/tui/paint"
)

func TestBar(t *testing.T) {
	t.Parallel()
	th := testTheme(colorprofile.NoTTY)
	for _, tt := range []struct {
		w               int
		progress, total float64
		want            string
	}{
		{15, 5, 10, "━━━━━─────  50%"},
		{15, 0, 10, "──────────   0%"},
		{15, 99, 10, "━━━━━━━━━━ 100%"},
		{15, -3, 10, "──────────   0%"},
		{15, 42, 0, "42"},
		{15, 42, math.NaN(), "42"},
		{15, math.Inf(1), 3, "+Inf"},
		{15, 1e300, 1e-300, "━━━━━━━━━━ 100%"},
		{4, 1, 2, "50%"},
		{0, 1, 2, ""},
	} {
		if got := Bar(th, tt.w, tt.progress, tt.total); got != tt.want {
			t.Errorf("%v of %v in %d: %q, want %q", tt.progress, tt.total, tt.w, got, tt.want)
		}
	}
}

func TestSpark(t *testing.T) {
	t.Parallel()
	th := testTheme(colorprofile.NoTTY)
	for _, tt := range []struct {
		values []float64
		want   string
	}{
		{[]float64{0, 1, 4, 8}, " ▂▅█"},
		{[]float64{9, 0, math.NaN(), -1, math.Inf(1), 3}, "    █"},
		{nil, ""},
	} {
		if got := Spark(th, 5, tt.values); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.values, got, tt.want)
		}
	}
}

func TestSpinnerAndStatus(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for beat := -3; beat < 40; beat++ {
		s := Spinner(beat)
		if paint.Width(s) != 1 {
			t.Fatalf("%q", s)
		}
		seen[s] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d frames", len(seen))
	}
	th := testTheme(colorprofile.NoTTY)
	words := map[string]bool{}
	for v := Idle; v <= Bad; v++ {
		words[Status(th, v, "x")] = true
	}
	if len(words) != 5 {
		t.Errorf("without colours verdicts look alike: %v", words)
	}
}
