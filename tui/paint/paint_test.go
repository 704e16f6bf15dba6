package paint_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

func theme(p colorprofile.Profile) *paint.Theme { return paint.New(themes.Default(true), p) }

func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		profile colorprofile.Profile
		want    string
	}{
		{colorprofile.TrueColor, "\x1b[38;2;111;213;138mok\x1b[39m"},
		{colorprofile.ANSI256, "\x1b[38;5;78mok\x1b[39m"},
		{colorprofile.ANSI, "\x1b[92mok\x1b[39m"},
		{colorprofile.ASCII, "ok"},
		{colorprofile.NoTTY, "ok"},
	} {
		assert.Equalf(t, theme(tt.profile).OK.S("ok"), tt.want, "%v", tt.profile)
	}
}

// Without colours no theme may emit one, and without a terminal nothing at all.
func TestNoColour(t *testing.T) {
	t.Parallel()
	for _, p := range themes.All() {
		for _, profile := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII} {
			th := paint.New(p, profile)
			for _, st := range []paint.Style{th.Text, th.Muted, th.Accent, th.OK, th.Warn, th.Error, th.Key, th.String, th.Number, th.Badge, th.Selection, th.Field, th.Match, th.MatchCurrent, th.Surface, th.Heading, th.Link} {
				s := st.S("x")
				if strings.Contains(s, "\x1b[3") || strings.Contains(s, "\x1b[9") || strings.Contains(s, "\x1b[10") || strings.Contains(s, "\x1b[48") {
					t.Errorf("%s without colours writes %q", p.Name, s)
				}
				if profile == colorprofile.NoTTY && s != "x" {
					t.Errorf("%s without a terminal writes %q", p.Name, s)
				}
			}
		}
	}
	th := theme(colorprofile.ASCII)
	if th.Selection.S("x") == "x" || th.Selection == th.Field {
		t.Error("without colours the selection cannot be seen")
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	red := "\x1b[31m"
	for _, tt := range []struct {
		in   string
		w    int
		want string
	}{
		{"abc", 5, "abc  "},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日… "},
		{"日本", 4, "日本"},
		{red + "abcd\x1b[39m", 3, red + "ab…\x1b[39m"},
		{red + "ab\x1b[39m", 4, red + "ab\x1b[39m  "},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"abc", 0, ""},
		{"日", 1, "…"},
		{"", 2, "  "},
		{"a\x1b]8;;http://x\x1b\\bcd\x1b]8;;\x1b\\", 2, "a\x1b]8;;http://x\x1b\\…\x1b]8;;\x1b\\"},
	} {
		if got := paint.Fit(tt.in, tt.w); got != tt.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", tt.in, tt.w, got, tt.want)
		}
	}
	assert.Equalf(t, paint.Cut("abc", 5), "abc", "Cut pads")
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in          string
		x           int
		left, right string
	}{
		{"abcd", 2, "ab", "cd"},
		{"ab", 4, "ab  ", ""},
		{"日本", 3, "日 ", " "},
		{"\x1b[31mabcd\x1b[39m", 2, "\x1b[31mab\x1b[m", "\x1b[31mcd\x1b[39m"},
		{"\x1b[31ma\x1b[mbcd", 2, "\x1b[31ma\x1b[mb", "cd"},
	} {
		l, r := paint.Split(tt.in, tt.x)
		if l != tt.left || r != tt.right {
			t.Errorf("Split(%q, %d) = %q, %q, want %q, %q", tt.in, tt.x, l, r, tt.left, tt.right)
		}
	}
}

func TestSplice(t *testing.T) {
	t.Parallel()
	frame := []string{"0123456789", "日本語日本", "\x1b[31m0123456789\x1b[39m"}
	got := paint.Splice(frame, []string{"AAA", "BBB", "CCC", "DDD"}, 3, 0, 3)
	for i, want := range []string{"012AAA6789", "日 BBB日本", "012CCC6789"} {
		assert.Equalf(t, ansi.Strip(got[i]), want, "row %d", i)
		if w := paint.Width(got[i]); w != 10 {
			t.Errorf("row %d is %d cells", i, w)
		}
	}
	if !strings.HasSuffix(got[2], "\x1b[31m6789\x1b[39m") {
		t.Errorf("the row under an overlay lost its style: %q", got[2])
	}
}

func TestBox(t *testing.T) {
	t.Parallel()
	var b paint.Box
	for _, c := range []struct {
		name  string
		spec  paint.BoxSpec
		lines []string
		want  string
	}{
		{"dialog", paint.BoxSpec{W: 18, H: 4, Title: "Tools", Badge: "3/9", Foot: "esc", Pos: 7, Total: 9, Framed: true}, []string{"one", "日本"}, `
╭─ Tools ── 3/9 ─╮
│one             │
│日本            ┃
╰────────── esc ─╯`},
		{"narrow dialog", paint.BoxSpec{W: 14, H: 3, Title: "A long title", Badge: "12", Framed: true}, []string{"too wide for it", "more"}, `
╭─ A long … ─╮
│too wide fo…│
╰────────────╯`},
		{"pane", paint.BoxSpec{W: 20, H: 3, Title: "Tools", Badge: "3/9", Pos: 7, Total: 9}, []string{"one", "日本"}, `
 Tools ─────── 3/9 ─
 one
 日本              ┃`},
		{"pane beside another", paint.BoxSpec{W: 20, H: 4, Title: "Tools", Pos: 0, Total: 9, Side: true}, []string{"one", "seventeen letters", "2"}, `
 Tools ────────────┬
 one               ┃
 seventeen letters │
 2                 │`},
		{"pane beside two", paint.BoxSpec{W: 10, H: 4, Side: true, Branch: 2}, []string{"one", "two", "three"}, `
─────────┬
 one     │
 two     ├
 three   │`},
		{"the line under the cursor", paint.BoxSpec{W: 10, H: 3, Selected: 2}, []string{"one", "two"}, `
──────────
 one
▌two`},
		{"what fits behind the title", paint.BoxSpec{W: 32, H: 2, Title: "Tools", Badge: "9", Foot: "last called"}, nil, `
 Tools ─────── 9 · last called ─
`},
		{"cut behind the title", paint.BoxSpec{W: 24, H: 2, Title: "Tools", Badge: "9", Foot: "last called"}, nil, `
 Tools ─ 9 · last cal… ─
`},
		{"a title that yields", paint.BoxSpec{W: 20, H: 2, Title: "A long title", Badge: "9", Foot: "24 tools"}, nil, `
 A long ti… ─ 9 ·… ─
`},
	} {
		c.spec.Theme = theme(colorprofile.NoTTY)
		var got []string
		for _, row := range b.Draw(nil, c.lines, c.spec) {
			got = append(got, strings.TrimRight(row, " "))
		}
		assert.Equalf(t, "\n"+strings.Join(got, "\n"), c.want, "%s", c.name)
	}
	for w := range 12 {
		for h := range 5 {
			for _, spec := range []paint.BoxSpec{{Framed: true}, {}, {Side: true, Branch: 1}} {
				spec.W, spec.H, spec.Title, spec.Badge, spec.Foot, spec.Theme = w, h, "日本語", "b", "f", theme(colorprofile.TrueColor)
				rows := b.Draw(nil, []string{"x"}, spec)
				if len(rows) != h {
					t.Fatalf("%dx%d: %d rows", w, h, len(rows))
				}
				for _, r := range rows {
					if paint.Width(r) != w {
						t.Fatalf("%dx%d: row %q is %d cells", w, h, r, paint.Width(r))
					}
				}
			}
		}
	}
}

// What stands at the foot of panes is in one row below them, in which their rules end.
func TestFloor(t *testing.T) {
	t.Parallel()
	th := theme(colorprofile.NoTTY)
	for _, c := range []struct {
		w    int
		foot string
		side bool
		want string
	}{
		{8, "", false, "────────"},
		{8, "", true, "───────┴"},
		{12, "24 t", false, "───── 24 t ─"},
		{12, "24 t", true, "──── 24 t ─┴"},
		{12, "24 tools and more", false, "─ 24 tool… ─"},
		{3, "24 tools", false, "───"},
	} {
		assert.Equalf(t, th.Floor(c.w, c.foot, c.side), c.want, "%q in %d cells", c.foot, c.w)
	}
	th.Framed(paint.ASCII)
	assert.Equal(t, th.Floor(6, "", true), "-----+")
}

// A server has one colour in a theme, and none where there are no colours.
func TestServerColours(t *testing.T) {
	t.Parallel()
	th := theme(colorprofile.TrueColor)
	assert.Equal(t, th.Server("demo"), th.Server("demo"))
	if th.Server("demo").S("x") == "x" || th.Server("demo") == th.Server("fault") {
		t.Error("servers cannot be told apart")
	}
	assert.Equal(t, theme(colorprofile.ASCII).Server("demo").S("x"), "x")
}

func TestSelectRow(t *testing.T) {
	t.Parallel()
	th := theme(colorprofile.TrueColor)
	for _, focused := range []bool{true, false} {
		row := th.SelectRow(th.OK.S("ok")+" x", 6, focused)
		if paint.Width(row) != 6 || strings.Count(row, "\x1b[49m") != 1 || strings.Contains(row, th.OK.Open()) == focused {
			t.Errorf("%q", row)
		}
	}
	th = theme(colorprofile.ANSI)
	assert.NotContains(t, th.SelectRow(th.OK.S("ok"), 4, false), th.OK.Open())
}

func FuzzFit(f *testing.F) {
	f.Add("a日本b", 1, 3)
	f.Add("e\u0301\x1b[2J", 2, 1)
	f.Fuzz(func(t *testing.T, s string, at, w int) {
		if w < 0 || w > 200 {
			return
		}
		// Frames hold safe text and the styles of this program.
		s = safe.Line(s, 0)
		runes := []rune(s)
		at = min(max(at, 0), len(runes))
		s = string(runes[:at]) + "\x1b[31m" + string(runes[at:]) + "\x1b[39m"
		if got := paint.Width(paint.Fit(s, w)); got != w {
			t.Fatalf("Fit(%q, %d) is %d cells", s, w, got)
		}
		l, _ := paint.Split(s, w)
		if got := paint.Width(l); got != w {
			t.Fatalf("Split(%q, %d) left is %d cells: %q", s, w, got, l)
		}
	})
}

func BenchmarkStyle(b *testing.B) {
	th := theme(colorprofile.TrueColor)
	for b.Loop() {
		th.Accent.S("a tool name")
	}
}

func BenchmarkBox200x60(b *testing.B) {
	th := theme(colorprofile.TrueColor)
	lines := make([]string, 58)
	for i := range lines {
		lines[i] = th.Accent.S("some name") + " " + th.Muted.S(strings.Repeat("description ", 12))
	}
	var box paint.Box
	var dst []string
	for b.Loop() {
		dst = box.Draw(dst[:0], lines, paint.BoxSpec{W: 200, H: 60, Title: "Tools", Theme: th, Side: true})
	}
}
