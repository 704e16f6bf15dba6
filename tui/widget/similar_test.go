package widget_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/tui/widget"
)

func TestSimilar(t *testing.T) {
	t.Parallel()
	names := []string{"echo", "add", "get_weather", "get_time", "list"}
	for name, want := range map[string][]string{
		"ecko":    {"echo"},
		"Echo":    {"echo"},
		"weather": {"get_weather"},
		"get":     {"get_time", "get_weather"},
		"zzz":     nil,
		"xy":      nil,
	} {
		if got := widget.Similar(name, names); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := widget.Similar(strings.Repeat("a", 1<<20), []string{strings.Repeat("b", 1<<20)}); got != nil {
		t.Error("names of a megabyte were compared")
	}
}
