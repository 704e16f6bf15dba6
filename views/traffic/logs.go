package traffic

import (
	"context"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

// levels are the log levels of the protocol, least severe first (RFC 5424
// names; specification: server/utilities/logging).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// logs shows what servers say besides their answers: log messages, stderr, and output that is not a protocol message.
type logs struct {
	pane.JournalList
	foreign bool                    // what others say to each other; see Foreign
	lines   map[uint64]pane.LogLine // read messages, dropped when there are too many
	level   map[string]string       // as set by the user, by server
}

// NewLogs is the screen of what servers log; foreign says that they are not this program's.
func NewLogs(foreign bool) *tui.Screen {
	v := &logs{foreign: foreign, JournalList: pane.NewJournalList("logs", "detail"), lines: map[uint64]pane.LogLine{}, level: map[string]string{}}
	v.Blocks = pane.LogBlocks
	v.Feed.Belongs = func(e *journal.Entry) bool { return pane.IsLog(e) && (e.Hop == "" || v.foreign) }
	v.Feed.Language = func(*tui.Ctx) filter.Options {
		return filter.Options{Text: func(j *journal.Journal, e *journal.Entry) string {
			l := pane.ReadLog(j, *e)
			return e.Server + " " + l.Level + " " + l.Logger + " " + text.Clip(l.Text, 4000)
		}}
	}
	v.Source = func(c *tui.Ctx, e journal.Entry) pane.Source {
		about := fmt.Sprintf("%s %s · %s", pane.KindWord(e.Kind), safe.Line(c.ServerTitle(e.Server), 80), e.Time.Format("15:04:05.000000"))
		return pane.Source{Name: fmt.Sprintf("log-%d", e.Seq), Painter: widget.PaintLog, Head: []string{c.Theme.Muted.S(about)}}
	}
	return v.screen()
}

func (v *logs) screen() *tui.Screen {
	return &tui.Screen{
		ID: "logs", Title: "Logs", Aliases: []string{"log", "stderr"}, Tab: "traffic", Peer: true, Split: 60, StackUnder: pane.StackUnder, NoRail: v.foreign,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Logs"}, {ID: "detail", Title: "Message"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		PageText: v.PageText, CopyText: v.copyText, CheckFilter: v.CheckFilter, CompleteFilter: v.CompleteFilter,
	}
}

func (v *logs) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "logs.level", Word: "level", Title: "set level", Group: "Logs", Hint: 2,
			Help: "Set the minimum level of the server's log messages.", Disabled: v.noLevel, Run: v.askLevel,
		},
	}, v.ListActions("whole message", "Show the whole message.", nil)...)
}

func (v *logs) noLevel(c *tui.Ctx) string {
	if why := pane.Offline(c); why != "" {
		return why
	}
	if !c.Server.Supports("logging/setLevel") {
		return "the server does not offer logging"
	}
	return ""
}

func (v *logs) askLevel(c *tui.Ctx) tea.Cmd {
	s := c.Server
	return c.Choose("log level (deprecated since 2026-07-28)", v.level[s.Name()], levels, func(c *tui.Ctx, level string) tea.Cmd {
		cmd, _ := c.Go("logs", "logging/setLevel "+level, func(ctx context.Context) (any, error) {
			return levelSet{s.Name(), level}, s.SetLevel(ctx, level)
		})
		return cmd
	})
}

// levelSet is the outcome of setting the level.
type levelSet struct{ server, level string }

func (v *logs) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if m, ok := msg.(tui.OpDone); ok {
		if l, ok := m.Value.(levelSet); ok {
			if m.Err != nil {
				return c.Toast(tui.Failure, m.Err.Error()), true
			}
			v.level[l.server] = l.level
			return c.Toast(tui.Success, l.server+" logs at "+l.level+" and above"), true
		}
	}
	return v.JournalList.Handle(c, msg)
}

func (v *logs) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		return v.Doc.Draw(c, p)
	}
	next := "What servers write to stderr and log through the protocol appears here."
	if !v.foreign && v.noLevel(c) == "" {
		next += " :level sets the level."
	}
	v.DrawList(c, p, "No log messages.", next,
		func(e journal.Entry, w int) string { return v.row(c.Theme, e, w) }, next)
	return nil
}

// row draws one message.
func (v *logs) row(th *tui.Theme, e journal.Entry, w int) string {
	l, ok := v.lines[e.Seq]
	if !ok {
		if len(v.lines) > 2000 {
			clear(v.lines)
		}
		l = pane.ReadLog(v.Feed.Journal, e)
		v.lines[e.Seq] = l
	}
	var b strings.Builder
	if w >= 50 {
		b.WriteString(th.Muted.S(e.Time.Format("15:04:05.000")) + " ")
	}
	b.WriteString(levelStyle(th, l.Level).S(paint.Fit(safe.Line(l.Level, 9), 9)) + " ")
	if l.Logger != "" {
		b.WriteString(th.Accent2.S(safe.Line(l.Logger, 40)) + " ")
	}
	line, _, _ := strings.Cut(l.Text, "\n") // with its indentation
	b.WriteString(v.Feed.Query.Highlight(safe.Line(line, 0), th.Text, th.Match))
	return b.String()
}

// levelStyle is the colour of a level; the word says the same.
func levelStyle(th *tui.Theme, level string) paint.Style {
	switch level {
	case "debug", "stderr":
		return th.Muted
	case "info", "notice":
		return th.Info
	case "warning", "stdout":
		return th.Warn
	}
	return th.Error
}

func (v *logs) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if c.Focus == "detail" && k != tui.CopyRaw {
		return v.Doc.CopyText(k)
	}
	j := c.Sessions.Journal()
	e, ok := v.Entry(c)
	if !ok {
		return nil
	}
	switch k {
	case tui.CopyValue:
		return func() (string, error) { return pane.ReadLog(j, e).Text, nil }
	case tui.CopyRaw:
		return pane.CopyBody(j, e.Seq)
	}
	return nil
}

func (v *logs) plain(c *tui.Ctx, w io.Writer) {
	v.Each(c, func(j *journal.Journal, e journal.Entry) {
		l := pane.ReadLog(j, e)
		fmt.Fprintf(w, "%s %s %s\n", e.Time.Format("15:04:05.000"), safe.Line(l.Level, 40), safe.Line(l.Text, 1000))
	})
}
