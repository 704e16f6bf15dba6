package wrap

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/wire/process"
)

// forwarder receives the signals that are forwarded to the server instead of ending this process.
type forwarder struct{ ch, pipe chan os.Signal }

// catchSignals starts receiving. Signals that were ignored when the process started (nohup) stay ignored, for the child too.
func catchSignals() *forwarder {
	c := &forwarder{ch: make(chan os.Signal, 16), pipe: make(chan os.Signal, 1)}
	signal.Notify(c.pipe, syscall.SIGPIPE) // a broken pipe must fail the write, and end the server, not this process
	if list := slices.DeleteFunc(process.Forwarded(), signal.Ignored); len(list) > 0 {
		signal.Notify(c.ch, list...)
	}
	return c
}

func (c *forwarder) stop() {
	signal.Stop(c.ch)
	signal.Stop(c.pipe)
}

// A server that handles a signal while one of its threads reads the terminal is stopped again by the system. It is continued
// this often, for this long.
const (
	continueFor   = 5 * time.Second
	continueEvery = 5 * time.Millisecond
)

// forward forwards signals until the child is gone. It returns when ended is closed, or with the next signal after that:
// output that the client does not read must not keep this process alive.
func (c *forwarder) forward(child *process.Process, gone, ended <-chan struct{}) {
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
				wake, until = time.After(continueEvery), time.Now().Add(continueFor)
			}
		case now := <-wake:
			wake = nil
			if child.Continue(); now.Before(until) {
				wake = time.After(continueEvery)
			}
		case <-gone:
			exited, gone, wake = true, nil, nil
			for len(c.ch) > 0 { // meant for the child
				<-c.ch
			}
		case <-ended:
			return
		}
	}
}
