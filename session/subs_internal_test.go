package session

import (
	"context"
	"sync"
	"testing"
)

// aWatch is a stream that nobody reads, and whether it was stopped.
func aWatch(t *testing.T) (w *watch, stopped func() bool) {
	ctx, stop := context.WithCancel(t.Context())
	return &watch{stop: stop, opened: make(chan struct{})}, func() bool { return ctx.Err() != nil }
}

// TestSubscriptionsEndWithTheirConnection: what was subscribed to over one connection ends with it, also where the news of its end comes after
// the next one began; what is made over that one stays.
func TestSubscriptionsEndWithTheirConnection(t *testing.T) {
	var k subscriptions
	var wg sync.WaitGroup
	first, second := &conn{id: 1}, &conn{id: 2}
	k.begin(first)
	w, stopped := aWatch(t)
	if k.add(first, "a", w, &wg, func() {}) != w || k.watching("a") != w {
		t.Fatal("nothing was subscribed to")
	}
	k.noteSubscribed(first, "b")
	if !k.hasAny() || stopped() {
		t.Error("nothing is subscribed to")
	}
	k.begin(second)
	if !stopped() || k.hasAny() {
		t.Error("subscriptions of the connection before are left")
	}
	k.noteSubscribed(first, "b") // the answer came late
	other, otherStopped := aWatch(t)
	if k.hasAny() || k.add(first, "a", other, &wg, func() { t.Error("it runs") }) != nil {
		t.Error("subscribed over a connection that is gone")
	}
	if k.add(second, "a", other, &wg, func() {}) != other {
		t.Fatal("nothing was subscribed to")
	}
	k.end(first.id)
	k.remove("a", w) // its reader ends late as well
	if k.watching("a") != other || otherStopped() {
		t.Error("the end of the first connection ended what is subscribed to over the second")
	}
	k.end(second.id)
	if k.hasAny() || !otherStopped() {
		t.Error("it outlives its connection")
	}
	wg.Wait()
}

// TestSubscriptionsAreLiveWhileConnected: one that lasts is live only where the server knows of it over the connection that there is.
func TestSubscriptionsAreLiveWhileConnected(t *testing.T) {
	k := subscriptions{wake: make(chan struct{}, 1)}
	live := func() bool { return k.snapshot()[0].Live }
	c := &conn{id: 1}
	k.begin(c)
	k.noteSubscribed(c, "a")
	if first := k.keep("a"); !first || len(k.wake) != 1 || !live() {
		t.Error("nobody reads it, or it is not live")
	}
	if k.keep("a") || len(k.snapshot()) != 1 {
		t.Error("it is kept twice, or read by two")
	}
	k.end(c.id)
	if live() {
		t.Error("live without a connection")
	}
	if sub, _, _ := k.takeNext(); sub != nil {
		t.Error("to be read without a connection")
	}
	again := &conn{id: 2}
	k.begin(again)
	if live() {
		t.Error("live before the server was asked again")
	}
	k.noteSubscribed(again, "a")
	if !live() || !k.forget("a") || len(k.snapshot()) != 0 {
		t.Error("it is not live, or not forgotten")
	}
}

// TestReadingsOfAResource: each update makes one reading due, and one that failed with its connection is made up for.
func TestReadingsOfAResource(t *testing.T) {
	k := subscriptions{wake: make(chan struct{}, 1)}
	c := &conn{}
	k.begin(c)
	k.keep("file:///a")
	sub, u, during := k.takeNext()
	if sub == nil || during {
		t.Fatal("what it holds at first is not read")
	}
	if !k.noteUpdate("file:///a/part") || k.noteUpdate("file:///ab") {
		t.Error("an update of a part is not taken, or one of another resource is")
	}
	k.took(sub, u, during, []byte(`{"contents":[{"uri":"file:///a","text":"one"}]}`))
	sub, u, during = k.takeNext()
	if sub == nil || !during {
		t.Fatal("the update during the reading is lost")
	}
	u.Err = context.Canceled
	if k.end(c.id); !k.postpone(sub, u) || sub.due != u.At {
		t.Error("the reading that failed with the connection is lost")
	}
	k.begin(&conn{})
	if sub, u, during = k.takeNext(); sub == nil || during {
		t.Fatal("it is not made up for")
	}
	k.took(sub, u, during, []byte(`{"contents":[{"uri":"file:///a","text":"two"}]}`))
	// The first reading counts as well: an update came before it was over.
	if got := k.snapshot()[0]; len(got.Updates) != 2 || got.Updates[0].Added != 1 || got.Updates[0].Removed != 1 || got.Count != 1 {
		t.Errorf("%+v", got)
	}
	if sub, _, _ := k.takeNext(); sub != nil {
		t.Error("it is read once more")
	}
}

// TestListenersMayStopThemselves: whoever is called with a notification may listen and stop, which takes the lock.
func TestListenersMayStopThemselves(t *testing.T) {
	var k subscriptions
	var stop func()
	n := 0
	stop = k.listen(func([]byte) { n++; stop(); k.listen(func([]byte) { n += 10 }) })
	k.callListeners(nil)
	k.callListeners(nil)
	if n != 11 {
		t.Errorf("heard %d", n)
	}
}
