// Package require ends a test where what it stands on has failed: a file that was not written, a server that did not start. What the test is about it
// compares itself, and says what was wanted.
package require

import "testing"

// NoError ends the test with err, if there is one, at the line that calls it. Only the test's own goroutine may do that (testing.T.FailNow).
func NoError(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}
