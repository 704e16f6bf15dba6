package pane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Reply is the pane for what a server answered: each content block on a sub-tab of its own, shown as what it is, then
// the structured content and the result as sent.
type Reply struct {
	view  string
	head  []string // styled lines above the tabs: verdict, time, size
	parts []Part
	at    int
	first int // sub-tab at the left end of their line
	Doc   Document

	gen       int
	loading   bool
	what      string    // what is waited for
	since     time.Time // since when, zero if that does not matter
	err       error
	data      []byte // of a JSON-RPC error
	Cancelled bool
	rev       int
}

// NewReply is empty; view and pane are the ids of where it is shown.
func NewReply(view, pane string) Reply {
	return Reply{view: view, Doc: Document{view: view, pane: pane, slot: "reply"}}
}

// Part is one sub-tab.
type Part struct {
	label string // safe, short
	uri   string // of a resource or link, to follow; as sent
	src   Source
}

// replyParts is the outcome of taking a result apart.
type replyParts struct {
	r     *Reply
	gen   int
	head  []string
	parts []Part
}

// Load shows a result after split took it apart, which runs beside the event
// loop. head are styled lines that give the verdict.
func (r *Reply) Load(c *tui.Ctx, split func() (head []string, parts []Part, err error)) tea.Cmd {
	r.Clear()
	r.loading, r.what = true, "reading the result"
	gen := r.gen
	cmd, _ := c.Replace(r.view, "reply", "read the result", func(context.Context) (any, error) {
		head, parts, err := split()
		return replyParts{r, gen, head, parts}, err
	})
	return cmd
}

// Wait says that an answer is on its way.
func (r *Reply) Wait(what string) {
	r.Clear()
	r.loading, r.what, r.since = true, what, time.Now()
}

// Fail shows why there is no answer, with what the server said of it.
func (r *Reply) Fail(th *tui.Theme, m tui.OpDone) {
	r.Clear()
	r.err = m.Err
	if errors.Is(m.Err, context.Canceled) || failure.KindOf(m.Err) == failure.Interrupted {
		r.head = []string{th.Warn.S("⊘ cancelled after " + text.Duration(m.Took) + "; server notified")}
		r.Cancelled = true
		return
	}
	var e *failure.Error
	if errors.As(m.Err, &e) && len(e.Data) > 0 {
		r.data = e.Data
	}
}

// Clear shows nothing.
func (r *Reply) Clear() {
	r.gen++
	r.head, r.parts, r.at, r.first, r.loading, r.err = nil, nil, 0, 0, false, nil
	r.what, r.data, r.Cancelled = "", nil, false
	r.Doc.clear()
	r.rev++
}

// Shown is whether there is a result, or one on its way.
func (r *Reply) Shown() bool { return r.loading || r.err != nil || len(r.parts) > 0 }

// done takes outcomes of its commands; ok is false for anything else.
func (r *Reply) done(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	if cmd, ok := SavedToast(c, m); ok {
		return cmd, true
	}
	p, is := m.Value.(replyParts)
	if !is || p.r != r {
		return r.Doc.Handle(c, m)
	}
	if p.gen != r.gen {
		return nil, true
	}
	r.loading, r.err, r.head, r.parts = false, m.Err, p.head, p.parts
	r.rev++
	return r.open(c, 0), true
}

// open goes to a sub-tab.
func (r *Reply) open(c *tui.Ctx, i int) tea.Cmd {
	if len(r.parts) == 0 {
		return nil
	}
	r.at = (i + len(r.parts)) % len(r.parts)
	r.rev++
	return r.Doc.load(c, r.parts[r.at].src)
}

// current is the sub-tab shown.
func (r *Reply) current() (Part, bool) {
	if r.at < len(r.parts) {
		return r.parts[r.at], true
	}
	return Part{}, false
}

// Actions are what a result offers, for the screen and pane that hold it.
func (r *Reply) Actions(view, pane string) []tui.Action {
	single := func(*tui.Ctx) string {
		if len(r.parts) < 2 {
			return "there is only one part"
		}
		return ""
	}
	return append([]tui.Action{
		{
			ID: view + ".nextpart", Keys: []string{"]"}, Title: "next part", Group: "Result", Hint: 5, Pane: pane,
			Help: "Go to the result's next part: content blocks, structured content, the raw result.", Disabled: single,
			Run: func(c *tui.Ctx) tea.Cmd { return r.open(c, r.at+1) },
		},
		{
			ID: view + ".previouspart", Keys: []string{"["}, Title: "previous part", Group: "Result", Pane: pane,
			Help: "Go to the previous part.", Disabled: single,
			Run: func(c *tui.Ctx) tea.Cmd { return r.open(c, r.at-1) },
		},
		{
			ID: view + ".follow", Keys: []string{"o"}, Title: "open resource", Group: "Result", Hint: 4, Pane: pane,
			Help: "Read the resource that this part is or links to.",
			Disabled: func(*tui.Ctx) string {
				if p, ok := r.current(); !ok || p.uri == "" {
					return "this part is not a resource"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				p, _ := r.current()
				return c.Navigate("resources", p.uri)
			},
		},
	}, r.Doc.actions(view, pane)...)
}

// Handle moves in the part shown.
func (r *Reply) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.OpDone:
		return r.done(c, m)
	case tui.PaneMouse:
		m.Y -= r.top()
		if m.Y < 0 {
			if m.Click == tea.MouseLeft && m.Y == -1 {
				return r.clickTab(c, m.X), true
			}
			return nil, true
		}
		return r.Doc.Handle(c, m)
	}
	return r.Doc.Handle(c, msg)
}

// top is how many lines are above the document.
func (r *Reply) top() int {
	if len(r.parts) > 1 {
		return len(r.head) + 1
	}
	return len(r.head)
}

func (r *Reply) clickTab(c *tui.Ctx, x int) tea.Cmd {
	at := 0
	if r.first > 0 {
		at = 2
	}
	for i := r.first; i < len(r.parts); i++ {
		at += r.tabWidth(i)
		if x < at {
			return r.open(c, i)
		}
	}
	return nil
}

// tabWidth is the cells that a sub-tab takes.
func (r *Reply) tabWidth(i int) int { return paint.Width(r.parts[i].label) + 3 }

// fit chooses the first sub-tab to draw, so that the current one is on the line.
func (r *Reply) fit(w int) {
	total := 0
	for i := range r.parts {
		total += r.tabWidth(i)
	}
	r.first = min(r.first, r.at)
	if total <= w {
		r.first = 0
		return
	}
	for ; r.first < r.at; r.first++ {
		used := 4 // an arrow at each end
		for i := r.first; i <= r.at; i++ {
			used += r.tabWidth(i)
		}
		if used <= w {
			break
		}
	}
}

// tabs is the line of sub-tabs; where they are too many the arrows say at which end there are more.
func (r *Reply) tabs(th *tui.Theme, w int) string {
	r.fit(w)
	var b strings.Builder
	used := 0
	if r.first > 0 {
		b.WriteString(th.Accent.S("‹ "))
		used = 2
	}
	for i := r.first; i < len(r.parts); i++ {
		p := r.parts[i]
		last := i == len(r.parts)-1
		if n := used + r.tabWidth(i); i > r.at && (n > w || !last && n+2 > w) {
			b.WriteString(th.Accent.S("›"))
			break
		}
		used += r.tabWidth(i)
		label := " " + p.label + " "
		if i == r.at {
			b.WriteString(th.Badge.S(label))
		} else {
			b.WriteString(th.Muted.S(label))
		}
		b.WriteByte(' ')
	}
	return paint.Cut(b.String(), w)
}

// Draw fills the pane.
func (r *Reply) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	th := c.Theme
	var head []string
	for _, l := range r.head {
		head = append(head, paint.Cut(l, p.W))
	}
	switch {
	case r.Cancelled:
		p.Lines = append(head, Message(th, p.W, "No result yet.", "Run it again to get one.")...)
		return nil
	case r.err != nil:
		p.Lines = append(head, r.errorLines(th, p.W)...)
		return nil
	case r.loading:
		p.Lines = append(head, Message(th, p.W, spinner()+" "+r.what+elapsed(r.since), "Press x to cancel.")...)
		return nil
	case len(r.parts) == 0:
		p.Lines = append(head, Message(th, p.W, "The result has no content.", "")...)
		return nil
	}
	if len(r.parts) > 1 {
		head = append(head, r.tabs(th, p.W))
	}
	h := p.H
	p.H = max(h-len(head), 1)
	lines, scroll := r.Doc.lines(c, p)
	p.H = h
	p.Lines, p.Scroll = append(head, lines...), scroll
	return nil
}

// errorLines is the error in full, with the data that the server sent along.
func (r *Reply) errorLines(th *tui.Theme, w int) []string {
	out := errorMessage(th, w, errorText(r.err), "The frames are in Traffic. What you typed is kept: correct it and run it again.")
	if len(r.data) > 0 {
		out = append(out, "", " "+th.Muted.S("data"))
		for _, l := range wrap(safe.Text(indented(r.data)), w-2) {
			out = append(out, " "+l)
		}
	}
	return out
}

// indented is JSON over several lines, its values as they were sent; text that
// is none, or too long to read, stays as it is.
func indented(data []byte) string {
	const most = 8 << 10
	var b bytes.Buffer
	if len(data) > most || json.Indent(&b, data, "", "  ") != nil {
		return text.Clip(string(data), most)
	}
	return b.String()
}

// elapsed is how long something has been running, "" for the first second.
func elapsed(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	if e := tui.Elapsed(time.Since(since)); e != "" {
		return " " + e
	}
	return ""
}

// Plain writes what is shown for linear mode: every part as text.
func (r *Reply) Plain(w io.Writer) {
	switch {
	case r.loading:
		fmt.Fprintln(w, r.what+"…")
		return
	case r.err != nil:
		fmt.Fprintln(w, "error: "+errorText(r.err))
		if len(r.data) > 0 {
			fmt.Fprintln(w, "data: "+safe.Line(string(r.data), 4000))
		}
		return
	}
	for _, l := range r.head {
		fmt.Fprintln(w, plainLine(l))
	}
	for i, p := range r.parts {
		if i > 0 && i == len(r.parts)-1 {
			break // the result as sent repeats the others
		}
		for _, l := range p.src.Head {
			fmt.Fprintln(w, plainLine(l))
		}
		data, err := p.src.read()
		switch {
		case err != nil:
			fmt.Fprintln(w, errorText(err))
		case !texty(data):
			fmt.Fprintf(w, "(%s of binary data)\n", text.Bytes(len(data)))
		default:
			fmt.Fprintln(w, safe.Text(text.Clip(string(data), 1<<20)))
		}
	}
}
