package pane

import (
	"strings"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// DiffLines are the hunks of a unified diff as safe, styled lines of at most w cells.
func DiffLines(th *tui.Theme, w int, hunks string) (out []string) {
	for l := range strings.Lines(hunks) {
		l = strings.TrimRight(l, "\r\n")
		style, mark := th.Text, " "
		if l != "" {
			mark = l[:1]
		}
		switch mark {
		case "+":
			style = th.OK
		case "-":
			style = th.Error
		case "@":
			out = append(out, th.Muted.S(safe.Line(l, w)))
			continue
		}
		for i, row := range wrap(safe.Line(l[min(len(l), 1):], 4<<10), w-2) {
			if i > 0 {
				mark = " "
			}
			out = append(out, style.S(mark+" "+row))
		}
	}
	return out
}
