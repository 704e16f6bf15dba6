package traffic

import (
	"cmp"
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// historyScreen lists the calls that were made at the current server, or at all servers, in this run and in earlier ones, the newest first.
// Navigate's Arg may be what (string) to look for.
type historyScreen struct {
	pane.ListPage
	h        *calls.History
	all      []calls.Call
	everyone bool // of all servers
	reading  bool
	fresh    bool   // what is listed was read
	of       string // identity of the server that is listed, "" for all
	rev      uint64 // of the history when it was read
	err      error
	said     string // the last reason why calls are not kept
	ids      map[*session.Session]string

	reply pane.Reply
	shown int64 // the call that the detail pane shows, 0 for none
	mark  int64 // the call to compare with, 0 for the run before
}

// mostListed is how many calls are read.
const mostListed = 5000

// NewHistory is the list of calls that were made before; nil for none.
func NewHistory(h *calls.History) *tui.Screen {
	v := &historyScreen{h: h, ids: map[*session.Session]string{}, reply: pane.NewReply("history", "detail")}
	v.View, v.Page, v.Pick = "history", v.page, v.pick
	v.Freeze = func() (int, func(int) (string, string)) {
		all := v.all
		return len(all), func(i int) (name, about string) {
			c := all[i]
			return cmp.Or(c.Name, c.Target), c.Target + " " + c.Note + " " + c.Verdict + " " + c.Message + " " + c.Server.Where() + " " + text.Clip(string(c.Arguments), 1000)
		}
	}
	return v.screen()
}

func (v *historyScreen) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "history", Title: "History", Aliases: []string{"hist"}, Tab: "call", Split: 45, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "History"}, {ID: "detail", Title: "Call"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, PageText: v.pageText, CopyText: v.copyText, Hints: v.hints, Breadcrumb: v.breadcrumb,
	})
}

func (v *historyScreen) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "history.again", Verb: tui.VerbRun, Title: "run again", Group: "History", Hint: 1, Pane: "list",
			Help: "Make the call again, at the server that it was made at, with the same arguments.", Disabled: v.cannotRun,
			Run: func(c *tui.Ctx) tea.Cmd { return v.open(c, true) },
		},
		{
			ID: "history.edit", Verb: tui.VerbEdit, Title: "edit", Group: "History", Hint: 2, Pane: "list",
			Help: "Open the form with the arguments of the call.", Disabled: v.cannotRun,
			Run: func(c *tui.Ctx) tea.Cmd { return v.open(c, false) },
		},
		{
			ID: "history.diff", Verb: tui.VerbDiff, Title: "diff", Group: "History", Hint: 3, Pane: "list",
			Help: "Compare the result with that of the marked call, or of the run before.", Disabled: v.none, Run: v.compare,
		},
		{
			ID: "history.sendto", Verb: tui.VerbElsewhere, Title: "send to", Group: "History", Pane: "list",
			Help: "Make the call at another server, by another path, or in another protocol version, and compare the answers.", Disabled: v.cannotSend, Run: v.sendTo,
		},
		{
			ID: "history.mark", Verb: tui.VerbFold, Title: "mark", Group: "History", Hint: 8, Pane: "list",
			Help: "Mark the call, so that others are compared with it; again takes the mark away.", Disabled: v.none,
			Run: func(*tui.Ctx) tea.Cmd {
				k, _ := v.selected()
				if v.mark == k.ID {
					k.ID = 0
				}
				v.mark = k.ID
				v.Rev++
				return nil
			},
		},
		{
			ID: "history.pin", Word: "pin", Title: "pin", Group: "History", Hint: 4, Pane: "list",
			Help: "Keep the call for good, or let it grow old again.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				k, _ := v.selected()
				return v.change(c, "pin", func(ctx context.Context) error { return v.h.Pin(ctx, k.ID, !k.Pinned) })
			},
		},
		{
			ID: "history.name", Word: "name", Title: "name", Group: "History", Hint: 5, Pane: "list",
			Help: "Name the call, which keeps it for good; no text takes the name away.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				k, _ := v.selected()
				return c.Ask(tui.Question{Label: "name", Initial: k.Name, Check: func(name string) string {
					if err := calls.CheckLabel(name); name != "" && err != nil {
						return err.Error()
					}
					return ""
				}, OnDone: func(c *tui.Ctx, name string) tea.Cmd {
					return v.change(c, "name", func(ctx context.Context) error { return v.h.Rename(ctx, k.ID, name) })
				}})
			},
		},
		{
			ID: "history.note", Word: "note", Title: "note", Group: "History", Hint: 6, Pane: "list",
			Help: "Write a note to the call.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				k, _ := v.selected()
				return c.Ask(tui.Question{Label: "note", Initial: k.Note, OnDone: func(c *tui.Ctx, note string) tea.Cmd {
					return v.change(c, "note", func(ctx context.Context) error { return v.h.Annotate(ctx, k.ID, note) })
				}})
			},
		},
		{
			ID: "history.keep", Verb: tui.VerbSave, Title: "save as call", Group: "History", Hint: 10, Pane: "list",
			Help: "Write the call to .mcphud/calls/NAME.yaml of the project, without secrets, for mcphud run; with its result as what is expected, if you like.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				k, _ := v.selected()
				a, h := pane.CallAnswer{}, v.h
				a.Made, _ = k.Server.Config()
				if k.Kept {
					a.Result = func(ctx context.Context) ([]byte, error) { return h.Result(ctx, k) }
				}
				return pane.SaveCall(c, "history", cmp.Or(pane.UsualName(k.Name), pane.UsualName(k.Target)), k.Saved, a)
			},
		},
		{
			ID: "history.delete", Word: "delete", Title: "delete", Group: "History", Hint: 9, Pane: "list",
			Help: "Remove the call from the history.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				k, _ := v.selected()
				return c.Confirm(tui.Confirmation{
					Title: fmt.Sprintf("Remove call %d from the history?", k.ID), Body: safe.Line(callLine(k), 400), Yes: "remove", No: "keep",
					OnYes: func(c *tui.Ctx) tea.Cmd {
						return v.change(c, "remove", func(ctx context.Context) error { return v.h.Delete(ctx, k.ID) })
					},
				})
			},
		},
		{
			ID: "history.servers", Verb: tui.VerbShow, Title: "all servers", Group: "History", Hint: 7, Pane: "list",
			Help: "List the calls of all servers, or those of the current one.",
			Now: func(*tui.Ctx) string {
				if v.everyone {
					return "this server"
				}
				return "all servers"
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				v.everyone = !v.everyone
				return v.read(c)
			},
		},
	}, v.reply.Actions("history", "detail")...)
}

// callLine is a call for a question.
func callLine(k calls.Call) string {
	return k.Target + " " + string(k.Arguments) + " at " + k.Server.Where() + ", " + k.At.Local().Format(time.DateTime)
}

func (v *historyScreen) selected() (calls.Call, bool) {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i], true
	}
	return calls.Call{}, false
}

func (v *historyScreen) none(*tui.Ctx) string {
	if _, ok := v.selected(); !ok {
		return "no call is selected"
	}
	return ""
}

// sessionOf is the session with the server of a call, nil if there is none.
func (v *historyScreen) sessionOf(c *tui.Ctx, k calls.Call) *session.Session {
	for _, s := range c.Sessions.Servers() {
		if k.Server.Identity() == v.identityOf(s) {
			return s
		}
	}
	return nil
}

func (v *historyScreen) cannotRun(c *tui.Ctx) string {
	k, ok := v.selected()
	if !ok {
		return v.none(c)
	}
	s := v.sessionOf(c, k)
	switch {
	case s == nil:
		return "the server " + safe.Line(k.Server.Where(), 60) + " is not in this session"
	case s.Status().State != session.Connected:
		return safe.Line(s.Title(), 60) + " is not connected; press 1"
	}
	return ""
}

// toOpen says that the list is there in which a call's item is.
type toOpen struct {
	call calls.Call
	run  bool
}

// open opens the form of a call, or for a resource the resource. The server's list is loaded first: forms are made of it.
func (v *historyScreen) open(c *tui.Ctx, run bool) tea.Cmd {
	k, _ := v.selected()
	s := v.sessionOf(c, k)
	kind := offer.Tools
	if k.Method == "prompts/get" {
		kind = offer.Prompts
	}
	cmd, _ := c.Replace("history", "open", "load the list of "+kind.String(), func(ctx context.Context) (any, error) {
		if k.Method == "resources/read" || s.Listing(kind).Loaded {
			return toOpen{k, run}, nil
		}
		_, err := s.List(ctx, kind)
		return toOpen{k, run}, err
	})
	return cmd
}

// opened goes to where a call is made.
func (v *historyScreen) opened(c *tui.Ctx, o toOpen) tea.Cmd {
	s := v.sessionOf(c, o.call)
	if s == nil {
		return nil
	}
	k := o.call
	again := pane.Refill{Name: k.Target, Value: k.Unmasked(), Missing: len(k.Secrets), Run: o.run}
	switch k.Method {
	case "tools/call":
		return c.NavigateOn(s.Name(), "call", again)
	case "prompts/get":
		return c.NavigateOn(s.Name(), "prompt", again)
	}
	if len(k.Secrets) > 0 {
		return c.Toast(tui.Warning, "the URI had a secret in it, which is not kept")
	}
	return c.NavigateOn(s.Name(), "resources", k.Target)
}

// changed is the outcome of changing the history.
type historyChanged struct{}

func (v *historyScreen) change(c *tui.Ctx, what string, f func(context.Context) error) tea.Cmd {
	cmd, _ := c.Go("history", what+" a call", func(ctx context.Context) (any, error) { return historyChanged{}, f(ctx) })
	return cmd
}
