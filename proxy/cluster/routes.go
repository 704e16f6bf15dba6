package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

const (
	maxKeys  = 20_000   // of a bucket of routes
	maxValue = 64 << 10 // bytes of one that are kept, and one more
	maxLease = time.Hour
)

// Routes are the routes of a bucket, see [routes.Keys]. Close ends it.
type Routes struct {
	conn *natsconn.Conn
	name string
	log  *slog.Logger
	end  context.CancelFunc
	over sync.WaitGroup
	ping chan struct{}

	mu     sync.Mutex
	kv     jetstream.KeyValue
	values map[string]*value
	next   map[string]*value // while all entries are on their way; nil otherwise
	err    error             // why values may be out of date
	beyond int               // keys that there is no room for
}

// value is that of a key.
type value struct {
	text     []byte
	revision uint64
	lease    time.Duration // 0 for as long as the key is there
	until    time.Time     // by this router's own clock
}

// OpenRoutes follows a bucket of routes, which is made if there is none. It returns once all that is in it is known.
func OpenRoutes(ctx context.Context, o natsconn.Options, name string) (*Routes, error) {
	conn, err := natsconn.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Routes{conn: conn, name: name, log: o.Logger, ping: make(chan struct{}, 1), values: map[string]*value{}}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	r.end = end
	b := &bucket{conn, name, natsconn.BucketOptions{MaxBytes: routes.MaxBucket}, r.begin, r.entry, r.markSynced, r.setLost}
	r.over.Go(func() { r.expire(life) })
	if err := b.start(ctx, life, &r.over); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the connection; the routes stay as they were last known.
func (r *Routes) Close() {
	r.end()
	r.over.Wait()
	r.conn.Close()
}

// String is the server and the bucket.
func (r *Routes) String() string { return r.conn.Where() + "/" + r.name }

// Changed receives after each change.
func (r *Routes) Changed() <-chan struct{} { return r.ping }

func (r *Routes) notifyChange() {
	select {
	case r.ping <- struct{}{}:
	default:
	}
}

// Snapshot is the text of each key.
func (r *Routes) Snapshot() (map[string][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string][]byte, len(r.values))
	for key, v := range r.values {
		out[key] = v.text
	}
	switch {
	case r.err != nil:
		return out, fmt.Errorf("%w; the last valid ones stay in force", r.err)
	case r.beyond > 0:
		return out, fmt.Errorf("%s: %d keys are ignored: the maximum is %d", r, r.beyond, maxKeys)
	}
	return out, nil
}

func (r *Routes) begin(kv jetstream.KeyValue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kv, r.next, r.beyond = kv, map[string]*value{}, 0
}

func (r *Routes) markSynced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		r.log.Info("routes of the bucket are up to date again", "bucket", r.String())
	}
	if r.next != nil {
		r.values, r.next, r.err = r.next, nil, nil
	}
	r.notifyChange()
}

func (r *Routes) setLost(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.log.Warn("routes of the bucket may be out of date: the last known ones stay in force", "bucket", r.String(), "error", err.Error())
	}
	r.err = err
	r.notifyChange()
}

func (r *Routes) entry(e jetstream.KeyValueEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	into := r.values
	if r.next != nil {
		into = r.next
	}
	key, old := e.Key(), into[e.Key()]
	if e.Operation() != jetstream.KeyValuePut {
		delete(into, key)
		r.notifyChange()
		return
	}
	if old == nil && len(into) >= maxKeys {
		r.beyond++
		r.notifyChange()
		return
	}
	v := &value{text: e.Value(), revision: e.Revision()}
	if len(v.text) > maxValue { // is refused by its length
		v.text = v.text[:maxValue+1]
	}
	if ms, err := strconv.ParseInt(string(jsonrpc.Get(v.text, "lease_ms")), 10, 64); err == nil && ms > 0 {
		v.lease = min(time.Duration(ms)*time.Millisecond, maxLease)
		v.until = time.Now().Add(v.lease)
	}
	into[key] = v
	if old == nil || string(old.text) != string(v.text) {
		r.notifyChange()
	}
}

// expire lets go of what was not refreshed, and takes it out of the bucket. While the server is away everything stays: those who
// would refresh it cannot either.
func (r *Routes) expire(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		gone := map[string]uint64{}
		r.mu.Lock()
		kv, now := r.kv, time.Now()
		if r.err == nil && r.next == nil && r.conn.Up() {
			maps.DeleteFunc(r.values, func(key string, v *value) bool {
				out := v.lease > 0 && now.After(v.until)
				if out {
					gone[key] = v.revision
				}
				return out
			})
		}
		r.mu.Unlock()
		if len(gone) == 0 {
			continue
		}
		r.notifyChange()
		for key, revision := range gone {
			name, id, _ := routes.AgentOf(key)
			r.log.Warn("agent did not refresh its registration", "agent", name, "id", id)
			short, cancel := context.WithTimeout(ctx, time.Second)
			_ = kv.Purge(short, key, jetstream.LastRevision(revision)) // another router may have been quicker, or this one lack the right
			cancel()
		}
	}
}
