package widget

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

func testTheme(p colorprofile.Profile) *paint.Theme { return paint.New(themes.Default(true), p) }

type numbers int

func (n numbers) Len() int            { return int(n) }
func (n numbers) Row(i, _ int) string { return fmt.Sprintf("row %d", i) }

func newList(n, w, h int) *List {
	l := &List{}
	l.SetTheme(testTheme(colorprofile.TrueColor))
	l.SetSize(w, h)
	l.SetFocus(true)
	l.SetRows(numbers(n))
	return l
}

func TestListKeys(t *testing.T) {
	t.Parallel()
	l := newList(100, 20, 10)
	for _, tt := range []struct {
		key           string
		selected, top int
	}{
		{"up", 0, 0},
		{"down", 1, 0},
		{"j", 2, 0},
		{"k", 1, 0},
		{"pgdown", 11, 10},
		{"ctrl+d", 16, 15},
		{"ctrl+u", 11, 10},
		{"G", 99, 90},
		{"down", 99, 90},
		{"pgdown", 99, 90},
		{"pgup", 89, 80},
		{"home", 0, 0},
		{"pgup", 0, 0},
		{"end", 99, 90},
		{"g", 0, 0},
	} {
		if !l.Key(tt.key) {
			t.Fatalf("%s means nothing", tt.key)
		}
		if top, n := l.Scroll(); l.Selected() != tt.selected || top != tt.top || n != 100 {
			t.Fatalf("after %s: row %d, top %d of %d, want %d and %d of 100", tt.key, l.Selected(), top, n, tt.selected, tt.top)
		}
	}
	if l.Key("x") {
		t.Error("x means something")
	}
}

func TestListLines(t *testing.T) {
	t.Parallel()
	l := newList(100, 8, 3)
	l.Key("down")
	lines := l.Lines()
	if len(lines) != 3 || paint.Strip(lines[0]) != "row 0" || paint.Strip(lines[1]) != "row 1   " || lines[1] == paint.Strip(lines[1]) {
		t.Errorf("%q", lines)
	}
	focused := lines[1]
	l.SetFocus(false)
	if l.Lines()[1] == focused {
		t.Error("the selection looks the same without the keyboard")
	}
	l.SetSize(4, 3)
	assert.Equal(t, l.Lines()[0], "row…")
	l.SetSize(0, 0)
	if got := l.Lines(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestListFilter(t *testing.T) {
	t.Parallel()
	l := newList(100, 20, 5)
	l.Select(42)
	l.SetFilter([]int32{2, 12, 42, 52})
	if l.Selected() != 42 || l.Len() != 4 {
		t.Errorf("selected %d of %d", l.Selected(), l.Len())
	}
	l.SetFilter([]int32{2, 12, 52})
	if l.Selected() != 52 {
		t.Errorf("selected %d, want that at its place", l.Selected())
	}
	l.Key("up")
	l.ClearFilter()
	if l.Selected() != 12 || l.Len() != 100 {
		t.Errorf("selected %d of %d", l.Selected(), l.Len())
	}
	l.SetFilter([]int32{})
	if l.Selected() != -1 || len(l.Lines()) != 0 {
		t.Errorf("nothing is left, but %d is selected", l.Selected())
	}
	l.SetFilter([]int32{5, 80})
	l.SetRows(numbers(50)) // the server took half of them away
	if l.Len() != 1 || l.Selected() != 5 {
		t.Errorf("selected %d of %d", l.Selected(), l.Len())
	}
}

func TestListMouse(t *testing.T) {
	t.Parallel()
	l := newList(100, 20, 5)
	if hit := l.Mouse(Mouse{Kind: WheelDown}); hit != HitScroll || l.Selected() != 3 {
		t.Errorf("wheel: %v, row %d", hit, l.Selected())
	}
	if hit := l.Mouse(Mouse{Kind: Click, Y: 4}); hit != HitSelect || l.Selected() != 7 {
		t.Errorf("click: %v, row %d", hit, l.Selected())
	}
	if hit := l.Mouse(Mouse{Kind: DoubleClick, Y: 0}); hit != HitOpen || l.Selected() != 3 {
		t.Errorf("double click: %v, row %d", hit, l.Selected())
	}
	l.SetRows(numbers(2))
	if hit := l.Mouse(Mouse{Kind: Click, Y: 4}); hit != HitNone || l.Selected() != 1 {
		t.Errorf("click under the rows: %v, row %d", hit, l.Selected())
	}
}

type grid struct{}

func (grid) Len() int { return 2 }
func (grid) Cell(i, c int) string {
	return [][]string{{"tools/list", "日本語テキスト", "12"}, {"ping", "ok", "1234"}}[i][c]
}

func TestTable(t *testing.T) {
	t.Parallel()
	var tb Table
	tb.SetTheme(testTheme(colorprofile.NoTTY))
	tb.SetColumns([]Column{{Title: "Method", Width: 6}, {Title: "What", Width: 4, Grow: 1}, {Title: "ms", Width: 4, Right: true}})
	tb.SetCells(grid{})
	for _, tt := range []struct {
		w    int
		want string
	}{
		{22, "Method What         ms|tools… 日本語テ…    12|ping   ok         1234"},
		{14, "Method What   |tools… 日本語…|ping   ok     "}, // the last column went, its room to the one that grows
		{5, "Meth…|tool…|ping "},
	} {
		tb.SetSize(tt.w, 4)
		assert.Equalf(t, strings.Join(tb.Lines(), "|"), tt.want, "%d", tt.w)
	}
	if hit := tb.Mouse(Mouse{Kind: Click, Y: 2}); hit != HitSelect || tb.Selected() != 1 {
		t.Errorf("click: %v, row %d", hit, tb.Selected())
	}
	assert.Equalf(t, tb.Mouse(Mouse{Kind: Click, Y: 0}), HitNone, "a click on the header")
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query, text string
		want        bool
	}{
		{"", "anything", true},
		{"read file", "File_Reader: reads", true},
		{"read file", "reader", false},
		{"Read", "read", false},
		{"-write read", "read", true},
		{"-write read", "read_write", false},
		{`"a b"`, "xa bx", true},
		{`"a b"`, "a  b", false},
		{"ölçü", "ÖLÇÜ", true},
		{"-", "a-b", true},
	} {
		assert.Equalf(t, ParseQuery(tt.query).Match(tt.text), tt.want, "%q matches %q", tt.query, tt.text)
	}
}

func TestQueryFilter(t *testing.T) {
	t.Parallel()
	text := func(i int) (string, string) { return fmt.Sprint("tool ", i), "" }
	one, err := ParseQuery("1").Filter(context.Background(), 5000, text)
	want := 0
	for i := range 5000 {
		if strings.Contains(fmt.Sprint(i), "1") {
			want++
		}
	}
	if err != nil || len(one) != want {
		t.Fatalf("%d rows, want %d (%v)", len(one), want, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ParseQuery("1").Filter(ctx, 5000, text); err == nil {
		t.Error("a cancelled filter went on")
	}
}

// What a row is called counts more than what it says of itself, and the beginnings of words more than what is inside them.
func TestQueryRank(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query, name, about string
		want               Rank
	}{
		{"git_log", "git_log", "", Exact},
		{"GIT_LOG", "git_log", "", None}, // a capital looks at case
		{"git", "git_log", "", Prefix},
		{"log", "git_log", "", WordStart},
		{"log", "blog_log", "", WordStart},
		{"log", "git_changelog_analyze", "", Inside},
		{"set_w", "git_set_working_dir", "", WordStart},
		{"set_w", "git_clear_working_dir", "the reverse of git_set_working_dir", About},
		{"dir", "getWorkDir", "", WordStart},
		{"server", "HTTPServer", "", WordStart},
		{"swd", "git_set_working_dir", "", Initials},
		{"gst", "git_status", "", Initials},
		{"gst", "git_reset", "", Subsequence},
		{"gst", "long-test", "", None}, // its g begins no word
		{"git log", "git_log", "", WordStart},
		{"git what", "git_log", "what it does", About},
		{"-log git", "git_log", "", None},
		{"-lg git", "git_log", "", Prefix}, // only what stands there is refused
		{"ölç", "demo.ÖLÇÜ", "", WordStart},
		{"zz", "git", "", None},
	} {
		if got := ParseQuery(tt.query).Rank(tt.name, tt.about); got != tt.want {
			t.Errorf("%q in %q: rank %d, want %d", tt.query, tt.name, got, tt.want)
		}
	}
	names := []string{"get-structured-content", "trigger-long-running", "long", "so_long", "longer", "x"}
	about := []string{"what goes along", "", "", "", "", "as long as"}
	got, err := ParseQuery("long").Filter(context.Background(), len(names), func(i int) (string, string) { return names[i], about[i] })
	if want := []int32{2, 4, 1, 3, 0, 5}; err != nil || !slices.Equal(got, want) {
		t.Errorf("long lists %v, want %v (%v)", got, want, err)
	}
	names = []string{"git_reset", "git_status", "other"} // the letters of gst are in both, and begin words of one
	for query, want := range map[string][]int32{"gst": {1}, "grt": {0}} {
		if got, err := ParseQuery(query).Filter(context.Background(), len(names), func(i int) (string, string) { return names[i], "" }); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v (%v)", query, got, want, err)
		}
	}
}

// What somebody pasted is looked for as it stands, however long it is, and takes no time.
func TestHugeQuery(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("aab ", 500)
	for _, paste := range []string{strings.Repeat("a b c aab ", 1000), strings.Repeat("a", 10_000), strings.Repeat("-a ", 3000)} {
		q := ParseQuery(paste)
		const limit = 5 * time.Second
		if took := budget.Median(func() {
			if got, err := q.Filter(context.Background(), 2000, func(int) (string, string) { return row, row }); len(got) > 0 || err != nil {
				t.Errorf("%.10q… found %d rows (%v)", paste, len(got), err)
			}
			q.HighlightName(row, paint.Style{}, paint.Style{})
		}); took > limit {
			t.Errorf("%.10q… took %v", paste, took)
		}
	}
	if phrase := strings.TrimSpace(strings.Repeat("aab ", 40)); ParseQuery(phrase).Rank("", row) != About {
		t.Error("a pasted phrase is not found where it stands")
	}
}

func TestHighlight(t *testing.T) {
	t.Parallel()
	th := testTheme(colorprofile.ASCII)
	u := func(s string) string { return th.Underline.S(s) }
	for _, tt := range []struct{ query, text, want string }{
		{"swd", "git_set_working_dir", "git_" + u("s") + "et_" + u("w") + "orking_" + u("d") + "ir"},
		{"gst", "git_status", u("g") + "it_" + u("st") + "atus"},
		{"ab", "xAbyab", "x" + u("Ab") + "y" + u("ab")},
		{"a abc", "abcd a", u("abc") + "d " + u("a")},
		{"-a b", "ab", "a" + u("b")},
		{"z", "ab", "ab"},
		{"日", "本日", "本" + u("日")},
	} {
		assert.Equalf(t, ParseQuery(tt.query).HighlightName(tt.text, paint.Style{}, th.Underline), tt.want, "%q in %q", tt.query, tt.text)
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("a -b \"c d\"", "A b c d")
	f.Fuzz(func(t *testing.T, query, text string) {
		q := ParseQuery(query)
		q.Match(text)
		q.Rank(text, text)
		q.Excerpt(text, 10)
		text = safe.Line(text, 0)
		th := testTheme(colorprofile.TrueColor)
		if got := paint.Strip(q.HighlightName(text, th.Text, th.Match)); got != text {
			t.Fatalf("highlighting %q changed %q to %q", query, text, got)
		}
	})
}

func BenchmarkListKey1M(b *testing.B) {
	l := newList(1_000_000, 120, 60)
	keys := []string{"pgdown", "down", "G", "up", "g", "ctrl+d"}
	for i := 0; b.Loop(); i++ {
		l.Key(keys[i%len(keys)])
		l.Lines()
	}
}

func BenchmarkFilter5000(b *testing.B) {
	texts := make([]string, 5000)
	for i := range texts {
		texts[i] = fmt.Sprint("tool_", i, " ", strings.Repeat("some description of what it does ", 6))
	}
	q := ParseQuery("zzz 12")
	for b.Loop() {
		if _, err := q.Filter(context.Background(), len(texts), func(i int) (string, string) { return "tool", texts[i] }); err != nil {
			b.Fatal(err)
		}
	}
}
