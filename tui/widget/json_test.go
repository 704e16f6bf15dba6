package widget

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui/paint"
)

func index(t testing.TB, s string) *Index {
	t.Helper()
	ix, err := NewIndex(context.Background(), []byte(s))
	require.NoError(t, err)
	return ix
}

// flat is the tree of a text as encoding/json sees it.
type flat struct {
	key, pointer string
	value        string
	parent       int
}

func flatten(t testing.TB, s string) []flat {
	var out []flat
	var walk func(raw json.RawMessage, key, pointer string, parent int)
	walk = func(raw json.RawMessage, key, pointer string, parent int) {
		me := len(out)
		out = append(out, flat{key, pointer, string(raw), parent})
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		tok, err := d.Token()
		require.NoError(t, err)
		delim, _ := tok.(json.Delim)
		for i := 0; delim != 0 && d.More(); i++ {
			k, step := "", fmt.Sprint(i)
			if delim == '{' {
				tok, err := d.Token()
				require.NoError(t, err)
				k = tok.(string)
				step = strings.ReplaceAll(strings.ReplaceAll(k, "~", "~0"), "/", "~1")
			}
			var v json.RawMessage
			require.NoError(t, d.Decode(&v))
			walk(v, k, pointer+"/"+step, me)
		}
	}
	walk(json.RawMessage(s), "", "", -1)
	return out
}

func compare(t testing.TB, s string) {
	t.Helper()
	ix, want := index(t, s), flatten(t, strings.TrimSpace(s))
	if ix.Err() != nil || ix.Len() != len(want) {
		t.Fatalf("%.200q: %d values (%v), want %d", s, ix.Len(), ix.Err(), len(want))
	}
	for i, w := range want {
		if got := string(ix.Value(i)); got != w.value {
			t.Fatalf("%.200q: value %d is %q, want %q", s, i, got, w.value)
		}
		if got := ix.Parent(i); got != w.parent {
			t.Fatalf("%.200q: parent of %d is %d, want %d", s, i, got, w.parent)
		}
		if got := ix.Pointer(i); got != w.pointer {
			t.Fatalf("%.200q: pointer of %d is %q, want %q", s, i, got, w.pointer)
		}
		if key := ix.Key(i); key != nil && Unquote(key) != w.key {
			t.Fatalf("%.200q: key of %d is %s, want %q", s, i, key, w.key)
		}
	}
}

const sample = `{"content":[{"type":"text","text":"caf\u00e9 \"x\""},{"type":"image","data":""}],
 "isError" : false, "n":[1,-2.50e+10,12345678901234567890], "a/b~c":null, "":{}, "odd name":[[],[[1]],2], "content":"again"}`

func TestIndex(t *testing.T) {
	t.Parallel()
	for _, s := range []string{sample, `1`, `"a"`, `[]`, `{}`, ` [ ] `, `[[],[],{"a":{}}]`, `{"a":"}","b":"\\","c":"\\\""}`, "null"} {
		compare(t, s)
	}
	ix := index(t, sample)
	for _, tt := range []struct{ pointer, path string }{
		{"", "."},
		{"/content/0/text", ".content[0].text"},
		{"/n/2", ".n[2]"},
		{"/a~1b~0c", `.["a/b~c"]`},
		{"/odd name/1/0", `.["odd name"][1][0]`},
		{"/", `.[""]`},
	} {
		found := false
		for i := range ix.Len() {
			if ix.Pointer(i) == tt.pointer {
				found = true
				assert.Equalf(t, ix.Path(i), tt.path, "path of %q", tt.pointer)
				if at := ix.At(ix.start(i)); at != i {
					t.Errorf("value %d (%s) begins in value %d", i, tt.pointer, at)
				}
			}
		}
		if !found {
			t.Errorf("no %q", tt.pointer)
		}
	}
	assert.Equalf(t, index(t, `[3,[4]]`).Path(3), ".[1][0]", "path in an array")
}

func TestIndexOfBrokenText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, err string
		values  int
	}{
		{``, "too early at byte 0", 0},
		{`{"a":1,"b":[1,2`, "too early at byte 15", 5},
		{`{"a":1,"b"`, "no colon", 2},
		{`{"a":1]`, "wrong bracket at byte 6", 2},
		{`[1 2]`, "instead of a comma", 2},
		{`[1,]`, "begins no value", 2},
		{`{a:1}`, "instead of a member name", 1},
		{`[nul]`, "begins no value", 1},
		{`"abc`, "begins no value", 0},
		{`1 2`, "more text", 1},
		{"[\x1b]", "begins no value", 1},
	} {
		ix := index(t, tt.in)
		if ix.Err() == nil || !strings.Contains(ix.Err().Error(), tt.err) || ix.Len() != tt.values {
			t.Errorf("%q: %d values, %v; want %d, %s", tt.in, ix.Len(), ix.Err(), tt.values, tt.err)
		}
		use(newTree(ix, 40, 10))
	}
}

func newTree(ix *Index, w, h int) *JSON {
	j := &JSON{}
	j.SetTheme(testTheme(colorprofile.NoTTY))
	j.SetSize(w, h)
	j.SetFocus(true)
	j.SetIndex(ix)
	return j
}

// use presses every key there is and asks everything, for what must not panic.
func use(j *JSON) {
	for _, k := range []string{"down", "right", "enter", "end", "left", "left", "-", "+", "pgdown", "home", "right", "space", "G"} {
		j.Key(k)
		j.Lines()
		j.Path()
		j.Pointer()
		j.Value()
	}
	j.Mouse(Mouse{Kind: DoubleClick, Y: 1})
	j.Show(5)
	j.SetQuery("a")
	j.Lines()
}

func TestTree(t *testing.T) {
	t.Parallel()
	j := newTree(index(t, sample), 44, 7)
	want := []string{
		"▾ {7}                                       ",
		"  ▾ \"content\": [2]",
		"    ▾ 0: {2}",
		"        \"type\": \"text\"",
		"        \"text\": \"caf\\u00e9 \\\"x\\\"\"",
		"    ▾ 1: {2}",
		"        \"type\": \"image\"",
	}
	if got := j.Lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	j.Key("down")
	j.Key("left") // folds content
	if got := j.Lines()[1]; !strings.HasPrefix(got, `  ▸ "content": [2] [{"type":"text","text"`) {
		t.Errorf("%q", got)
	}
	assert.Equal(t, j.Lines()[2], `    "isError": false`)
	j.Key("left") // to the parent
	if j.Pointer() != "" {
		t.Errorf("at %q", j.Pointer())
	}
	j.Show(strings.Index(sample, "image"))
	if j.Pointer() != "/content/1/type" || j.Path() != ".content[1].type" || string(j.Value()) != `"image"` {
		t.Errorf("at %q %q %s", j.Pointer(), j.Path(), j.Value())
	}
	j.Key("end")
	if j.Pointer() != "/content" || string(j.Value()) != `"again"` {
		t.Errorf("at %q %s: of two members with one name both must be shown", j.Pointer(), j.Value())
	}
	j.Key("-")
	assert.Equalf(t, len(j.Lines()), 7, "rows")
}

// The folded tree against a slow and simple model.
func TestFoldsAgainstModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		ix := index(t, randomJSON(rng, 5))
		j := newTree(ix, 40, 10)
		j.FoldTo(rng.IntN(4))
		for range 30 {
			var rows []int
			for n := 0; n < ix.Len(); n++ {
				rows = append(rows, n)
				if c := ix.find(n); c >= 0 && int(ix.cont(c).node) == n && j.folds.isFolded(c) {
					n = ix.Last(n)
				}
			}
			if len(rows) != j.folds.len() {
				t.Fatalf("%d rows, want %d", j.folds.len(), len(rows))
			}
			for r, n := range rows {
				if j.folds.node(r) != n || j.folds.row(n) != r {
					t.Fatalf("row %d is %d, want %d; its row is %d", r, j.folds.node(r), n, j.folds.row(n))
				}
			}
			if rng.IntN(4) == 0 {
				n := rng.IntN(ix.Len())
				j.Select(n)
				if j.Selected() != n {
					t.Fatalf("selected %d, want %d", j.Selected(), n)
				}
			} else {
				j.cur = rng.IntN(len(rows))
				j.Toggle()
			}
		}
	}
}

func randomJSON(rng *rand.Rand, depth int) string {
	if depth == 0 || rng.IntN(4) == 0 {
		return []string{`1`, `"s"`, `null`, `[]`, `{}`}[rng.IntN(5)]
	}
	var parts []string
	object := rng.IntN(2) == 0
	for i := range rng.IntN(6) {
		v := randomJSON(rng, depth-1)
		if object {
			v = fmt.Sprintf("%q:%s", fmt.Sprint("k", i), v)
		}
		parts = append(parts, v)
	}
	if object {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func TestDeepJSON(t *testing.T) {
	t.Parallel()
	const depth = 50_000
	ix := index(t, strings.Repeat(`{"a":[`, depth/2)+"1"+strings.Repeat("]}", depth/2))
	if ix.Err() != nil || ix.Len() != depth+1 {
		t.Fatal(ix.Len(), ix.Err())
	}
	j := newTree(ix, 80, 20)
	use(j)
	j.Key("+")
	j.Key("end")
	if ix.Depth(j.Selected()) != depth || !strings.Contains(j.Lines()[19], "·50000") {
		t.Errorf("depth %d: %q", ix.Depth(j.Selected()), j.Lines()[19])
	}
}

func TestTreeDrawsHostileText(t *testing.T) {
	t.Parallel()
	for _, h := range hostile.Strings() {
		key, err := json.Marshal(h.Value)
		require.NoError(t, err)
		raw := strings.ReplaceAll(string(key), `\u`, `\\u`)
		j := newTree(index(t, "{"+raw+":["+raw+","+`"`+strings.NewReplacer(`"`, "", `\`, "").Replace(h.Value)+`"`+"]}"), 60, 15)
		j.Key("+")
		for _, line := range j.Lines() {
			if strings.ContainsAny(line, "\x1b\x07\r\n\t\u202e\u200b") || paint.Width(line) > 60 {
				t.Errorf("%s: %q", h.Name, line)
			}
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(sample)
	f.Add(`[[],{"a":[1,2,{}]}]`)
	f.Add(`{"a":1,"b":[1,2`)
	f.Fuzz(func(t *testing.T, s string) {
		use(newTree(index(t, s), 40, 10))
		if json.Valid([]byte(s)) && len(s) < 2000 {
			compare(t, s)
		}
	})
}

func bigJSON(size int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"item %d","tags":["a","b"],"price":%d.50,"text":"some words of a description"}`, i, i, i)
	}
	b.WriteByte(']')
	return bytes.Clone(b.Bytes())
}

func BenchmarkIndex50MB(b *testing.B) {
	data := bigJSON(50 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		ix, err := NewIndex(context.Background(), data)
		if err != nil || ix.Err() != nil {
			b.Fatal(err, ix.Err())
		}
	}
}

func BenchmarkTreeKey50MB(b *testing.B) {
	data := bigJSON(50 << 20)
	ix, err := NewIndex(context.Background(), data)
	require.NoError(b, err)
	j := newTree(ix, 120, 60)
	j.SetTheme(testTheme(colorprofile.TrueColor))
	keys := []string{"pgdown", "right", "down", "end", "right", "up", "left", "home", "ctrl+d"}
	for i := 0; b.Loop(); i++ {
		j.Key(keys[i%len(keys)])
		j.Lines()
	}
}
