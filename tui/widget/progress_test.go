package widget

import (
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/require/assert"
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
		assert.Equalf(t, Bar(th, tt.w, tt.progress, tt.total), tt.want, "%v of %v in %d", tt.progress, tt.total, tt.w)
	}
}
