package assert

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// failing is a test that notes what it failed with.
type failing struct {
	testing.TB
	with []string
}

func (*failing) Helper() {}

func (f *failing) Error(args ...any) { f.with = append(f.with, fmt.Sprint(args...)) }

func (f *failing) Errorf(format string, args ...any) {
	f.with = append(f.with, fmt.Sprintf(format, args...))
}

func TestWhatFails(t *testing.T) {
	type name string
	err := errors.New("open x: no such file")
	for want, assert := range map[string]func(tb testing.TB){
		"": func(tb testing.TB) {
			Equal(tb, 1+1, 2)
			Equalf(tb, name("a"), "a", "%d", 1)
			Equal(tb, err, err)
			Contains(tb, "abc", "a", "c", "")
			Contains(tb, "abc")
			NotContains(tb, "abc", "d", "ca")
			NoError(tb, nil)
			ErrorIs(tb, fmt.Errorf("a: %w", err), err)
			ErrorContains(tb, err, "open", "file")
		},
		"got 3, want 4":                                  func(tb testing.TB) { Equal(tb, 3, 4) },
		`got "", want "a "`:                              func(tb testing.TB) { Equal(tb, name(""), "a ") },
		"got \na\nb, want \"a\"":                         func(tb testing.TB) { Equal(tb, "a\nb", "a") },
		"got <nil>, want open x: no such file":           func(tb testing.TB) { Equal(tb, nil, err) },
		"case 7: got true, want false":                   func(tb testing.TB) { Equalf(tb, true, false, "case %d", 7) },
		"no \"d\" in:\nabc|no \"e\" in:\nabc":            func(tb testing.TB) { Contains(tb, "abc", "d", "a", "e") },
		"\"bc\" is in:\nabc":                             func(tb testing.TB) { NotContains(tb, "abc", "d", "bc") },
		"open x: no such file":                           func(tb testing.TB) { NoError(tb, err) },
		"got the error <nil>, want open x: no such file": func(tb testing.TB) { ErrorIs(tb, nil, err) },
		`no error, want one that says ["a" "b"]`:         func(tb testing.TB) { ErrorContains(tb, nil, "a", "b") },
		"no \"directory\" in:\nopen x: no such file":     func(tb testing.TB) { ErrorContains(tb, err, "file", "directory") },
	} {
		var f failing
		assert(&f)
		if got := strings.Join(f.with, "|"); got != want {
			t.Errorf("failed with %q, want %q", got, want)
		}
	}
}
