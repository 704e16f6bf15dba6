package pane

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// LastPane is the id of the pane with the last result, the third one of a screen that lists what can be called.
const LastPane = "result"

// lastResult is what an item answered when it was called last in this session, beside its definition.
type lastResult struct {
	view   string
	reply  Reply
	at     callKey
	answer uint64 // journal entry that is shown, 0 for none
	large  int    // bytes of an answer that is not read because of them, 0 for one that is
	w      int    // cells of the pane, as the shell said last; 0 while it is not on the screen
}

// show brings in the newest answer of an item while somebody can see it; it is free where that is shown already.
func (l *lastResult) show(c *tui.Ctx, calls *Calls, at callKey) tea.Cmd {
	n := calls.by[at].answer
	if l.w == 0 || c.View != l.view || at == l.at && n == l.answer {
		return nil
	}
	l.at, l.answer, l.large = at, n, 0
	j := calls.of
	e, ok := j.Get(n)
	if n == 0 || !ok {
		l.answer = 0
		l.reply.Clear()
		return nil
	}
	if e.Size > largeBytes { // the screen that called has it in memory already
		l.large = e.Size
		l.reply.Clear()
		l.reply.Request = e.Peer
		return nil
	}
	name, th := FileName(at.name), c.Theme
	return l.reply.Load(c, e.Peer, func() (Verdict, []Part, error) {
		frame, err := j.Body(n)
		if err != nil {
			return Verdict{}, nil, fmt.Errorf("the result is gone: %w; call it again", err)
		}
		env, err := jsonrpc.Scan(frame)
		if env.Error == nil && err != nil {
			return Verdict{}, nil, err
		}
		out := Verdict{Line: "✓ "}
		if env.Error != nil {
			said := safe.Line(PlainValue(jsonrpc.Get(env.Error, "message")), 300)
			out.Line, out.Flaws = "✗ ", []string{th.Error.S("✗ " + strings.TrimSpace(string(jsonrpc.Get(env.Error, "code"))+" "+said)), ""}
			return l.timed(out, e), []Part{{label: "error", src: Source{Name: name + "-error", read: bytesOf(env.Error)}}}, nil
		}
		res, parts := ResultParts(name, env.Result, bytesOf(env.Result))
		if res.IsError {
			out.Line = "✗ isError · "
		}
		return l.timed(out, e), parts, nil
	})
}

// timed adds to a verdict how long the answer took and when it came.
func (l *lastResult) timed(v Verdict, e journal.Entry) Verdict {
	v.Line += text.Duration(e.Took) + " · " + e.Time.Format(time.TimeOnly)
	return v
}

// actions are those of the result while it is shown, but for two that the definition and its app have keys for, too.
func (l *lastResult) actions() (out []tui.Action) {
	for _, a := range l.reply.Actions(l.view+".last", LastPane) {
		if a.Verb == tui.VerbShow || a.Verb == tui.VerbElsewhere {
			continue
		}
		also := a.Applies
		a.Applies = func(c *tui.Ctx) bool { return l.answer != 0 && (also == nil || also(c)) }
		out = append(out, a)
	}
	return out
}

// link is the resource that the focused result is or links to, "" if none.
func (l *lastResult) link(c *tui.Ctx) string {
	if p := l.reply.Doc.front().current(); c.Focus == LastPane && p != nil {
		return p.src.uri
	}
	return ""
}

// draw fills the pane.
func (l *lastResult) draw(c *tui.Ctx, p *tui.Pane, kind offer.Kind) *tea.Cursor {
	p.Title, p.Badge, p.Foot = "Last result", "", ""
	if l.answer == 0 {
		next := "Press enter to fill it in and call it."
		if kind == offer.Prompts {
			next = "Press enter to fill it in and get it."
		}
		p.Lines, p.Scroll, p.Selected = Message(c.Theme, p.W, "No result in this session.", next), tui.Scroll{}, 0
		return nil
	}
	if l.large > 0 {
		p.Lines, p.Scroll, p.Selected = Message(c.Theme, p.W, "The result has "+text.Bytes(l.large)+".", "Press t in this pane for its frames."), tui.Scroll{}, 0
		return nil
	}
	return l.reply.Draw(c, p)
}
