package sessions

import (
	"cmp"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/idle"
)

// Limits bounds a Table. Zero values mean the defaults.
type Limits struct {
	TTL time.Duration // without requests and streams; default 30 min
	Max int           // default 10,000
	// Ended gets sessions that nobody used for the TTL, or that gave way to others. It must not block.
	Ended func(Binding)
}

// Table keeps sessions in memory.
type Table struct{ t *idle.Table[*Session] }

// Session is one that is in use until it is released.
type Session struct {
	Binding
	ID    string
	Short string                // of the id, safe to log
	entry *idle.Entry[*Session] // nil for a sealed one
}

// NewTable makes an empty table. Close ends its timer.
func NewTable(o Limits) *Table {
	if o.Ended == nil {
		o.Ended = func(Binding) {}
	}
	return &Table{idle.New(idle.Options[*Session]{
		TTL: cmp.Or(max(o.TTL, 0), 30*time.Minute), Max: cmp.Or(max(o.Max, 0), 10_000),
		Owner: func(s *Session) string { return s.Principal }, Ended: func(s *Session) { o.Ended(s.Binding) },
	})}
}

// Len is how many sessions there are.
func (t *Table) Len() int { return t.t.Len() }

// Mint keeps a binding under a new id, a random UUID; at the limit in place of the session that was idle for longest of the
// principal who has the most, so that nobody can push out what is others'.
func (t *Table) Mint(b Binding) (string, error) {
	if err := Check(b.Upstream); err != nil {
		return "", err
	}
	id := jsonrpc.UUID()
	s := &Session{Binding: b, ID: id, Short: Short(id)}
	e, err := t.t.Add(id, s)
	if err != nil {
		return "", ErrFull
	}
	s.entry = e
	e.Release()
	return id, nil
}

// Use finds a session of that agent and caller and keeps it from expiring until it is released.
func (t *Table) Use(id, agent, principal string) (*Session, error) {
	err := ErrUnknown
	e := t.t.UseIf(id, func(s *Session) bool {
		err = s.check(agent, principal)
		return err == nil
	})
	if e == nil {
		return nil, err
	}
	return e.Value, nil
}

// Release ends one use.
func (s *Session) Release() {
	if s.entry != nil {
		s.entry.Release()
	}
}

// Forget ends a session, for itself and for those who use it now. A sealed one cannot be ended here, only at its agent.
func (s *Session) Forget() {
	if s.entry != nil {
		s.entry.Remove()
	}
}

// Close forgets all sessions and returns what their ids stood for; none can be minted any more.
func (t *Table) Close() []Binding {
	all := t.t.Close()
	bindings := make([]Binding, len(all))
	for i, s := range all {
		bindings[i] = s.Binding
	}
	return bindings
}
