package paint

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/base/text"
)

// Wrap breaks safe plain text into lines of at most w cells, at blanks where there are any and nowhere else: a flag
// that is taken apart at its hyphens is another flag. Text above 64 KB is cut: panes that can show more page it.
func Wrap(s string, w int) (out []string) {
	const most = 64 << 10
	s = text.Clip(s, most)
	w = max(w, 4)
	for line := range strings.SplitSeq(s, "\n") {
		out = wrapLine(out, line, w)
	}
	return out
}

// wrapLine appends one line of text, broken.
func wrapLine(out []string, line string, w int) []string {
	if Width(line) <= w {
		return append(out, line)
	}
	var cur strings.Builder
	width := 0
	for len(line) > 0 {
		n := strings.IndexByte(line, ' ')
		blanks := n == 0
		switch {
		case n < 0:
			n = len(line)
		case blanks:
			n = len(line) - len(strings.TrimLeft(line, " "))
		}
		word, wide := line[:n], Width(line[:n])
		line = line[n:]
		if width+wide > w {
			if width > 0 {
				out = append(out, strings.TrimRight(cur.String(), " "))
				cur.Reset()
				width = 0
			}
			if blanks {
				continue
			}
			pieces := strings.Split(ansi.Hardwrap(word, w, true), "\n")
			last := len(pieces) - 1
			out = append(out, pieces[:last]...)
			word, wide = pieces[last], Width(pieces[last])
		}
		cur.WriteString(word)
		width += wide
	}
	return append(out, strings.TrimRight(cur.String(), " "))
}

// fewCells are too few for text to be broken in.
const fewCells = 20

// Words breaks each line of text that has more than w cells at blanks into several, and nowhere else: what is longer than a line stands alone, so
// that an address can be copied. In hardly any cells, or 0, nothing is broken.
func Words(s string, w int) (out []string) {
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, line)
		if w < fewCells || Width(line) <= w {
			continue
		}
		cur := &out[len(out)-1]
		*cur = ""
		for word := range strings.FieldsSeq(line) {
			switch {
			case *cur == "":
				*cur = word
			case Width(*cur)+1+Width(word) <= w:
				*cur += " " + word
			default:
				out = append(out, word)
				cur = &out[len(out)-1]
			}
		}
	}
	return out
}
