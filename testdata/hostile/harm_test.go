package hostile_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/testdata/hostile"
)

func TestHarm(t *testing.T) {
	for _, s := range []string{"", "plain\ntext", "naïve 日本語 😀", "می\u200cخواهم", "\x1b[38;2;1;2;3;1mred\x1b[39;22m"} {
		if why := hostile.HarmStyled(s); why != "" {
			t.Errorf("%q: %s", s, why)
		}
	}
	for _, s := range []string{
		"\x1b[2J", "\x1b[31mred", "\x1b[8mhidden", "\x1b[5m", "\x1b]0;t\a", "\x1b]8;;http://x\x1b\\", "\x1b", "\r", "\t", "\b", "\u009b2J", "\x9b2J",
		"a\u202eb", "a\u200bb", "\U000e0041", "\ufeff", "\u00ad", "a" + strings.Repeat("\u0301", 9), "\x1b[38;2;1;2;3H", "\x1bc",
	} {
		if hostile.HarmStyled(s) == "" {
			t.Errorf("%q passes", s)
		}
	}
}
