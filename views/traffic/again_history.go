package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/traffic/again"
	"github.com/mcphud/mcphud/session/traffic/history"
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
		req, err := requestOf(k, at)
		if err != nil {
			return pane.Again{}, err
		}
		before, err := v.answer(ctx, k)
		return pane.Again{Request: &req, Before: &before, Choose: true}, err
	}})
}

// compare compares a call with the marked one, or with the run before.
func (v *historyScreen) compare(c *tui.Ctx) tea.Cmd {
	k, _ := v.selected()
	mark, at, key := v.mark, v.sessionName(c, k), c.KeyOf("history.mark")
	return c.Navigate("again", pane.Again{Load: func(ctx context.Context) (out pane.Again, err error) {
		var was history.Call
		if mark != 0 && mark != k.ID {
			was, err = v.h.Get(ctx, mark)
		} else {
			was, err = v.h.Earlier(ctx, k)
		}
		if errors.Is(err, history.ErrNone) {
			err = fmt.Errorf("no other call to compare with: mark one with %s in the history", key)
		}
		if err != nil {
			return out, err
		}
		req, err1 := requestOf(k, at)
		asked, err2 := requestOf(was, at)
		before, err3 := v.answer(ctx, was)
		after, err4 := v.answer(ctx, k)
		return pane.Again{Request: &req, Asked: &asked, Before: &before, After: &after}, errors.Join(err1, err2, err3, err4)
	}})
}

// sessionName is the name of the session with the server of a call, "" if there is none.
func (v *historyScreen) sessionName(c *tui.Ctx, k history.Call) string {
	if s := v.sessionOf(c, k); s != nil {
		return s.Name()
	}
	return ""
}

// requestOf is the request of a call, without its secrets.
func requestOf(k history.Call, server string) (again.Request, error) {
	name := "name"
	if k.Method == "resources/read" {
		name = "uri"
	}
	params, err := jsonrpc.Update(nil, jsonrpc.Set(jsonrpc.Quote(k.Target), name))
	if args := k.Unmasked(); err == nil && len(args) > 0 {
		params, err = jsonrpc.Update(params, jsonrpc.Set(args, "arguments"))
	}
	if err != nil {
		return again.Request{}, err
	}
	return again.New(server, k.Method, params)
}

// answer is what a call got.
func (v *historyScreen) answer(ctx context.Context, k history.Call) (again.Answer, error) {
	a := again.Answer{Server: k.Server.Where(), At: k.At.Time, Took: time.Duration(k.Took * float64(time.Millisecond))}
	body, err := v.h.Result(ctx, k)
	switch {
	case err != nil:
		return a, err
	case body != nil:
		a.Frame = jsonrpc.NewResult([]byte("0"), body)
	case k.Message != "":
		a.Err = errors.New(k.Message)
	default:
		return a, fmt.Errorf("the result of call %d is not kept", k.ID)
	}
	return a, nil
}
