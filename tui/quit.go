package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

// interruptTime is how long after ctrl+c a second one quits.
const interruptTime = 2 * time.Second

// quitting is the state of leaving.
type quitting struct {
	since time.Time // the last ctrl+c
	seq   int
	said  toastExpired // the note that ctrl+c quits, which goes when it no longer does
	asked *confirm     // the question of q, while it is on the screen
}

// interruptExpired ends the time in which ctrl+c quits.
type interruptExpired struct{ seq int }

// interrupt is ctrl+c: the first one cancels the newest call, a second one within interruptTime quits.
func (q *quitting) interrupt(a *App) tea.Cmd {
	now := time.Now()
	if !q.since.IsZero() && now.Sub(q.since) < interruptTime {
		return a.leaveProgram()
	}
	q.since = now
	q.seq++
	seq := q.seq
	if op, ok := a.ops.cancelNewest(a.place.view); ok {
		a.toasts.add(Note, "cancelling "+op.Label+"; ctrl+c again quits")
	} else {
		a.toasts.add(Note, "ctrl+c again quits")
	}
	q.said = toastExpired{a.toasts.seq}
	return a.after(interruptTime, func() tea.Msg { return interruptExpired{seq} })
}

func (q *quitting) expire(a *App, m interruptExpired) {
	if m.seq == q.seq {
		q.since = time.Time{}
		a.toasts.expire(q.said)
	}
}

// request is q: it asks only when calls run.
func (q *quitting) request(a *App) tea.Cmd {
	n := a.ops.calls()
	if n == 0 {
		return a.leaveProgram()
	}
	if q.asked != nil {
		return nil
	}
	what := "A call is running."
	if n > 1 {
		what = fmt.Sprintf("%d calls are running.", n)
	}
	q.asked = newConfirm(Confirmation{
		Title: "Quit mcphud?", Body: what + " Quitting cancels and notifies the server.", Yes: "quit", No: "stay",
		OnYes: func(*Ctx) tea.Cmd { q.asked = nil; return a.leaveProgram() },
		OnNo:  func(*Ctx) tea.Cmd { q.asked = nil; return nil },
	})
	a.push(q.asked, false)
	return nil
}

// settle takes the question away when the last call is over.
func (q *quitting) settle(a *App) {
	if q.asked != nil && a.ops.calls() == 0 {
		a.drop(q.asked)
		q.asked = nil
	}
}

// leaveProgram cancels what runs, so that servers are notified, and quits.
func (a *App) leaveProgram() tea.Cmd {
	a.ops.close()
	return tea.Quit
}
