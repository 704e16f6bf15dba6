// Package require ends a test where what it stands on has failed: a file that was not written, a server that did not start. What the test is about it
// compares with package assert, after which it goes on.
package require

import (
	"testing"
	"time"
)

// patience is how long Eventually waits on machines that have much else to do.
const patience = time.Minute

// NoError ends the test with err, if there is one, at the line that calls it. Only the test's own goroutine may do that (testing.T.FailNow).
func NoError(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

// Eventually waits for what another goroutine or process does, and looks every millisecond whether it is so; it ends the test after a minute.
// In a bubble of testing/synctest, which knows when all have done what they can, synctest.Wait says more.
func Eventually(tb testing.TB, what string, so func() bool) {
	tb.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}
