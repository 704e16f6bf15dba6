package tui

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestSplitCommand(t *testing.T) {
	for in, want := range map[string][]string{
		`vi`:                          {"vi"},
		`code --wait`:                 {"code", "--wait"},
		` "/opt/my editor/bin" -n  x`: {"/opt/my editor/bin", "-n", "x"},
		`'a b'c\ d`:                   {"a bc d"},
		`e ""`:                        {"e", ""},
		`vi; rm -rf $HOME`:            {"vi;", "rm", "-rf", "$HOME"},
		`'a\b'`:                       {`a\b`},
		``:                            nil,
	} {
		got, err := splitCommand(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("splitCommand(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{`"a`, `'a`, `a\`} {
		if got, err := splitCommand(in); err == nil {
			t.Errorf("splitCommand(%q) = %q, want an error", in, got)
		}
	}
}

func TestScratchIsPrivateAndPlain(t *testing.T) {
	for ext, want := range map[string]string{".json": ".json", "": ".txt", "./../../x": ".txt", ".a b": ".txt", ".\x1b[": ".txt"} {
		path, cleanup, err := scratch("secret", ext)
		if err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil || st.Mode().Perm() != 0o600 || filepath.Base(path) != "mcphud"+want {
			t.Errorf("scratch(%q) made %s with %v, %v", ext, path, st.Mode(), err)
		}
		cleanup()
		if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
			t.Errorf("the folder of %s is left over", path)
		}
	}
}
