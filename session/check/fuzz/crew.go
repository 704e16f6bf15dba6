package fuzz

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
)

const (
	patience    = 500 * time.Millisecond // that a call is waited for before the next one begins beside it
	connections = 6                      // at once, most of which wait
)

// crew are the connections of a run. One at a time has the turn, and may look at what the run knows. A call that is not answered for a
// while lets go of it, or as soon as it is known to be only waited for: so calls come one after the other, as if there were one connection,
// and those that hang wait beside the others.
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

// unhurried runs f, and lets others go on while it takes long, or from when f calls letGo. slow says that they could.
func (w *crew) unhurried(f func(letGo func())) (slow bool) {
	var once sync.Once
	letGo := func() { once.Do(w.turn.Unlock) }
	timer := time.AfterFunc(patience, letGo)
	slow = true
	defer func() {
		timer.Stop()
		if once.Do(func() { slow = false }); slow {
			w.turn.Lock()
		}
	}()
	f(letGo)
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
	w.unhurried(func(func()) { err = c.open(ctx) })
	if err != nil {
		w.most = len(w.all)
		return nil
	}
	w.all = append(w.all, c)
	return c
}

// apart does what looks at nothing but one connection, while others go on.
func (w *crew) apart(f func()) {
	w.turn.Unlock()
	defer w.turn.Lock()
	f()
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
					err = &failure.Error{Stage: "fuzz", Message: "a fault of the check itself: " + mask.Log(fmt.Sprint(p)), Detail: string(debug.Stack())}
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

// connect makes a connection where there is none, or one that the server does not know any more.
func (r *run) connect(ctx context.Context, c *client) (err error) {
	switch {
	case r.gone != nil:
	case c.last == "":
		r.crew.unhurried(func(func()) { err = c.open(ctx) })
	case !c.connected(), c.since.Before(r.fell):
		r.crew.apart(func() { err = c.open(ctx) }) // it ended in a call: others need not wait for that
	}
	if r.gone != nil { // maybe meanwhile
		return r.gone
	}
	return err
}

// call makes a call. beside says that others were made meanwhile, to a server that may have them wait for each other.
func (r *run) call(ctx context.Context, c *client, t *target, in input, settle bool) (out outcome, err error) {
	if err := r.connect(ctx, c); err != nil {
		return out, err
	}
	began := time.Now()
	slow := r.crew.unhurried(func(letGo func()) { out, err = c.call(ctx, t, in, settle, letGo) })
	out.beside = (slow || r.crew.busy > 1) && !c.own
	if out.lost() && (out.gone || c.own) { // a pipe has what comes now before the next answer
		r.crew.apart(func() { out.last = c.close(sent{out.reply.Request, t, in}) })
	}
	if h, ok := c.unanswered(&out); ok && h.rule == "fuzz/died" && !c.own {
		if began.Before(r.fell) && (r.gone != nil || !r.late()) { // the server ended in another call
			return r.call(ctx, c, t, in, settle)
		}
		out.fatal = r.fallen(ctx, c, t) && r.gone != nil
	}
	out.whole = time.Since(began)
	return out, err
}
