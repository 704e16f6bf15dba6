package tuitest

import (
	"flag"
	"os"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"
	_ "github.com/charmbracelet/x/exp/golden" // declares -update
)

// updating is whether the tests run with -update.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Golden compares the screen's text with testdata/name.golden, which -update writes.
func (a *App) Golden(name string) *App {
	a.t.Helper()
	a.Settle()
	a.compare(filepath.Join("testdata", name+".golden"), a.Screen()+"\n")
	return a
}

// SVG compares a picture of the screen with the file, a path relative to the
// test's folder that ends in .svg, which -update writes.
func (a *App) SVG(path string) *App {
	a.t.Helper()
	a.Settle()
	a.compare(path, a.Picture())
	return a
}

// compare fails the test where got differs from the file.
func (a *App) compare(path, got string) {
	a.t.Helper()
	if a.update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			a.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			a.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatalf("%v; run the test with -update to write it. The screen is\n%s", err, a.Screen())
	}
	if string(want) != got {
		a.t.Errorf("%s differs; -update accepts what is new:\n%s", path, udiff.Unified("want", "got", string(want), got))
	}
}
