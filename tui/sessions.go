package tui

// bindServer gives views the session of the current server.
func (a *App) bindServer(string) {}
