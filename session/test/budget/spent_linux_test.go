package budget

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Only work on the thread counts: neither waiting does, nor what other threads do meanwhile.
func TestSpent(t *testing.T) {
	const much = 100 * time.Millisecond
	var stop atomic.Bool
	var others sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		others.Go(func() {
			for !stop.Load() {
				piece()
			}
		})
	}
	if got := Spent(func() { time.Sleep(2 * much) }); got > much {
		t.Errorf("a sleep of %v took %v of the processor", 2*much, got)
	}
	if got := Spent(func() {
		for before := spent(); spent()-before < much; {
			piece()
		}
	}); got < much || got > 2*much {
		t.Errorf("work of %v took %v of the processor", much, got)
	}
	stop.Store(true)
	others.Wait()
}
