package wrap

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/process"
)

// caught are the signals that are passed on instead of ending this process.
type caught struct{ ch, pipe chan os.Signal }

// catch begins. What was ignored when the process started (nohup) stays ignored, for the child too.
func catch() *caught {
	c := &caught{ch: make(chan os.Signal, 16), pipe: make(chan os.Signal, 1)}
	signal.Notify(c.pipe, syscall.SIGPIPE) // a client that is gone is an error of a write, which the server has to see
	if list := slices.DeleteFunc(process.Forwarded(), signal.Ignored); len(list) > 0 {
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

// forward passes signals on until the child is gone, and then until ended or the next signal: what the child wrote, and the
// client does not read, must not keep us.
func (c *caught) forward(child *process.Process, gone, ended <-chan struct{}) {
	exited := false
	var wake <-chan time.Time
	var until time.Time
	for {
		select {
		case s := <-c.ch:
			if exited {
				return
			}
			if child.Forward(s) {
				wake, until = time.After(wakeEvery), time.Now().Add(wakeFor)
			}
		case now := <-wake:
			wake = nil
			if child.Continue(); now.Before(until) {
				wake = time.After(wakeEvery)
			}
		case <-gone:
			exited, gone, wake = true, nil, nil
			for len(c.ch) > 0 { // meant for the child, which did not live to see them
				<-c.ch
			}
		case <-ended:
			return
		}
	}
}
