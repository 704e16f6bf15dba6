package form

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// nasty holds what a server may put into any string.
const nasty = "\x1b]0;pwned\x07\x1b[2J\u009b31m\u202e\u200b\r\b\x00\xff\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\U000E0041日"

func TestServerTextNeverEscapes(t *testing.T) {
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }(nasty)
	field := func(kw string) string {
		return `{"title":` + q + `,"description":` + q + `,"$comment":` + q + `,"x-mcp-header":` + q + `,"examples":[` + q + `],"x-a":` + q + `,` + kw + `}`
	}
	props := []string{
		`"type":"string","pattern":` + q, `"type":"string","format":` + q, `"enum":[` + q + `,"b"]`, `"const":` + q, `"default":` + q,
		`"oneOf":[{"title":` + q + `,"type":"object","properties":{` + q + `:{"const":` + q + `}}},{"type":"string","description":` + q + `}]`,
		`"type":"object","additionalProperties":{"type":"string"},"dependentRequired":{` + q + `:[` + q + `]}`, `"$ref":` + q, `"not":{"const":` + q + `}`,
		`"type":` + q, `"discriminator":{"propertyName":` + q + `},"oneOf":[{"type":"object"},{"type":"array"}]`, `"anyOf":[{"required":[` + q + `]},{"required":["b"]}],"type":"object"`,
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","required":[` + q + `],"properties":{`)
	for i, p := range props {
		fmt.Fprintf(&b, `%s:%s,`, strings.Replace(q, "pwned", fmt.Sprint("p", i), 1), field(p))
	}
	b.WriteString(`"z":{"type":"array","items":` + field(`"type":"string"`) + `}}}`)
	f := New(schema.Parse([]byte(b.String())), plainTheme())
	f.SetSize(100, 200)
	require.NoError(t, f.SetJSON([]byte(`{`+q+`:`+q+`,"z":[`+q+`,1]}`)))
	run(f)
	look := func(what string) {
		for i, l := range f.Lines() {
			if w := paint.Width(l); w > 100 {
				t.Errorf("%s: line %d has %d cells", what, i, w)
			}
			for _, r := range l {
				if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0x200b || r == 0xFFFD || r >= 0xE0000 {
					t.Fatalf("%s: line %d lets %U through: %q", what, i, r, l)
				}
			}
		}
	}
	for i := range f.rows {
		if i >= len(f.rows) {
			break
		}
		f.setCur(i)
		look(fmt.Sprint("row ", i))
		press(t, f, "ctrl+o")
		look(fmt.Sprint("states of row ", i))
		press(t, f, "esc", "space")
		look(fmt.Sprint("opened row ", i))
		press(t, f, "esc")
	}
	press(t, f, "ctrl+r")
	look("raw")
	var plain strings.Builder
	f.Plain(&plain)
	if strings.ContainsAny(plain.String(), "\x1b\x07\r\x00") {
		t.Error("plain text lets controls through")
	}
}

// generate makes a random value, keys and literals as odd as JSON allows.
func generate(r *rand.Rand, depth int) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	n := 7
	if depth == 0 {
		n = 5
	}
	switch r.IntN(n) {
	case 0:
		return pick(`null`, `true`, `false`)
	case 1:
		return pick(`1.0`, `-0`, `12345678901234567890`, `1e400`, `0.1E-7`, `3`)
	case 2, 3, 4:
		return pick(`""`, `"a"`, `"\u0041"`, `"two\nlines"`, `"\ud83d\ude00"`, `"12"`, `"null"`, `"\ud800"`)
	case 5:
		var out []string
		for range r.IntN(4) {
			out = append(out, generate(r, depth-1))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	var out []string
	keys := []string{`"name"`, `"count"`, `"shape"`, `"kind"`, `"radius"`, `"address"`, `"tags"`, `"tree"`, `"next"`, `"label"`, `"x y"`, `"\u0061"`, `""`, `"a/b~"`}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, k := range keys[:r.IntN(6)] {
		out = append(out, k+":"+generate(r, depth-1))
	}
	return "{" + strings.Join(out, ",") + "}"
}

// Form -> JSON -> form loses nothing, whatever the value and wherever the
// focus goes without changing anything.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sch := gallery(t)
	for range 300 {
		text := generate(r, 4)
		f := New(sch, plainTheme())
		f.SetSize(80, 30)
		if err := f.SetJSON([]byte(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		press(t, f, "down", "right", "end", "tab", "left", "left", "down", "space", "esc", "ctrl+o", "esc", "ctrl+r", "down", "end", "ctrl+r", "ctrl+end", "up")
		if n := len(f.undos); n > 1 { // a space may have toggled something
			for range n - 1 {
				f.Undo()
			}
		}
		if got := string(f.JSON()); got != text {
			t.Fatalf("%s became %s", text, got)
		}
		again := New(sch, plainTheme())
		if err := again.SetJSON(f.JSON()); err != nil || string(again.JSON()) != text {
			t.Fatalf("%s became %s: %v", text, again.JSON(), err)
		}
	}
}

// Any keys on any value: no panic, and the value stays JSON.
func TestRandomKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	keys := []string{
		"up", "down", "tab", "left", "right", "enter", "space", "esc", "backspace", "delete", "ctrl+n", "ctrl+x", "ctrl+o", "ctrl+z",
		"ctrl+r", "alt+up", "alt+down", "f2", "text:k", "text:1", "text:{", "alt+enter", "home", "end", "pgdown", "pgup", "ctrl+w", "ctrl+u",
	}
	sch := gallery(t)
	for range 60 {
		f := New(sch, plainTheme())
		f.SetSize(20+r.IntN(100), 3+r.IntN(40))
		_ = f.SetJSON([]byte(generate(r, 3)))
		for range 150 {
			press(t, f, keys[r.IntN(len(keys))])
			f.Click(r.IntN(80), r.IntN(40))
			f.Lines()
			f.Hints()
		}
		if v := f.JSON(); len(v) > 0 && !json.Valid(v) {
			t.Fatalf("%s", v)
		}
	}
}

func manyFields(n int) *schema.Schema {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range n {
		fmt.Fprintf(&b, `"property_%d":{"type":"string","description":"number %d","minLength":1},`, i, i)
	}
	b.WriteString(`"last":{"type":"integer"}}}`)
	return schema.Parse([]byte(b.String()))
}

func levels(n int) *schema.Schema {
	return schema.Parse([]byte(strings.Repeat(`{"type":"object","required":["next"],"properties":{"v":{"type":"string"},"next":`, n) +
		`{"type":"string"}` + strings.Repeat(`}}`, n)))
}

func TestHugeForms(t *testing.T) {
	f := New(manyFields(30_000), plainTheme())
	f.SetSize(100, 30)
	press(t, f, "text:x", "ctrl+end")
	assert.Contains(t, screen(f), "more: edit them as raw JSON (ctrl+r)")
	deep := New(schema.Parse([]byte(`{}`)), plainTheme())
	deep.SetSize(80, 30)
	require.NoError(t, deep.SetJSON([]byte(strings.Repeat(`[`, 9_000)+strings.Repeat(`]`, 9_000))))
	press(t, deep, "ctrl+end", "ctrl+n")
	long := New(schema.Parse([]byte(`{"type":"object","properties":{"`+strings.Repeat("n", 1<<20)+`":{"type":"string","description":"`+strings.Repeat("d ", 1<<19)+`"}}}`)), plainTheme())
	long.SetSize(80, 30)
	start := time.Now()
	long.Lines()
	press(t, long, "text:x")
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("a name of 1 MB takes %v", d)
	}
}

func benchKeys(b *testing.B, f *Form, keys ...string) {
	f.SetSize(200, 60)
	f.SetTheme(paint.New(themes.Default(true), colorprofile.TrueColor))
	run(f)
	f.Lines()
	i := 0
	for b.Loop() {
		f.Key(key(keys[i%len(keys)]))
		f.Lines()
		f.Cursor()
		i++
	}
}

func BenchmarkKey5000FieldsType(b *testing.B) {
	benchKeys(b, New(manyFields(5_000), plainTheme()), "a", "b", "backspace", "backspace")
}

func BenchmarkKey5000FieldsMove(b *testing.B) {
	benchKeys(b, New(manyFields(5_000), plainTheme()), "down", "down", "down", "up", "pgdown")
}

func BenchmarkKey100LevelsType(b *testing.B) {
	f := New(levels(100), plainTheme())
	f.Focus(strings.Repeat("/next", 99) + "/v")
	benchKeys(b, f, "a", "b", "backspace", "backspace")
}

func BenchmarkKey100LevelsMove(b *testing.B) {
	benchKeys(b, New(levels(100), plainTheme()), "down", "down", "down", "up", "pgdown")
}

func BenchmarkKeyGallery(b *testing.B) {
	benchKeys(b, New(gallery(b), plainTheme()), "a", "b", "backspace", "down", "c", "backspace", "up")
}

func BenchmarkKeyRaw(b *testing.B) {
	f := New(manyFields(5_000), plainTheme())
	var text strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&text, "%d,\n", i)
	}
	require.NoError(b, f.SetJSON([]byte("["+text.String()+"0]")))
	f.ToggleRaw()
	benchKeys(b, f, "down", "a", "backspace")
}

func BenchmarkOpen100Levels(b *testing.B) {
	raw := levels(100).Raw()
	for b.Loop() {
		f := New(schema.Parse(raw), plainTheme())
		f.SetSize(200, 60)
		f.Lines()
	}
}

func BenchmarkOpen5000Fields(b *testing.B) {
	raw := manyFields(5_000).Raw()
	for b.Loop() {
		f := New(schema.Parse(raw), plainTheme())
		f.SetSize(200, 60)
		f.Lines()
	}
}
