package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Each kind of mutant replaces what it says, and nothing else.
func TestMutantsOf(t *testing.T) {
	const src = `package p

func f(a int, s string) int {
	if a < 3 && a != 0 {
		a--
		a += 7
	}
	for range a {
		continue
	}
	switch s {
	case "x":
		return a - 1
	}
	b := true
	g(b)
	return a
}
`
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := mutantsOf("d", file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		lines := strings.Split(src[:m.from]+m.with+src[m.to:], "\n")
		got = append(got, strings.TrimSpace(lines[m.line-1]))
	}
	want := []string{
		"if !(a < 3 && a != 0) {", "if a < 3 || a != 0 {", "if a <= 3 && a != 0 {", "if a < 4 && a != 0 {", "if a < 3 && a == 0 {", "if a < 3 && a != 1 {",
		"{}", "", "a += 8", "{}", `case "\x00\"x\"":`, "return a + 1", "return a - 2", "b := false", "{}",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A mutant that tests notice, one that they do not, and one that does not compile are told apart.
func TestFates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module p\n",
		"p.go":      "package p\n\nfunc Less(a, b int) bool { return a < b }\n",
		"p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tif !Less(1, 2) || Less(2, 1) {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	at := strings.Index("package p\n\nfunc Less(a, b int) bool { return a < b }\n", " < ") + 1
	for with, want := range map[string]fate{"<=": survived, ">": killed, "&&": invalid} {
		got, err := try(filepath.Join(t.TempDir(), "m"), mutant{dir: ".", file: "p.go", from: at, to: at + 1, with: with}, time.Minute)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", with, got, err, want)
		}
	}
}
