package session

import (
	"sync"
	"testing"
	"time"
)

// TestUsageCountsHolds: a hold that is released twice is one, and the last release is the last use.
func TestUsageCountsHolds(t *testing.T) {
	var u usage
	first, second := u.hold(), u.hold()
	first()
	first()
	if got := u.snapshot(); !got.Held || got.Last.IsZero() {
		t.Errorf("the second hold is lost, or the release is not a use: %+v", got)
	}
	u.last = time.Time{}
	second()
	if got := u.snapshot(); got.Held || got.Last.IsZero() {
		t.Errorf("held by nobody: %+v", got)
	}
}

// TestUsageAtOnce: no count is lost, and nobody sees more failures than calls.
func TestUsageAtOnce(t *testing.T) {
	const each, callers = 200, 4
	var u usage
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				release := u.hold()
				u.countCall()
				u.countFailure()
				if got := u.snapshot(); !got.Held || got.Failed > got.Calls {
					t.Errorf("%+v", got)
				}
				release()
				u.touch()
			}
		})
	}
	wg.Wait()
	if got := u.snapshot(); got.Held || got.Calls != each*callers || got.Failed != each*callers {
		t.Errorf("%+v", got)
	}
}
