package views

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui"
)

// message fills an empty pane: what is the case, and what to do about it.
func message(th *tui.Theme, w int, what, next string) []string {
	out := []string{""}
	for _, l := range wrap(what, w-2) {
		out = append(out, " "+th.Text.S(l))
	}
	if next != "" {
		out = append(out, "")
		for _, l := range wrap(next, w-2) {
			out = append(out, " "+th.Muted.S(l))
		}
	}
	return out
}

// failure is message for an error.
func failure(th *tui.Theme, w int, what, next string) []string {
	out := []string{""}
	for i, l := range wrap("✗ "+what, w-2) {
		if i > 40 {
			break
		}
		out = append(out, " "+th.Error.S(l))
	}
	if next != "" {
		out = append(out, "")
		for _, l := range wrap(next, w-2) {
			out = append(out, " "+th.Muted.S(l))
		}
	}
	return out
}

// nothingMatches is the state of a list whose filter lets nothing through.
func nothingMatches(th *tui.Theme, w int, filter string) []string {
	return message(th, w, fmt.Sprintf("Nothing matches %q.", filter), "Press / to change the filter; esc in it clears it.")
}

// counted is a badge: how many are listed of how many there are.
func counted(n, of int) string {
	if n == of {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// wrap breaks safe plain text into lines of at most w cells, at blanks where
// there are any. Text above 64 KB is cut: panes that can show more page it.
func wrap(s string, w int) []string {
	const most = 64 << 10
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Split(ansi.Wrap(s, max(w, 4), " "), "\n")
}

// stripped is a styled line as plain text.
func stripped(line string) string { return ansi.Strip(line) }

// amount is a number of things in words: "1 notification", "2 notifications".
func amount(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
