package text

import (
	"reflect"
	"testing"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		`vi`:                          {"vi"},
		`code --wait`:                 {"code", "--wait"},
		` "/opt/my editor/bin" -n  x`: {"/opt/my editor/bin", "-n", "x"},
		`'a b'c\ d`:                   {"a bc d"},
		`e ""`:                        {"e", ""},
		`vi; rm -rf $HOME`:            {"vi;", "rm", "-rf", "$HOME"},
		`'a\b'`:                       {`a\b`},
		``:                            nil,
		"a \\\n  b":                   {"a", "b"},
	} {
		got, err := Words(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Words(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{`"a`, `'a`, `a\`} {
		if got, err := Words(in); err == nil {
			t.Errorf("Words(%q) = %q, want an error", in, got)
		}
	}
}
