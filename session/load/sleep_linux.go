package load

import (
	"runtime"
	"syscall"
	"time"
)

// nap sleeps for a time of at most a few milliseconds. The timers of the runtime are only as exact as a millisecond where nothing else
// goes on, the system's are a twentieth of that; with one processor the runtime has no other thread to go on with.
func nap(d time.Duration) {
	if runtime.GOMAXPROCS(0) == 1 {
		time.Sleep(d)
		return
	}
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal ends it early, which is as good
}
