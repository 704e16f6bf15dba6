package front

import (
	"sync"
	"time"
)

// workerIdle is how long a goroutine that has served a request waits for another.
const workerIdle = 50 * time.Millisecond

// workers runs functions on goroutines that are used again while requests keep coming: a new goroutine has to grow its
// stack several times until mcp-go's decoding fits.
type workers struct {
	jobs chan func()
	quit chan struct{}
	once sync.Once
}

func (w *workers) init() { w.jobs, w.quit = make(chan func()), make(chan struct{}) }

func (w *workers) run(f func()) {
	select {
	case w.jobs <- f:
	default:
		go w.loop(f)
	}
}

func (w *workers) loop(f func()) {
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

// close ends those that have nothing to do, and the others when they have done it.
func (w *workers) close() { w.once.Do(func() { close(w.quit) }) }
