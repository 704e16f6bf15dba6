package session

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// link is the connection of a session: the one that there is, the attempt to make one, and those that are planned. They change together, so
// one lock guards them. A connection is made by one attempt at a time; whoever has one may find that it is not the session's any more,
// and learns so from comparing it.
type link struct {
	// Set once, before anybody has the session.
	policy Retry                                    // of planned attempts; Max is negative where a lost connection stays lost
	life   context.Context                          // ends with the session
	runs   *sync.WaitGroup                          // the session's; counted up under mu while closed is false, or by what is counted itself
	again  func(context.Context, *retry, time.Time) // makes planned attempts; runs on a goroutine of its own

	mu sync.Mutex
	facts

	// asks is what askContext gives; both are nil until something is asked, and asks is once it has ended.
	asks    context.Context
	endAsks context.CancelCauseFunc
}

// facts are what holds of a link at one moment; guarded by its mu. Whoever needs several of them takes a snapshot, in which they agree.
type facts struct {
	// Where the server is, for attempts that begin.
	url string            // "" for a command
	env map[string]string // by SetVariable; nil for nothing, replaced and never changed in place

	// What there is. Written by set, endConnected, lose and end.
	state   State     // Connected where there is a connection, and only there
	err     error     // why state is Failed or NeedsLogin; nil in all others
	since   time.Time // when state was set
	retired string    // why Retire ended the connection; "" but in Disconnected
	conn    *conn     // nil but in Connected
	conns   uint64    // the number of the last connection that was begun; only grows
	second  uint64    // the number of the last that As made; only grows
	era     Era       // of the last connection; "" before the first, and after an attempt that failed
	level   *string   // by SetLevel, for the connections to come; nil before. Never changed in place

	// The attempt that runs. Written by begin, and by endConnected or endFailed at its end; dialing and abort are nil where none runs.
	dialing  chan struct{}      // closed when it is over
	abort    context.CancelFunc // ends it; what was Connecting is Disconnected then
	starting transport.Child    // of the attempt; nil before there is one

	// Those that are planned. Written by plan, endRetry and planNext.
	retry   *retry    // nil where none is
	attempt int       // how many were since the connection was lost, or by hand; 0 for none
	retryAt time.Time // when the next one begins; zero where none is planned, and while one runs

	closed bool // for good: nothing begins any more
}

// snapshot is what holds now. What it points at belongs to the link.
func (l *link) snapshot() facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.facts
}

// speaks is the era of the connection that there is, or that was there last.
func (f facts) speaks() Era {
	if f.conn == nil {
		return f.era
	}
	return f.conn.era
}

// hasConnOrRetry reports whether there is a connection, or one that was lost is to come back by itself.
func (f facts) hasConnOrRetry() bool { return f.conn != nil || f.retry != nil }

// init is for newSession: life ends with the session, runs counts what runs for it, and again makes planned attempts.
func (l *link) init(life context.Context, runs *sync.WaitGroup, cfg config.Server, policy Retry, again func(context.Context, *retry, time.Time)) {
	if cfg.NoReconnect {
		policy.Max = -1
	}
	l.life, l.runs, l.policy, l.again = life, runs, policy, again
	l.url, l.state, l.since = cfg.URL, Disconnected, time.Now()
}

// change is one of state, for the record: what set found and left, taken under its lock, to be announced without it.
type change struct {
	from, to State
	err      error  // why to is Failed or NeedsLogin
	conn     uint64 // the number of the connection that it is about
	retired  string // why Retire ended it; "" for all other changes
}

// set changes the state; the caller holds mu.
func (l *link) set(to State, err error) change {
	from := l.state
	l.state, l.err, l.since = to, err, time.Now()
	// Why it was retired is of interest until somebody connects again.
	if to != Disconnected {
		l.retired = ""
	}
	return change{from: from, to: to, err: err, conn: l.conns, retired: l.retired}
}

// enter counts the caller among what runs for the session, until runs.Done; false once the session is closed.
func (l *link) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.runs.Add(1)
	return true
}

// markClosed notes that the session is closed.
func (l *link) markClosed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// nextNumber counts a new connection.
func (l *link) nextNumber() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns++
	return l.conns
}

// startSecond is for a connection that As makes: what it is to begin with. It is counted among what runs; false once the session is closed.
func (l *link) startSecond(apart uint64) (number uint64, era Era, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, "", false
	}
	l.runs.Add(1)
	l.second += apart
	return l.second, l.era, true
}

// setLevel keeps a level for the connections to come.
func (l *link) setLevel(level *string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = level
}

// setChild notes the child of the attempt that runs; nil where the transport has none.
func (l *link) setChild(child transport.Child) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starting = child
}

// move takes another URL, for attempts that begin from here on. stale is whether a connection was made, or tried, by the old one.
func (l *link) move(url string) (news, stale bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.url == url {
		return false, false
	}
	l.url = url
	return true, l.state != Disconnected
}

// setenv adds to the environment of children that are started.
func (l *link) setenv(name, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	env := maps.Clone(l.env)
	if env == nil {
		env = map[string]string{}
	}
	env[name] = value
	l.env = env
}

// askContext ends when the session is disconnected on purpose or closed. Between the rounds of a call nothing else of it would notice.
func (l *link) askContext() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asks == nil {
		l.asks, l.endAsks = context.WithCancelCause(l.life)
	}
	return l.asks
}
