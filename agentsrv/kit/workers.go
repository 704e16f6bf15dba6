package kit

import (
	"sync"
	"time"
)

// workerIdle is how long a goroutine that has run a function waits for another.
const workerIdle = 50 * time.Millisecond

// Workers runs functions on goroutines that are used again while functions keep coming: a new goroutine has to grow its
// stack several times until mcp-go's decoding fits. Those with nothing to do end soon.
type Workers struct {
	jobs chan func()   // unbuffered: a function is given to whoever waits for one, or gets a goroutine
	quit chan struct{} // closed when those that wait shall end
	once sync.Once     // closes quit
}

// NewWorkers makes workers; no goroutine runs before Run.
func NewWorkers() *Workers { return &Workers{jobs: make(chan func()), quit: make(chan struct{})} }

// Run runs f on a goroutine of its own, and does not wait for it.
func (w *Workers) Run(f func()) {
	select {
	case w.jobs <- f:
	default:
		go w.loop(f)
	}
}

// loop runs f, and then what comes within workerIdle of the one before.
func (w *Workers) loop(f func()) {
	timer := time.NewTimer(workerIdle)
	defer timer.Stop()
	for {
		f()
		f = nil
		timer.Reset(workerIdle)
		select {
		case f = <-w.jobs:
		case <-timer.C:
			return
		case <-w.quit:
			return
		}
	}
}

// Close ends the goroutines that have nothing to do at once, and the others when they have done it.
func (w *Workers) Close() { w.once.Do(func() { close(w.quit) }) }
