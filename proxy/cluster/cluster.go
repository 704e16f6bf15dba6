package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

const (
	stateBucket = "mcphud-routers"
	stateTime   = time.Minute // that a value is kept
	format      = 1           // of the values

	soon    = 200 * time.Millisecond // until others hear of requests
	present = 3 * time.Second        // between two signs that a router is there
	absent  = 10 * time.Second       // after which one that gives none is gone

	maxMeters = 10_000 // that are shared at a time
	maxPeers  = 1000
	maxWhy    = 300 // bytes of a reason
)

// Cluster is the state that routers share while they run. None of it is needed: without the server each router counts, and
// tries, by itself. Close ends it.
type Cluster struct {
	conn *natsconn.Conn
	log  *slog.Logger
	self string
	end  context.CancelFunc
	over sync.WaitGroup
	wake chan struct{} // what is pending has to go now
	keys [][]byte

	mu      sync.Mutex
	kv      jetstream.KeyValue
	up      bool // the bucket is followed
	err     error
	on      Handlers
	meters  map[string]*meter
	trips   map[string]trip // breakers that changed and that nobody was told of
	peers   map[string]*peer
	dropped int64 // requests that nobody was told of, since there was no room
}

// Handlers are what a router does about what others say. They must not block.
type Handlers struct {
	// Requests counts n requests that were admitted elsewhere under a key of Request.
	Requests func(key string, n int)
	// Breaker has the breaker of an agent's upstream opened for a time, or closed.
	Breaker func(agent, endpoint string, open time.Duration, failures int, why string)
}

// meter counts what this router admitted under one key.
type meter struct {
	Total   int64 // since the router started
	pending int
}

// peer is another router.
type peer struct {
	until  time.Time // by this router's own clock
	totals map[string]int64
}

// trip is a breaker that opened or closed.
type trip struct {
	Version  int    `json:"v"`
	From     string `json:"from"`
	Agent    string `json:"agent"`
	Endpoint string `json:"endpoint"` // without secrets
	OpenMS   int64  `json:"open_ms"`  // from now, 0 for closed
	Failures int    `json:"failures"`
	Why      string `json:"why,omitempty"`
}

// counts is what a router tells of the requests that it admitted.
type counts struct {
	Version int              `json:"v"`
	Totals  map[string]int64 `json:"totals"` // of the keys that changed
}

// Open joins the routers at a server.
func Open(ctx context.Context, o natsconn.Options) (*Cluster, error) {
	conn, err := natsconn.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		conn: conn, log: o.Logger, self: jsonrpc.UUID(), wake: make(chan struct{}, 1), meters: map[string]*meter{}, trips: map[string]trip{}, peers: map[string]*peer{},
		on: Handlers{Requests: func(string, int) {}, Breaker: func(string, string, time.Duration, int, string) {}},
	}
	if c.keys, err = conn.Agree(ctx, keyBucket, sessionKey); err != nil {
		conn.Close()
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c.end = end
	b := &bucket{conn, stateBucket, natsconn.BucketOptions{TTL: stateTime, Memory: true, MaxBytes: 64 << 20}, c.begin, c.entry, c.markSynced, c.setLost}
	c.over.Go(func() { c.publish(life) })
	if err := b.start(ctx, life, &c.over); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close leaves. Others take this router for gone at once.
func (c *Cluster) Close() {
	c.end()
	c.over.Wait()
	c.mu.Lock()
	kv := c.kv
	c.mu.Unlock()
	if kv != nil && c.conn.Up() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = kv.Purge(ctx, "router."+c.self) // it is gone after a while without
		cancel()
	}
	c.conn.Close()
}

// Handle sets what is done about what others say.
func (c *Cluster) Handle(on Handlers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = on
}

// Status is the state of a Cluster.
type Status struct {
	Server  string `json:"server"`
	Up      bool   `json:"up"`
	Error   string `json:"error,omitempty"` // why nothing is shared now
	Routers int    `json:"routers"`         // that are there, this one among them
	Dropped int64  `json:"dropped"`         // requests that others did not hear of
}

// Status is how it is now.
func (c *Cluster) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{Server: c.conn.Where(), Up: c.up && c.err == nil, Routers: 1, Dropped: c.dropped}
	now := time.Now()
	for _, p := range c.peers {
		if p.until.After(now) {
			s.Routers++
		}
	}
	if c.err != nil {
		s.Error = c.err.Error() + "; each router goes on by itself"
	}
	return s
}

// Request notes that a request was admitted under a key where limit are allowed, and tells the others: after 0.2 s, or at once
// when one in twenty of what is allowed is not told.
func (c *Cluster) Request(key string, limit int) {
	c.mu.Lock()
	m := c.meters[key]
	if m == nil {
		if len(c.meters) >= maxMeters {
			c.dropped++
			c.mu.Unlock()
			return
		}
		m = &meter{}
		c.meters[key] = m
	}
	m.Total++
	m.pending++
	now := m.pending*20 >= limit
	c.mu.Unlock()
	if now {
		c.flush()
	}
}

// Key is a name of what is limited that tells nobody what it is.
func Key(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Breaker tells others that the breaker of an agent's upstream opened, for a time, or closed.
func (c *Cluster) Breaker(agent, endpoint string, open time.Duration, failures int, why string) {
	if len(why) > maxWhy {
		why = strings.ToValidUTF8(why[:maxWhy], "")
	}
	c.mu.Lock()
	if len(c.trips) < maxMeters {
		c.trips[Key(agent, endpoint)] = trip{format, c.self, agent, endpoint, open.Milliseconds(), failures, why}
	}
	c.mu.Unlock()
	c.flush()
}

func (c *Cluster) flush() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// publish puts what changed into the bucket.
func (c *Cluster) publish(ctx context.Context) {
	tick := time.NewTicker(soon)
	defer tick.Stop()
	var here time.Time
	for {
		select {
		case <-tick.C:
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		c.mu.Lock()
		kv, up := c.kv, c.up
		var say counts
		for key, m := range c.meters {
			switch {
			case m.pending == 0:
			case !up: // whoever hears of it later would count it as of now
				m.pending = 0
			default:
				if say.Totals == nil {
					say = counts{format, map[string]int64{}}
				}
				say.Totals[key], m.pending = m.Total, 0
			}
		}
		if len(c.meters) >= maxMeters { // callers who are gone have their place
			for key := range c.meters {
				if _, changed := say.Totals[key]; !changed {
					delete(c.meters, key)
				}
			}
		}
		trips := c.trips
		c.trips = map[string]trip{}
		c.mu.Unlock()
		if !up {
			continue
		}
		put := func(key string, v any) {
			text, err := json.Marshal(v)
			if err != nil { // numbers and texts always marshal
				return
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			err = c.conn.Try(short, "put the key "+key+" into the bucket "+stateBucket, func(ctx context.Context) error {
				_, err := kv.Put(ctx, key, text)
				return err
			})
			if err != nil && ctx.Err() == nil && c.conn.Up() {
				c.setLost(err)
			}
		}
		if say.Totals != nil {
			put("requests."+c.self, say)
		}
		for key, t := range trips {
			put("breaker."+key, t)
		}
		if time.Since(here) >= present {
			here = time.Now()
			put("router."+c.self, counts{Version: format})
		}
	}
}

func (c *Cluster) begin(kv jetstream.KeyValue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kv = kv
	c.up = false // what comes first is how it was
}

func (c *Cluster) markSynced() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		c.log.Info("limits and circuit breakers are shared again", "server", c.conn.Where())
	}
	c.up, c.err = true, nil
}

func (c *Cluster) setLost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.log.Warn("limits and circuit breakers are not shared: this router goes on by itself", "server", c.conn.Where(), "error", err.Error())
	}
	if c.err = err; !c.conn.Up() {
		c.up = false
	}
}

// entry hears what another router says.
func (c *Cluster) entry(e jetstream.KeyValueEntry) {
	kind, id, _ := strings.Cut(e.Key(), ".")
	if id == c.self {
		c.mu.Lock()
		if c.up {
			c.err = nil // it can be written again
		}
		c.mu.Unlock()
		return
	}
	if e.Operation() != jetstream.KeyValuePut {
		if kind == "router" {
			c.mu.Lock()
			delete(c.peers, id)
			c.mu.Unlock()
		}
		return
	}
	var v struct {
		trip
		Totals map[string]int64 `json:"totals"`
	}
	if json.Unmarshal(e.Value(), &v) != nil || v.Version != format { // of another version: each by itself
		return
	}
	switch kind {
	case "router", "requests":
		c.heard(id, v.Totals)
	case "breaker":
		c.mu.Lock()
		on, fresh := c.on.Breaker, c.up
		c.mu.Unlock()
		open := time.Duration(v.OpenMS) * time.Millisecond
		if !fresh && open > 0 { // how long ago is not known: the next request tells
			open = time.Nanosecond
		}
		if v.From != c.self {
			on(v.Agent, v.Endpoint, open, v.Failures, v.Why)
		}
	}
}

// heard counts what another router admitted since it was heard before.
func (c *Cluster) heard(id string, totals map[string]int64) {
	c.mu.Lock()
	p := c.peers[id]
	if p == nil {
		for other, p := range c.peers {
			if time.Now().After(p.until) {
				delete(c.peers, other)
			}
		}
		if len(c.peers) >= maxPeers {
			c.mu.Unlock()
			return
		}
		p = &peer{totals: map[string]int64{}}
		c.peers[id] = p
	}
	p.until = time.Now().Add(absent)
	more := map[string]int64{}
	for key, n := range totals {
		before, known := p.totals[key]
		if len(p.totals) >= 2*maxMeters && !known {
			clear(p.totals) // it begins anew
		}
		p.totals[key] = n
		if d := n - before; d > 0 && c.up { // else the time of it is not known
			more[key] = d
		}
	}
	on := c.on.Requests
	c.mu.Unlock()
	for key, n := range more {
		on(key, int(min(n, 1<<30)))
	}
}
