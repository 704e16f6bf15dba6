package pane

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
)

// past is how many calls of each item of a server the history has, of this run and of earlier ones. They are counted beside the event loop
// whenever the history has changed.
type past struct {
	of     *calls.History
	server *session.Session
	rev    uint64 // of the history when they were counted

	mu       sync.Mutex
	counting bool
	by       map[calls.Item]int
}

// Earlier counts again what changed in the history; it is free where nothing did.
func (k *Calls) Earlier(c *tui.Ctx) tea.Cmd {
	p := &k.past
	if p.of == nil || c.Server == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	other := c.Server != p.server
	if p.counting || !other && p.rev == p.of.Rev() && !p.of.Busy() {
		return nil
	}
	if other {
		p.by = nil
	}
	p.server, p.counting = c.Server, true
	config, rev := c.Server.Config(), c.Sessions.Rev()
	return func() tea.Msg {
		by, at, err := p.of.Counts(context.Background(), calls.Identity(config))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.counting, p.rev = false, at
		if err == nil { // the screen of the history says what is wrong with it
			p.by = by
		}
		return tui.SessionChanged{Rev: rev}
	}
}

// Past is how many calls of an item of the current server the history has.
func (k *Calls) Past(kind offer.Kind, target string) int {
	k.past.mu.Lock()
	defer k.past.mu.Unlock()
	return k.past.by[calls.Item{Method: methods[kind], Target: target}]
}
