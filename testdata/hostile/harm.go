package hostile

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Harm says what is wrong with text that is about to be printed, "" if nothing is: a control character other than a
// line feed, something that hides or reorders what is next to it, bytes that are not UTF-8, or a pile of marks. It
// shares no code with the sanitiser that it judges.
func Harm(text string) string {
	marks := 0
	for i, r := range text {
		if r >= ' ' && r < 0x7f || r >= 0x2500 && r < 0x2580 {
			marks = 0
			continue
		}
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return fmt.Sprintf("byte %#x that is not UTF-8 %s", text[i], around(text, i))
		}
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '\n':
		case r < 0x20, r >= 0x7f && r < 0xa0:
			return fmt.Sprintf("the control character %U %s", r, around(text, i))
		case r == 0x200c, r == 0x200d: // joiners spell Persian and Hindi
		case unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r < 0xe1000,
			r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
			return fmt.Sprintf("the hidden character %U %s", r, around(text, i))
		case marks > 8:
			return fmt.Sprintf("more than 8 marks on one cell %s", around(text, i))
		}
	}
	return ""
}

// styleOnly are the sequences that a frame may hold: colours by number of a palette or by value, and the attributes
// that themes use. The sixteen basic colours, blinking and hidden text are not among them where the terminal shows all
// colours.
var styleOnly = regexp.MustCompile(`\x1b\[(?:(?:[34]8;2;\d{1,3};\d{1,3};\d{1,3}|[34]8;5;\d{1,3}|39|49|[1-4]|7|9|2[2-47-9]|0)(?:;(?:[34]8;2;\d{1,3};\d{1,3};\d{1,3}|[34]8;5;\d{1,3}|39|49|[1-4]|7|9|2[2-47-9]|0))*)?m`)

// HarmStyled is Harm for text with styles.
func HarmStyled(text string) string {
	for i, part := range styleOnly.Split(text, -1) {
		if why := Harm(part); why != "" {
			return fmt.Sprintf("%s (part %d)", why, i)
		}
	}
	return ""
}

func around(s string, i int) string {
	return fmt.Sprintf("in %.120q", s[max(0, i-60):min(len(s), i+60)])
}
