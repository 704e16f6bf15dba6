package cli

import (
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/views/traffic"
)

// Targets is where requests of others can be sent again: the servers of the configs, none of which is connected yet, and those that
// are named on the screen. They have a journal of their own: that of the screens is not theirs to write.
func (a *App) Targets() (t traffic.Targets, done func(), err error) {
	set, where, err := a.Options.Load()
	if err != nil {
		set = config.Set{} // a file that cannot be read is no reason not to show another one
	}
	o, err := a.SessionOptions(set.Settings)
	if err != nil {
		return t, nil, err
	}
	o.Patient = true
	m := session.NewManager(o)
	for _, s := range set.Servers {
		if _, err := m.Register(s); err != nil {
			_ = m.Close()
			return t, nil, err
		}
	}
	a.Kill.Watch(ProcessesOf(m))
	return traffic.Targets{Sessions: m, Where: where, Consent: a.Consent()}, func() { _ = m.Close() }, nil
}
