package session

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// linked is a link whose planned attempts are given to plans instead of being made.
type linked struct {
	link
	t     *testing.T
	runs  sync.WaitGroup
	plans chan *retry
}

func newLinked(t *testing.T, cfg config.Server, policy Retry) *linked {
	policy.defaults()
	l := &linked{t: t, plans: make(chan *retry, 8)}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() { stop(); l.runs.Wait() })
	l.init(ctx, &l.runs, cfg, policy, func(_ context.Context, r *retry, _ time.Time) { l.plans <- r })
	return l
}

// check is what holds between any two methods.
func (l *linked) check() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch wrong := l.err != nil; {
	case (l.state == Connected) != (l.conn != nil):
		l.t.Errorf("%s with connection %v", l.state, l.conn)
	case wrong != (l.state == Failed || l.state == NeedsLogin):
		l.t.Errorf("%s with error %v", l.state, l.err)
	case l.retired != "" && l.state != Disconnected:
		l.t.Errorf("%s though it was retired: %s", l.state, l.retired)
	case (l.dialing == nil) != (l.abort == nil), l.state == Connecting && l.dialing == nil, l.dialing == nil && l.starting != nil:
		l.t.Errorf("%s, and half of an attempt", l.state)
	case l.retry == nil && !l.retryAt.IsZero():
		l.t.Errorf("an attempt at %v that nobody plans", l.retryAt)
	}
}

// begun is an attempt by hand that nobody stands in the way of.
func (l *linked) begun() *attempt {
	l.t.Helper()
	a, over, _, err := l.claim(func() {})
	if a == nil || over != nil || err != nil {
		l.t.Fatal("no attempt", over, err)
	}
	l.runs.Done() // dial would
	l.check()
	return a
}

// connected is a connection that was made.
func (l *linked) connected() *conn {
	l.t.Helper()
	l.begun()
	c := &conn{id: l.nextNumber(), era: Legacy}
	if _, wanted := l.endConnected(c); !wanted || l.snapshot().conn != c {
		l.t.Fatal("nobody wants the connection")
	}
	l.check()
	return c
}

// lost loses a connection; false if it was not the link's.
func (l *linked) lost(c *conn) bool {
	l.t.Helper()
	_, is := l.lose(c, errGone)
	if is {
		l.runs.Done() // drop would
	}
	l.check()
	return is
}

// planned is the plan that was made.
func (l *linked) planned() *retry {
	l.t.Helper()
	select {
	case r := <-l.plans:
		return r
	case <-time.After(30 * time.Second):
		l.t.Fatal("nothing is planned")
		return nil
	}
}

// resumed begins the attempt that r planned; false if it was given up.
func (l *linked) resumed(r *retry) bool {
	l.t.Helper()
	a := l.resume(l.t.Context(), r, func() {})
	if a != nil {
		l.runs.Done() // dial would
	}
	l.check()
	return a != nil
}

var errGone = errors.New("gone")

// TestLinkMakesOneAttemptAtOnce: of all who connect one makes the attempt, the others wait for it, and learn what came of it.
func TestLinkMakesOneAttemptAtOnce(t *testing.T) {
	l := newLinked(t, config.Server{}, Retry{})
	var mu sync.Mutex
	attempts, waits := 0, map[<-chan struct{}]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a, over, _, err := l.claim(func() {})
			mu.Lock()
			defer mu.Unlock()
			if a != nil {
				attempts++
				l.runs.Done()
			} else {
				waits[over]++
			}
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	if _, over, _, _ := l.get(); attempts != 1 || len(waits) != 1 || waits[over] != 7 {
		t.Errorf("%d attempts, %d ends that are waited for", attempts, len(waits))
	}
	if _, is := l.endFailed(NeedsLogin, errors.New("who are you")); !is {
		t.Error("nobody wanted the attempt")
	}
	l.check()
	if now := l.snapshot(); now.conn != nil || now.err == nil {
		t.Error(now.conn, now.err)
	}
	c := l.connected()
	if a, over, _, err := l.claim(func() {}); a != nil || over != nil || err != nil {
		t.Error("another attempt though there is a connection", err)
	}
	if now := l.snapshot(); now.conn != c || now.speaks() != Legacy {
		t.Error("another connection than was made")
	}
}

// TestLinkDropsWhatNobodyWants: a connection, or a failure, that comes after Disconnect changes nothing any more.
func TestLinkDropsWhatNobodyWants(t *testing.T) {
	l := newLinked(t, config.Server{}, Retry{})
	for _, late := range []func() bool{
		func() bool { _, is := l.endConnected(&conn{id: l.nextNumber()}); return is },
		func() bool { _, is := l.endFailed(Failed, errors.New("no answer")); return is },
	} {
		aborted := false
		a, _, _, _ := l.claim(func() { aborted = true })
		if a == nil {
			t.Fatal("no attempt")
		}
		l.runs.Done()
		c, over, change := l.end("idle", nil)
		if c != nil || over == nil || over != a.over || !aborted || change.to != Disconnected || change.retired != "idle" || l.isWanted() {
			t.Errorf("the attempt goes on: %v %v %+v", c, aborted, change)
		}
		if late() || l.snapshot().conn != nil {
			t.Error("what nobody wants is taken")
		}
		l.check()
	}
	c := l.connected()
	if now := l.snapshot(); now.retired != "" || now.state != Connected || now.conns != c.id {
		t.Errorf("%+v", now)
	}
	if l.lost(&conn{id: 1}) || l.snapshot().conn != c {
		t.Error("the end of an earlier connection ended this one")
	}
}

// TestLinkPlansAttempts: a lost connection is planned to be made again, until there were enough attempts or somebody makes one by hand.
func TestLinkPlansAttempts(t *testing.T) {
	l := newLinked(t, config.Server{}, Retry{Base: time.Hour, Cap: time.Hour, Max: 2, Settled: time.Hour})
	c := l.connected()
	if !l.lost(c) {
		t.Fatal("not lost")
	}
	r := l.planned()
	_, over, _, _ := l.get() // which wants it now
	if now := l.snapshot(); over != r.tried || len(r.asked) != 1 || now.attempt != 1 || time.Until(now.retryAt) < time.Minute || !now.hasConnOrRetry() {
		t.Errorf("nothing is planned, or whoever waits waits for something else: %+v", now)
	}
	due := time.Now().Add(time.Hour)
	for i, sooner := range []bool{true, false, false} { // one that was asked for does not count
		if !l.resumed(r) {
			t.Fatal("given up at attempt", i)
		}
		l.endFailed(Failed, errGone)
		waited, next := l.planNext(r, errGone, sooner, due)
		if waited == nil || next.IsZero() != (i == 2) || sooner && !next.Equal(due) {
			t.Errorf("attempt %d: the next is at %v", i, next)
		}
		l.check()
	}
	if l.snapshot().hasConnOrRetry() || l.resumed(r) {
		t.Error("it goes on after enough attempts")
	}
	l.scheduleRetry()
	if l.snapshot().hasConnOrRetry() {
		t.Error("there were enough attempts, and one is planned")
	}
	l.connected() // by hand: the count begins again
	l.lost(l.snapshot().conn)
	r = l.planned()
	if _, _, planned, _ := l.claim(func() {}); !planned || l.resumed(r) {
		t.Error("the planned attempts go on beside that by hand")
	}
	l.runs.Done()
	if waited, _ := l.planNext(r, errGone, false, due); waited != nil {
		t.Error("what was given up plans on")
	}
}

// TestLinkPlansNothing: where a lost connection stays lost, once the session is closed, and where waiting does not help.
func TestLinkPlansNothing(t *testing.T) {
	l := newLinked(t, config.Server{NoReconnect: true}, Retry{})
	c := l.connected()
	if !l.lost(c) || l.snapshot().hasConnOrRetry() {
		t.Error("it comes back")
	}
	l = newLinked(t, config.Server{}, Retry{Base: time.Hour, Cap: time.Hour})
	c = l.connected()
	l.lost(c)
	r := l.planned()
	l.resumed(r)
	usage := &failure.Error{Kind: failure.Usage}
	l.endFailed(Failed, usage)
	if waited, next := l.planNext(r, usage, false, time.Time{}); waited == nil || !next.IsZero() || l.snapshot().hasConnOrRetry() {
		t.Error("what cannot work is tried again")
	}
	c = l.connected()
	l.markClosed()
	if l.lost(c) || l.enter() {
		t.Error("something begins once it is closed")
	}
	if _, _, ok := l.startSecond(1); ok {
		t.Error("a second connection once it is closed")
	}
	l.end("", nil)
	if a, _, _, err := l.claim(func() {}); a != nil || err == nil {
		t.Error("an attempt once it is closed")
	}
}

// TestLinkEndsQuestions: who answers them learns of Disconnect and why, and those of the connection after begin anew; a loss ends none.
func TestLinkEndsQuestions(t *testing.T) {
	l := newLinked(t, config.Server{NoReconnect: true}, Retry{})
	c, asks := l.connected(), l.askContext()
	l.lost(c)
	if asks.Err() != nil || l.askContext() != asks {
		t.Error("the loss ended the questions")
	}
	why := errors.New("disconnected")
	l.end("", why)
	if !errors.Is(context.Cause(asks), why) {
		t.Error("they ended for", context.Cause(asks))
	}
	if again := l.askContext(); again == asks || again.Err() != nil {
		t.Error("nothing can be asked any more")
	}
}

// TestLinkMoves: what was set since the server was configured is for the next attempt, and snapshots keep what they had.
func TestLinkMoves(t *testing.T) {
	l := newLinked(t, config.Server{URL: "http://a"}, Retry{})
	if news, stale := l.move("http://a"); news || stale {
		t.Error("where it is is news")
	}
	if news, stale := l.move("http://b"); !news || stale {
		t.Error("no news, or a connection that nobody made is stale")
	}
	level := "debug"
	l.setLevel(&level)
	l.begun()
	if news, stale := l.move("http://c"); !news || !stale {
		t.Error("the attempt by the old URL is not stale")
	}
	l.setenv("A", "1")
	before := l.snapshot()
	l.setenv("A", "2")
	if now := l.snapshot(); now.url != "http://c" || now.env["A"] != "2" || before.env["A"] != "1" {
		t.Errorf("at %s with %v, before with %v", now.url, now.env, before.env)
	}
	c := &conn{id: l.nextNumber(), era: Modern}
	if l.endConnected(c); c.logLevel.Load() != &level {
		t.Error("the connection does not know the level")
	}
}
