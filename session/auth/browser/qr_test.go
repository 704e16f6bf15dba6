package browser

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestQR(t *testing.T) {
	lines, err := QR("https://login.example.com/authorize?" + strings.Repeat("x", 400))
	require.NoError(t, err)
	width := utf8.RuneCountInString(lines[0])
	if len(lines) != (width+1)/2 || width > 80 {
		t.Errorf("%d lines of %d cells", len(lines), width)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) != width || !strings.HasPrefix(l, "  ") || !strings.HasSuffix(l, "  ") {
			t.Errorf("%q", l)
		}
	}
	// The pattern by which readers find the corner.
	for i, want := range []string{"         ", "  █▀▀▀▀▀█ ", "  █ ███ █ ", "  █ ▀▀▀ █ ", "  ▀▀▀▀▀▀▀ "} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	if _, err := QR(strings.Repeat("x", 5000)); err == nil {
		t.Error("5,000 bytes fit")
	}
}
