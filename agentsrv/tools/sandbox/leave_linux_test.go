package sandbox

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A client of 2026-07-28 that goes away cancels its call: the worker dies with it.
func TestA12_CodeEndsWithItsClient(t *testing.T) {
	s := open(t, Options{Parallel: 1})
	call := overHTTP(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := call(ctx, true, `{"code":"for (;;);"}`)
		done <- err
	}()
	busy := 0
	eventually(t, "the code uses the processor", func() bool {
		for _, pid := range workers(os.Getpid()) {
			if ticks(pid) > 10 {
				busy = pid
			}
		}
		return busy != 0
	})
	cancel()
	if err := <-done; err == nil {
		t.Error("endless code was answered")
	}
	eventually(t, "the worker is gone", func() bool { return unix.Kill(busy, 0) != nil })
}
