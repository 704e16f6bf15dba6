// Package cluster is what routers that stand for each other share by NATS: routes, the requests that count against limits, and
// which agents cannot be reached. Each goes on by itself while NATS is away. A
// [Registration] says to them where an agent is.
package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// again is the pause before a bucket that could not be followed is tried once more.
const again = time.Second

// bucket is a key-value bucket that is followed.
type bucket struct {
	conn    *natsconn.Conn
	name    string
	options natsconn.BucketOptions

	begin  func(jetstream.KeyValue)      // all entries follow
	entry  func(jetstream.KeyValueEntry) // as it is, or as it became
	synced func()                        // all entries came
	lost   func(error)                   // what follows is not known; it is begun anew
}

// start follows the bucket until life ends, and returns when all that is in it is known, or ctx is done.
func (b *bucket) start(ctx, life context.Context, over *sync.WaitGroup) error {
	ready := make(chan error, 1)
	over.Go(func() { b.follow(life, ready) })
	select {
	case err := <-ready:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// follow calls the bucket's functions, one at a time, until ctx is done. ready gets why it could not begin, nil if it did, once.
func (b *bucket) follow(ctx context.Context, ready chan<- error) {
	report := func(err error) {
		if ready != nil {
			ready <- err
			ready = nil
		}
	}
	for ctx.Err() == nil {
		changed := b.conn.Changed()
		err := b.once(ctx, changed, func() { report(nil) })
		report(err)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		b.lost(err)
		pause := time.NewTimer(again)
		select {
		case <-pause.C:
		case <-changed:
		case <-ctx.Done():
		}
		pause.Stop()
	}
}

var errEnded = errors.New("the server ended the watch")

// once follows the bucket until the connection comes back, or an error.
func (b *bucket) once(ctx context.Context, changed <-chan struct{}, ready func()) error {
	if err := b.conn.Ready(); err != nil {
		return err
	}
	kv, err := b.conn.Bucket(ctx, b.name, b.options)
	if err != nil {
		return err
	}
	var w jetstream.KeyWatcher
	err = b.conn.Try(ctx, "watch the bucket "+b.name, func(context.Context) (err error) {
		w, err = kv.WatchAll(ctx) // which ends with its context
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }() // the server may be gone
	b.begin(kv)
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return errEnded
			case e == nil:
				b.synced()
				ready()
			default:
				b.entry(e)
			}
		case <-changed:
			if b.conn.Up() {
				return nil // whatever came meanwhile
			}
			b.lost(b.conn.Ready())
			changed = b.conn.Changed()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
