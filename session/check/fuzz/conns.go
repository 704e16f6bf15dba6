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
	slowAfter   = 500 * time.Millisecond // how long a call keeps the turn; then the next one begins beside it
	connections = 6                      // at once, most of which wait
)

// connPool holds the connections of a run. One goroutine at a time has the turn: it holds the mutex, and only it reads or writes the state of the
// run. A call yields the turn when it was not answered for slowAfter, or as soon as only waiting is left: so calls come one after the other, as
// over one connection, and calls that hang wait beside the others.
type connPool struct {
	turn  sync.Mutex
	freed *sync.Cond   // signaled when a connection is idle again
	all   []*client    // the first is there from the beginning, the others where calls hang
	idle  []*client    // the last one is used next
	busy  int          // jobs that run, each with a connection
	most  int          // how many may be open: fewer than connections where the server refused another one
	used  atomic.Int64 // connections that were made
}

func (w *connPool) init(make func(*connPool) *client) {
	w.freed, w.most = sync.NewCond(&w.turn), connections
	w.all = []*client{make(w)}
	w.idle = append(w.idle, w.all...)
}

// yieldWhileSlow runs f with the turn, and unlocks it for others after slowAfter, or when f calls yield. slow reports whether it was unlocked; the
// turn is locked again when yieldWhileSlow returns.
func (w *connPool) yieldWhileSlow(f func(yield func())) (slow bool) {
	var once sync.Once
	yield := func() { once.Do(w.turn.Unlock) }
	timer := time.AfterFunc(slowAfter, yield)
	slow = true
	defer func() {
		timer.Stop()
		if once.Do(func() { slow = false }); slow {
			w.turn.Lock()
		}
	}()
	f(yield)
	return slow
}

// current is the connection to use for whoever has the turn while no call is under way.
func (w *connPool) current() *client { return w.idle[len(w.idle)-1] }

// acquire returns an idle connection, or opens one. It returns nil when the server refuses another one: it need not support being run twice.
func (w *connPool) acquire(ctx context.Context, make func(*connPool) *client) *client {
	if n := len(w.idle); n > 0 {
		c := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return c
	}
	c := make(w)
	var err error
	w.yieldWhileSlow(func(func()) { err = c.open(ctx) })
	if err != nil {
		w.most = len(w.all)
		return nil
	}
	w.all = append(w.all, c)
	return c
}

// withoutTurn runs f, which touches nothing but one connection, while others have the turn.
func (w *connPool) withoutTurn(f func()) {
	w.turn.Unlock()
	defer w.turn.Lock()
	f()
}

// job is work that needs a connection.
type job struct {
	of        *target
	do        func(context.Context, *client) error
	exclusive bool // no other job may begin while it runs; that none runs when it begins is up to who makes it
}

// runJobs runs the jobs that next returns, until it returns nil while none is running, or a job fails. The caller has the turn.
func (r *run) runJobs(ctx context.Context, next func() *job) (err error) {
	w := &r.conns
	var j *job
	for lone := false; ; {
		lone = lone && w.busy > 0
		if j == nil && !lone && err == nil {
			j = next()
		}
		var c *client
		if j != nil && w.busy < w.most && err == nil {
			c = w.acquire(ctx, r.client)
		}
		if c == nil {
			switch {
			case w.busy > 0:
				w.freed.Wait()
			case j == nil || err != nil:
				return err
			}
			continue
		}
		now := *j
		j, lone = nil, now.exclusive
		w.busy++
		now.of.busy = true
		go func() { // the turn is handed to it
			defer func() {
				if p := recover(); p != nil {
					err = &failure.Error{Stage: "fuzz", Message: "a fault of the check itself: " + mask.Log(fmt.Sprint(p)), Detail: string(debug.Stack())}
				}
				now.of.busy = false
				w.busy--
				w.idle = append(w.idle, c)
				w.freed.Signal()
				w.turn.Unlock()
			}()
			if bad := now.do(ctx, c); err == nil {
				err = bad
			}
		}()
		w.turn.Lock()
	}
}

// connect opens a connection where there is none, or where the server crashed since it was opened.
func (r *run) connect(ctx context.Context, c *client) (err error) {
	switch {
	case r.unreachable != nil:
	case c.last == "":
		r.conns.yieldWhileSlow(func(func()) { err = c.open(ctx) })
	case !c.isConnected(), c.since.Before(r.crashedAt):
		r.conns.withoutTurn(func() { err = c.open(ctx) }) // it ended in a call: others need not wait for that
	}
	if r.unreachable != nil { // maybe meanwhile
		return r.unreachable
	}
	return err
}

// call makes a call on c; the error is errNotSent where there can be none, and nothing else is wrong then. The outcome is concurrent if other calls were under way at the same server, which may have delayed it.
func (r *run) call(ctx context.Context, c *client, t *target, in input, settle bool) (out outcome, err error) {
	if !t.canExpand(in) {
		return out, errNotSent
	}
	if err := r.connect(ctx, c); err != nil {
		return out, err
	}
	began := time.Now()
	slow := r.conns.yieldWhileSlow(func(yield func()) { out, err = c.call(ctx, t, in, settle, yield) })
	out.concurrent = (slow || r.conns.busy > 1) && !c.own
	if out.hasNoAnswer() && (out.gone || c.own) { // a pipe has what comes now before the next answer
		r.conns.withoutTurn(func() { out.last = c.close(sentCall{out.reply.Request, t, in}) })
	}
	if h, ok := c.noAnswerHit(&out); ok && h.rule == "fuzz/died" && !c.own {
		if began.Before(r.crashedAt) && (r.unreachable != nil || !r.outOfTime()) { // the server ended in another call
			return r.call(ctx, c, t, in, settle)
		}
		out.fatal = r.serverCrashed(ctx, c, t) && r.unreachable != nil
	}
	out.total = time.Since(began)
	return out, err
}
