package traffic

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// historyRead is the outcome of reading the history.
type historyRead struct {
	of    string
	rev   uint64
	calls []calls.Call
}

// historyTick looks again at a history that is being written.
type historyTick struct{}

// historyPause is how often that is done.
const historyPause = 100 * time.Millisecond

// identity is the server whose calls are listed, "" for all.
func (v *historyScreen) identity(c *tui.Ctx) string {
	if v.everyone || c.Server == nil {
		return ""
	}
	return v.identityOf(c.Server)
}

// identityOf is the identity of a session's server, which looks at files when it is asked for first.
func (v *historyScreen) identityOf(s *session.Session) string {
	id, ok := v.ids[s]
	if !ok {
		id = calls.Identity(s.Config())
		v.ids[s] = id
	}
	return id
}

// read reads the calls beside the event loop.
func (v *historyScreen) read(c *tui.Ctx) tea.Cmd {
	q := calls.Query{Identity: v.identity(c), Limit: mostListed}
	v.reading = true
	cmd, _ := c.Replace("history", "read", "read the history", func(ctx context.Context) (any, error) {
		rev := v.h.Rev()
		calls, err := v.h.List(ctx, q)
		return historyRead{q.Identity, rev, calls}, err
	})
	return cmd
}

// sync reads again what changed, and says of a history that cannot be written.
func (v *historyScreen) sync(c *tui.Ctx) tea.Cmd {
	var cmds []tea.Cmd
	err := v.h.Err()
	switch {
	case err == nil:
		v.said = ""
	case err.Error() != v.said:
		v.said = err.Error()
		cmds = append(cmds, c.Toast(tui.Warning, v.said))
	}
	if c.View == v.View && !v.reading && (v.h.Rev() != v.rev || v.identity(c) != v.of || !v.fresh) {
		cmds = append(cmds, v.read(c))
	}
	if v.h.Busy() {
		cmds = append(cmds, c.After(historyPause, func() tea.Msg { return historyTick{} }))
	}
	return tea.Batch(cmds...)
}

// take lists what was read; the cursor stays on its call.
func (v *historyScreen) take(c *tui.Ctx, r historyRead, err error) tea.Cmd {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	was, _ := v.selected()
	top := v.List.Selected() <= 0
	v.reading, v.fresh, v.err = false, true, err
	v.all, v.of, v.rev = r.calls, r.of, r.rev
	cmd := v.Changed(c)
	if i := slices.IndexFunc(v.all, func(k calls.Call) bool { return k.ID == was.ID }); !top && i >= 0 {
		v.List.Select(i)
	}
	v.Rev++
	return tea.Batch(cmd, v.show(c), v.sync(c))
}

// show loads the call under the cursor into the detail pane.
func (v *historyScreen) show(c *tui.Ctx) tea.Cmd {
	k, ok := v.selected()
	switch {
	case !ok:
		v.shown = 0
		v.reply.Clear()
		return nil
	case v.shown == k.ID:
		return nil
	}
	v.shown = k.ID
	th := c.Theme
	return v.reply.Load(c, 0, func() (pane.Verdict, []pane.Part, error) {
		about := pages.Call(k)
		about.Field("arguments", string(jsonrpc.OneLine(k.Arguments)))
		out := pane.Verdict{Line: pages.Verdict(k.Verdict).Text(pages.Took(k), text.Bytes(k.Size)).S, Flaws: append(about.Lines(th, 500), "")}
		result, err := v.h.Result(context.Background(), k)
		if err != nil {
			return out, nil, err
		}
		var parts []pane.Part
		if len(result) > 0 {
			_, parts = pane.ResultParts(pane.FileName(k.Target), result, func() ([]byte, error) { return result, nil })
		}
		if len(k.Arguments) > 0 {
			parts = append(parts, pane.ArgumentsPart(k.Arguments))
		}
		return out, parts, nil
	})
}

func (v *historyScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case historyTick, tui.SessionChanged, tui.ServerChanged:
		return v.sync(c), true
	case tui.Navigate:
		cmd := tea.Batch(v.read(c), c.FocusPane("list"))
		if word, ok := m.Arg.(string); ok {
			c.FilterApplied(v.View, "list", word)
			cmd = tea.Batch(cmd, v.SetFilter(c, word))
		}
		return cmd, true
	case tui.FocusChanged:
		return v.sync(c), true
	case tui.Resized:
		return v.reply.Handle(c, msg)
	case tui.OpDone:
		return v.finished(c, m), true
	case tui.FilterChanged:
		if c.Focus == "detail" {
			return v.reply.Handle(c, msg)
		}
		return tea.Batch(v.SetFilter(c, m.Text), v.show(c)), true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.reply.Handle(c, msg)
		}
	}
	if c.Focus == "detail" {
		return v.reply.Handle(c, msg)
	}
	if pane.IsBack(msg) {
		return c.Back(), true
	}
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "enter" {
		return c.FocusPane("detail"), true
	}
	consumed, opened := v.MoveCursor("list", msg)
	cmd := v.show(c)
	if opened {
		cmd = tea.Batch(cmd, c.FocusPane("detail"))
	}
	return cmd, consumed
}

func (v *historyScreen) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	switch r := m.Value.(type) {
	case historyRead:
		return v.take(c, r, m.Err)
	case historyChanged:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return v.read(c)
	case toOpen:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return v.opened(c, r)
	}
	if cmd, ok := pane.CallSaved(c, m); ok {
		return cmd
	}
	if cmd, ok := v.Filtered(c, m); ok {
		return tea.Batch(cmd, v.show(c))
	}
	cmd, _ := v.reply.Handle(c, m)
	return cmd
}

func (v *historyScreen) breadcrumb(*tui.Ctx) string {
	k, _ := v.selected()
	return safe.Line(k.Target, 60)
}

// hints are the keys of the list that no action has.
func (v *historyScreen) hints(c *tui.Ctx) []tui.Hint { return pane.BackHint(c.Focus == "list") }
