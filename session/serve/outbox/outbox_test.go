package outbox

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func rig(o Options[string]) *Queue[string] {
	o.MaxMessages, o.MaxBytes, o.Size = 3, 10, func(s string) int { return len(s) }
	o.Last = func(s string) bool { return s == "last" }
	return New(o)
}

func all(t *testing.T, q *Queue[string]) (got []string, err error) {
	t.Helper()
	for {
		m, err := q.Next(t.Context(), time.Second)
		if err != nil {
			return got, err
		}
		got = append(got, m)
	}
}

func TestTheOldestAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := rig(Options[string]{})
		for _, m := range []string{"1", "2", "3", "4"} {
			q.Put(m)
		}
		q.Prepend("0")
		if !q.Any(func(s string) bool { return s == "4" }) || q.Any(func(s string) bool { return s == "1" }) {
			t.Error("Any sees something else")
		}
		if got, err := all(t, q); len(got) != 4 || got[0] != "0" || got[1] != "2" || got[3] != "4" || !errors.Is(err, ErrQuiet) {
			t.Errorf("%q, %v", got, err)
		}
		for _, m := range []string{"12345678901", "x", "y"} { // the first is too much beside others
			q.Put(m)
		}
		to := rig(Options[string]{})
		q.MoveTo(to)
		gone := errors.New("gone")
		to.Fail(gone)
		to.Put("z")
		if got, err := all(t, to); len(got) != 2 || got[0] != "x" || !errors.Is(err, gone) {
			t.Errorf("%q, %v", got, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if m, err := q.Next(ctx, 0); m != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("%q, %v", m, err)
		}
	})
}

func TestWritersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := rig(Options[string]{Stall: time.Minute})
		var stalls atomic.Int32
		q.OnStall(func() { stalls.Add(1) })
		put := make(chan int, 10)
		go func() {
			for i, m := range []string{"1", "2", "3", "4", "5", "6"} {
				q.Put(m)
				put <- i
			}
			close(put)
		}()
		synctest.Wait()
		assert.Equalf(t, len(put), 3, "were put without waiting")
		for range 2 {
			if _, err := q.Next(t.Context(), 0); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		if len(put) != 5 || stalls.Load() != 0 {
			t.Errorf("%d were put, %d stalls", len(put), stalls.Load())
		}
		q.Put("last") // has room always
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got, err := all(t, q); len(got) != 4 || got[3] != "last" || !errors.Is(err, ErrStalled) || stalls.Load() != 1 {
			t.Errorf("%q, %v, %d stalls", got, err, stalls.Load())
		}
	})
}
