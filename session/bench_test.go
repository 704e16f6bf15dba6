package session_test

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// TestReadSpeed sets a session against merely reading the same bytes from the same process, which has its answer ready. What
// is left above 1x is fresh memory, one copy, one scan and the decoding of the text, against a side that keeps nothing.
func TestReadSpeed(t *testing.T) {
	budget.Skip(t)
	for _, c := range []struct {
		what    string
		mode    behave.Mode
		request string
		session func() time.Duration
		limit   float64
	}{
		{"5,000 tools", behave.ManyTools, listRequest, listed(t, faketest.Stdio(t, behave.ManyTools)), 5},
		{"50 MB result", behave.Big, bigRequest, called(t, faketest.Stdio(t, behave.Big)), 12},
	} {
		got, raw := budget.Pair(c.session, bare(t, faketest.Stdio(t, c.mode), c.request))
		budget.Ratio(t, c.what+", session against reading the bytes alone", got, raw, c.limit)
	}
}
