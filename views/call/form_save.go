package call

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

// callOf is what a form holds as a call of a file, without its secrets.
func (v *formScreen) callOf(srv config.Server) func(file, name string) calls.Call {
	d := v.cur
	args, fields, item, given := json.RawMessage(d.form.JSON()), d.form.Schema().Raw(), d.item, d.form.Strings()
	return func(file, name string) calls.Call {
		k := calls.Call{Method: calls.ToolsCall, Target: item.Name, Server: calls.ServerOf(srv)}
		rule := mask.RuleOf(fields)
		switch v.formKind.kind {
		case offer.Prompts:
			k.Method = calls.PromptsGet
		case offer.Templates:
			k.Method, args = calls.ResourcesRead, nil
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
		return k.Saved(file, name)
	}
}

// saveAction writes what the form holds to a file of the project.
func (v *formScreen) saveAction() tui.Action {
	return tui.Action{
		ID: v.info.ID + ".keep", Word: "keep", Title: "save as call", Group: "Result", Pane: "result",
		Help: "Write what the form holds to .mcphud/calls/NAME.yaml of the project, without secrets, for mcphud run; with the result as what is expected, if you like.",
		Disabled: func(c *tui.Ctx) string {
			if c.Server == nil {
				return "there is no server"
			}
			return v.nothing(c)
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			a := v.cur.answer()
			a.Made = c.Server.Config()
			return pane.SaveCall(c, v.info.ID, pane.UsualName(v.cur.item.Name), v.callOf(a.Made), a)
		},
	}
}

// saveBoth lets the result be saved, or the call.
func (v *formScreen) saveBoth(actions []tui.Action) []tui.Action {
	i := slices.IndexFunc(actions, func(a tui.Action) bool { return a.Verb == tui.VerbSave })
	file, keep := actions[i], v.saveAction()
	a := &actions[i]
	a.Help = "Save the bytes as they were sent to a file, or the call for mcphud run."
	a.Disabled = keep.Disabled
	a.Run = func(c *tui.Ctx) tea.Cmd {
		return c.Pick("Save", []tui.Option{
			{Title: "the result", Help: file.Help, Disabled: file.Disabled(c), Run: file.Run},
			{Title: "the call", Help: keep.Help, Run: keep.Run},
		})
	}
	return actions
}

// answer is the result of the last call, if there is one.
func (d *draft) answer() pane.CallAnswer {
	if d.last == nil {
		return pane.CallAnswer{}
	}
	last := d.last
	a := pane.CallAnswer{Result: func(context.Context) ([]byte, error) { return last() }}
	if !bytes.Equal(d.form.JSON(), d.gave) {
		a.Stale = "the result is of another call: run this one first"
	}
	return a
}
