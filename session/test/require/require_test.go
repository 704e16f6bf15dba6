package require

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// ended is a test that notes what it was ended with, and goes on no more than others.
type ended struct {
	testing.TB
	with []any
}

func (*ended) Helper() {}

func (e *ended) Fatal(with ...any) {
	e.with = with
	panic(e)
}

func (e *ended) Fatalf(format string, args ...any) { e.Fatal(fmt.Sprintf(format, args...)) }

// by is what f ends a test with, nothing where it lets it go on.
func by(f func(tb testing.TB)) (with []any) {
	var e ended
	defer func() { _, with = recover(), e.with }()
	f(&e)
	return nil
}

func TestNoError(t *testing.T) {
	if got := by(func(tb testing.TB) { NoError(tb, nil) }); got != nil {
		t.Errorf("ended with %v where nothing failed", got)
	}
	err := errors.New("no room left")
	if got := by(func(tb testing.TB) { NoError(tb, err) }); len(got) != 1 || got[0] != err {
		t.Errorf("ended with %v", got)
	}
}

func TestEventually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			after time.Duration
			ends  string
		}{{0, "[]"}, {50 * time.Second, "[]"}, {70 * time.Second, "[waited 1m0s in vain for the second sock]"}} {
			start := time.Now()
			got := by(func(tb testing.TB) {
				Eventually(tb, "the second sock", func() bool { return time.Since(start) >= c.after })
			})
			if fmt.Sprint(got) != c.ends {
				t.Errorf("what comes after %v ended it with %v", c.after, got)
			}
		}
	})
}
