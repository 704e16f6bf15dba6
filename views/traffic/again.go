package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// Targets is where requests are sent again.
type Targets struct {
	// Sessions are the servers; nil for those that the screens show.
	Sessions *session.Manager
	// Where is how what is pasted is expanded.
	Where config.Options
	// Consent is which tools ask before they are called; nil asks before each call of a destructive one.
	Consent *consent.Policy
	// Pool limits connections; nil for no limits.
	Pool *toolset.Pool
}

func (t *Targets) sessions(c *tui.Ctx) *session.Manager { return cmp.Or(t.Sessions, c.Sessions) }

// resend sends a request once more, and compares the answers. Navigate's Arg is a [pane.Again].
type resend struct {
	pane.Versus
	Targets
	req    calls.Request
	some   bool // there is a request
	before calls.Answer
	after  *calls.Answer
	noise  *compare.Noise
	to     target               // where it was sent last
	how    string               // how the second answer came about
	edited []compare.Difference // what is asked otherwise than it was at first
	now    bool                 // it came just now
	op     uint64               // that runs, 0 if none does
	what   string               // what it does
	err    error                // why it was not sent
	chosen map[string]target    // for what others sent to a server, by its name
}

// NewResend is the screen on which a request is sent again.
func NewResend(t Targets) *tui.Screen {
	t.Consent = cmp.Or(t.Consent, &consent.Policy{})
	return (&resend{Versus: pane.NewVersus("again", "before", "after"), Targets: t, chosen: map[string]target{}}).screen()
}

func (v *resend) screen() *tui.Screen {
	return &tui.Screen{
		ID: "again", Title: "Again", Aliases: []string{"compare", "diff"}, Tab: "traffic", Split: 50, StackUnder: pane.StackUnder,
		NoRail:  true,
		Panes:   []tui.PaneSpec{{ID: "before", Title: "Before"}, {ID: "after", Title: "After"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		PageText: v.PageText, CopyText: v.copyText, Hints: v.hints, Breadcrumb: v.breadcrumb,
	}
}

func (v *resend) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "again.send", Verb: tui.VerbRun, Title: "send again", Group: "Again", Hint: 1,
			Help: "Send the request once more to where it was sent last.", Disabled: v.cannot,
			Run: func(c *tui.Ctx) tea.Cmd { return v.send(c, v.to) },
		},
		{
			ID: "again.edit", Verb: tui.VerbEdit, Title: "edit and send", Group: "Again", Hint: 2,
			Help: "Change the params of the request, and send it.", Disabled: v.cannot,
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("edit", pane.Again{Request: &v.req, Before: &v.before}) },
		},
		{
			ID: "again.choose", Verb: tui.VerbElsewhere, Title: "send to", Group: "Again", Hint: 3,
			Help: "Send the request to another server, by another path, or in another protocol version.", Disabled: v.cannot,
			Run: v.choose,
		},
		{
			ID: "again.learn", Word: "varies", Title: "what varies", Group: "Again", Hint: 6,
			Help: "Send the request once more to learn what is different between two equal calls. Reads do so by themselves.",
			Disabled: func(c *tui.Ctx) string {
				if v.after == nil || v.to.s == nil {
					return "nothing was sent yet"
				}
				return v.cannot(c)
			},
			Run: v.askLearn,
		},
		{
			ID: "again.frames", Verb: tui.VerbFrames, Title: "frames", Group: "Again", Hint: 7,
			Help: "Show what was said on the wire, in Traffic.",
			Disabled: func(c *tui.Ctx) string {
				if v.after == nil || v.after.Seq == 0 || v.sessions(c) != c.Sessions {
					return "the traffic screen does not have it"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("traffic", pane.FramesOf(v.after.Seq)) },
		},
	}, v.Versus.Actions()...)
}

// hints say how to leave the screen, which has no number.
func (v *resend) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

func (v *resend) cannot(*tui.Ctx) string {
	switch {
	case !v.some:
		return "nothing was chosen: press r on a frame in Traffic"
	case v.op != 0:
		return "it is running; x cancels"
	}
	return ""
}

func (v *resend) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		if a, ok := m.Arg.(pane.Again); ok {
			return v.open(c, a), true
		}
		return nil, true
	case tui.OpDone:
		if cmd, ok := pane.SavedToast(c, m); ok {
			return cmd, true
		}
		if cmd, ok := v.done(c, m); ok {
			return cmd, true
		}
	case tea.KeyPressMsg:
		if k := m.String(); k == "q" || k == "esc" {
			if v.Versus.Back(c) {
				return nil, true
			}
			if k == "q" {
				return c.Back(), true
			}
		}
	}
	return v.Versus.Handle(c, msg)
}

// openedRequest is the outcome of reading what is to be sent.
type openedRequest struct {
	of            pane.Again
	req           calls.Request
	before, after calls.Answer
	asked         []compare.Difference // what was asked otherwise than before
}

// open reads the request and the answer that there is, and goes on with them.
func (v *resend) open(c *tui.Ctx, of pane.Again) tea.Cmd {
	v.stop(c)
	v.Clear()
	v.some, v.after, v.noise, v.to, v.how, v.now, v.err = false, nil, nil, target{}, "", false, nil
	v.edited = nil
	return v.look(c, "Reading the request", readRequest(c.Sessions.Journal(), of))
}

// stop cancels what runs; its outcome is dropped.
func (v *resend) stop(c *tui.Ctx) {
	if v.op != 0 {
		c.Cancel(v.op)
		v.op = 0
	}
}

// side is an answer with whose it is and what it cost, beside the other one if that is given.
func (v *resend) side(c *tui.Ctx, name string, a, beside *calls.Answer) pane.Side {
	s := pane.Side{Value: a.Shown()}
	about := []string{name + ": " + safe.Line(cmp.Or(c.ServerTitle(a.Server), a.Server, "?"), 60)}
	if target := v.req.Target(); target != "" && beside == nil {
		about = append(about, safe.Line(target, 40))
	}
	if v.after != nil && v.before.Version != v.after.Version && v.before.Version != calls.Legacy && a.Version != "" {
		about = append(about, safe.Line(a.Version, 20))
	}
	if at := a.At.Local(); time.Since(at) > 20*time.Hour {
		about = append(about, at.Format("2 Jan 15:04"))
	} else if beside == nil || !v.now {
		about = append(about, at.Format("15:04:05"))
	}
	s.Title = strings.Join(about, " · ")
	took, size := text.Duration(a.Took), text.Bytes(len(a.Frame))
	if beside != nil {
		took += more(a.Took-beside.Took, text.Duration)
		size += more(len(a.Frame)-len(beside.Frame), text.Bytes[int])
	}
	s.Cost = took + " · " + size
	if a.Frame == nil && a.Err != nil {
		s.Notes = append(s.Notes, c.Theme.Error.S("✗ "+safe.Line(a.Err.Error(), 400)))
	}
	return s
}

// more is a difference with its sign, "" for none.
func more[N ~int | ~int64](n N, f func(N) string) string {
	switch {
	case n > 0:
		return " (+" + f(n) + ")"
	case n < 0:
		return " (−" + f(-n) + ")"
	}
	return ""
}

// present compares the two answers.
func (v *resend) present(c *tui.Ctx) tea.Cmd {
	before, after, noise := v.before, *v.after, v.noise
	return v.look(c, "Comparing", func(context.Context) (any, error) {
		return comparedAnswers{calls.Compare(before, after, noise, nil)}, nil
	})
}

// comparedAnswers is the outcome of a comparison.
type comparedAnswers struct{ compare.Result }

func (v *resend) show(c *tui.Ctx, r compare.Result) tea.Cmd {
	a, b := v.side(c, "Before", &v.before, nil), v.side(c, "After", v.after, &v.before)
	b.Notes = append(b.Notes, c.Theme.Muted.S(v.how))
	if v.noise != nil {
		b.Notes = append(b.Notes, c.Theme.Muted.S("sent twice: "+varies(v.noise.Places())+" between equal calls"))
	}
	return v.Versus.Show(c, [2]pane.Side{a, b}, r)
}

// varies is how many places do.
func varies(n int) string {
	switch n {
	case 0:
		return "nothing varies"
	case 1:
		return "1 place varies"
	}
	return fmt.Sprintf("%d places vary", n)
}

// sentHow says what of a request was sent otherwise than it was recorded, and what was edited before.
func sentHow(changed, edited []compare.Difference) string {
	if len(edited) > 0 {
		return "edited: " + strings.TrimPrefix(but(edited), " but for ") + "; sent as edited" + but(changed)
	}
	return "sent as it was" + but(changed)
}

// but is what differs between two requests.
func but(changed []compare.Difference) string {
	const most = 5
	var names []string
	for _, d := range changed {
		name := strings.TrimPrefix(strings.TrimPrefix(d.Place(), "/params/_meta"), "/")
		if name = name[strings.LastIndex(name, "~1")+1:]; strings.HasPrefix(name, "1") && strings.Contains(d.Pointer, "~1") {
			name = name[1:]
		}
		if !slices.Contains(names, name) {
			names = append(names, cmp.Or(name, "_meta"))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return " but for " + safe.Line(strings.Join(names, ", "), 300)
}

func (v *resend) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if v.Shown() && (p.ID == "before" || v.op == 0 && v.err == nil && v.after != nil) {
		return v.Versus.Draw(c, p)
	}
	p.Title, p.Badge, p.Foot, p.Scroll, p.Selected = map[string]string{"before": "Before", "after": "After"}[p.ID], "", "", tui.Scroll{}, 0
	switch {
	case p.ID == "before" && v.some:
		p.Lines = pane.Message(c.Theme, p.W, safe.Line(strings.TrimSpace(v.req.Method()+" "+v.req.Target()), 200), "")
	case v.op != 0:
		p.Lines = pane.Message(c.Theme, p.W, v.what+"…", "Press x to cancel.")
		for _, op := range c.Ops() {
			if op.ID == v.op {
				p.Lines = append(p.Lines, pane.ProgressLines(c.Theme, op, p.W)...)
			}
		}
	case v.err != nil && !v.some && p.ID == "after": // the first pane says it
		p.Lines = nil
	case v.err != nil:
		next := fmt.Sprintf("%s again · %s send to another · %s edit", c.KeyOf("again.send"), c.KeyOf("again.choose"), c.KeyOf("again.edit"))
		if !v.some {
			next = "q goes back"
		}
		p.Lines = []string{""}
		for _, l := range append(pane.ErrorLines(c.Theme, p.W-2, v.err), "", c.Theme.Muted.S(safe.Line(next, p.W-2))) {
			p.Lines = append(p.Lines, " "+l)
		}
	case v.some:
		p.Lines = pane.Message(c.Theme, p.W, "Not sent yet.", "Press r to send it, o to choose where to.")
	default:
		p.Lines = pane.Message(c.Theme, p.W, "Nothing to send again.", "Press r, e or d on a frame in Traffic.")
	}
	return nil
}

func (v *resend) breadcrumb(*tui.Ctx) string {
	if !v.some {
		return ""
	}
	return safe.Line(strings.TrimSpace(v.req.Method()+" "+v.req.Target()), 60)
}

func (v *resend) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if k == tui.CopyRaw && v.after != nil {
		return tui.CopyBytes(v.after.Frame)
	}
	return v.Versus.CopyText(c, k)
}

func (v *resend) plain(c *tui.Ctx, w io.Writer) {
	switch {
	case v.err != nil:
		fmt.Fprintln(w, "error: "+safe.Line(v.err.Error(), 2000))
	case v.op != 0:
		fmt.Fprintln(w, v.what+"…")
	default:
		v.Versus.Plain(w)
	}
}

var errNoEarlier = errors.New("no earlier call of the same in the journal")

// earlier is the request before one that asked the same server for the same, and was answered; 0 if there is none.
func earlier(j *journal.Journal, q journal.Entry, over func() bool) uint64 {
	for seq := q.Seq - 1; seq >= j.First() && seq > 0; seq-- {
		if seq&1023 == 0 && over() {
			return 0
		}
		e, ok := j.Get(seq)
		if ok && e.Kind == journal.Request && e.Dir == q.Dir && e.Peer != 0 && e.Server == q.Server && e.Method == q.Method && e.Tool == q.Tool {
			return seq
		}
	}
	return 0
}
