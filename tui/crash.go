package tui

import (
	"fmt"
	"runtime/debug"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/mask"
)

// CrashError is a bug of mcphud that ended the UI. The terminal is restored by the time it is returned.
type CrashError struct {
	View   string // what was on the screen
	Doing  string // "Update" or "View"
	Value  any    // what was panicked with
	Stack  string
	Report string // where to report it
}

// Error says what happened and what to report.
func (e *CrashError) Error() string {
	where := e.Report
	if where == "" {
		where = "the project's issue tracker"
	}
	return fmt.Sprintf("mcphud crashed on the screen %q: %v\n\nThis is a bug of mcphud, not of your server. Please report it at %s with the lines below\n"+
		"(they name source lines, not your data):\n\n%s", e.View, mask.Log(fmt.Sprint(e.Value)), where, strings.TrimSpace(e.Stack))
}

// crashed notes a panic; the program then quits in an orderly way, which is what restores the terminal.
func (a *App) crashed(doing string, v any) {
	if a.crash == nil {
		a.crash = &CrashError{View: a.place.view, Doing: doing, Value: v, Stack: string(debug.Stack()), Report: a.cfg.Report}
	}
	a.frame.view.ProgramStatus = nil // nothing of it is left behind
	if a.send != nil {
		go a.send(tea.QuitMsg{})
	}
}
