package themefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/themes"
)

func write(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

func TestRead(t *testing.T) {
	p, warnings, err := Read(write(t, "night.yaml", "title: Night\nextends: contrast\ncolors:\n  accent: \"#ffb86c\"\n  ok: 10\n  info: '#fff'\n"))
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	base, _ := themes.Find("contrast")
	if p.Name != "night" || p.Title != "Night" || p.Color(themes.Accent) != (themes.Color{R: 0xff, G: 0xb8, B: 0x6c, ANSI: 3}) || p.Color(themes.Text) != base.Color(themes.Text) ||
		p.Color(themes.OK) != (themes.Color{ANSI: 10, Only16: true}) || p.Color(themes.Info).B != 0xff {
		t.Errorf("%+v", p)
	}
}

func TestWarnings(t *testing.T) {
	for body, want := range map[string]string{
		"extends: drak":                     `:1:10: extends is "drak", and must be one of dark, light`,
		"colors: {acent: '#fff'}":           `:1:10: unknown colour "acent" is ignored; did you mean accent?`,
		"accent: '#fff'":                    `:1:1: unknown key "accent" is ignored; did you mean accent?`,
		"colors: {accent: red}":             `:1:18: accent is "red", and must be a colour such as "#ffb86c"`,
		"colors:\n  accent: #ffb86c":        `accent is "", and must be a colour`,
		"colors: {accent: '#ffb86'}":        `accent is "#ffb86"`,
		"colors: {accent: 16}":              `accent is "16"`,
		"colors: 3":                         `colors is a number or boolean`,
		"dark: maybe":                       `dark is "maybe", and must be true or false`,
		"colors: {muted: '#303238'}":        `:1:17: muted has a contrast of`,
		"background: '#d7dae0'\nextends: x": `extends is "x"`,
	} {
		_, warnings, err := Read(write(t, "mine.yaml", body))
		if err != nil || len(warnings) == 0 || !strings.Contains(warnings[0].String(), want) {
			t.Errorf("%s: %v, %v; want %s", body, warnings, err, want)
		}
	}
	for name, body := range map[string]string{"dark.yaml": "title: x", "a b.yaml": "", "list.yaml": "- a", "broken.yaml": "a: ["} {
		if _, _, err := Read(write(t, name, body)); err == nil {
			t.Errorf("%s is a theme", name)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{"b.yaml": "", "a.yml": "title: A", "c.yaml": "x: [", "d.txt": "", ".e.yaml": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600))
	}
	all, warnings := Load(dir)
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" || len(warnings) != 1 || !strings.Contains(fmt.Sprint(warnings), "c.yaml:1:") {
		t.Errorf("%v, %v", all, warnings)
	}
	if all, warnings := Load(filepath.Join(dir, "missing")); all != nil || warnings != nil {
		t.Errorf("%v, %v", all, warnings)
	}
}

// The manual names every token, and its example is a theme without a remark.
func TestManual(t *testing.T) {
	_, part, _ := strings.Cut(userconfig.README, "\n## Themes\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, n := range names() {
		if !strings.Contains(part, "`"+n+"`") {
			t.Errorf("the manual does not have the token %s", n)
		}
	}
	_, example, _ := strings.Cut(part, "```yaml\n")
	example, _, ok := strings.Cut(example, "```")
	p, warnings, err := Read(write(t, "example.yaml", example))
	if !ok || err != nil || len(warnings) > 0 || p.Title == "example" {
		t.Errorf("%v %v %v", p.Title, warnings, err)
	}
}
