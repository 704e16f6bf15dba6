package safe_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui/safe"
)

// check fails when out, the safe form of in, could act on a terminal, hide
// something, or measure differently here and there.
func check(t *testing.T, in, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Fatalf("Text(%.80q) is not UTF-8: %.80q", in, out)
	}
	marks := 0
	for i, r := range out {
		switch {
		case r == '\n':
		case r < 0x20, r >= 0x7f && r < 0xa0:
			t.Fatalf("Text(%.80q) holds control %U at %d", in, r, i)
		case r >= 0x200b && r <= 0x200f && r != 0x200c && r != 0x200d, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r < 0x2070, r == 0xfeff, r == 0xad, r == 0x61c:
			t.Fatalf("Text(%.80q) holds format character %U at %d", in, r, i)
		case r >= 0xe0000 && r < 0xe1000, r >= 0xfe00 && r <= 0xfe0f, r&0xfffe == 0xfffe, r >= 0xfdd0 && r < 0xfdf0:
			t.Fatalf("Text(%.80q) holds %U at %d", in, r, i)
		}
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		if marks > safe.MaxMarks {
			t.Fatalf("Text(%.80q) stacks %d marks at %d", in, marks, i)
		}
	}
	if again := safe.Text(out); again != out {
		t.Fatalf("Text is not stable on %.80q: %.80q then %.80q", in, out, again)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if line != "" && ansi.StringWidth(line) == 0 {
			t.Fatalf("Text(%.80q) has a line without width: %.80q", in, line)
		}
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for _, h := range hostile.Strings() {
		t.Run(h.Name, func(t *testing.T) {
			out := safe.Text(h.Value)
			check(t, h.Value, out)
			line := safe.Line(h.Value, 40)
			check(t, h.Value, line)
			if strings.Contains(line, "\n") || ansi.StringWidth(line) > 40 {
				t.Errorf("Line(%.80q, 40) = %q", h.Value, line)
			}
			if s := ansi.Strip(out); s != out {
				t.Errorf("a terminal would see an escape sequence in %.80q", out)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"naïve 日本語 → 😀", "naïve 日本語 → 😀"},
		{"\x1b[31mred\x1b[0m", "^[[31mred^[[0m"},
		{"\x1b]52;c;eA==\x07", "^[]52;c;eA==^G"},
		{"\u009b2J", "<U+009B>2J"},
		{"\x9b2J", "<9B>2J"},
		{"a\u202eb", "a<U+202E>b"},
		{"a\U0010eeee\u0305b", "a<U+10EEEE>\u0305b"},
		{"x\U000e0041", "x<U+E0041>"},
		{"\U0010ffff", "<U+10FFFF>"},
		{"a\r\nb\rc", "a\nb^Mc"},
		{"\tx\n日\ty", "    x\n日  y"},
		{"e" + strings.Repeat("\u0301", 8) + "f", "e" + strings.Repeat("\u0301", 6) + "<+2 marks>f"},
		{"\u0301", "◌\u0301"},
		{"👨‍👩‍👧 ❤️ 👍🏽 1️⃣", "👨👩👧 ❤ 👍 1⃣"},
		{"🇩🇪🇫", "🇩🇪<U+1F1EB>"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"a\u200cb", "a<U+200C>b"},
	} {
		if got := safe.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{
		{"a\nb", 0, "a⏎b"},
		{"abcdef", 4, "abc…"},
		{"abcd", 4, "abcd"},
		{"日本語", 4, "日…"},
		{"日本", 4, "日本"},
		{"\x1b[2J", 0, "^[[2J"},
		{strings.Repeat("x", safe.MaxLine+1), 0, strings.Repeat("x", safe.MaxLine) + "…"},
		{strings.Repeat("日", safe.MaxLine), 0, strings.Repeat("日", safe.MaxLine/3) + "…"},
	} {
		if got := safe.Line(tt.in, tt.max); got != tt.want {
			t.Errorf("Line(%.40q, %d) = %.60q, want %.60q", tt.in, tt.max, got, tt.want)
		}
	}
}

// Every character there is, alone: visible, and as wide for a terminal that
// counts code points as for one that counts graphemes.
func TestEveryRune(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 || r == '\n' {
			continue
		}
		out := safe.Text(string(r))
		g, wc := ansi.StringWidth(out), ansi.StringWidthWc(out)
		// Spacing vowel signs of the Indic scripts: libraries disagree, and
		// taking them away would change the words.
		if g < 1 || g != wc && !unicode.Is(unicode.Mc, r) {
			t.Errorf("%U -> %q is %d cells by grapheme, %d by code point", r, out, g, wc)
		}
		if plain := safe.Text("a" + string(r)); len(plain) < 2 {
			t.Fatalf("%U vanished", r)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, h := range hostile.Strings() {
		f.Add(h.Value[:min(len(h.Value), 300)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		check(t, s, safe.Text(s))
		line := safe.Line(s, 20)
		if strings.Contains(line, "\n") || ansi.StringWidth(line) > 20 {
			t.Fatalf("Line(%q, 20) = %q", s, line)
		}
	})
}

func TestPlainDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("plain ASCII and more, 日本\n", 100)
	if n := testing.AllocsPerRun(10, func() { safe.Text(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTextPlain(b *testing.B) {
	s := strings.Repeat("a description of a tool. ", 40)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		safe.Text(s)
	}
}

func BenchmarkTextEscapes(b *testing.B) {
	s := strings.Repeat("\x1b[32mok\x1b[0m d\u202eone ", 40)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		safe.Text(s)
	}
}
