package pane

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// savedCall is the outcome of writing a call to a file.
type savedCall struct {
	file  string
	there bool // and it was left alone
	write func(context.Context) error
}

// CallAnswer is what a call that is saved was answered.
type CallAnswer struct {
	Result func(context.Context) ([]byte, error) // nil where there is none
	Stale  string                                // why it is not that of what is saved, "" where it is
	Made   config.Server                         // where it was called; the zero value where that is not all known
}

// SaveCall asks for a name and for what is expected, and writes a call to a file of the project. of makes the call of the file.
func SaveCall(c *tui.Ctx, view, initial string, of func(file, name string) calls.Call, a CallAnswer) tea.Cmd {
	return c.Ask(tui.Question{Label: "save as .mcphud/calls/", Initial: initial, Check: func(name string) string {
		if err := calls.CheckName(name); err != nil {
			return err.Error()
		}
		return ""
	}, OnDone: func(c *tui.Ctx, name string) tea.Cmd {
		trust := c.Sessions.Trust()
		save := func(c *tui.Ctx, snapshot *expect.Snapshot) tea.Cmd {
			cmd, _ := c.Go(view, "save a call", func(ctx context.Context) (any, error) {
				wd, err := os.Getwd()
				if err != nil {
					return savedCall{}, err
				}
				file, err := calls.Path(calls.Dir(wd), name)
				if err != nil {
					return savedCall{}, err
				}
				call := of(file, name)
				call.Expect.Snapshot = snapshot
				out := savedCall{file: file, write: func(ctx context.Context) error {
					if err := writeCall(ctx, call, a); err != nil {
						return err
					}
					if trust != nil {
						_ = calls.Trust(trust, file, a.Made) // else the first run asks
					}
					return nil
				}}
				if _, err := os.Lstat(file); err == nil {
					out.there = true
					return out, nil
				} else if !errors.Is(err, os.ErrNotExist) {
					return out, err
				}
				return out, out.write(ctx)
			})
			return cmd
		}
		if a.Result == nil {
			return save(c, nil)
		}
		return expectAnswer(c, a.Stale, save)
	}})
}

// CallSaved takes the outcome of SaveCall; a file that was there is written over if somebody wants that.
func CallSaved(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	r, ok := m.Value.(savedCall)
	switch {
	case !ok:
		return nil, false
	case m.Err != nil:
		return c.Toast(tui.Failure, m.Err.Error()), true
	case !r.there:
		return c.Toast(tui.Success, "saved as "+r.file), true
	}
	return c.Confirm(tui.Confirmation{
		Title: "Write over " + safe.Line(filepath.Base(r.file), 60) + "?", Body: safe.Line(r.file, 400) + " is there already. Comments and unknown keys in it stay.",
		Yes: "write over", No: "keep it",
		OnYes: func(c *tui.Ctx) tea.Cmd {
			cmd, _ := c.Go(m.View, "save a call", func(ctx context.Context) (any, error) { return savedCall{file: r.file}, r.write(ctx) })
			return cmd
		},
	}), true
}

// UsualName is what a call's file is called unless somebody says otherwise.
func UsualName(target string) string {
	if calls.CheckName(target) == nil {
		return target
	}
	return ""
}
