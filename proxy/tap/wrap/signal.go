package wrap

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// caught are the signals that are passed on instead of ending this process.
type caught struct{ ch, pipe chan os.Signal }

// catch begins. What was ignored when the process started (nohup) stays ignored, for the child too.
func catch() *caught {
	c := &caught{ch: make(chan os.Signal, 16), pipe: make(chan os.Signal, 1)}
	signal.Notify(c.pipe, syscall.SIGPIPE) // a client that is gone is an error of a write, which the server has to see
	if list := slices.DeleteFunc(slices.Clone(passedOn), signal.Ignored); len(list) > 0 {
		signal.Notify(c.ch, list...)
	}
	return c
}

func (c *caught) stop() {
	signal.Stop(c.ch)
	signal.Stop(c.pipe)
}

// A server that handles a signal beside a thread that reads the terminal is stopped again before it is done. For so long, so
// often, it may go on.
const (
	wakeFor   = 5 * time.Second
	wakeEvery = 5 * time.Millisecond
)

// forward passes signals on until ended, and returns the exit code. Once the child is gone a signal is for us: what it
// wrote, and the client does not read, must not keep us.
func (c *caught) forward(child *child, ended <-chan struct{}) (code int) {
	gone := child.gone
	var wake <-chan time.Time
	var until time.Time
	for {
		select {
		case s := <-c.ch:
			if gone == nil {
				return exitCode(child.cmd.ProcessState)
			}
			if child.send(s) {
				wake, until = time.After(wakeEvery), time.Now().Add(wakeFor)
			}
		case now := <-wake:
			wake = nil
			if child.wake(); now.Before(until) {
				wake = time.After(wakeEvery)
			}
		case <-gone:
			gone, wake = nil, nil
			for len(c.ch) > 0 { // meant for the child, which did not live to see them
				<-c.ch
			}
		case <-ended:
			return exitCode(child.cmd.ProcessState)
		}
	}
}
