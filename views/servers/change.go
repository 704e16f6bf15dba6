package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// fileChange is a change of configuration files that is shown before it is written.
type fileChange struct {
	view  string // that gets the outcomes
	title string // "Add foo to ~/.cursor/mcp.json?"
	yes   string // "save and open"
	where config.Options
	// make plans the changes, one for each server. It is called again for those that follow a change of the same file.
	make []func() (*config.Change, error)
	// about stands above the diff, which masks what looks like a secret; "" for nothing.
	about string
	// gone are the sessions that the change takes away, by name.
	gone []string
	// done runs once everything is written and the list has it. No error: what failed was shown.
	done func(c *tui.Ctx, s savedChange) tea.Cmd
}

// plannedChange is the outcome of planning one.
type plannedChange struct {
	fileChange
	changes []*config.Change
}

// savedChange is the outcome of writing one.
type savedChange struct {
	fileChange
	set     config.Set
	backups []string
	next    string // what makes the program read its file again, "" for nothing
	lost    []string
}

// plan reads the files; what would change is then shown.
func (f fileChange) plan(c *tui.Ctx) tea.Cmd {
	cmd, _ := c.Replace(f.view, "change", "read the file", func(context.Context) (any, error) {
		p := plannedChange{fileChange: f}
		for _, plan := range f.make {
			change, err := plan()
			if err != nil {
				return nil, err
			}
			p.changes = append(p.changes, change)
		}
		return p, nil
	})
	return cmd
}

// changed takes the outcomes of both steps; false if the message is something else.
func changed(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	if m.Slot != "change" {
		return nil, false
	}
	if m.Err != nil {
		return c.Toast(tui.Failure, changeFailed(m.Err)), true
	}
	switch r := m.Value.(type) {
	case plannedChange:
		return r.ask(c), true
	case savedChange:
		return r.done(c, r), true
	}
	return nil, true
}

// changeFailed is why a file was not changed, and what to do.
func changeFailed(err error) string {
	var e *config.EditError
	if errors.As(err, &e) && e.Next != "" {
		return e.Error() + "; " + e.Next
	}
	return err.Error()
}

// ask shows the diff.
func (p plannedChange) ask(c *tui.Ctx) tea.Cmd {
	var b strings.Builder
	for _, change := range p.changes {
		diff := change.Diff()
		if diff == "" {
			continue
		}
		head := pane.ShortPath(p.where, change.File, false)
		if change.Before == nil {
			head += " (a new file)"
		}
		fmt.Fprintln(&b, head)
		for line := range strings.Lines(strings.TrimRight(diff, "\n")) {
			if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") { // which file it is stands above
				b.WriteString(line)
			}
		}
		b.WriteString("\n")
		for _, n := range append(slices.Clone(change.Notes), change.Lost...) {
			fmt.Fprintf(&b, "! %s\n", n)
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return c.Toast(tui.Note, "nothing to write: the file says that already")
	}
	return c.Confirm(tui.Confirmation{
		Title: p.title, Body: p.about + strings.TrimRight(b.String(), "\n"), Yes: p.yes, No: "leave the file as it is", Danger: p.about != "",
		OnYes: p.save,
	})
}

// save writes what was shown, and takes in what the files say then.
func (p plannedChange) save(c *tui.Ctx) tea.Cmd {
	m := c.Sessions
	cmd, _ := c.Replace(p.view, "change", "write the file", func(context.Context) (any, error) {
		out := savedChange{fileChange: p.fileChange}
		for i, change := range p.changes {
			var err error
			if i > 0 { // the file is another one by now
				if change, err = p.make[i](); err != nil {
					return nil, err
				}
			}
			if bytes.Equal(change.Before, change.After) {
				continue
			}
			backup, err := change.Save()
			if err != nil {
				return nil, err
			}
			out.lost = append(out.lost, change.Lost...)
			if out.next = change.Next; backup != "" {
				out.backups = append(out.backups, backup)
			}
		}
		set, _ := config.Load(p.where) // what is wrong with it is about other files
		out.set = set
		return out, takeIn(m, set, p.gone)
	})
	return cmd
}

// takeIn makes the sessions those that a set has: new and changed entries, without the sessions that a change took away.
func takeIn(m *session.Manager, set config.Set, gone []string) error {
	for _, name := range gone {
		if _, ok := m.Server(name); ok {
			if err := m.Unregister(name); err != nil {
				return err
			}
		}
	}
	var names []string
	for _, srv := range set.Servers {
		if _, err := renew(m, srv); err != nil {
			return err
		}
		names = append(names, srv.Name)
	}
	m.Arrange(names)
	return nil
}

// said is what was written, in a line.
func (s savedChange) said(what string) string {
	if s.next != "" {
		what += "; " + s.next // first: a narrow screen cuts the end off
	}
	if len(s.lost) > 0 {
		what += "; " + strings.Join(s.lost, "; ")
	}
	if len(s.backups) > 0 {
		what += "; the file as it was is " + pane.ShortPath(s.where, s.backups[0], false)
	}
	return safe.Line(what, 400)
}

// find is the server that an entry of a file became.
func (s savedChange) find(file, name string) (config.Server, bool) {
	for _, srv := range s.set.Servers {
		for _, src := range append([]config.Source{srv.Source}, srv.Also...) {
			if src.File == file && nameInFile(srv) == name {
				return srv, true
			}
		}
	}
	return config.Server{}, false
}

// nameInFile is what the file of a server calls it.
func nameInFile(srv config.Server) string {
	if srv.Given != "" {
		return srv.Given
	}
	return srv.Name
}
