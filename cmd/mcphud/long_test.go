package main

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
)

// long leaves a test to CI that costs seconds of a processor, or of waiting, beside a shorter one that shows the plain case of the same:
// `go test ./...` is for who changes something and waits. With MCPHUD_TESTS=all, as .ci/run sets it, each runs.
func long(t *testing.T, plain string) {
	t.Helper()
	if !budget.All() {
		t.Skipf("it takes seconds; %s shows the plain case, MCPHUD_TESTS=all runs this one too", plain)
	}
}
