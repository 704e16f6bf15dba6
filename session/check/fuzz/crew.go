package fuzz

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/failure"
)

const (
	patience    = 500 * time.Millisecond // that a call is waited for before the next one begins beside it
	connections = 6                      // at once, most of which wait
)

// crew are the connections of a run. One at a time has the turn, and may look at what the run knows. A call that is not answered for a
// while lets go of it: so calls come one after the other, as if there were one connection, and those that hang wait beside the others.
type crew struct {
	turn  sync.Mutex
	ended *sync.Cond // a connection is free again
	all   []*client
	idle  []*client // the last one is used next
	busy  int
	most  int
	used  atomic.Int64 // connections that were made
}

func (w *crew) init(make func(*crew) *client) {
	w.ended, w.most = sync.NewCond(&w.turn), connections
	w.all = []*client{make(w)}
	w.idle = append(w.idle, w.all...)
}

// unhurried runs f, and lets others go on while it takes long. slow says that it did.
func (w *crew) unhurried(f func()) (slow bool) {
	timer := time.AfterFunc(patience, w.turn.Unlock)
	defer func() {
		if slow = !timer.Stop(); slow {
			w.turn.Lock()
		}
	}()
	f()
	return slow
}

// first is the connection of whoever has the turn while no calls are under way.
func (w *crew) first() *client { return w.idle[len(w.idle)-1] }

// take is a connection that nobody uses, nil where there can be no more of them: a server need not bear to run twice.
func (w *crew) take(ctx context.Context, make func(*crew) *client) *client {
	if n := len(w.idle); n > 0 {
		c := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return c
	}
	c := make(w)
	var err error
	w.unhurried(func() { err = c.open(ctx) })
	if err != nil {
		w.most = len(w.all)
		return nil
	}
	w.all = append(w.all, c)
	return c
}

// job is something to do with a connection. A run that has one for nobody else may have another one later.
type job struct {
	of   *target
	do   func(context.Context, *client) error
	lone bool // none may begin beside it
}

// each does what next gives, until it gives nothing while nothing is under way. It ends early where a job fails. Whoever calls it has the turn.
func (r *run) each(ctx context.Context, next func() *job) (err error) {
	w := &r.crew
	var j *job
	for lone := false; ; {
		lone = lone && w.busy > 0
		if j == nil && !lone && err == nil {
			j = next()
		}
		var c *client
		if j != nil && w.busy < w.most && err == nil {
			c = w.take(ctx, r.client)
		}
		if c == nil {
			switch {
			case w.busy > 0:
				w.ended.Wait()
			case j == nil || err != nil:
				return err
			}
			continue
		}
		now := *j
		j, lone = nil, now.lone
		w.busy++
		now.of.busy = true
		go func() { // it has the turn now
			defer func() {
				if p := recover(); p != nil {
					err = &failure.Error{Stage: "fuzz", Message: fmt.Sprintf("a fault of the check itself: %v", p), Detail: string(debug.Stack())}
				}
				now.of.busy = false
				w.busy--
				w.idle = append(w.idle, c)
				w.ended.Signal()
				w.turn.Unlock()
			}()
			if bad := now.do(ctx, c); err == nil {
				err = bad
			}
		}()
		w.turn.Lock()
	}
}

// call makes a call. beside says that others were made meanwhile, to a server that may have them wait for each other.
func (r *run) call(ctx context.Context, c *client, t *target, in input, settle bool) (out outcome, err error) {
	slow := r.crew.unhurried(func() { out, err = c.call(ctx, t, in, settle) })
	out.beside = (slow || r.crew.busy > 1) && !c.own
	return out, err
}
