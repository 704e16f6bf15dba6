package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// pumpTime bounds how often the sessions wake the screen for long. After some quiet the first changes come closer
// together, from firstPump on: connecting is a handful of them, and each one's screen starts the next step.
const (
	pumpTime  = 33 * time.Millisecond
	firstPump = 4 * time.Millisecond
)

// startPump turns changes of the sessions into SessionChanged messages, at most one every pumpTime however many there
// are, but for the first few. It is the only goroutine that sends to the program, so a full message queue never blocks
// a transport. more may tell of other changes; nil does not. The returned function ends it and waits for its end; send
// must not block by then.
func startPump(changed, more <-chan struct{}, rev func() uint64, send func(tea.Msg)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		pause := time.NewTimer(pumpTime)
		defer pause.Stop()
		next, last := firstPump, time.Now()
		for {
			select {
			case <-quit:
				return
			case <-changed:
			case <-more:
			}
			if time.Since(last) > 4*pumpTime {
				next = firstPump
			}
			send(SessionChanged{Rev: rev()})
			last = time.Now()
			pause.Reset(next)
			next = min(2*next, pumpTime)
			select {
			case <-quit:
				return
			case <-pause.C:
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
