package form

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

func TestRawKeepsWhatWasTyped(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`)
	press(t, f, "text:7", "ctrl+r")
	if !f.Raw() || !strings.Contains(screen(f), `"n": 7`) {
		t.Fatal(screen(f))
	}
	press(t, f, "ctrl+end", "backspace", "backspace", "text:,")
	bad := f.raw.text.String()
	press(t, f, "ctrl+r")
	var syn *schema.SyntaxError
	if !f.Raw() || !errors.As(f.Err(), &syn) || f.raw.text.String() != bad {
		t.Fatalf("left the editor, or lost the text: %v\n%s", f.Err(), screen(f))
	}
	assert.Contains(t, screen(f), "line 2, column 10: the text ends before the value does")
	if ps := f.Check(); len(ps) != 1 || !strings.Contains(ps[0].Message, "line 2") {
		t.Errorf("problems %v", ps)
	}
	press(t, f, "text:"+` "big":12345678901234567890, "x":1.0}`, "ctrl+r")
	if f.Raw() || string(f.JSON()) != `{"n":7,"big":12345678901234567890,"x":1.0}` {
		t.Errorf("%v %s", f.Raw(), f.JSON())
	}
	layout := "{\n  \"n\": 7, \"big\":12345678901234567890, \"x\":1.0}"
	if press(t, f, "ctrl+r"); f.raw.text.String() != layout {
		t.Errorf("the layout of the text was lost: %q", f.raw.text.String())
	}
}

func TestSetJSONMalformed(t *testing.T) {
	f := open(t, `{"type":"object"}`)
	if err := f.SetJSON([]byte("{\"a\":\n 1 2}")); err == nil || !f.Raw() || f.raw.text.String() != "{\"a\":\n 1 2}" {
		t.Errorf("%v %v", err, f.Raw())
	}
	if x, y, ok := f.Cursor(); !ok || y != 1 || x < 3 {
		t.Errorf("cursor %d,%d %v", x, y, ok)
	}
	f.Edited("json:", `{"a":3}`)
	assert.Equal(t, string(f.JSON()), `{"a":3}`)
}

func TestPaste(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"any":{}}}`)
	f.Paste("line 1\r\nzwei \U0001F389\rline\t3\x1b[31m")
	press(t, f, "down")
	f.Paste(" 12345678901234567890\n")
	press(t, f, "down")
	f.Paste("{\"k\": [1.0,\n null]}")
	want := `{"s":"line 1\nzwei 🎉\nline\t3\u001b[31m","n":12345678901234567890,"any":{"k":[1.0,null]}}`
	assert.Equal(t, string(f.JSON()), want)
	assert.NotContains(t, screen(f), "\x1b[31m")
	f.SetSize(60, 10)
	f.Focus("/s")
	assert.Contains(t, screen(f), "^[[31m")
}

func TestCursorInText(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"s":{"type":"string"}}}`)
	press(t, f, "text:日本e", "left")
	if x, y, ok := f.Cursor(); !ok || y != 0 || x != f.valueX(f.row())+5 {
		t.Errorf("cursor %d,%d %v", x, y, ok)
	}
	press(t, f, "backspace", "text:X", "home", "delete", "end", "ctrl+w", "text:ab cd", "alt+left", "ctrl+k", "ctrl+u", "text:z")
	assert.Equal(t, string(f.JSON()), `{"s":"z"}`)
	f.Paste(strings.Repeat("x", 300))
	if x, _, ok := f.Cursor(); !ok || x >= 100 {
		t.Errorf("cursor at %d", x)
	}
	f.SetFocus(false)
	if _, _, ok := f.Cursor(); ok {
		t.Error("a cursor without focus")
	}
}

func TestTabLeavesAtTheEdges(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)
	if f.Key(key("shift+tab")) || !f.Key(key("tab")) || f.Key(key("tab")) || f.Key(key("esc")) || f.Key(key("f5")) || f.Key(key("ctrl+enter")) {
		t.Error("a key that is the caller's was taken, or the form's was not")
	}
}

func TestClicks(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"s":{"type":"string"},"b":{"type":"boolean"},"e":{"enum":["x","y"]},"o":{"type":"object","properties":{"p":{"type":"string"}}},"l":{"type":"array","items":{"type":"string"}}}}`)
	press(t, f, "text:hello")
	x := f.valueX(f.row())
	line := func(name string) int {
		for i, l := range f.Lines() {
			if strings.Contains(l, name) {
				return i
			}
		}
		t.Fatalf("%q is not on the screen:\n%s", name, screen(f))
		return 0
	}
	f.Click(x+2, 0)
	press(t, f, "text:_")
	f.Click(x+10, line("● unset")) // on true, which stands behind it
	f.Click(x+2, line("one of: x"))
	f.Click(x, line("  y"))
	f.Click(3, line("▸ o"))
	f.Click(x, line("  p "))
	press(t, f, "text:in")
	f.Click(3, line("▸ l"))
	f.Click(5, line("+ add item"))
	press(t, f, "text:it")
	if got := string(f.JSON()); got != `{"s":"h_ello","b":true,"e":"y","o":{"p":"in"},"l":["it"]}` {
		t.Errorf("%s\n%s", got, screen(f))
	}
	if f.Click(0, 99) {
		t.Error("a click on nothing was taken")
	}
	press(t, f, "ctrl+r")
	f.Click(6, 1)
	press(t, f, "text:\n")
	assert.Equalf(t, f.raw.text.line(), "", "the click did not move the cursor")
}

// An empty input can be seen in every theme, with and without colours: by its ground, by a line below it, or by brackets.
func TestInputsAreSeen(t *testing.T) {
	for _, palette := range themes.All() {
		for profile, mark := range map[colorprofile.Profile]string{
			colorprofile.TrueColor: "\x1b[48;2;", colorprofile.ANSI256: "\x1b[48;5;", colorprofile.ANSI: "\x1b[4m", colorprofile.ASCII: "\x1b[4m", colorprofile.NoTTY: "[",
		} {
			if palette.Background.Only16 && profile > colorprofile.ASCII {
				mark = "\x1b[4m"
			}
			f := open(t, `{"type":"object","properties":{"first":{"type":"string"},"second":{"type":"string"},"third":{"enum":["a","b"]}}}`)
			f.SetTheme(paint.New(palette, profile))
			for i, line := range f.Lines()[:3] {
				if _, value, _ := strings.Cut(line, []string{"first", "second", "third"}[i]); !strings.Contains(value, mark) && (i < 2 || profile != colorprofile.NoTTY) {
					t.Errorf("%s in %v draws %q", palette.Name, profile, line)
				}
			}
		}
	}
}

// A click takes the choice of a boolean that it hits, or the next one where there is room for one only.
func TestClickBoolean(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"on":{"type":"boolean","default":true}}}`)
	line := f.Lines()[0]
	for _, c := range []struct{ at, want string }{{"○ false", `{"on":false}`}, {"○ true", `{"on":true}`}, {"○ unset (true)", `{}`}} {
		i := strings.Index(line, c.at)
		if i < 0 {
			t.Fatalf("%q is not in %q", c.at, line)
		}
		f.Click(paint.Width(line[:i]), 0)
		line = f.Lines()[0]
		if got := string(f.JSON()); got != c.want {
			t.Errorf("a click on %q makes it %s, want %s", c.at, got, c.want)
		}
	}
	f.SetSize(30, 10)
	f.Click(f.valueX(f.row()), 0)
	if got := string(f.JSON()); got != `{"on":true}` {
		t.Errorf("in a narrow form a click makes it %s: %s", got, f.Lines()[0])
	}
}

func TestSuggestions(t *testing.T) {
	f := New(schema.FromArguments([]schema.Argument{{Name: "lang", Required: true}, {Name: "b"}}), plainTheme())
	f.SetSize(80, 20)
	run(f)
	asked := ""
	f.Complete = func(ptr, text string) tea.Cmd {
		asked = ptr + "=" + text
		return nil
	}
	press(t, f, "text:py")
	if asked != "/lang=py" {
		t.Fatal(asked)
	}
	f.Suggest("/lang", "p", Suggestions{Values: []string{"stale"}})
	f.Suggest("/b", "py", Suggestions{Values: []string{"elsewhere"}})
	if f.pop != nil {
		t.Fatal("an answer to another question is shown")
	}
	f.Suggest("/lang", "py", Suggestions{Values: []string{"python", "pytorch"}})
	if !strings.Contains(screen(f), "pytorch") {
		t.Fatal(screen(f))
	}
	press(t, f, "down", "enter")
	assert.Equal(t, f.Strings()["lang"], "pytorch")
	f.Suggest("/lang", "pytorch", Suggestions{Values: []string{"pytorch-x"}})
	if press(t, f, "tab"); f.Strings()["lang"] != "pytorch" || f.row().ptr != "/b" {
		t.Errorf("%q, at %s: what was taken is completed on and on", f.Strings()["lang"], f.row().ptr)
	}
	press(t, f, "shift+tab")
	f.Suggest("/lang", "pytorch", Suggestions{Values: []string{"pytorch-x"}})
	press(t, f, "text:2")
	if f.pop != nil || f.Strings()["lang"] != "pytorch2" {
		t.Error("typing does not close the list")
	}
	if ps := f.Check(); len(ps) != 0 {
		t.Error(ps)
	}
}

func TestEditText(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"}}}`)
	press(t, f, "text:x")
	tag, text, ext := f.EditText()
	if text != "x" || ext != ".txt" {
		t.Errorf("%q %q %q", tag, text, ext)
	}
	f.Edited(tag, "two\nlines\n")
	press(t, f, "down", "down")
	tag, text, ext = f.EditText()
	if text != "{\n  \"s\": \"two\\nlines\"\n}" || ext != ".json" {
		t.Errorf("%q %q %q", tag, text, ext)
	}
	f.Edited(tag, text+"garbage")
	if !f.Raw() || f.raw.text.String() != text+"garbage" {
		t.Error("malformed JSON from the editor was lost")
	}
}

func TestDirtyAndReset(t *testing.T) {
	f := open(t, `{"type":"object","required":["d"],"properties":{"s":{"type":"string"},"d":{"default":1}}}`)
	if f.Dirty() {
		t.Error("dirty from the start")
	}
	press(t, f, "text:x")
	if !f.Dirty() {
		t.Error("not dirty after typing")
	}
	f.MarkClean()
	if f.Dirty() {
		t.Error("dirty after MarkClean")
	}
	f.Reset()
	assert.Equal(t, string(f.JSON()), `{"d":1}`)
	f.Undo()
	assert.Equalf(t, string(f.JSON()), `{"s":"x","d":1}`, "undo")
}

func TestLinearMode(t *testing.T) {
	f := New(gallery(t), plainTheme())
	f.Check()
	var b strings.Builder
	f.Plain(&b)
	if !strings.Contains(b.String(), "name (required) = unset [string · 2 to 20 characters]") || strings.Contains(b.String(), "\x1b") {
		t.Error(b.String())
	}
	for _, c := range []struct{ ptr, text, err string }{
		{"/name", "Bob", ""},
		{"/count", "4", ""},
		{"/count", "x", `needs a whole number, such as 42; got "x"`},
		{"/shape", "square", ""},
		{"/shape/side", "2.50", ""},
		{"/address/street", "Main", ""},
		{"/tags", `["a"]`, ""},
		{"/nope", "", "the form has no field /nope; list the fields again"},
	} {
		got := ""
		if err := f.SetText(c.ptr, c.text); err != nil {
			got = err.Error()
		}
		assert.Equalf(t, got, c.err, "%s=%s", c.ptr, c.text)
	}
	if ps := f.Check(); len(ps) != 0 {
		t.Errorf("%v\n%s", ps, f.JSON())
	}
	if want := `{"name":"Bob","count":4,"address":{"street":"Main"},"tags":["a"],"shape":{"kind":"square","side":2.50}}`; string(f.JSON()) != want {
		t.Errorf("%s", f.JSON())
	}
}

func TestNextProblem(t *testing.T) {
	f := open(t, `{"type":"object","required":["b"],"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"object","properties":{"d":{"type":"integer"}}}}}`)
	require.NoError(t, f.SetJSON([]byte(`{"c":{"d":"x"}}`)))
	run(f)
	f.NextProblem()
	assert.Equal(t, f.row().ptr, "/b")
	f.NextProblem()
	assert.Equal(t, f.row().ptr, "/c/d")
	press(t, f, "up", "left") // folded: the problem shows at the group
	assert.Contains(t, screen(f), "✗ d must be a whole number")
}

// Every key that Hints names is taken by the form, except $EDITOR's.
func TestHintsAreTrue(t *testing.T) {
	f := New(gallery(t), plainTheme())
	f.SetSize(100, 30)
	run(f)
	_ = f.SetJSON([]byte(`{"name":"x","tags":["a","b"],"env":{"k":"v"},"shape":{"kind":"circle"}}`))
	run(f)
	n := len(f.rows)
	for i := range n {
		base := f.value
		f.cur, f.input = min(i, len(f.rows)-1), nil
		for _, h := range f.Hints() {
			for _, k := range h.Keys {
				if k == "ctrl+e" || k == "tab" || k == "down" {
					continue
				}
				f.assign(base)
				f.raw, f.stale = nil, true
				f.build()
				f.setCur(i)
				if !f.Key(key(k)) {
					t.Errorf("row %d %s: %s (%s) is not taken", i, f.rows[i].ptr, k, h.Text)
				}
				run(f)
			}
		}
		f.assign(base)
		f.raw, f.stale = nil, true
		f.build()
	}
}

// Checks run beside the event loop on snapshots, one at a time, and the last
// value is the one that counts in the end.
func TestChecksBesideTheLoop(t *testing.T) {
	f := New(levels(40), plainTheme())
	f.SetSize(100, 30)
	f.took = 2 * inline
	done := make(chan tea.Msg, 64)
	pending := 0
	start := func() {
		if cmd := f.Cmd(); cmd != nil {
			pending++
			go func() { done <- cmd() }()
		}
	}
	start()
	for i := range 200 {
		f.Key(key([]string{"a", "down", "b", "ctrl+x", "right", "ctrl+o", "esc"}[i%7]))
		f.Lines()
		start()
		if pending > 1 {
			t.Fatal("two checks at a time")
		}
		select {
		case msg := <-done:
			pending--
			deliver(f, msg)
			f.took = 2 * inline
			start()
		default:
		}
	}
	for pending > 0 {
		deliver(f, <-done)
		pending--
		f.took = 2 * inline
		start()
	}
	got := f.Problems()
	if want := f.sch.Validate(f.value); len(got) != len(want) || f.checked != f.gen {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNewKeysGoWhereTheSchemaHasThem(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"a":{"type":"string"},"m":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string"}}},"z":{"type":"string"}}}`)
	f.Focus("/z")
	press(t, f, "text:3")
	f.Focus("/m/y")
	press(t, f, "text:2", "up", "text:1")
	f.Focus("/a")
	press(t, f, "text:0")
	assert.Equal(t, string(f.JSON()), `{"a":"0","m":{"x":"1","y":"2"},"z":"3"}`)
}

func TestToolWithoutSchema(t *testing.T) {
	f := New(schema.ParseArguments(nil), plainTheme())
	f.SetSize(80, 10)
	run(f)
	press(t, f, "enter", "text:k", "enter", "text:1.0")
	if got := string(f.JSON()); got != `{"k":1.0}` {
		t.Errorf("%s\n%s", got, screen(f))
	}
}

// Nothing is wrong with a form that nobody came to yet: what is missing is a problem once its field was left, or when the
// form is to be sent.
func TestNothingIsWrongBeforeItWasTouched(t *testing.T) {
	f := open(t, `{"type":"object","required":["a","kind"],"minProperties":2,"properties":{"a":{"type":"string"},"kind":{"enum":["x"]}}}`)
	if f.ToFill() != len(f.Problems()) || strings.Contains(screen(f), "✗") {
		t.Errorf("%d to fill in of %v:\n%s", f.ToFill(), f.Problems(), screen(f))
	}
	f = open(t, `{"type":"object","required":["a","b","c"],"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"array","minItems":1,"items":{}}}}`)
	if f.ToFill() != 3 || len(f.Problems()) != 3 || strings.Contains(screen(f), "✗") || strings.Contains(screen(f), "required") {
		t.Errorf("%d to fill in of %v:\n%s", f.ToFill(), f.Problems(), screen(f))
	}
	press(t, f, "ctrl+r")
	if s := screen(f); strings.Contains(s, "✗") || !strings.Contains(s, "3 to fill in") {
		t.Errorf("as raw JSON:\n%s", s)
	}
	press(t, f, "ctrl+r", "tab", "text:x")
	if f.ToFill() != 1 || strings.Count(screen(f), "✗") != 2 {
		t.Errorf("with a left and b wrong, %d to fill in:\n%s", f.ToFill(), screen(f))
	}
	f.Reset()
	if f.ToFill() != 3 {
		t.Errorf("after starting over %d to fill in", f.ToFill())
	}
	if f.Check(); f.ToFill() != 0 || strings.Count(screen(f), "✗") != 3 {
		t.Errorf("before sending %d to fill in:\n%s", f.ToFill(), screen(f))
	}
}

// Unset, empty and null are drawn differently, and an input that is empty is an input.
func TestUnsetEmptyAndNullLookDifferent(t *testing.T) {
	seen := map[string]string{}
	for _, v := range []string{`{}`, `{"a":""}`, `{"a":null}`, `{"a":"unset"}`} {
		f := open(t, `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"integer"}}}`)
		require.NoError(t, f.SetJSON([]byte(v)))
		for _, focus := range []string{"/a", "/b"} {
			f.Focus(focus)
			line := strings.TrimLeft(strings.Split(screen(f), "\n")[0], "› ")
			if old, twice := seen[focus+line]; twice || !strings.Contains(line, "[") {
				t.Errorf("%s looks like %s: %q", v, old, line)
			}
			seen[focus+line] = v
		}
	}
}
