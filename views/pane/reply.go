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

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Reply is the pane for what a server answered: its content blocks below each other, each shown as what it is; on further
// tabs the structured content and the result as sent. The verdict and the tabs are in the pane's frame.
type Reply struct {
	view    string
	verdict string   // how it went, in the frame: safe
	head    []string // styled lines above the document: what is wrong with it
	parts   []Part
	at      int
	tabs    int // where the tabs begin in the frame, from its right end; 0 while they are not drawn
	Doc     Document
	// Request is the journal entry of the request that was answered, 0 if there is none.
	Request uint64
	// Again is the key that asks the same again, and what it does; "" if there is none.
	Again string
	hops  bool // the request belongs to a trace

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

// Part is one tab.
type Part struct {
	label string // safe, short
	src   Source
}

// Verdict is how a call went: one line for the frame, and styled lines that say what is wrong.
type Verdict struct {
	Line  string
	Flaws []string
}

// replyParts is the outcome of taking a result apart.
type replyParts struct {
	r       *Reply
	gen     int
	verdict Verdict
	parts   []Part
}

// Load shows a result after split took it apart, which runs beside the event loop.
func (r *Reply) Load(c *tui.Ctx, request uint64, split func() (Verdict, []Part, error)) tea.Cmd {
	r.Clear()
	r.loading, r.what, r.Request = true, "reading the result", request
	gen := r.gen
	cmd, _ := c.Replace(r.view, "reply", "read the result", func(context.Context) (any, error) {
		v, parts, err := split()
		return replyParts{r, gen, v, parts}, err
	})
	return cmd
}

// Wait says that an answer is on its way.
func (r *Reply) Wait(what string) {
	r.Clear()
	r.loading, r.what, r.since = true, what, time.Now()
}

// Fail shows why there is no answer, with what the server said of it.
func (r *Reply) Fail(m tui.OpDone, request uint64) {
	r.Clear()
	r.err, r.Request = m.Err, request
	if errors.Is(m.Err, context.Canceled) || failure.KindOf(m.Err) == failure.Interrupted {
		r.verdict = "⊘ cancelled after " + text.Duration(m.Took) + "; server notified"
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
	r.verdict, r.head, r.parts, r.at, r.tabs, r.loading, r.err, r.Request = "", nil, nil, 0, 0, false, nil, 0
	r.what, r.data, r.Cancelled = "", nil, false
	r.Doc.clear()
	r.rev++
}

// WantsLogin is whether the server refused until somebody logs in.
func (r *Reply) WantsLogin() bool {
	return failure.RemedyOf(r.err) == failure.LogIn
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
	r.loading, r.err, r.verdict, r.head, r.parts = false, m.Err, p.verdict.Line, p.verdict.Flaws, p.parts
	r.rev++
	return r.open(c, 0), true
}

// open goes to a tab.
func (r *Reply) open(c *tui.Ctx, i int) tea.Cmd {
	if len(r.parts) == 0 {
		return nil
	}
	r.at = (i + len(r.parts)) % len(r.parts)
	r.rev++
	return r.Doc.load(c, r.parts[r.at].src)
}

// step goes to the next block of content or the one before, and beyond the last to the next tab.
func (r *Reply) step(c *tui.Ctx, by int) tea.Cmd {
	d := &r.Doc
	if d.inner != nil {
		d.close(c)
		return nil
	}
	if i := d.block() + by; d.many() && i >= 0 && i < len(d.parts) {
		d.lineView().ShowSection(i)
		d.rev++
		return nil
	}
	return r.open(c, r.at+by)
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
			ID: view + ".nextpart", Verb: tui.VerbNext, Title: "next part", Group: "Result", Hint: 7, Pane: pane,
			Help: "Go to the result's next content block, then to its structured content, then to the raw result.", Disabled: single,
			Run: func(c *tui.Ctx) tea.Cmd { return r.step(c, 1) },
		},
		{
			ID: view + ".previouspart", Verb: tui.VerbPrevious, Title: "previous part", Group: "Result", Pane: pane,
			Help: "Go to the previous block or tab.", Disabled: single,
			Run: func(c *tui.Ctx) tea.Cmd { return r.step(c, -1) },
		},
		{
			ID: view + ".frames", Verb: tui.VerbFrames, Title: "frames", Group: "Result", Hint: 4, Pane: pane,
			Help: "Show what was said on the wire while this was asked, in Traffic.",
			Disabled: func(*tui.Ctx) string {
				if r.Request == 0 {
					return "nothing was sent yet"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("traffic", FramesOf(r.Request)) },
		},
		HopsAction(view, pane, func(*tui.Ctx) uint64 { return r.Request }),
		{
			ID: view + ".follow", Verb: tui.VerbElsewhere, Title: "open resource", Group: "Result", Hint: 2, Pane: pane,
			Help:    "Read the resource that this part is or links to.",
			Applies: func(*tui.Ctx) bool { p := r.Doc.front().current(); return p != nil && p.src.uri != "" },
			Disabled: func(*tui.Ctx) string {
				if p := r.Doc.front().current(); p == nil || p.src.uri == "" {
					return "this part is not a resource"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("resources", r.Doc.front().current().src.uri) },
		},
	}, r.Doc.actions(view, pane)...)
}

// FramesOf asks Traffic for the frames of a request, by its journal entry.
type FramesOf uint64

// Handle moves in the part shown.
func (r *Reply) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.OpDone:
		return r.done(c, m)
	case tui.PaneMouse:
		if m.Y == -1 {
			if m.Click == tea.MouseLeft {
				return r.clickTab(c, m.X), true
			}
			return nil, true
		}
		if m.Y -= len(r.head); m.Y < 0 {
			return nil, true
		}
		return r.Doc.Handle(c, m)
	}
	return r.Doc.Handle(c, msg)
}

// clickTab goes to the tab in the frame that was clicked.
func (r *Reply) clickTab(c *tui.Ctx, x int) tea.Cmd {
	at := r.Doc.w - r.tabs
	if r.tabs == 0 || x < at {
		return nil
	}
	for i, p := range r.parts {
		if at += 1 + paint.Width(p.label) + 2; x < at {
			return r.open(c, i)
		}
	}
	return nil
}

// frame puts the verdict behind the pane's title, and the tabs at the other end: all of them, the one shown marked
// (▸text  structured  raw), or that one alone where there is no more room. Of a long title the end is shown.
func (r *Reply) frame(p *tui.Pane) {
	p.Badge, r.tabs = "", 0
	title := paint.Width(p.Title)
	if r.verdict != "" { // the title gives way
		title = min(title, 12)
	}
	room := p.W - 6 - paint.Width(r.verdict) - title
	if len(r.parts) > 1 && !r.loading && r.err == nil {
		var names []string
		for i, x := range r.parts {
			mark := " "
			if i == r.at {
				mark = "▸"
			}
			names = append(names, mark+x.label)
		}
		if p.Badge = strings.Join(names, "  "); paint.Width(p.Badge) <= room {
			r.tabs = paint.Width(p.Badge) + 2
		} else {
			p.Badge = fmt.Sprintf("%s %d/%d", names[r.at], r.at+1, len(names))
		}
	}
	if r.verdict != "" {
		p.Title = shownPath(p.Title, max(p.W-7-paint.Width(r.verdict)-paint.Width(p.Badge), 8)) + " " + r.verdict
	}
}

// Draw fills the pane, and its frame: what it is called with how it went, and the tabs.
func (r *Reply) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	th := c.Theme
	p.Foot, p.Scroll, p.Selected = "", tui.Scroll{}, 0
	r.frame(p)
	r.hops = r.Request != 0 && traced(c, r.Request)
	var head []string
	for _, l := range r.head {
		head = append(head, paint.Cut(l, p.W))
	}
	switch {
	case r.Cancelled:
		p.Lines = append(head, Message(th, p.W, "No result.", r.next())...)
		return nil
	case r.err != nil:
		p.Lines = append(head, r.errorLines(th, p.W, c.Focus == p.ID)...)
		return nil
	case r.loading:
		p.Lines = append(head, Message(th, p.W, spinner()+" "+r.what+elapsed(r.since), "Press x to cancel.")...)
		return nil
	case len(r.parts) == 0:
		p.Lines = append(head, Message(th, p.W, "The result has no content.", "")...)
		return nil
	}
	h := p.H
	p.H = max(h-len(head), 1)
	lines, scroll := r.Doc.lines(c, p)
	p.H = h
	p.Lines, p.Scroll = append(head, lines...), scroll
	p.Foot = r.Doc.foot()
	if p.Focused && r.Doc.inner == nil {
		for _, keys := range []string{r.keys(), r.next()} {
			if keys != "" && paint.Width(keys)+paint.Width(p.Foot)+9 <= p.W {
				p.Foot = strings.TrimSuffix(keys+" · "+p.Foot, " · ")
				break
			}
		}
	}
	if n := r.Doc.front().selected(); n > 0 {
		p.Selected = len(head) + n
	}
	return nil
}

// errorLines is the error in full, with the data that the server sent along.
func (r *Reply) errorLines(th *tui.Theme, w int, focused bool) []string {
	err := r.err
	if e := (*failure.Error)(nil); r.WantsLogin() && errors.As(err, &e) {
		c := *e
		c.Next, c.Remedy = "", "" // the key below does it
		err = &c
	}
	next := r.next()
	if !focused && next != "" { // in the form, letters are text
		next = "tab, then " + next
	}
	out := errorMessage(th, w, ErrorText(err), next)
	if len(r.data) > 0 {
		out = append(out, "", " "+th.Muted.S("data"))
		for _, l := range paint.Wrap(safe.Text(indented(r.data)), w-2) {
			out = append(out, " "+l)
		}
	}
	return out
}

// keys are what is asked for most often in a result.
func (r *Reply) keys() string {
	return strings.TrimPrefix(r.next()+" · y copy", " · ")
}

// next is what can be done about an error.
func (r *Reply) next() string {
	var out []string
	if r.WantsLogin() {
		out = append(out, "r log in and do it again")
	}
	if r.Request != 0 {
		out = append(out, "t frames")
	}
	if r.hops {
		out = append(out, ":hops")
	}
	if r.Again != "" && !r.WantsLogin() {
		out = append(out, r.Again)
	}
	return strings.Join(out, " · ")
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
		fmt.Fprintln(w, "error: "+ErrorText(r.err))
		if len(r.data) > 0 {
			fmt.Fprintln(w, "data: "+safe.Line(string(r.data), 4000))
		}
		return
	}
	if r.verdict != "" {
		fmt.Fprintln(w, r.verdict)
	}
	for _, l := range r.head {
		fmt.Fprintln(w, plainLine(l))
	}
	for i, p := range r.parts {
		if i > 0 && i == len(r.parts)-1 {
			break // the result as sent repeats the others
		}
		p.plain(w)
	}
}

// PlainQuestion is Plain for a question: what is wrong with it, and what it says; nothing until that is read.
func (r *Reply) PlainQuestion(w io.Writer) {
	if len(r.parts) == 0 {
		return
	}
	for _, l := range r.head {
		fmt.Fprintln(w, plainLine(l))
	}
	r.parts[0].plain(w)
}

func (p *Part) plain(w io.Writer) {
	list := p.src.blocks
	if len(list) == 0 {
		list = []Source{p.src}
	}
	for _, src := range list {
		src.plain(w)
	}
}

// plain writes a source as text.
func (s *Source) plain(w io.Writer) {
	if s.title != "" {
		fmt.Fprintln(w, s.title)
	}
	for _, l := range s.Head {
		if l != s.title {
			fmt.Fprintln(w, plainLine(l))
		}
	}
	data, err := s.read()
	switch {
	case err != nil:
		fmt.Fprintln(w, ErrorText(err))
	case !texty(data):
		fmt.Fprintf(w, "(%s of binary data)\n", text.Bytes(len(data)))
	case s.quoted:
		for _, l := range strings.Split(safe.Text(text.Clip(string(data), maxQuoted)), "\n") {
			fmt.Fprintln(w, quoteMark+l)
		}
	default:
		fmt.Fprintln(w, safe.Text(text.Clip(string(data), 1<<20)))
	}
}
