package bench

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm ends sleeps on time. The timers of the runtime are only as exact as a millisecond where nothing else goes on; the system's are a
// twentieth of that, and the thread that waits for answers waits for this one too.
type alarm struct {
	fd   int
	file *os.File // nil where the system has none
	b    [8]byte
}

func newAlarm() *alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &alarm{}
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timer")}
}

func (a *alarm) sleep(d time.Duration) {
	if a.file == nil || unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil) != nil {
		time.Sleep(d)
		return
	}
	_, _ = a.file.Read(a.b[:]) // how often it went off, which is once
}

func (a *alarm) close() {
	if a.file != nil {
		_ = a.file.Close() // nothing was written
	}
}
