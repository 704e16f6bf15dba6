package check

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// accepted is the outcome of writing the lock.
type accepted struct {
	server string
	taken  []string // what the lock got, a headline first
}

// acceptAction makes what the current server offers now its contract in the lock of the project.
func acceptAction(view, group string, hint int, lock *contract.Project) tui.Action {
	return tui.Action{
		ID: view + ".accept", Word: "accept", Title: "accept into lock", Group: group, Hint: hint, Danger: true,
		Help: "Write what the server offers now to " + contract.FileName + " of the project, for version control; changes are counted from there.",
		Disabled: func(c *tui.Ctx) string {
			if lock == nil {
				return "there is no project"
			}
			return pane.Offline(c)
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			s, all := c.Server, c.Sessions
			file, there, _ := lock.State()
			title := "Make " + contract.FileName + "?"
			body := "It gets what " + safe.Line(s.Title(), 60) + " offers now: tools, prompts, resources, templates and instructions. Keep it in version control."
			if there {
				title = "Accept what " + safe.Line(s.Title(), 40) + " offers now?"
				body = "It replaces what the lock says of this server; what it says of others stays."
			}
			if abs, err := filepath.Abs(file); err == nil {
				file = abs
			}
			return c.Confirm(tui.Confirmation{
				Title: title, Body: body + "\n\n" + safe.Line(file, 400), Yes: "write it", No: "leave it",
				OnYes: func(c *tui.Ctx) tea.Cmd {
					cmd, _ := c.Go(view, "write "+contract.FileName, func(ctx context.Context) (any, error) {
						o, err := check.Take(ctx, s)
						if err != nil {
							return nil, err
						}
						taken, err := lock.Accept(&o)
						all.NotifyChange() // all screens count from there
						return accepted{s.Name(), taken}, err
					})
					return cmd
				},
			})
		},
	}
}

// acceptDone takes the outcome of acceptAction.
func acceptDone(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	r, ok := m.Value.(accepted)
	switch {
	case !ok:
		return nil, false
	case m.Err != nil:
		return c.Toast(tui.Failure, m.Err.Error()), true
	}
	return c.Toast(tui.Success, strings.TrimSuffix(r.taken[0], ":")), true
}
