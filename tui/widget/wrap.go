package widget

import (
	"unicode/utf8"

	"github.com/mcphud/mcphud/tui/paint"
)

// appendWrap appends the byte offsets at which the rows of a safe, unstyled line begin when it is wrapped to w cells,
// at most max of them. Rows break after the last blank where that leaves no more than a third of a row empty.
func appendWrap(dst []int32, line string, w, max int) []int32 {
	dst = append(dst, 0)
	if w <= 0 {
		return dst
	}
	width, blank, blankWidth := 0, 0, 0 // blank: after the last blank of the row
	for i := 0; i < len(line) && max > 1; {
		n, cw := 1, 1
		if line[i] >= utf8.RuneSelf || i+1 < len(line) && line[i+1] >= utf8.RuneSelf {
			n, cw, _ = paint.Next(line[i:])
		}
		if width+cw > w && width > 0 {
			if n == 1 && line[i] == ' ' { // hangs over the end of the row, unseen
				if i++; i == len(line) {
					break
				}
				max--
				dst = append(dst, int32(i))
				width, blankWidth = 0, 0
				continue
			}
			max--
			if blankWidth > w*2/3 {
				dst = append(dst, int32(blank))
				width -= blankWidth
			} else {
				dst = append(dst, int32(i))
				width = 0
			}
			blankWidth = 0
		}
		width += cw
		i += n
		if line[i-1] == ' ' {
			blank, blankWidth = i, width
		}
	}
	return dst
}

// window returns which bytes of a safe, unstyled line are in the cells from x to x+w, with lead cells of blank where a
// wide character straddles x; more says that the line goes on behind them.
func window(line string, x, w int) (from, to, lead int, more bool) {
	cell, i := 0, 0
	step := func() (n, cw int) {
		if line[i] < utf8.RuneSelf && (i+1 == len(line) || line[i+1] < utf8.RuneSelf) {
			return 1, 1
		}
		n, cw, _ = paint.Next(line[i:])
		return n, cw
	}
	for i < len(line) && cell < x {
		n, cw := step()
		i += n
		cell += cw
	}
	from, lead = i, max(cell-x, 0)
	for i < len(line) {
		n, cw := step()
		if cell+cw > x+w {
			return from, i, lead, true
		}
		i += n
		cell += cw
	}
	return from, i, lead, false
}
