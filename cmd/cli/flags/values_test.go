package flags

import "testing"

func TestSize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"64MiB": "64MiB", "1024": "1KiB", "1GiB": "1GiB", "1000": "1000", "1MB": "1000000"} {
		var s Size
		if err := s.Set(in); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, want %s", in, &s, err, want)
		}
	}
	for _, in := range []string{"", "0", "-1", "many", "1e30GiB"} {
		var s Size
		if err := s.Set(in); err == nil {
			t.Errorf("%q was taken as %s", in, &s)
		}
	}
}
