package tui

import tea "charm.land/bubbletea/v2"

// bindServer gives views the session of the current server.
func (a *App) bindServer(string) {}

// pump starts what tells the program of changes in the sessions.
func (a *App) pump(func(tea.Msg)) (stop func()) { return func() {} }
