package page_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
)

func TestAlignsAndCuts(t *testing.T) {
	t.Parallel()
	rows := func() [][]string {
		return [][]string{{"a", "", "a description that is too long for 30"}, {"東京", "x", "short"}, {"e\x1b]0;t\a", "y", ""}}
	}
	wantCut := "a             a description t…\n東京       x  short\ne^[]0;t^G  y\n"
	wantWhole := "a             a description that is too long for 30\n東京       x  short\ne^[]0;t^G  y\n"
	for got, want := range map[string]string{page.AlignRows(30, rows()): wantCut, page.AlignRows(0, rows()): wantWhole} {
		assert.Equal(t, got, want)
	}
	assert.Equal(t, page.AlignRows(20, [][]string{{"demo://a/long/name", "n", "d"}, {"b", "x", "d"}}), "demo://a/long/name …\nb                x …\n")
	long := page.AlignRows(0, [][]string{{strings.Repeat("n", 1<<20), "x"}, {"b", "y"}})
	if lines := strings.Split(long, "\n"); len(lines[1]) != 60+3 {
		t.Errorf("a long name makes the next line %d wide", len(lines[1]))
	}
}

// What is drawn has the figures whole and cuts the name, below the names of the columns; what is printed breaks a remark below where it began.
func TestRows(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"TOOL", "TOKENS"}, {"a_tool_with_a_long_name", "1234"}}
	var p page.Page
	p.Rows(true, rows).Item(page.Text{S: "    →"}, "", "give it a shorter name that fits").Item(page.Text{S: "$", Tone: page.Code}, "", "a command that is copied in one piece")
	if got := p.Lines(theme, 20); len(got) < 2 || paint.Strip(got[1]) != "a_tool_with…  1234" {
		t.Errorf("%q", got)
	}
	assert.Equal(t, p.Print(30), "TOOL                    TOKENS\na_tool_with_a_long_name  1234\n    → give it a shorter name\n      that fits\n$ a command that is copied in one piece")
	assert.Equal(t, rows[1][0], "a_tool_with_a_long_name")
}
