package stream

import (
	"encoding/json"
	"slices"
	"time"
)

// card is what a replica says of itself.
type card struct {
	Replica     string `json:"replica"`
	Group       string `json:"group"`
	Capacity    int    `json:"capacity"`
	Concurrency int    `json:"concurrency"`
	Running     int    `json:"running"`
	Hello       bool   `json:"hello,omitempty"` // it is new, and wants to hear of the others
	Bye         bool   `json:"bye,omitempty"`   // it takes no more
}

type replica struct {
	card
	heard time.Time
}

// replicas are the processes that share the stream; Queue.mu guards them.
type replicas struct {
	me     card
	others map[string]*replica
	gone   time.Duration   // without a heartbeat a replica is
	since  time.Time       // since when heartbeats can be heard
	left   map[string]bool // those that said so, as long as that counts
}

func newReplicas(gone time.Duration, me card) replicas {
	return replicas{me: me, gone: gone, others: map[string]*replica{}, since: time.Now(), left: map[string]bool{}}
}

// hear takes a heartbeat; it is true for a replica that was not known like that.
func (r *replicas) hear(c card) bool {
	was := r.others[c.Replica]
	if c.Bye {
		delete(r.others, c.Replica)
		r.left[c.Replica] = true
		return was != nil
	}
	r.others[c.Replica] = &replica{card: c, heard: time.Now()}
	return was == nil || was.Group != c.Group || was.Capacity != c.Capacity || was.Concurrency != c.Concurrency
}

// again is a connection that came back: nobody could be heard meanwhile.
func (r *replicas) again() {
	r.since = time.Now()
	for _, o := range r.others {
		o.heard = r.since
	}
}

// dropStale forgets those that are silent for too long.
func (r *replicas) dropStale() (gone []string) {
	if time.Since(r.since) > r.gone {
		clear(r.left)
	}
	for name, o := range r.others {
		if time.Since(o.heard) > r.gone {
			delete(r.others, name)
			gone = append(gone, name)
		}
	}
	return gone
}

// alive reports whether a replica is there. While others had no time to say so, all count as being there but those that
// have left.
func (r *replicas) alive(name string) bool {
	_, ok := r.others[name]
	return ok || !r.left[name] && time.Since(r.since) < r.gone
}

// room is how many calls the stream may have for all.
func (r *replicas) room() int64 {
	capacity, slots := r.me.Capacity, r.me.Concurrency
	for _, o := range r.others {
		if o.Capacity < 0 {
			capacity = -1
		} else if capacity >= 0 {
			capacity = max(capacity, o.Capacity)
		}
		slots += o.Concurrency
	}
	if capacity < 0 {
		return unlimited
	}
	return int64(capacity + slots)
}

// groupPeers are how many others of the same group there are.
func (r *replicas) groupPeers() (n int) {
	for _, o := range r.others {
		if o.Group == r.me.Group {
			n++
		}
	}
	return n
}

// different are those that take no calls of this one.
func (r *replicas) different() (all []string) {
	for name, o := range r.others {
		if o.Group != r.me.Group {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// card is what this replica says of itself.
func (q *Queue) card() card {
	s := q.local.Status()
	offer := ""
	if q.o.Offer != nil {
		offer = q.o.Offer()
	}
	return card{Replica: q.me, Group: group(offer), Capacity: q.o.Capacity, Concurrency: q.o.Concurrency, Running: s.Running + s.Waiting}
}

// hello says that this replica is there, and asks for the others.
func (q *Queue) hello() {
	c := q.card()
	c.Hello = true
	q.beat(c)
}

func (q *Queue) beat(c card) {
	raw, _ := json.Marshal(c)            // strings and numbers
	_ = q.nc.Publish(q.names.alive, raw) // the next one will be heard
}

// heard takes a heartbeat of anybody.
func (q *Queue) heard(raw []byte) {
	var c card
	if json.Unmarshal(raw, &c) != nil || c.Replica == "" || c.Replica == q.me {
		return
	}
	q.mu.Lock()
	news := q.replicas.hear(c)
	mine := q.replicas.me.Group
	apart := mine != "" && c.Group != mine
	draining := q.draining
	q.mu.Unlock()
	if c.Hello && !draining && mine != "" {
		q.beat(q.card())
	}
	if news && apart && !c.Bye {
		q.log.Warn("queue: another agent of this name has other tools or another version; they do not share their calls", "agent", q.o.Name, "replica", c.Replica)
	}
	if news {
		q.awake()
	}
}

// tick keeps the others informed, and looks after what is lost.
func (q *Queue) tick() {
	t := time.NewTicker(q.o.beat)
	defer t.Stop()
	deaf := false // nobody could be heard for a while
	for {
		changed := q.o.Conn.Changed()
		select {
		case <-t.C:
		case <-changed:
		case <-q.end:
			return
		}
		select {
		case <-changed:
			deaf = true
		default:
		}
		if deaf && q.o.Conn.Up() {
			deaf = false
			q.mu.Lock()
			q.replicas.again()
			q.mu.Unlock()
			q.hello()
		}
		c := q.card()
		q.mu.Lock()
		q.replicas.me = c
		if q.o.Conn.Up() {
			q.replicas.dropStale()
		}
		for id, c := range q.calls {
			if c.mu.Lock(); !c.until.IsZero() && time.Now().After(c.until) {
				delete(q.calls, id)
			}
			c.mu.Unlock()
		}
		draining := q.draining
		q.mu.Unlock()
		if draining || !q.o.Conn.Up() {
			continue
		}
		q.beat(c)
		q.recoverLost()
		q.sweep()
	}
}
