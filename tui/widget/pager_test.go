package widget

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

func newPager(text string, w, h int, wrap bool) *Pager {
	p := &Pager{}
	p.SetTheme(testTheme(colorprofile.NoTTY))
	p.SetSize(w, h)
	p.SetText([]byte(text), nil)
	p.SetWrap(wrap)
	return p
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "a", "a\n", "a\nb", "\n\n\n", strings.Repeat("line\n\n", 500) + "end"} {
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			want = nil
		}
		ix := indexLines([]byte(text))
		if ix.n != len(want) {
			t.Fatalf("%.20q: %d lines, want %d", text, ix.n, len(want))
		}
		off := 0
		for i, w := range want {
			start, end := ix.line(i)
			if start != off || text[start:end] != w {
				t.Fatalf("%.20q: line %d is %d..%d", text, i, start, end)
			}
			for k := start; k <= min(end, len(text)-1); k++ {
				if got := ix.at(k); got != i {
					t.Fatalf("%.20q: byte %d is in line %d, want %d", text, k, got, i)
				}
			}
			off = end + 1
		}
	}
}

func TestPagerScrolls(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	p := newPager(text.String(), 20, 10, true)
	for _, tt := range []struct {
		key string
		top int
	}{{"up", 0}, {"down", 1}, {"pgdown", 11}, {"ctrl+d", 16}, {"ctrl+u", 11}, {"end", 90}, {"down", 90}, {"pgup", 80}, {"g", 0}, {"G", 90}, {"home", 0}} {
		if !p.Key(tt.key) {
			t.Fatalf("%s means nothing", tt.key)
		}
		if top, n := p.Scroll(); top != tt.top || n != 100 {
			t.Fatalf("after %s: %d of %d, want %d", tt.key, top, n, tt.top)
		}
		if got := p.Lines(); len(got) != 10 || got[0] != fmt.Sprint("line ", tt.top) {
			t.Fatalf("after %s: %q", tt.key, got)
		}
	}
}

func TestPagerWraps(t *testing.T) {
	t.Parallel()
	p := newPager("one two three four\n日本語テキスト\n\x1b[2Jx\n", 8, 20, true)
	want := []string{"one two", "three", "four", "日本語テ", "キスト", "^[[2Jx"}
	if got := p.Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p.SetSize(8, 3)
	p.Key("down")
	if got := p.Lines(); !slices.Equal(got, want[1:4]) {
		t.Errorf("%q", got)
	}
	p.Key("end")
	if got := p.Lines(); !slices.Equal(got, want[3:]) {
		t.Errorf("%q", got)
	}
	p.Key("up")
	if got := p.Lines(); !slices.Equal(got, want[2:5]) {
		t.Errorf("%q", got)
	}
	p.SetWrap(false)
	p.Key("home")
	p.Key("right")
	if got := p.Lines(); !slices.Equal(got, []string{"three f…", "キスト", ""}) {
		t.Errorf("%q", got)
	}
}

// Every byte of a line of any length can be scrolled to, and a key costs no more far inside of it.
func TestPagerLongLine(t *testing.T) {
	t.Parallel()
	n := 1 << 20
	if budget.Race() || !budget.All() { // it is paged through whole
		n /= 8
	}
	text := strings.Repeat("word ", 2*n) + "needle" + strings.Repeat("日", n) + "\nlast"
	p := newPager(text, 80, 60, true)
	assert.Equalf(t, len(p.Lines()), 60, "rows")
	if s, _, err := Find(context.Background(), p.Texts()[0], "NEEDLE", 0, false); err != nil || s != -1 {
		t.Errorf("a capital counts: %d %v", s, err)
	}
	s, e, err := FindIn(context.Background(), p.Texts(), "needle", 0, false)
	if err != nil || s != 10*n || e != s+6 {
		t.Fatal(s, e, err)
	}
	for _, wrap := range []bool{true, false} {
		p.SetWrap(wrap)
		p.SetSize(80, 10)
		p.SetQuery("needle")
		p.Show(s, e)
		assert.Contains(t, strings.Join(p.Lines(), "\n"), "needle")
	}
	p.SetWrap(true)
	p.Key("home")
	whole := 0
	for row := ""; row != "last"; {
		rows := p.Lines()
		row = rows[len(rows)-1]
		for _, r := range rows {
			whole += strings.Count(r, "日")
		}
		if at := p.top; at == p.Len() {
			t.Fatal("the end was not found")
		}
		if row != "last" {
			p.Key("pgdown")
		}
	}
	if whole < n {
		t.Errorf("%d characters were shown, want all %d", whole, n)
	}
}

// Texts below each other scroll, wrap and are searched as one.
func TestPagerSections(t *testing.T) {
	t.Parallel()
	p := newPager("", 20, 4, true)
	p.SetTheme(testTheme(colorprofile.ASCII))
	th := testTheme(colorprofile.ASCII)
	second := StyledSection([]string{th.Title.S("two"), "deux"})
	second.Head = []string{"-- 2 --", "about"}
	p.SetSections([]Section{
		{Head: []string{"-- 1 --"}, Text: NewLines([]byte("one\na long line that is wrapped\n"))},
		second,
		{Head: []string{"-- 3 --"}},
		{Head: []string{"-- 4 --"}, Text: NewLines([]byte("four two"))},
	})
	all := []string{"-- 1 --", "one", "a long line that is", "wrapped", "-- 2 --", "about", th.Title.S("two"), "deux", "-- 3 --", "-- 4 --", "four two"}
	for i := 0; i+4 <= len(all); i++ {
		if got := p.Lines(); !slices.Equal(got, all[i:i+4]) {
			t.Errorf("row %d: %q, want %q", i, got, all[i:i+4])
		}
		p.Key("down")
	}
	for i, want := range []string{"-- 1 --", "-- 2 --", "deux", "deux"} { // the last page stays full
		p.ShowSection(i)
		if got := p.Lines()[0]; got != want || p.Section() != i {
			t.Errorf("section %d begins with %q, and %d is read", i, got, p.Section())
		}
	}
	p.Key("home")
	if p.Section() != 0 {
		t.Errorf("section %d is read at the top", p.Section())
	}
	p.SetQuery("two")
	var found []int
	for from := 0; ; {
		s, e, err := FindIn(context.Background(), p.Texts(), "two", from, false)
		require.NoError(t, err)
		if s < 0 {
			break
		}
		p.Show(s, e)
		if got := strings.Join(p.Lines(), "\n"); !strings.Contains(got, th.MatchCurrent.S("two")) {
			t.Errorf("match at %d is not on screen: %q", s, got)
		}
		found = append(found, s)
		from = e
	}
	if all, err := FindAll(context.Background(), p.Texts(), "two", 10); err != nil || len(found) != 2 || !slices.Equal(all, found) {
		t.Errorf("found %v, all are %v %v", found, all, err)
	}
	if s, _, _ := FindIn(context.Background(), p.Texts(), "two", found[1], true); s != found[0] {
		t.Errorf("back from %d is %d, want %d", found[1], s, found[0])
	}
}

func TestPagerSearch(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line %d \x1b[31m tab\there %s\n", i, strings.Repeat("日", 30))
	}
	text.WriteString("The Needle and the needle")
	for _, wrap := range []bool{true, false} {
		p := newPager(text.String(), 40, 10, wrap)
		p.SetTheme(testTheme(colorprofile.ASCII))
		p.SetQuery("needle")
		s, e, err := FindIn(context.Background(), p.Texts(), "needle", p.Top(), false)
		if err != nil || s < 0 {
			t.Fatal(s, err)
		}
		p.Show(s, e)
		th := testTheme(colorprofile.ASCII)
		if got := strings.Join(p.Lines(), "\n"); !strings.Contains(got, th.MatchCurrent.S("Needle")) || !strings.Contains(got, th.Match.S("needle")) {
			t.Errorf("wrap %v: %q", wrap, got)
		}
		s2, _, _ := FindIn(context.Background(), p.Texts(), "needle", e, false)
		s3, _, _ := FindIn(context.Background(), p.Texts(), "needle", s2, true)
		if s2 != s+15 || s3 != s {
			t.Errorf("next %d, back %d, first %d", s2, s3, s)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	border := append(bytes.Repeat([]byte("."), findChunk-2), "abcd"...)
	for _, tt := range []struct {
		data string
		text string
		from int
		back bool
		want int
	}{
		{string(border), "abcd", 0, false, findChunk - 2},
		{string(border), "abcd", len(border), true, findChunk - 2},
		{"aXbx", "x", 0, false, 1},
		{"aXbx", "X", 2, false, -1},
		{"aXbx", "x", 3, true, 1},
		{"aXbx", "x", 1, true, -1},
		{"STRASSE ÄÖ", "äö", 0, false, 8},
		{"", "x", 0, false, -1},
		{"x", "", 0, false, -1},
		{"aaa", "aa", 3, true, 1},
	} {
		s, e, err := Find(ctx, []byte(tt.data), tt.text, tt.from, tt.back)
		if err != nil || s != tt.want || s >= 0 && e <= s {
			t.Errorf("%q in %.10q from %d back %v: %d..%d %v, want %d", tt.text, tt.data, tt.from, tt.back, s, e, err, tt.want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := Find(cancelled, border, "x", 0, false); err == nil {
		t.Error("a cancelled search went on")
	}
}

func TestPainters(t *testing.T) {
	t.Parallel()
	th := testTheme(colorprofile.TrueColor)
	colour := func(paintLine Painter, line string) string {
		return string(appendSpans(nil, line, 0, len(line), paintLine(th, line, nil), nil))
	}
	want := th.Punct.S("{") + th.Key.S(`"a\"b"`) + th.Punct.S(":") + " " + th.Number.S("-1.5e3") + th.Punct.S(",") + " " +
		th.String.S(`"x"`) + th.Punct.S(",") + th.Bool.S("true") + th.Punct.S(",") + th.Null.S("null") + th.Punct.S("]") + " oops " + th.String.S(`"cut`)
	assert.Equal(t, colour(PaintJSON, `{"a\"b": -1.5e3, "x",true,null] oops "cut`), want)
	for _, tt := range []struct{ line, want string }{
		{"2026-11-21T10:00:00Z ERROR it broke", th.Muted.S("2026-11-21T10:00:00Z ") + th.Error.S("ERROR") + " it broke"},
		{"[warn] careful", th.Muted.S("[") + th.Warn.S("warn") + "] careful"},
		{"there was no error here", "there was no error here"},
		{`{"level":"info"}`, th.Punct.S("{") + th.Key.S(`"level"`) + th.Punct.S(":") + th.String.S(`"info"`) + th.Punct.S("}")},
	} {
		assert.Equal(t, colour(PaintLog, tt.line), tt.want)
	}
}

// checkPager walks through a text and fails on rows that are too wide, unsafe,
// or lost on the way.
func checkPager(t *testing.T, p *Pager, w, h int) {
	t.Helper()
	p.Key("home")
	var down []string
	for range 40 {
		rows := p.Lines()
		if len(rows) > h {
			t.Fatalf("%d rows on %d", len(rows), h)
		}
		for _, r := range rows {
			if paint.Width(r) > w {
				t.Fatalf("row %q is %d cells, want at most %d", r, paint.Width(r), w)
			}
			if s := paint.Strip(r); s != safe.Line(s, 0) {
				t.Fatalf("row %q is not safe", r)
			}
		}
		if len(rows) > 0 {
			down = append(down, rows[0])
		}
		p.Key("down")
	}
	for i := len(down) - 1; i >= 0; i-- { // the way back shows the same rows
		p.Key("up")
	}
	for range 40 {
		p.Key("up")
	}
	if rows := p.Lines(); len(rows) > 0 && rows[0] != down[0] {
		t.Fatalf("back at the top is %q, not %q", rows[0], down[0])
	}
	p.Key("end")
	p.Lines()
}

func TestPagerHostile(t *testing.T) {
	t.Parallel()
	for _, h := range hostile.Strings() {
		for _, wrap := range []bool{true, false} {
			p := newPager(h.Value, 23, 7, wrap)
			checkPager(t, p, 23, 7)
		}
	}
}

func FuzzPager(f *testing.F) {
	f.Add("one two\nthree 日本", "two", 8, 3, true)
	f.Add("\x1b[2J\r\n\t\u0301", "j", 1, 1, false)
	f.Fuzz(func(t *testing.T, text, query string, w, h int, wrap bool) {
		if w < 0 || h < 0 || w > 100 || h > 50 {
			return
		}
		p := newPager(text, w, h, wrap)
		p.SetQuery(query)
		if s, e, err := FindIn(context.Background(), p.Texts(), query, 0, false); err == nil && s >= 0 {
			p.Show(s, e)
			p.Lines()
			if b, _, _ := FindIn(context.Background(), p.Texts(), query, e, true); b < s {
				t.Fatalf("forwards %d, backwards %d", s, b)
			}
		}
		checkPager(t, p, w, h)
	})
}

func manyLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"line": %d, "level": "info", "message": "something that was worth a line of %d bytes"}`+"\n", i, 100)
	}
	return b.Bytes()
}

func BenchmarkPagerOpen100k(b *testing.B) {
	data := manyLines(100_000)
	p := newPager("", 200, 60, true)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		p.SetText(data, PaintJSON)
		p.Lines()
	}
}

func BenchmarkPagerPage(b *testing.B) {
	p := newPager("", 200, 60, true)
	p.SetTheme(testTheme(colorprofile.TrueColor))
	p.SetText(manyLines(100_000), PaintJSON)
	for i := 0; b.Loop(); i++ {
		if i%1000 == 999 {
			p.Key("home")
		}
		p.Key("pgdown")
		p.Lines()
	}
}

func BenchmarkPagerPageOfLongLines(b *testing.B) {
	p := newPager("", 200, 60, false)
	p.SetTheme(testTheme(colorprofile.TrueColor))
	p.SetText([]byte(strings.Repeat(strings.Repeat(`{"a":[1,2,3]},`, 1000)+"\n", 1000)), PaintJSON)
	for i := 0; b.Loop(); i++ {
		if i%15 == 14 {
			p.Key("home")
		}
		p.Key("pgdown")
		p.Lines()
	}
}

func BenchmarkFind50MB(b *testing.B) {
	data := bytes.Repeat([]byte("some text that does not hold it, line after line\n"), 1<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if s, _, _ := Find(context.Background(), data, "not there", 0, false); s >= 0 {
			b.Fatal(s)
		}
	}
}
