package pane

import (
	"slices"
	"testing"

	"github.com/mcphud/mcphud/tui/paint"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want []string
	}{
		{"raise --connect-timeout then", 12, []string{"raise", "--connect-ti", "meout then"}},
		{"raise --connect-timeout then", 17, []string{"raise", "--connect-timeout", "then"}},
		{"a  b   c", 4, []string{"a  b", "c"}},
		{"  in\n\n  at", 20, []string{"  in", "", "  at"}},
		{"日本語の 文", 8, []string{"日本語の", "文"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"", 10, []string{""}},
	} {
		if got := paint.Wrap(c.text, c.w); !slices.Equal(got, c.want) {
			t.Errorf("paint.Wrap(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}
