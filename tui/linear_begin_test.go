package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require"
)

// opened is a screen that remembers what it was opened on.
type opened struct{ arg any }

func (o *opened) screen() *Screen {
	return &Screen{
		ID: "opened", Title: "Opened", Panes: []PaneSpec{{ID: "main"}}, Handle: o.handle,
		Draw: func(*Ctx, *Pane) *tea.Cursor { return nil }, Plain: func(*Ctx, io.Writer) {},
	}
}

func (o *opened) handle(_ *Ctx, m tea.Msg) (tea.Cmd, bool) {
	if n, ok := m.(Navigate); ok {
		o.arg = n.Arg
	}
	return nil, true
}

// What the program was started on is open before any line is carried out, though no goroutine of it had a processor yet: the channel that
// their messages come by has no reader here.
func TestLinearOpensBeforeTheFirstLine(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	v := &opened{}
	app, err := NewApp(ctx, Config{Views: []*Screen{v.screen()}, StartArg: "the server", Linear: true, Environ: []string{"TERM=dumb"}})
	require.NoError(t, err)
	defer app.close()
	l := &linear{app: app, out: bufio.NewWriter(io.Discard), ctx: ctx, msgs: make(chan tea.Msg)}
	l.begin()
	if got := fmt.Sprint(v.arg); got != "the server" {
		t.Errorf("opened on %s", got)
	}
}
