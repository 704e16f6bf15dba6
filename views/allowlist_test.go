package views_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mcphud/mcphud/testdata/hostile"
)

// allowed are all sequences that the program may send to a terminal besides
// styles: where to write, what to erase, the modes it needs, questions to the
// terminal about itself, its window's title, progress, and the clipboard.
var allowed = []*regexp.Regexp{
	regexp.MustCompile(`^\x1b\[\d*(;\d*)?[ABCDEFGHJKXPLM@STdb` + "`" + `]`),                                           // cursor and erasing
	regexp.MustCompile(`^\x1b\[\??(25|1049|1002|1003|1006|2004|2026|2027|2031|1004|7|2048)[hl]`),                      // modes
	regexp.MustCompile(`^\x1b\[\?\d+\$p`),                                                                             // asking for a mode
	regexp.MustCompile(`^\x1b\[([>=?<]\d*(;\d+)?u|>\d*;?\d*m|>0?q|c|\?u|\d+ q|\d*;\d*r|r|\?\d+n)`),                    // keyboard, version, cursor shape, scroll region
	regexp.MustCompile(`^\x1bM`),                                                                                      // reverse index
	regexp.MustCompile(`^\x1b\](10|11|12);\?\x07`),                                                                    // asking for colours
	regexp.MustCompile(`^\x1b\](110|111|112)\x07`),                                                                    // colours back
	regexp.MustCompile(`^\x1b\]9;4;\d(;\d+)?\x07`),                                                                    // progress bar
	regexp.MustCompile(`^\x1b\]7501;state=(clear|(idle|working|blocked|done|error)(:kind=question)?:app=mcphud)\x07`), // program status
	regexp.MustCompile(`^\x1bP\+q[0-9A-F;]+\x1b\\`),                                                                   // asking for capabilities
	// Pictures, made by this program of pixels that it decoded: to kitty with no answer (q=2) and away again; with the cursor kept, over
	// cells that are blank, by iTerm2's protocol and sixel.
	regexp.MustCompile(`^\x1b_G(a=T,f=100,q=2,U=1,i=\d+,c=\d+,r=\d+,)?m=[01];[A-Za-z0-9+/=]+\x1b\\`),
	regexp.MustCompile(`^\x1b_Ga=d,d=I,i=\d+,q=2\x1b\\`),
	regexp.MustCompile(`^\x1b7(\x1b\[\d+;\d+H(\x1b\]1337;File=inline=1;size=\d+;width=\d+;height=\d+;preserveAspectRatio=0;doNotMoveCursor=1:[A-Za-z0-9+/=]+\x07|\x1bP0;1q"1;1;\d+;\d+[#;!$?-~0-9-]*\x1b\\))+\x1b8`),
}

var (
	title     = regexp.MustCompile(`^\x1b\][02];([^\x07\x1b]*)\x07`)
	clipboard = regexp.MustCompile(`^\x1b\]52;c;[A-Za-z0-9+/=]*\x07`)
	style     = regexp.MustCompile(`^\x1b\[[0-9;:]*m`)
)

// outside says what in the bytes that a terminal got is neither text nor an
// allowed sequence, "" if nothing is. copies is how often the user copied.
func outside(out []byte, copies int) string {
	s := string(out)
next:
	for i := 0; i < len(s); {
		rest := s[i:]
		switch c := rest[0]; {
		case c == '\r', c == '\n', c == '\b', c == '\t': // the renderer's ways to move
			i++
			continue
		case c != 0x1b:
			n := strings.IndexAny(rest, "\x1b\r\n\b\t")
			if n < 0 {
				n = len(rest)
			}
			if why := hostile.Harm(rest[:n]); why != "" {
				return why
			}
			i += n
			continue
		}
		if hit := style.FindString(rest); hit != "" {
			if why := hostile.HarmStyled(hit); why != "" {
				return "a style that no theme has: " + why
			}
			i += len(hit)
			continue
		}
		if hit := title.FindStringSubmatch(rest); hit != nil {
			if why := hostile.Harm(hit[1]); why != "" {
				return "a title with " + why
			}
			if hit[1] != "" && !strings.HasPrefix(hit[1], "mcphud") {
				return fmt.Sprintf("the title %q", hit[1])
			}
			i += len(hit[0])
			continue
		}
		if hit := clipboard.FindString(rest); hit != "" {
			if copies--; copies < 0 {
				return "a clipboard write that the user did not ask for"
			}
			i += len(hit)
			continue
		}
		for _, re := range allowed {
			if hit := re.FindString(rest); hit != "" {
				i += len(hit)
				continue next
			}
		}
		return fmt.Sprintf("the sequence %.60q", rest)
	}
	return ""
}
