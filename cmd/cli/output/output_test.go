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

func TestTableAlignsAndCuts(t *testing.T) {
	t.Parallel()
	rows := func() [][]string {
		return [][]string{{"a", "", "a description that is too long for 30"}, {"東京", "x", "short"}, {"e\x1b]0;t\a", "y", ""}}
	}
	cut, whole := &Text{}, &Text{}
	cut.Table(30, rows())
	whole.Table(0, rows())
	wantCut := "a             a description t…\n東京       x  short\ne^[]0;t^G  y\n"
	wantWhole := "a             a description that is too long for 30\n東京       x  short\ne^[]0;t^G  y\n"
	for got, want := range map[string]string{cut.B.String(): wantCut, whole.B.String(): wantWhole} {
		assert.Equal(t, got, want)
	}
	named := &Text{}
	named.Table(20, [][]string{{"demo://a/long/name", "n", "d"}, {"b", "x", "d"}})
	assert.Equal(t, named.B.String(), "demo://a/long/name …\nb                x …\n")
	long := &Text{}
	long.Table(0, [][]string{{strings.Repeat("n", 1<<20), "x"}, {"b", "y"}})
	if lines := strings.Split(long.B.String(), "\n"); len(lines[1]) != widestCell+3 {
		t.Errorf("a long name makes the next line %d wide", len(lines[1]))
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
