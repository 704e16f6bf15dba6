package session

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// loadTools loads the list of tools as of the server that answered over c, with meanwhile in between.
func loadTools(t *testing.T, k *lists, c *conn, ttl time.Duration, meanwhile func()) (offer.Listing, *conn) {
	t.Helper()
	before, load, _ := k.claim(offer.Tools, true)
	if load == nil {
		t.Fatal("somebody loads it already")
	}
	meanwhile()
	next := offer.Listing{Kind: offer.Tools, Items: []offer.Item{{Name: c.version}}}
	if ttl > 0 {
		next.Hints.TTL = &ttl
	}
	k.publish(offer.Tools, next, before, offer.Changes{}, nil, true, c.identity())
	cur, again := k.endLoad(offer.Tools, nil)
	close(load)
	return cur, again
}

func nothing() {}

// usable is whether tools may be used as they are.
func usable(k *lists) bool {
	_, load, wait := k.claim(offer.Tools, false)
	if load != nil {
		k.endLoad(offer.Tools, errors.New("not now"))
		close(load)
	}
	return load == nil && wait == nil
}

// TestListsAreOfTheServerThatAnswered: the answer of a connection that was replaced by one to another server meanwhile is loaded again, over that one.
func TestListsAreOfTheServerThatAnswered(t *testing.T) {
	var k lists
	k.init()
	one, other := &conn{id: 1, version: "one"}, &conn{id: 2, version: "other"}
	k.begin(one)
	if cur, again := loadTools(t, &k, one, time.Hour, nothing); again != nil || cur.Items[0].Name != "one" || !usable(&k) {
		t.Fatalf("a list of the server that is connected is not used: %+v", cur)
	}
	if _, id, _, ok := k.tool("one"); !ok || id != 1 {
		t.Error("its tool is not to be relied on, or of connection", id)
	}
	// The list that was kept is of the other server, which is there by the time that the answer of this one comes.
	k.all[offer.Tools].of = other.identity()
	if _, again := loadTools(t, &k, one, time.Hour, func() { k.end(one.id); k.begin(other) }); again != other {
		t.Error("the list of one server is taken for that of the other")
	}
	if _, _, _, ok := k.tool("one"); ok {
		t.Error("its tool is relied on")
	}
	k.end(one.id) // the news of its end comes late
	if k.over != other {
		t.Error("the end of the first connection ended the second")
	}
	k.end(other.id)
	if _, _, _, ok := k.tool("one"); ok {
		t.Error("a tool is relied on without a connection")
	}
}

// TestListsOverConnections: a list that the same server said may be kept is used over its next connection; any other is not.
func TestListsOverConnections(t *testing.T) {
	for _, c := range []struct {
		what  string
		ttl   time.Duration
		next  string
		moved bool
		want  bool
	}{
		{"the same server", time.Hour, "one", false, true},
		{"no time to live", 0, "one", false, false},
		{"another server", time.Hour, "other", false, false},
		{"at another place", time.Hour, "one", true, false},
	} {
		var k lists
		k.init()
		one := &conn{id: 1, version: "one"}
		k.begin(one)
		loadTools(t, &k, one, c.ttl, nothing)
		k.end(one.id)
		if !usable(&k) {
			t.Error(c.what, "is not kept without a connection")
		}
		if c.moved {
			k.forgetServer()
		}
		k.begin(&conn{id: 2, version: c.next})
		if got := k.staleKinds(); (len(got) == 0) != c.want {
			t.Errorf("%s: stale are %v", c.what, got)
		}
		if usable(&k) != c.want {
			t.Errorf("%s: usable is %v", c.what, !c.want)
		}
	}
}

// TestListsAreLoadedByOne: of those who want a list at once one loads it and the others wait; what changes meanwhile is loaded again.
func TestListsAreLoadedByOne(t *testing.T) {
	var k lists
	k.init()
	c := &conn{version: "one"}
	k.begin(c)
	var mu sync.Mutex
	var loads []chan struct{}
	var waits, wg sync.WaitGroup
	for range 8 {
		waits.Add(1)
		wg.Go(func() {
			_, load, wait := k.claim(offer.Tools, false)
			if load != nil {
				mu.Lock()
				loads = append(loads, load)
				mu.Unlock()
			}
			waits.Done()
			if wait != nil {
				<-wait
			}
		})
	}
	waits.Wait()
	if len(loads) != 1 {
		t.Fatalf("%d load it", len(loads))
	}
	k.markStale(offer.Tools)
	assert.Equalf(t, len(k.staleKinds()), 0, "a list that is being loaded is to be loaded beside that")
	k.publish(offer.Tools, offer.Listing{Kind: offer.Tools}, offer.Listing{}, offer.Changes{}, nil, true, c.identity())
	if _, again := k.endLoad(offer.Tools, nil); again != c {
		t.Error("the change during the load is lost")
	}
	close(loads[0])
	wg.Wait()
	if got := k.staleKinds(); len(got) != 1 || got[0] != offer.Tools {
		t.Errorf("stale are %v", got)
	}
}

// TestListsThatCannotBeLoaded: an automatic refresh that failed waits for the next change, also one that came while it ran.
func TestListsThatCannotBeLoaded(t *testing.T) {
	for _, changed := range []bool{false, true} {
		var k lists
		k.init()
		c := &conn{id: 1}
		k.begin(c)
		loadTools(t, &k, c, 0, nothing)
		_, load, _ := k.claim(offer.Tools, true)
		if changed {
			k.markStale(offer.Tools)
		}
		if cur, again := k.endLoad(offer.Tools, errors.New("no answer")); again != nil || cur.Err == nil || !cur.Loaded || len(cur.Items) != 1 {
			t.Errorf("what was known is lost, or it is loaded at once: %+v", cur)
		}
		close(load)
		if k.noteFailure(offer.Tools); (len(k.staleKinds()) == 1) != changed {
			t.Errorf("changed %v: stale are %v", changed, k.staleKinds())
		}
	}
}

// TestSeenLeavesSnapshots: a snapshot keeps the marks that it had.
func TestSeenLeavesSnapshots(t *testing.T) {
	var k lists
	k.init()
	k.all[offer.Tools].cur.Marks = map[string]offer.Mark{"a": {}, "b": {}}
	before := k.listing(offer.Tools)
	if !k.unmark(offer.Tools, "a") || k.unmark(offer.Tools, "a") {
		t.Error("seen once is not seen")
	}
	if len(before.Marks) != 2 || len(k.listing(offer.Tools).Marks) != 1 {
		t.Errorf("%v, now %v", before.Marks, k.listing(offer.Tools).Marks)
	}
	if !k.unmark(offer.Tools, "") || k.unmark(offer.Tools, "") {
		t.Error("all seen once are not seen")
	}
}
