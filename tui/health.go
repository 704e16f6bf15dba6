package tui

import (
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
)

// Health is what the state of a server or a process means, whatever it is called. It decides glyph and colour wherever one
// is drawn; the word beside them is the state's own.
type Health uint8

// The healths.
const (
	Stopped   Health = iota // not running, and nobody wants it to
	Changing                // on its way up or down
	Healthy                 // ready to be asked
	Unhealthy               // failed; it may be tried again
	Locked                  // somebody has to log in
)

// HealthOf is the health of a server in a state.
func HealthOf(s session.State) Health {
	switch s {
	case session.Connected:
		return Healthy
	case session.Connecting:
		return Changing
	case session.Failed:
		return Unhealthy
	case session.NeedsLogin:
		return Locked
	}
	return Stopped
}

// Glyph is a one-cell shape that differs for each health.
func (h Health) Glyph() string { return [...]string{"○", "◐", "●", "✗", "◆"}[h] }

// Tone is what it means to whoever reads it.
func (h Health) Tone() page.Tone {
	return [...]page.Tone{page.Quiet, page.Warn, page.Good, page.Bad, page.Login}[h]
}

// Style is the colour; glyph and word say the same.
func (h Health) Style(t *Theme) paint.Style { return h.Tone().Style(t) }

// Mark is the glyph in its colour.
func (h Health) Mark(t *Theme) string { return h.Style(t).S(h.Glyph()) }
