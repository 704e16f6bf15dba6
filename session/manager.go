package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Manager holds all sessions. Its methods are safe for concurrent use. Sessions share its options, its journal and its limits; nothing else
// of one is known to another.
type Manager struct {
	// Set once.
	opts    Options       // completed
	own     bool          // the journal is ours to close
	rev     atomic.Uint64 // see Rev
	changed chan struct{} // cap 1

	followers atomic.Pointer[[]chan struct{}] // replaced as a whole, under mu; read without, since a change of any session is told there

	mu       sync.Mutex
	sessions []*Session // in the order of registration, or that of Arrange
	closed   bool       // nothing can be registered any more
}

// NewManager returns a manager without servers. Without Options.Journal it makes one of its own.
func NewManager(o Options) *Manager {
	o.defaults()
	m := &Manager{opts: o, changed: make(chan struct{}, 1)}
	if m.opts.Journal == nil && o.Unrecorded {
		return m
	}
	if m.opts.Journal == nil {
		m.opts.Journal, m.own = journal.New(journal.Options{}), true
	}
	m.opts.Journal.OnChange(m.NotifyChange)
	return m
}

// Journal is where everything is recorded; nil with Options.Unrecorded.
func (m *Manager) Journal() *journal.Journal { return m.opts.Journal }

// Trust is the store that says which servers of project files may be started; nil for none of them.
func (m *Manager) Trust() *config.Trust { return m.opts.Trust }

// Rev grows with every change of any session and every journal entry.
func (m *Manager) Rev() uint64 { return m.rev.Load() }

// Changed receives after changes; several make one. Capacity 1, for one reader.
func (m *Manager) Changed() <-chan struct{} { return m.changed }

// NotifyChange tells Changed and the followers that something about a server is different.
func (m *Manager) NotifyChange() {
	m.rev.Add(1)
	notify(m.changed)
	if fs := m.followers.Load(); fs != nil {
		for _, f := range *fs {
			notify(f)
		}
	}
}

// notify puts one into a channel of capacity 1, unless its reader has one to read already: several changes make one.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Follow is Changed for one more reader, until cancel is called.
func (m *Manager) Follow() (changed <-chan struct{}, cancel func()) {
	c := make(chan struct{}, 1)
	m.follow(func(fs []chan struct{}) []chan struct{} { return append(fs, c) })
	return c, func() {
		m.follow(func(fs []chan struct{}) []chan struct{} {
			return slices.DeleteFunc(fs, func(f chan struct{}) bool { return f == c })
		})
	}
}

// follow replaces the followers by a changed copy: NotifyChange reads them without a lock.
func (m *Manager) follow(change func([]chan struct{}) []chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var fs []chan struct{}
	if old := m.followers.Load(); old != nil {
		fs = slices.Clone(*old)
	}
	fs = change(fs)
	m.followers.Store(&fs)
}

// Register adds a server, without connecting to it. A name that is taken, or a manager that is closed, is a *failure.Error of kind Usage; what is
// wrong with the rest of cfg is an error of Connect, so that the server is in the list with what is wrong.
func (m *Manager) Register(cfg config.Server) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, &failure.Error{Kind: failure.Usage, Server: cfg.Name, Stage: "registering", Message: "the manager is closed"}
	}
	for _, s := range m.sessions {
		if s.cfg.Name == cfg.Name {
			return nil, &failure.Error{Kind: failure.Usage, Server: cfg.Name, Stage: "registering", Message: "there is a server of this name already", Next: "choose another name"}
		}
	}
	s := newSession(cfg, &m.opts, m.NotifyChange, m.setTitle)
	m.sessions = append(m.sessions, s)
	m.NotifyChange()
	return s, nil
}

// setTitle gives a session its title, with a number after one that another session has.
func (m *Manager) setTitle(s *Session, title string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	unique := title
	for n := 2; slices.ContainsFunc(m.sessions, func(o *Session) bool { return o != s && o.Title() == unique }); n++ {
		unique = fmt.Sprintf("%s (%d)", title, n)
	}
	s.title.Store(&unique)
}

// Unregister disconnects a server and forgets it, and returns when nothing of it is left. What its file says stays: whoever removes an entry
// does both. The error is of kind ServerNotFound, or that of closing.
func (m *Manager) Unregister(name string) error {
	m.mu.Lock()
	i := slices.IndexFunc(m.sessions, func(s *Session) bool { return s.cfg.Name == name })
	if i < 0 {
		m.mu.Unlock()
		return UnknownServer(name)
	}
	s := m.sessions[i]
	m.sessions = slices.Delete(slices.Clone(m.sessions), i, i+1)
	m.mu.Unlock()
	m.NotifyChange()
	return s.close()
}

// Servers lists the sessions in the order of registration.
func (m *Manager) Servers() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sessions)
}

// Arrange puts the servers of these names first, in the order of the names.
func (m *Manager) Arrange(names []string) {
	place := func(s *Session) int {
		if i := slices.Index(names, s.cfg.Name); i >= 0 {
			return i
		}
		return len(names)
	}
	m.mu.Lock()
	m.sessions = slices.Clone(m.sessions)
	slices.SortStableFunc(m.sessions, func(a, b *Session) int { return place(a) - place(b) })
	m.mu.Unlock()
	m.NotifyChange()
}

// Server finds a session by name.
func (m *Manager) Server(name string) (*Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		if s.cfg.Name == name {
			return s, true
		}
	}
	return nil, false
}

// Connect connects one server by name.
func (m *Manager) Connect(ctx context.Context, name string) error {
	s, ok := m.Server(name)
	if !ok {
		return UnknownServer(name)
	}
	return s.Connect(ctx)
}

// Disconnect disconnects one server by name.
func (m *Manager) Disconnect(name string) error {
	s, ok := m.Server(name)
	if !ok {
		return UnknownServer(name)
	}
	return s.Disconnect()
}

// UnknownServer is the error of kind ServerNotFound for a name that no server has.
func UnknownServer(name string) error {
	return &failure.Error{Kind: failure.ServerNotFound, Server: name, Message: "there is no server of this name", Next: "see which servers there are", Remedy: failure.ListServers}
}

// Close ends all sessions at once and returns when nothing of them is left: no process, no goroutine.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	all := slices.Clone(m.sessions)
	m.mu.Unlock()
	errs := make([]error, len(all)+1)
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() { errs[i] = s.close() })
	}
	wg.Wait()
	if m.own {
		errs[len(all)] = m.opts.Journal.Close()
	}
	return errors.Join(errs...)
}

// Pending is the queue of what servers wait for; nil where nobody answers.
func (m *Manager) Pending() *pending.Queue { return m.opts.Pending }
