package traffic

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

// cannotSend is why a call of the history cannot be made at another server.
func (v *historyScreen) cannotSend(c *tui.Ctx) string {
	k, ok := v.selected()
	if ok && len(k.Secrets) > 0 {
		return "it had secrets, which are not kept: open its form and give them again"
	}
	return v.none(c)
}

// sendTo makes a call at a server to be chosen.
func (v *historyScreen) sendTo(c *tui.Ctx) tea.Cmd {
	k, _ := v.selected()
	at := v.sessionName(c, k)
	return c.Navigate("again", pane.Again{Load: func(ctx context.Context) (pane.Again, error) {
		req, err := k.Request(at)
		if err != nil {
			return pane.Again{}, err
		}
		before, err := v.h.Answer(ctx, k)
		return pane.Again{Request: &req, Before: &before, Choose: true}, err
	}})
}

// compare compares a call with the marked one, or with the run before.
func (v *historyScreen) compare(c *tui.Ctx) tea.Cmd {
	k, _ := v.selected()
	mark, at, key := v.mark, v.sessionName(c, k), c.KeyOf("history.mark")
	return c.Navigate("again", pane.Again{Load: func(ctx context.Context) (out pane.Again, err error) {
		var was calls.Call
		if mark != 0 && mark != k.ID {
			was, err = v.h.Get(ctx, mark)
		} else {
			was, err = v.h.Previous(ctx, k)
		}
		if errors.Is(err, calls.ErrNone) {
			err = fmt.Errorf("no other call to compare with: mark one with %s in the history", key)
		}
		if err != nil {
			return out, err
		}
		req, err1 := k.Request(at)
		asked, err2 := was.Request(at)
		before, err3 := v.h.Answer(ctx, was)
		after, err4 := v.h.Answer(ctx, k)
		return pane.Again{Request: &req, Asked: &asked, Before: &before, After: &after}, errors.Join(err1, err2, err3, err4)
	}})
}

// sessionName is the name of the session with the server of a call, "" if there is none.
func (v *historyScreen) sessionName(c *tui.Ctx, k calls.Call) string {
	if s := v.sessionOf(c, k); s != nil {
		return s.Name()
	}
	return ""
}
