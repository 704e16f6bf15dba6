package runner

import "testing"

// A server's name that would be read as a flag, or change the line, is not completed.
func TestCompletableNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"greet": true, "a-b": true, "--journal=/tmp/x": false, "-e": false, "a\tb": false, "a\nb": false} {
		if completable(name) != want {
			t.Errorf("completable(%q) is %v", name, !want)
		}
	}
}
