package pane

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
)

// Message fills an empty pane: what is the case, and what to do about it.
func Message(th *tui.Theme, w int, what, next string) []string {
	return paragraphs(th, w, th.Text, what, next)
}

// errorMessage is Message for an error, of which 40 lines are shown.
func errorMessage(th *tui.Theme, w int, what, next string) []string {
	lines := paint.Wrap("✗ "+what, w-2)
	return paragraphs(th, w, th.Error, strings.Join(lines[:min(len(lines), 41)], "\n"), next)
}

// ErrorLines are what happened, as lines of at most w cells.
func ErrorLines(th *tui.Theme, w int, err error) (out []string) {
	for _, l := range paint.Wrap(ErrorText(err), w) {
		out = append(out, th.Error.S(l))
	}
	return out
}

// paragraphs are what happened, in a style, and what to do next.
func paragraphs(th *tui.Theme, w int, style paint.Style, what, next string) []string {
	out := []string{""}
	for _, l := range paint.Wrap(what, w-2) {
		out = append(out, " "+style.S(l))
	}
	if next != "" {
		out = append(out, "")
		for _, l := range paint.Wrap(next, w-2) {
			out = append(out, " "+th.Muted.S(l))
		}
	}
	return out
}

// NothingMatches is the state of a list whose filter lets nothing through.
func NothingMatches(th *tui.Theme, w int, filter string) []string {
	return Message(th, w, fmt.Sprintf("Nothing matches %q.", text.Clip(filter, 200)), "Press esc to clear the filter, / for another.")
}

// NothingListed is NothingMatches in a line of linear mode.
func NothingListed(filter string) string {
	return fmt.Sprintf("nothing matches %q; / alone lists everything", filter)
}

// CountBadge is a badge: how many are listed of how many there are.
func CountBadge(n, of int) string {
	if n == of {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// plainLine is a styled line as plain text.
func plainLine(line string) string { return ansi.Strip(line) }
