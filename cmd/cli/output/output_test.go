package output

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
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
		if got := similar(name, names); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := similar(strings.Repeat("a", 1<<20), []string{strings.Repeat("b", 1<<20)}); got != nil {
		t.Error("names of a megabyte were compared")
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a": 1.0}`:         `{"a": 1.0}`,
		"{\"a\":\n 1.0\r\n}": `{"a":1.0}`,
		"{\n\"<\":\"&\"}":    `{"<":"&"}`,
		"broken\r\n{":        "broken {",
	} {
		assert.Equalf(t, string(OneLine([]byte(in))), want, "%q", in)
	}
}
