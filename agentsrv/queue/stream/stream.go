// Package stream is the queue of several agent processes of one name, on NATS JetStream.
//
// Each process, a replica, takes calls of its own clients, and puts them into one work-queue stream. Whoever has a slot
// takes the next one: tenants take turns, and those of one tenant begin in the order they came. The replica that a call
// arrived at, its origin, says whether it may still begin, hears what the tool sends, puts its questions to the client,
// and gets its result, all of that without the stream. A call is taken out of the stream once it has ended, or has
// asked its client something: it is not begun again after that. Until then the loss of the replica that runs it lets
// another one run it if that is safe; else it ends as interrupted.
package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

const (
	keep      = 24 * time.Hour         // of calls in the stream, as long as the longest task
	twice     = 2 * time.Minute        // within which the server drops what is published again
	forget    = 10 * time.Minute       // after which the consumer of a tenant without calls goes
	answerIn  = 2 * time.Second        // for what a replica or the server answers at once
	tryFor    = 10 * time.Second       // how long a call waits for a server that is gone, before it is refused
	tryEvery  = 250 * time.Millisecond // between attempts to hand over a result
	unlimited = int64(-1)
)

// Options of a Queue.
type Options struct {
	queue.Options // Concurrency is that of this process; Capacity, TenantRunning are of all together

	Conn  *natsconn.Conn
	Name  string        // of the agent: replicas of one name share their calls
	Offer func() string // says what tools there are: replicas with different ones do not share their calls

	// Settle stores how the task of a job ended. The process that ran it calls it before the call leaves the stream; nil stores nothing.
	Settle func(ctx context.Context, id string, result json.RawMessage, err error) error
	// Over reports that a task has ended already, by being cancelled for one, and whether it is known: it is not until its record is
	// made, nor once that is gone. nil for tasks that are always known, and never over.
	// An error of either that is a kit.ErrUnreadable is final; others are not.
	Over func(ctx context.Context, id string) (over, known bool, err error)
	pace // of tests, which have no time

	// Perform runs a job of another process, of which line leads there; nil is what Middleware makes.
	Perform func(ctx context.Context, job queue.Job, line *Line) (json.RawMessage, error)
}

// pace is how soon a loss is noticed. Replicas of one agent have the same.
type pace struct {
	ackWait time.Duration // without a sign of life for so long whoever runs a call counts as lost; a third of it is between them; 5 s
	beat    time.Duration // between heartbeats, of which five have to be missing until a replica is gone; 2 s
}

func (p pace) timeout() time.Duration { return 5 * p.beat }

// Queue is one replica's part of the queue. It works from New to Drain.
type Queue struct {
	queue.Face
	o     Options
	log   *slog.Logger
	local *queue.Queue
	me    string // this replica
	names names
	nc    *nats.Conn
	js    jetstream.JetStream
	begun jetstream.KeyValue // calls that must not begin again

	objectsOnce sync.Mutex
	store       jetstream.ObjectStore

	known    map[string]time.Time // subjects in the stream and since when, or when they were looked at; of whoever cleans
	cleaning atomic.Bool

	wake  chan struct{}
	leave chan struct{}   // closed when Drain begins
	stop  chan struct{}   // closed when what still runs has to end
	end   <-chan struct{} // closed when nothing of the queue may go on
	subs  []*nats.Subscription
	life  context.Context // ends with end; what may take long, as large objects do, is done under it
	kill  context.CancelFunc
	loops sync.WaitGroup // of the queue itself
	tasks sync.WaitGroup // of what runs for others, and of what is left to do after a call

	mu       sync.Mutex
	calls    map[string]*call // of this replica's clients
	jobs     map[string]*job  // that run here
	waiting  ring
	starting int // were taken, and have no slot yet
	live     int // calls of Do
	idle     chan struct{}
	draining bool
	replicas replicas
	limit    int64 // MaxMsgs of the stream, as far as known
	queued   map[string]int
	seen     seen
	reported queue.Status
}

// seen is what was last known of the stream.
type seen struct {
	at       time.Time
	messages int
}

// New joins the replicas of that name. It takes calls once there is what runs them: Options.Perform, or the chain that Middleware is
// part of.
func New(ctx context.Context, o Options) (*Queue, error) {
	limit := o.TenantRunning
	o.Options = o.Completed()
	o.ackWait, o.beat = cmp.Or(o.ackWait, 5*time.Second), cmp.Or(o.beat, 2*time.Second)
	o.TenantRunning = max(limit, 0) // of all replicas, of which there may be any number
	q := &Queue{
		o: o, log: o.Logger, me: nuid.Next(), names: newNames(o.Name), nc: o.Conn.NATS(), js: o.Conn.JetStream(),
		wake: make(chan struct{}, 1), leave: make(chan struct{}), stop: make(chan struct{}),
		known: map[string]time.Time{}, calls: map[string]*call{}, jobs: map[string]*job{}, queued: map[string]int{},
	}
	q.life, q.kill = context.WithCancel(context.WithoutCancel(ctx))
	q.end = q.life.Done()
	q.Face = q.Status
	mine := o.Options
	mine.Capacity, mine.TenantRunning, mine.TenantQueued = queue.Unlimited, 0, 0 // the stream's
	mine.Freed = q.awake
	q.local = queue.New(mine)
	q.replicas = newReplicas(o.timeout(), card{Replica: q.me, Capacity: o.Capacity, Concurrency: o.Concurrency})
	if err := q.open(ctx); err != nil {
		return nil, err
	}
	if err := q.listen(ctx); err != nil {
		q.unlisten()
		return nil, err
	}
	if o.Perform != nil {
		q.start()
	}
	return q, nil
}

// start shows the replica to the others, and takes calls from now on.
func (q *Queue) start() {
	c := q.card()
	q.mu.Lock()
	q.replicas.me = c
	q.mu.Unlock()
	q.hello()
	q.loops.Go(q.dispatch)
	q.loops.Go(q.tick)
	q.loops.Go(q.renew)
}

// open makes sure of what the server keeps.
func (q *Queue) open(ctx context.Context) error {
	if err := q.ensure(ctx); err != nil {
		return err
	}
	kv, err := q.o.Conn.Bucket(ctx, q.names.begun, natsconn.BucketOptions{TTL: keep})
	if err != nil {
		return err
	}
	q.begun = kv
	return nil
}

// ensure makes the stream if there is none.
func (q *Queue) ensure(ctx context.Context) error {
	return q.o.Conn.Try(ctx, "use the stream "+q.names.stream, func(ctx context.Context) error {
		s, err := q.js.Stream(ctx, q.names.stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = q.js.CreateStream(ctx, jetstream.StreamConfig{
				Name: q.names.stream, Subjects: []string{q.names.work + ".>"}, Retention: jetstream.WorkQueuePolicy,
				Discard: jetstream.DiscardNew, MaxMsgs: q.room(), MaxAge: keep, Duplicates: twice, AllowDirect: true,
				Description: "calls that wait for an mcphud agent, and those that run",
			})
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another replica was quicker
				s, err = q.js.Stream(ctx, q.names.stream)
			}
		}
		if err != nil {
			return err
		}
		cfg := s.CachedInfo().Config
		if cfg.Retention != jetstream.WorkQueuePolicy || cfg.Discard != jetstream.DiscardNew {
			return fmt.Errorf("a stream of that name keeps something else (%s); remove it, or give the agent another name", cfg.Retention)
		}
		q.mu.Lock()
		q.limit = cfg.MaxMsgs
		q.mu.Unlock()
		return nil
	})
}

// room is how many calls the stream may have: those that wait, and those that run.
func (q *Queue) room() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.replicas.room()
}

// resize fits the stream to the replicas that there are. Those that go give way only after a while: they may be restarted.
func (q *Queue) resize(ctx context.Context) {
	want := q.room()
	q.mu.Lock()
	have := q.limit
	q.mu.Unlock()
	if want == have || want > 0 && have > 0 && want < have && !q.knowsReplicas() {
		return
	}
	s, err := q.js.Stream(ctx, q.names.stream)
	if err == nil {
		cfg := s.CachedInfo().Config
		if cfg.MaxMsgs != want {
			cfg.MaxMsgs = want
			_, err = q.js.UpdateStream(ctx, cfg)
		}
	}
	if err != nil {
		q.log.Debug("queue: cannot change how much the stream takes", "err", err)
		return
	}
	q.mu.Lock()
	q.limit = want
	q.mu.Unlock()
}

// knowsReplicas reports that the other replicas had the time to say that they are there.
func (q *Queue) knowsReplicas() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return time.Since(q.replicas.since) > q.o.timeout()
}

// Replica names this process among those that share the queue.
func (q *Queue) Replica() string { return q.me }

// Alive reports whether a replica is there, as far as this one has heard.
func (q *Queue) Alive(replica string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return replica == q.me || q.replicas.alive(replica)
}

// awake has the dispatcher look whether there is something to do.
func (q *Queue) awake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

var _ queue.Engine = (*Queue)(nil)
