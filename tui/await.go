package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// awaited is what a key asked for that is about something which has not come yet, such as the first tool of a list that is loading. Keys
// behind it are for what it will open: they wait as well.
type awaited struct {
	view  string
	waits func(*Ctx) bool
	then  func(*Ctx) tea.Cmd
	keys  []tea.Msg // presses and pastes
}

// mostKeys bounds the keys that wait.
const mostKeys = 200

// Await runs then as soon as waits reports false, unless the screen is left or esc is pressed before. what is waited for ("tools") is named to
// the user. Keys that are typed meanwhile are for what then opens.
func (c *Ctx) Await(view, what string, waits func(*Ctx) bool, then func(*Ctx) tea.Cmd) tea.Cmd {
	c.app.awaited = &awaited{view: view, waits: waits, then: then}
	return c.Toast(Note, "goes on once the "+what+" are there; esc gives up")
}

// hold keeps a message for later; false if nothing is awaited that it could be for.
func (a *App) hold(m tea.Msg) bool {
	w := a.awaited
	if w == nil || a.top() != nil || a.prompt != nil {
		return false
	}
	if k, ok := m.(tea.KeyPressMsg); ok && k.String() == "esc" {
		a.awaited = nil
		a.toasts.add(Note, "given up")
		return true
	}
	if len(w.keys) < mostKeys {
		w.keys = append(w.keys, m)
	}
	return true
}

// arrived goes on with what was awaited, if it has come.
func (a *App) arrived() (cmd tea.Cmd) {
	w := a.awaited
	switch {
	case w == nil:
		return nil
	case a.place.view != w.view:
		a.awaited = nil
		return nil
	case w.waits(&a.ctx):
		return nil
	}
	a.awaited = nil
	before, overlays := a.place, len(a.overlays)
	cmd = join(w.then(&a.ctx), a.settle())
	if a.place == before && len(a.overlays) == overlays && a.prompt == nil && a.awaited == nil { // it opened nothing: the keys are for nothing
		if n := len(w.keys); n > 0 {
			a.toasts.add(Warning, fmt.Sprintf("what was typed meanwhile is left out (%d)", n))
		}
		return cmd
	}
	for _, m := range w.keys {
		a.sync()
		cmd = join(cmd, a.dispatch(m), a.settle())
	}
	return cmd
}
