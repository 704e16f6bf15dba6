package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

// status is what the last call came to, until a key is pressed.
type status struct {
	last tea.ProgramState // "" where somebody saw it
	over bool             // the program ends, and leaves no report behind
}

// ended notes the outcome of a call.
func (s *status) ended(op *Op, err error) {
	switch {
	case op == nil || op.Quiet || errors.Is(err, context.Canceled):
	case err != nil:
		s.last = tea.ProgramStateError
	default:
		s.last = tea.ProgramStateDone
	}
}

// programStatus is what a terminal of many windows shows of this one (OSC 7501, https://www.superlogical.com/rex/docs/build/program-status):
// a server waits for an answer, a call runs, or the last one is over and nobody has looked yet. No text of a server is in it.
func (a *App) programStatus() *tea.ProgramStatus {
	if a.status.over {
		return nil
	}
	s := &tea.ProgramStatus{App: "mcphud", State: tea.ProgramStateIdle}
	switch n := a.inbox(); {
	case n != "" && n != NotOffered:
		s.State, s.Kind = tea.ProgramStateBlocked, tea.ProgramStatusKindQuestion
	case a.progressBar() != nil:
		s.State = tea.ProgramStateWorking
	case a.status.last != "":
		s.State = a.status.last
	}
	return s
}
