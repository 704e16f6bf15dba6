package budget

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Spent is the processor time that f takes on its own thread: what else the machine does, and what f waits for, does not count. It is for
// tests that compare two pieces of work on any machine; where waiting is what is judged, [Time] is. Goroutines of f do not count.
func Spent(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := spent()
	f()
	return spent() - before
}

// spent is the processor time of this thread until now.
func spent() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err) // which takes a bad address
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
