package form

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

var update = flag.Bool("update", false, "write golden files")

func plainTheme() *paint.Theme { return paint.New(themes.Default(true), colorprofile.NoTTY) }

// open returns a form for a schema, checked.
func open(t testing.TB, text string) *Form {
	t.Helper()
	f := New(schema.Parse([]byte(text)), plainTheme())
	f.SetSize(100, 40)
	run(f)
	return f
}

// run carries the form's commands out until there are none.
func run(f *Form) {
	for range 20 {
		cmd := f.Cmd()
		if cmd == nil {
			return
		}
		deliver(f, cmd())
	}
}

func deliver(f *Form, msg tea.Msg) {
	if b, ok := msg.(tea.BatchMsg); ok {
		for _, c := range b {
			if c != nil {
				deliver(f, c())
			}
		}
		return
	}
	f.Handle(msg)
}

// press sends keys by name; "text:abc" types.
func press(t testing.TB, f *Form, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if typed, ok := strings.CutPrefix(k, "text:"); ok {
			for _, r := range typed {
				f.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
				run(f)
			}
			continue
		}
		m := key(k)
		if m.String() != k {
			t.Fatalf("%q is sent as %q", k, m.String())
		}
		f.Key(m)
		run(f)
	}
}

func key(name string) tea.KeyPressMsg {
	var m tea.KeyPressMsg
	for {
		head, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		switch head {
		case "ctrl":
			m.Mod |= tea.ModCtrl
		case "alt":
			m.Mod |= tea.ModAlt
		case "shift":
			m.Mod |= tea.ModShift
		}
		name = rest
	}
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "enter": tea.KeyEnter,
		"tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "f2": tea.KeyF2, "f5": tea.KeyF5,
	}
	if c, ok := codes[name]; ok {
		m.Code = c
		if c == tea.KeySpace {
			m.Text = " "
		}
		return m
	}
	m.Code = []rune(name)[0]
	if m.Mod == 0 {
		m.Text = name
	}
	return m
}

func screen(f *Form) string { return strings.Join(f.Lines(), "\n") }

func gallery(t testing.TB) *schema.Schema {
	raw, err := os.ReadFile("testdata/gallery.json")
	require.NoError(t, err)
	return schema.Parse(raw)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if got != string(want) {
		t.Errorf("%s differs; run with -update and look at the change\n%s", name, got)
	}
}

func TestGallery(t *testing.T) {
	for _, c := range []struct {
		name    string
		dark    bool
		profile colorprofile.Profile
		w, h    int
	}{
		{"60x15-nocolor", true, colorprofile.ASCII, 60, 15},
		{"80x24-nocolor", true, colorprofile.ASCII, 80, 24},
		{"120x70-nocolor", true, colorprofile.ASCII, 120, 70},
		{"120x40-dark", true, colorprofile.TrueColor, 120, 40},
		{"120x40-light", false, colorprofile.TrueColor, 120, 40},
		{"200x60-dark", true, colorprofile.ANSI256, 200, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(gallery(t), paint.New(themes.Default(c.dark), c.profile))
			f.SetSize(c.w, c.h)
			run(f)
			press(t, f, "text:x", "down", "backspace", "text:12")
			lines := f.Lines()
			if len(lines) > c.h {
				t.Errorf("%d lines", len(lines))
			}
			for i, l := range lines {
				if w := paint.Width(l); w > c.w {
					t.Errorf("line %d has %d cells: %q", i, w, l)
				}
			}
			x, y, ok := f.Cursor()
			golden(t, c.name, screen(f)+fmt.Sprintf("\ncursor %d,%d %v\n", x, y, ok))
		})
	}
}
