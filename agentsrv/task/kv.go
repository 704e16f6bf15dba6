package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/serve/natsconn"
)

const (
	// bucketTime is after which whatever was left behind is gone; nothing that is needed gets so old.
	bucketTime = 72 * time.Hour
	// othersTime is how much longer a replica leaves to expired tasks of others, whose replica removes them.
	othersTime = 5 * time.Second
	// markerTime is after which everybody has heard of a deletion.
	markerTime = 10 * time.Second
	// awaitServer is how long a new task waits for a server that is away, as other calls do.
	awaitServer = 10 * time.Second
	// lookAgain is when somebody who waits looks for himself, should the news have been lost.
	lookAgain = 2 * time.Second
)

// kvTable keeps tasks in a key-value bucket of NATS, and large results in an object store.
//
// A record is changed at a revision (compare and set), so that of two replicas one loses, reads what the other wrote, and decides again. Every replica
// watches all records and has them in its index: lists, counts and waits ask nobody.
type kvTable struct {
	conn  *natsconn.Conn
	agent string // as it may be in names of buckets and subjects
	log   *slog.Logger
	clock func() time.Time // this machine's
	await time.Duration    // awaitServer, but in tests

	// Set by open.
	replica  string
	listener listener
	letters  *nats.Subscription      // of answers that other replicas got; nil before
	index    *index                  // locks for itself
	read     atomic.Pointer[reading] // of the server's clock; nil before the first announce

	mu      sync.Mutex // guards what follows; the handles are replaced together when the bucket was lost
	kv      jetstream.KeyValue
	stream  jetstream.Stream      // below kv, to purge single keys
	objects jetstream.ObjectStore // results above valueMax
	unwatch func()                // ends the watcher; nil before open and after close
	over    sync.WaitGroup        // of watchers
	logs    map[string]uint32     // checksums of the logs that are saved, of running tasks
}

// NATS is the table of all replicas of an agent, by whose name they find each other.
func NATS(conn *natsconn.Conn, agent string, log *slog.Logger) Table {
	return &kvTable{
		conn: conn, agent: natsconn.Name(agent), log: cmp.Or(log, slog.Default()), clock: time.Now, await: awaitServer, index: newIndex(),
		logs: map[string]uint32{},
	}
}

func (k *kvTable) isShared() bool                  { return true }
func (k *kvTable) count(context.Context) error     { return nil }
func (k *kvTable) usageByTenant() map[string]usage { return k.index.usageByTenant() }

// reading is what the server's clock said, and when. What passed since then a clock of ours counts that nobody sets.
type reading struct{ theirs, ours time.Time }

// now is the server's clock, so that replicas agree on what has expired; before it was read, this machine's.
func (k *kvTable) now() time.Time {
	if r := k.read.Load(); r != nil {
		return r.theirs.Add(k.clock().Sub(r.ours))
	}
	return k.clock()
}

// subject is where a replica gets answers.
func (k *kvTable) subject(replica string) string { return "mcphud.tasks." + k.agent + "." + replica }

// open reads all records before it returns, so that lists and counts are whole from the first request on.
func (k *kvTable) open(ctx context.Context, replica string, l listener) error {
	k.replica, k.listener = replica, l
	if err := k.connect(ctx); err != nil {
		return err
	}
	if err := k.conn.Try(ctx, "use the bucket of tasks", k.announce); err != nil {
		return err
	}
	if err := k.removeOrphans(ctx, time.Hour); err != nil {
		k.log.Warn("tasks: cannot remove results that are left over", "err", err)
	}
	letters, err := k.conn.Subscribe(ctx, k.subject(replica), k.deliver)
	if err != nil {
		return err
	}
	k.letters = letters
	return nil
}

// connect opens what the server keeps, makes what it does not, and reads all there is.
func (k *kvTable) connect(ctx context.Context) error {
	kv, err := k.conn.Bucket(ctx, "mcphud_tasks_"+k.agent, natsconn.BucketOptions{TTL: bucketTime})
	if err != nil {
		return err
	}
	objects, err := k.conn.Objects(ctx, "mcphud_results_"+k.agent, bucketTime)
	if err != nil {
		return err
	}
	var stream jetstream.Stream
	var watcher jetstream.KeyWatcher
	life, stop := context.WithCancel(context.Background())
	if err := k.conn.Try(ctx, "watch the bucket of tasks", func(ctx context.Context) (err error) {
		if stream, err = k.conn.JetStream().Stream(ctx, "KV_"+kv.Bucket()); err != nil {
			return err
		}
		watcher, err = kv.Watch(life, stateKey(">"))
		return err
	}); err != nil {
		stop()
		return err
	}
	k.mu.Lock()
	was := k.unwatch
	if was != nil {
		k.index.reset()
	}
	k.kv, k.stream, k.objects = kv, stream, objects
	k.unwatch = func() { _ = watcher.Stop(); stop() }
	k.mu.Unlock()
	if was != nil {
		was()
	}
	ready := make(chan struct{})
	k.over.Go(func() {
		k.index.follow(watcher, func() { close(ready) }, func(h *header) { k.listener.handleEnd(h.ID, h.State) }, func(key string, err error) {
			k.log.Warn("tasks: a record is left alone", "key", key, "err", err)
		})
	})
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nats: cannot read the bucket of tasks: %s: %w", k.conn.Where(), context.Cause(ctx))
	}
}

// explainErr replaces an error by that of the connection where there is none: "no responders" would not tell people that NATS is away.
func (k *kvTable) explainErr(err *error) {
	if gone := k.conn.Ready(); *err != nil && gone != nil {
		*err = gone
	}
}

// close ends the watcher and takes the presence of this replica away, so that others interrupt its tasks at once. It does nothing before open and the
// second time.
func (k *kvTable) close() {
	k.mu.Lock()
	unwatch := k.unwatch
	k.unwatch = nil
	k.mu.Unlock()
	if unwatch == nil {
		return
	}
	if k.letters != nil {
		_ = k.letters.Unsubscribe()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if k.conn.Up() {
		k.erase(ctx, presenceKey(k.replica)) // or the others notice by themselves
	}
	unwatch()
	k.over.Wait()
}

// handles are what the server keeps, as of now.
func (k *kvTable) handles() (jetstream.KeyValue, jetstream.Stream, jetstream.ObjectStore) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kv, k.stream, k.objects
}

// readHeader reads the record of an id, without the result and log that are stored beside it; nil if there is none.
func (k *kvTable) readHeader(ctx context.Context, id string) (h *header, inline []byte, rev uint64, err error) {
	kv, _, _ := k.handles()
	e, err := kv.Get(ctx, stateKey(id))
	if isNotFound(err) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	if h, inline, err = decode(e.Value()); err != nil {
		return nil, nil, 0, err
	}
	if h.Place == 0 {
		h.Place = e.Revision()
	}
	return h, inline, e.Revision(), nil
}

// lookup returns the record of an id from the index, or, where that does not have it unfinished, from the bucket.
func (k *kvTable) lookup(ctx context.Context, id string) (h *header, rev uint64, err error) {
	if e, ok := k.index.get(id); ok && !e.newer && !e.State.isTerminal() {
		h := *e.header
		h.Place = e.place()
		return &h, e.rev, nil
	}
	h, _, rev, err = k.readHeader(ctx, id)
	return h, rev, err
}

// readRecord reads what is stored beside a record; nil if it was removed meanwhile.
func (k *kvTable) readRecord(ctx context.Context, h *header, inline []byte) (*record, error) {
	r := h.record()
	result, err := k.readResult(ctx, h, inline)
	if isNotFound(err) || errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Result = result
	if h.Log {
		kv, _, _ := k.handles()
		e, err := kv.Get(ctx, logKey(h.ID))
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		if err == nil {
			r.Log = e.Value()
		}
	}
	return r, nil
}

// get reads the bucket, not the index, which may be behind; the index learns by it.
func (k *kvTable) get(ctx context.Context, id string) (r *record, err error) {
	defer k.explainErr(&err)
	h, inline, rev, err := k.readHeader(ctx, id)
	if err != nil || h == nil || !k.now().Before(time.UnixMilli(h.Expires)) {
		return nil, err
	}
	k.index.set(h, rev, false)
	return k.readRecord(ctx, h, inline)
}

// insert waits for a server that is away, for up to awaitServer: calls without a task survive that as well.
func (k *kvTable) insert(ctx context.Context, r *record) (err error) {
	defer k.explainErr(&err)
	h := headerOf(r)
	value, err := encode(h, nil)
	if err != nil {
		return err
	}
	until := time.NewTimer(k.await)
	defer until.Stop()
	for away := false; ; {
		changed := k.conn.Changed()
		rev, err := k.create(ctx, r.ID, value)
		if err == nil {
			k.index.set(h, rev, false)
			return nil
		}
		select {
		case <-changed:
			away = true
		default:
		}
		if away = away || !k.conn.Up(); !away {
			return err
		}
		select {
		case <-k.conn.Changed():
		case <-time.After(pause): // one that is just back is not ready at once
		case <-until.C:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// create makes the record of an id, or finds that an attempt of which no answer came did.
func (k *kvTable) create(ctx context.Context, id string, value []byte) (rev uint64, err error) {
	kv, _, _ := k.handles()
	err = k.conn.Try(ctx, "keep a task", func(ctx context.Context) (err error) {
		rev, err = kv.Create(ctx, stateKey(id), value)
		if errors.Is(err, jetstream.ErrKeyExists) {
			var e jetstream.KeyValueEntry
			if e, err = kv.Get(ctx, stateKey(id)); err == nil {
				rev = e.Revision()
			}
		}
		return err
	})
	return rev, err
}

// write replaces a record at a revision.
func (k *kvTable) write(ctx context.Context, h *header, inline []byte, rev uint64) error {
	value, err := encode(h, inline)
	if err != nil {
		return err
	}
	kv, _, _ := k.handles()
	err = k.conn.Try(ctx, "change a task", func(ctx context.Context) (err error) {
		rev, err = kv.Update(ctx, stateKey(h.ID), value, rev)
		return err
	})
	if err == nil {
		k.index.set(h, rev, false)
	}
	return err
}

// update tries again where another replica changed the record in between: what it says of the task is newer all the same, unless that ended it.
func (k *kvTable) update(ctx context.Context, r *record) (err error) {
	defer k.explainErr(&err)
	logged, err := k.saveLog(ctx, r)
	if err != nil {
		return err
	}
	for h, rev, err := k.lookup(ctx, r.ID); ; h, _, rev, err = k.readHeader(ctx, r.ID) {
		if err != nil {
			return err
		}
		if h == nil || h.State.isTerminal() {
			return errOver
		}
		next := headerOf(r)
		next.Place, next.Log = h.Place, h.Log || logged
		if err := k.write(ctx, next, nil, rev); !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return err
		}
	}
}

// saveLog keeps the log of a task, which the replica has that took the call.
func (k *kvTable) saveLog(ctx context.Context, r *record) (bool, error) {
	if r.Origin != k.replica || len(r.Log) == 0 {
		return false, nil
	}
	sum := crc32.ChecksumIEEE(r.Log)
	k.mu.Lock()
	had, ok := k.logs[r.ID]
	k.mu.Unlock()
	if ok && had == sum {
		return true, nil
	}
	kv, _, _ := k.handles()
	if _, err := kv.Put(ctx, logKey(r.ID), r.Log); err != nil {
		return false, err
	}
	k.mu.Lock()
	k.logs[r.ID] = sum
	k.mu.Unlock()
	return true, nil
}

// settle stores a large result first and the record that names it last: whoever sees the end finds the result. Where another end came first the result is
// removed again.
func (k *kvTable) settle(ctx context.Context, r *record) (end *record, won bool, err error) {
	defer k.explainErr(&err)
	logged, err := k.saveLog(ctx, r)
	if err != nil {
		return nil, false, err
	}
	next := headerOf(r)
	next.Inputs, next.Size = nil, r.size()
	var inline []byte
	stored := false
	h, rev, err := k.lookup(ctx, r.ID)
	for ; err == nil && h != nil && !h.State.isTerminal(); h, _, rev, err = k.readHeader(ctx, r.ID) {
		if !stored {
			if inline, err = k.store(ctx, next, r.Result); err != nil {
				return nil, false, err
			}
			stored = true
		}
		next.Place, next.Log = h.Place, h.Log || logged
		if err = k.write(ctx, next, inline, rev); err == nil {
			k.forgetLog(r.ID)
			return r, true, nil
		}
		if !errors.Is(err, jetstream.ErrKeyRevisionMismatch) { // it may have been written all the same
			return nil, false, err
		}
	}
	if err != nil {
		return nil, false, err
	}
	if stored {
		k.removeParts(ctx, &header{ID: r.ID, Result: next.Result, Object: next.Object})
	}
	k.forgetLog(r.ID)
	return k.remoteEnd(ctx, r, logged)
}

// forgetLog forgets how much of a task's log this replica wrote.
func (k *kvTable) forgetLog(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.logs, id)
}

// remoteEnd returns how a task ended that another replica settled. That one did not know of the log of this replica, which is added to the record.
func (k *kvTable) remoteEnd(ctx context.Context, r *record, logged bool) (end *record, won bool, err error) {
	h, inline, rev, err := k.readHeader(ctx, r.ID)
	if err != nil || h == nil {
		return nil, false, err
	}
	if logged && !h.Log {
		h.Log = true
		h.Size += int64(len(r.Log))
		if err := k.write(ctx, h, inline, rev); err != nil && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return nil, false, err
		}
	}
	end, err = k.readRecord(ctx, h, inline)
	return end, false, err
}

// list asks the index; the place of a record is the revision at which it was made, which grows with time.
func (k *kvTable) list(_ context.Context, o owner, before int64, n int) (out []*record, last int64, err error) {
	now, below := k.now().UnixMilli(), uint64(cmp.Or(before, math.MaxInt64)) //nolint:gosec // not negative
	mine := k.index.all(func(e entryAt) bool {
		return !e.newer && e.Principal == o.Principal && e.Tenant == o.Tenant && (e.Principal != "" || e.Session == o.Session) && e.Expires > now && e.place() < below
	})
	slices.Reverse(mine)
	for _, e := range mine[:min(n, len(mine))] {
		out, last = append(out, e.record()), int64(e.place()) //nolint:gosec // far from that many
	}
	return out, last, nil
}

// remove deletes a record, unless somebody else changed or deleted it.
func (k *kvTable) remove(ctx context.Context, e entryAt) (bool, error) {
	kv, _, _ := k.handles()
	err := kv.Delete(ctx, stateKey(e.ID), jetstream.LastRevision(e.rev))
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		if h, _, rev, err := k.readHeader(ctx, e.ID); err == nil && h == nil { // the news is on its way
			k.index.remove(e.ID, max(rev, e.rev+1))
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	k.index.markDeleted(e.ID)
	k.index.remove(e.ID, e.rev+1)
	k.removeParts(ctx, e.header)
	return true, nil
}

// evict removes at a revision: two replicas that make room at the same time remove two records, and not one twice.
func (k *kvTable) evict(ctx context.Context, tenant string, by time.Time) (bool, error) {
	over := k.index.all(func(e entryAt) bool { return e.Tenant == tenant && e.State.isTerminal() && e.Updated <= milliOrMax(by) })
	slices.SortFunc(over, func(a, b entryAt) int { return cmp.Compare(a.rev, b.rev) })
	for _, e := range over {
		if gone, err := k.remove(ctx, e); gone || err != nil {
			return gone, err
		}
	}
	return false, nil
}

// expire removes this replica's expired records, and those of others a while later, should their replica be gone.
func (k *kvTable) expire(ctx context.Context) (first time.Time, err error) {
	for _, e := range k.index.all(func(entryAt) bool { return true }) {
		at := time.UnixMilli(e.Expires)
		if e.Origin != k.replica { // which removes it
			at = at.Add(othersTime)
		}
		if k.now().Before(at) {
			if first.IsZero() || at.Before(first) {
				first = at
			}
		} else if _, err := k.remove(ctx, e); err != nil {
			return first, err
		}
	}
	return first, nil
}
