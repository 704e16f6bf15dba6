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
	g(b, s+"x"+s, "x" == s)
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
		"{}", "", "a += 8", "{}", `case "\x00\"x\"":`, "return a + 1", "return a - 2", "b := false", "{}", `g(b, s+"x"+s, "x" != s)`,
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
	for with, want := range map[string][2]fate{"<=": {survived, unseen}, ">": {killed, unseen}, "&&": {invalid, invalid}} {
		for i, run := range []bool{true, false} {
			got, err := try(filepath.Join(t.TempDir(), "m"), mutant{dir: ".", file: "p.go", from: at, to: at + 1, with: with}, time.Minute, run)
			if err != nil || got != want[i] {
				t.Errorf("%s, run %v: %s, %v; want %s", with, run, got, err, want[i])
			}
		}
	}
}

// A sample is the same for one seed, another for another, and what is written beside a mutant does not move it.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	of := func(seed uint64, before, only string) string {
		src := "package p\n\n" + before + "func f(a, b int) bool { return a < b && a != 7 && b != 9 || a == b }\n"
		for name, text := range map[string]string{"go.mod": "module p\n", "p.go": src} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := sample(seed, only, []string{"."})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range all {
			if !strings.Contains(m.text, "func g") {
				out = append(out, m.what)
			}
		}
		return strings.Join(out, ", ")
	}
	first := of(1, "", "")
	if strings.Count(first, ",") != 8 || of(1, "", "") != first || of(1, "func g() int { return 1 + 2 }\n", "") != first || of(2, "", "") == first {
		t.Errorf("%s", first)
	}
	if of(1, "", "p.go:3:") != first || of(1, "\n", "p.go:3:") != "" || of(1, "", "p.go:3") != first {
		t.Error("only is not about the line")
	}
}

// What tests did not run is told from what they ran, and from what has no statements.
func TestCover(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cover")
	if err := os.WriteFile(file, []byte("mode: set\np/a.go:3.10,5.2 2 1\np/a.go:5.2,6.8 1 0\np/b.go:1.1,9.1 1 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := readCover(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		line, col int
		want      bool
	}{{3, 9, true}, {3, 10, true}, {4, 1, true}, {5, 1, true}, {5, 2, false}, {6, 7, false}, {6, 8, true}} {
		if got := c.passes(mutant{imported: "p/a.go", line: one.line, col: one.col}); got != one.want {
			t.Errorf("%+v: %v", one, got)
		}
	}
	if err := os.WriteFile(file, []byte("p/a.go:3.10\n"), 0o600); err == nil {
		if _, err = readCover(file); err == nil {
			t.Error("what is no profile was read")
		}
	}
}
