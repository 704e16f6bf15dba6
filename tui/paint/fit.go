package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Next returns the length and the width in cells of what s begins with: an escape sequence (width 0, esc) or a grapheme
// cluster. s is not empty. The escape sequences are those of this program, CSI and OSC: what others sent went through
// the sanitiser.
func Next(s string) (n, width int, esc bool) {
	c := s[0]
	switch {
	case c == 0x1b:
		return escape(s), 0, true
	case c < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf):
		if c < 0x20 || c == 0x7f {
			return 1, 0, false
		}
		return 1, 1, false
	}
	cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(cluster), w, false
}

func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}

// Width returns how many cells a styled line takes.
func Width(s string) int {
	w := 0
	for i := 0; i < len(s); {
		n, cw, _ := Next(s[i:])
		i += n
		w += cw
	}
	return w
}

// Strip returns s without escape sequences.
func Strip(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escape(s[i:])
			continue
		}
		b = append(b, s[i])
		i++
	}
	return string(b)
}

// Fit returns a styled line that is exactly w cells wide: padded with blanks, or cut with "…" in the style it was cut
// in. Styles that were open at the cut are closed as they were in s.
func Fit(s string, w int) string { return fit(s, w, true) }

// Cut is Fit without the padding: at most w cells.
func Cut(s string, w int) string { return fit(s, w, false) }

func fit(s string, w int, pad bool) string {
	if w <= 0 {
		return ""
	}
	width, cut, cutWidth := 0, 0, 0 // cut: after the last cluster that leaves room for the ellipsis
	for i := 0; i < len(s); {
		n, cw, _ := Next(s[i:])
		if width+cw > w {
			b := make([]byte, 0, cut+8+len(s)/8)
			b = append(b, s[:cut]...)
			b = append(b, "…"...)
			if pad {
				b = appendBlanks(b, w-cutWidth-1)
			}
			return string(appendEscapes(b, s[cut:]))
		}
		i += n
		width += cw
		if width < w {
			cut, cutWidth = i, width
		}
	}
	if !pad || width == w {
		return s
	}
	return s + Blanks(w-width)
}

// appendEscapes appends the escape sequences of s without its text.
func appendEscapes(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return dst
		}
		n := escape(s[i:])
		dst = append(dst, s[i:i+n]...)
		s = s[i+n:]
	}
}

const blanks = "                                                                                                                                "

// Blanks returns n blanks.
func Blanks(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

func appendBlanks(dst []byte, n int) []byte {
	for n > 0 {
		k := min(n, len(blanks))
		dst = append(dst, blanks[:k]...)
		n -= k
	}
	return dst
}

// Split divides a styled line at cell x: left is exactly x cells (padded where the line is shorter or a wide character
// straddles x), right is the rest and begins with the styles that were open at x. Left ends with all styles reset.
func Split(s string, x int) (left, right string) {
	var open []byte
	b := make([]byte, 0, len(s)+16)
	width, i := 0, 0
	for i < len(s) {
		n, cw, esc := Next(s[i:])
		if !esc && width+cw > x {
			break
		}
		if esc {
			if seq := s[i : i+n]; seq == "\x1b[m" || seq == "\x1b[0m" {
				open = open[:0]
			} else {
				open = append(open, seq...)
			}
		}
		b = append(b, s[i:i+n]...)
		width += cw
		i += n
	}
	if len(open) > 0 {
		b = append(b, "\x1b[m"...)
	}
	gap := x - width
	b = appendBlanks(b, gap)
	rest := s[i:]
	if gap > 0 && rest != "" { // a wide character straddles x: its right half becomes a blank
		n, cw, _ := Next(rest)
		rest = Blanks(cw-gap) + rest[n:]
	}
	return string(b), string(open) + rest
}

// Splice lays the rows of an overlay, each w cells wide, over frame with its top left corner at cell (x, y), and
// returns frame. What is outside the frame is left out. Rows of the overlay end with the styles they began.
func Splice(frame, overlay []string, x, y, w int) []string {
	for i, row := range overlay {
		if y+i < 0 || y+i >= len(frame) {
			continue
		}
		left, right := Split(frame[y+i], x)
		_, right = Split(right, w)
		frame[y+i] = left + Fit(row, w) + "\x1b[m" + right
	}
	return frame
}
