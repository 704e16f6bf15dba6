package session

import (
	"slices"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// Outdated is that a server's file says something else than what its session was made of. A session that is in use stays as it is
// until [Manager.Settle].
type Outdated struct {
	Removed bool          // its entry is gone
	Config  config.Server // what the file says now; nothing where it was removed
}

// Outdated is nil as long as the server's file says what the session was made of.
func (s *Session) Outdated() *Outdated { return s.outdated.Load() }

// InUse reports whether the session is connected, or about to be.
func (s *Session) InUse() bool {
	now := s.link.snapshot()
	return now.hasConnOrRetry() || now.dialing != nil
}

// Replace gives the server of this name another configuration: its session ends, and one that is not connected takes its place in
// the list. What the user chose for this run is kept: roots, persona, log level. Whoever has the old session finds it closed; the numbers of
// connections go on, so that the journal has none twice. The error is that of closing the old one, and the new one is there all the same.
func (m *Manager) Replace(cfg config.Server) (*Session, error) {
	m.mu.Lock()
	i := slices.IndexFunc(m.sessions, func(s *Session) bool { return s.cfg.Name == cfg.Name })
	if i < 0 || m.closed {
		m.mu.Unlock()
		return nil, UnknownServer(cfg.Name)
	}
	old, s := m.sessions[i], newSession(cfg, &m.opts, m.NotifyChange, m.setTitle)
	was := old.link.snapshot()
	s.link.conns, s.link.level = was.conns, was.level
	s.client.Store(old.client.Load())
	s.roots.Store(old.roots.Load())
	m.sessions = slices.Clone(m.sessions)
	m.sessions[i] = s
	m.mu.Unlock()
	m.NotifyChange()
	return s, old.close()
}

// Settle gives a server whose file changed while it was in use what the file says now. The session is a new one then; it is nil for
// one whose entry is gone.
func (m *Manager) Settle(name string) (*Session, error) {
	s, ok := m.Server(name)
	if !ok {
		return nil, UnknownServer(name)
	}
	switch o := s.Outdated(); {
	case o == nil:
		return s, nil
	case o.Removed:
		return nil, m.Unregister(name)
	default:
		return m.Replace(o.Config)
	}
}

// Changes are the names of servers, by what [Manager.Update] made of them.
type Changes struct {
	Added, Changed, Removed []string
	Outdated                []string // in use: they changed, or are gone, once they are settled
}

// None reports whether nothing is different.
func (c Changes) None() bool { return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Outdated) == 0 }

// Update takes in what configuration files say now, and said before. What did not change is left alone, whatever became of it
// meanwhile; so is what is in use, which is marked as Outdated.
func (m *Manager) Update(before, now []config.Server) (Changes, error) {
	var out Changes
	var first error
	did := func(list *[]string, name string, err error) {
		*list = append(*list, name)
		if err != nil && first == nil && failure.KindOf(err) == failure.Usage {
			first = err
		}
	}
	was := byName(before)
	for _, cfg := range now {
		old, known := was[cfg.Name]
		if known && old.Equal(cfg) && old.Source.File == cfg.Source.File {
			continue
		}
		s, ok := m.Server(cfg.Name)
		same := ok && s.Config().Equal(cfg) && (s.Config().Source.File == "" || s.Config().Source.File == cfg.Source.File)
		switch {
		case !ok:
			_, err := m.Register(cfg)
			did(&out.Added, cfg.Name, err)
		case same && s.InUse(): // somebody took it in already, or it is again as it was
			if s.outdated.Swap(nil) != nil {
				s.notifyChange()
			}
		case same && s.Config().Source == cfg.Source:
		case s.InUse():
			s.outdated.Store(&Outdated{Config: cfg})
			s.notifyChange()
			did(&out.Outdated, cfg.Name, nil)
		default:
			_, err := m.Replace(cfg)
			if !same {
				did(&out.Changed, cfg.Name, err)
			}
		}
	}
	is := byName(now)
	for _, cfg := range before {
		s, ok := m.Server(cfg.Name)
		if _, still := is[cfg.Name]; still || !ok || s.Config().Source.File != cfg.Source.File {
			continue
		}
		if s.InUse() {
			s.outdated.Store(&Outdated{Removed: true})
			s.notifyChange()
			did(&out.Outdated, cfg.Name, nil)
			continue
		}
		did(&out.Removed, cfg.Name, m.Unregister(cfg.Name))
	}
	return out, first
}

// byName indexes servers by their names, of which there are no two alike in one list.
func byName(list []config.Server) map[string]config.Server {
	all := make(map[string]config.Server, len(list))
	for _, s := range list {
		all[s.Name] = s
	}
	return all
}
