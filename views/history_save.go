package views

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// savedCall is the outcome of writing a call to a file.
type savedCall struct {
	file  string
	there bool // and it was left alone
	write func(context.Context) error
}

// callAnswer is what a call that is saved was answered.
type callAnswer struct {
	result func(context.Context) ([]byte, error) // nil where there is none
	stale  string                                // why it is not that of what is saved, "" where it is
	made   config.Server                         // where it was called; the zero value where that is not all known
}

// saveCall asks for a name and for what is expected, and writes a call to a file of the project. of makes the call of the file.
func saveCall(c *tui.Ctx, view, initial string, of func(file, name string) calls.Call, a callAnswer) tea.Cmd {
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
						_ = calls.Trust(trust, file, a.made) // else the first run asks
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
		if a.result == nil {
			return save(c, nil)
		}
		return expectAnswer(c, a.stale, save)
	}})
}

// callSaved takes the outcome of saveCall; a file that was there is written over if somebody wants that.
func callSaved(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
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

// usualName is what a call's file is called unless somebody says otherwise.
func usualName(target string) string {
	if calls.CheckName(target) == nil {
		return target
	}
	return ""
}

// callOf is what a form holds as a call of a file, without its secrets.
func (v *formScreen) callOf(srv config.Server) func(file, name string) calls.Call {
	d := v.cur
	args, fields, item, given := json.RawMessage(d.form.JSON()), d.form.Schema().Raw(), d.item, d.form.Strings()
	return func(file, name string) calls.Call {
		k := history.Call{Method: "tools/call", Target: item.Name, Server: history.ServerOf(srv)}
		rule := mask.RuleOf(fields)
		switch v.formKind.kind {
		case offer.Prompts:
			k.Method = "prompts/get"
		case offer.Templates:
			k.Method, args = "resources/read", nil
			if uri, err := offer.Expand(item.URI, given); err == nil {
				k.Target = uri
			}
		}
		if len(args) > 0 {
			clean, places := rule.Hide(args)
			k.Arguments = clean
			for _, p := range places {
				k.Secrets = append(k.Secrets, "/arguments"+p)
			}
		}
		return calls.Of(k, file, name)
	}
}

// saveAction writes what the form holds to a file of the project.
func (v *formScreen) saveAction() tui.Action {
	return tui.Action{
		ID: v.info.ID + ".keep", Keys: []string{"W"}, Title: "save as call", Group: "Result", Pane: "result",
		Help: "Write what the form holds to .mcphud/calls/NAME.yaml of the project, without secrets, for mcphud run; with the result as what is expected, if you like.",
		Disabled: func(c *tui.Ctx) string {
			if c.Server == nil {
				return "there is no server"
			}
			return v.nothing(c)
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			a := v.cur.answer()
			a.made = c.Server.Config()
			return saveCall(c, v.info.ID, usualName(v.cur.item.Name), v.callOf(a.made), a)
		},
	}
}

// answer is the result of the last call, if there is one.
func (d *draft) answer() callAnswer {
	if d.last == nil {
		return callAnswer{}
	}
	last := d.last
	a := callAnswer{result: func(context.Context) ([]byte, error) { return last() }}
	if !bytes.Equal(d.form.JSON(), d.gave) {
		a.stale = "the result is of another call: run this one first"
	}
	return a
}
