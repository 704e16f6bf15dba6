// Package inbox is the screens of what goes on by itself: questions of servers and their answers, tasks, subscriptions.
package inbox

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// inbox lists what servers wait for somebody to answer, oldest first, and below that what is over. It keeps the snapshot of the queue
// that other screens look at.
type inbox struct {
	pane.Rows
	*questions
	reply       pane.Reply // the question under the cursor
	shown       string     // which one the detail has
	at          uint64     // id of the question under the cursor
	grace       tui.Grace
	announced   time.Time // of the last toast
	unannounced int       // questions that came since
	ticking     bool
	texts       map[uint64]string // first words, dropped when there are too many
}

// toastPause is the least time between two toasts about new questions.
const toastPause = 5 * time.Second

// NewInbox is the list of what servers ask.
func NewInbox(q *questions) *tui.Screen {
	return (&inbox{Rows: pane.Rows{View: "inbox"}, questions: q, reply: pane.NewReply("inbox", "detail"), texts: map[uint64]string{}}).screen()
}

func (v *inbox) screen() *tui.Screen {
	return &tui.Screen{
		ID: "inbox", Title: "Inbox", Aliases: []string{"questions", "elicitation", "sampling"}, NoRail: true, AllServers: true, Transient: true,
		Split: 50, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Inbox"}, {ID: "detail", Title: "Question"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, PageText: v.pageText, CopyText: v.copyText, Lone: v.lone, Badge: v.badge,
	}
}

func (v *inbox) actions() []tui.Action {
	give := func(id string, verb tui.Verb, title, help string, hint int, why func(*tui.Ctx) string, run func(*tui.Ctx, pending.Question) tea.Cmd) tui.Action {
		return tui.Action{
			ID: "inbox." + id, Verb: verb, Title: title, Help: help, Group: "Question", Hint: hint, Pane: "list", Disabled: why,
			Run: func(c *tui.Ctx) tea.Cmd {
				if v.grace.Swallows() {
					return nil
				}
				e, _, _ := v.selected()
				return run(c, e.Question)
			},
		}
	}
	answer := give("answer", tui.VerbOpen, "answer", "Open the question and answer it; one that is over is shown.", 1, v.none, func(c *tui.Ctx, q pending.Question) tea.Cmd {
		return c.Navigate("answer", q.ID)
	})
	answer.Now = func(*tui.Ctx) string {
		if _, open, _ := v.selected(); !open {
			return "show"
		}
		return ""
	}
	return append([]tui.Action{
		answer,
		give("decline", tui.VerbDecline, "decline", "Decline the question: the server is told that you do not want to answer.", 2, v.over, func(c *tui.Ctx, q pending.Question) tea.Cmd {
			return v.decline(c, q)
		}),
		give("cancel", tui.VerbDismiss, "cancel", "Dismiss the elicitation without choosing: the server is told that it was cancelled.", 3, v.noCancel, func(c *tui.Ctx, q pending.Question) tea.Cmd {
			return v.give(c, q, pending.ActionResult(pending.Cancel))
		}),
	}, questionActions(&v.reply, "inbox", "detail")...)
}

// questionActions are what a shown question offers: nothing was sent for it, and it is not a resource.
func questionActions(r *pane.Reply, view, id string) (out []tui.Action) {
	for _, a := range r.Actions(view, id) {
		if a.ID != view+".frames" && a.ID != view+".follow" {
			a.Help = strings.ReplaceAll(a.Help, "result", "question")
			out = append(out, a)
		}
	}
	return out
}

// selected is the question under the cursor.
func (v *inbox) selected() (e pending.Record, open, ok bool) {
	i := v.List.Selected()
	switch {
	case i < 0:
		return e, false, false
	case i < len(v.open):
		return pending.Record{Question: v.open[i]}, true, true
	case i < len(v.open)+len(v.ended):
		return v.ended[i-len(v.open)], false, true
	}
	return e, false, false
}

func (v *inbox) none(*tui.Ctx) string {
	if _, _, ok := v.selected(); !ok {
		return "there is no question"
	}
	return ""
}

func (v *inbox) over(c *tui.Ctx) string {
	if _, open, ok := v.selected(); ok && !open {
		return "this question is over"
	}
	return v.none(c)
}

func (v *inbox) noCancel(c *tui.Ctx) string {
	if e, open, _ := v.selected(); open {
		return cannotCancel(e.Question)
	}
	return v.over(c)
}

// lone says that there is no question to say anything about.
func (v *inbox) lone(*tui.Ctx) bool { return len(v.open)+len(v.ended) == 0 }

// badge is how many questions wait.
func (v *inbox) badge(*tui.Ctx) string {
	if len(v.open) == 0 {
		return ""
	}
	return fmt.Sprint(len(v.open))
}

// inboxTick says that ages changed.
type inboxTick struct{}

func (v *inbox) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		return v.changed(c), true
	case tui.Navigate:
		return tea.Batch(v.changed(c), v.sync(c), v.tick(c), c.FocusPane("list")), true
	case questionsChanged:
		return v.sync(c), true
	case inboxTick:
		v.ticking = false
		v.Rev++
		return v.tick(c), false
	case tui.OpDone:
		if cmd, ok := v.Filtered(c, m); ok {
			return tea.Batch(cmd, v.describe(c)), true
		}
		return v.reply.Handle(c, msg)
	case tui.Resized:
		return v.reply.Handle(c, msg)
	case tui.FilterChanged:
		if c.Focus == "list" {
			return tea.Batch(v.SetFilter(c, m.Text), v.describe(c)), true
		}
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.reply.Handle(c, msg)
		}
	}
	if c.Focus == "detail" {
		if _, mouse := msg.(tui.PaneMouse); !mouse {
			return v.reply.Handle(c, msg)
		}
	}
	consumed, opened := v.MoveCursor("list", msg)
	if consumed {
		if e, _, ok := v.selected(); ok {
			v.at = e.ID
		}
	}
	cmd := v.describe(c)
	if opened && v.none(c) == "" {
		cmd = tea.Batch(cmd, c.Navigate("answer", v.at))
	}
	return cmd, consumed
}

// changed takes in the queue.
func (v *inbox) changed(c *tui.Ctx) tea.Cmd {
	arrived, changed := v.refresh(c)
	if !changed {
		return nil
	}
	return tea.Batch(v.sync(c), v.tick(c), v.announce(c, arrived))
}

// sync lists the questions; the cursor stays on its question, or goes to the next one that waits when that is over.
func (v *inbox) sync(c *tui.Ctx) tea.Cmd {
	was := v.List.Selected()
	open, ended := v.open, v.ended
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(open) + len(ended), func(i int) (name, about string) {
			q := &pending.Question{}
			if i < len(open) {
				q = &open[i]
			} else {
				q = &ended[i-len(open)].Question
			}
			return q.Title, kindMark(q.Kind) + " " + cause(*q) + " " + pane.QuestionText(*q)
		}
	}
	cmd := v.SetRows(c, inboxRows{v, c})
	at := -1
	for i := range open {
		if open[i].ID == v.at {
			at = i
		}
	}
	if at < 0 && len(open) > 0 { // the one under the cursor is over
		at = min(max(was, 0), len(open)-1)
		v.grace.Start()
	}
	for i := range ended {
		if at < 0 && ended[i].ID == v.at {
			at = len(open) + i
		}
	}
	if at >= 0 {
		v.List.Select(at)
	}
	if e, _, ok := v.selected(); ok && (at >= 0 || !v.given[v.at]) { // one that was answered here is found again once the queue has ended it
		v.at = e.ID
	}
	return tea.Batch(cmd, v.describe(c))
}

// tick draws the ages again each second while they are on the screen.
func (v *inbox) tick(c *tui.Ctx) tea.Cmd {
	if v.ticking || len(v.open) == 0 || c.View != "inbox" {
		return nil
	}
	v.ticking = true
	return c.After(time.Second, func() tea.Msg { return inboxTick{} })
}

// announce tells of new questions, once in a while however many there are, and not to somebody who looks at them.
func (v *inbox) announce(c *tui.Ctx, arrived []pending.Question) tea.Cmd {
	if v.unannounced += len(arrived); v.unannounced == 0 || len(v.open) == 0 {
		v.unannounced = 0
		return nil
	}
	if !c.Linear && (c.View == "inbox" || len(arrived) > 0 && onCall(c, arrived[0])) {
		v.unannounced = 0
		return nil
	}
	if time.Since(v.announced) < toastPause {
		return nil
	}
	n := v.unannounced
	v.announced, v.unannounced = time.Now(), 0
	key := c.KeyOf("app.inbox")
	if n > 1 || len(arrived) == 0 {
		return c.Toast(tui.Note, fmt.Sprintf("%s wait for your answer: %s opens the oldest", text.Count(len(v.open), "question"), key))
	}
	q := arrived[0]
	_, kind, _ := strings.Cut(kindMark(q.Kind), " ")
	return c.Toast(tui.Note, fmt.Sprintf("%s asks: %s, %s opens it", safe.Line(q.Title, 30), kind, key))
}

// onCall is whether the screen of the call that caused a question is visible: it says that it waits.
func onCall(c *tui.Ctx, q pending.Question) bool {
	return q.Cause.Method != "" && c.Server != nil && c.Server.Name() == q.Server && (c.View == "call" || c.View == "prompt" || c.View == "template")
}

// describe shows the question under the cursor.
func (v *inbox) describe(c *tui.Ctx) tea.Cmd {
	e, open, ok := v.selected()
	key := fmt.Sprint(e.ID, open, e.Completed)
	if key == v.shown {
		return nil
	}
	v.shown = key
	if !ok {
		v.reply.Clear()
		return nil
	}
	return loadQuestion(c, &v.reply, e)
}

// loadQuestion takes a question apart beside the event loop.
func loadQuestion(c *tui.Ctx, r *pane.Reply, e pending.Record) tea.Cmd {
	return r.Load(c, 0, func() (pane.Verdict, []pane.Part, error) {
		verdict, parts := pane.QuestionParts(e, maskedAnswer(e.Question))
		return verdict, parts, nil
	})
}

func (v *inbox) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		e, open, ok := v.selected()
		if !ok {
			p.Title, p.Badge, p.Foot, p.Scroll, p.Selected = "Question", "", "", tui.Scroll{}, 0
			p.Lines = nil
			return nil
		}
		p.Title = questionTitle(c.Theme, e, open)
		return v.reply.Draw(c, p)
	}
	if p.Same(c, v.Rev, v.rev, v.List.Selected()) {
		return nil
	}
	v.List.SetRows(inboxRows{v, c}) // rows carry the theme
	v.DrawList(c, p, func(w int) []string {
		if v.Typed != "" {
			return pane.NothingMatches(c.Theme, w, v.Typed)
		}
		return pane.Message(c.Theme, w, "No questions.", "What servers ask of you arrives here: values (elicitation), a page to visit (elicitation by URL), "+
			"or a language model's answer (sampling). A call that causes one waits until you answer. "+c.KeyOf("app.inbox")+" goes to the oldest one from every screen.")
	})
	p.Badge, p.Foot = "", ""
	if n := len(v.open); n > 0 {
		p.Badge = text.Count(n, "open")
		p.Badge = strings.TrimSuffix(p.Badge, "s")
	}
	if n := len(v.ended); n > 0 {
		p.Foot = fmt.Sprintf("%d over", n)
	}
	return nil
}

// questionTitle says who asks what: it stands in a pane's frame, which no server draws.
func questionTitle(th *tui.Theme, e pending.Record, open bool) string {
	s := kindMark(e.Kind) + " from " + safe.Line(e.Title, 40)
	if e.Round > 0 {
		s += fmt.Sprintf(" · round %d", e.Round)
	}
	if !open {
		how, _ := outcome(th, e)
		how, _, _ = strings.Cut(how, ": ") // the question itself says why
		s += " · " + safe.Line(how, 60)
	}
	return s
}

// inboxRows draws the list.
type inboxRows struct {
	v *inbox
	c *tui.Ctx
}

// Len is the number of questions.
func (r inboxRows) Len() int { return len(r.v.open) + len(r.v.ended) }

// Row is a question's age, kind, server, call and first words; one that is over says how it ended.
func (r inboxRows) Row(i, w int) string {
	th := r.c.Theme
	e, open := pending.Record{}, i < len(r.v.open)
	if open {
		e.Question = r.v.open[i]
	} else {
		e = r.v.ended[i-len(r.v.open)]
	}
	hl := func(s string, st paint.Style) string { return r.v.Query.Highlight(s, st, th.Match) }
	var b strings.Builder
	if open {
		b.WriteString(th.Warn.S(paint.Fit(ago(e.At), 5)) + " ")
		b.WriteString(hl(paint.Fit(kindMark(e.Kind), 13), th.Accent) + " ")
	} else {
		how, st := outcome(th, e)
		b.WriteString(st.S(paint.Fit(safe.Line(how, max(w/3, 19)), max(19, min(w/3, paint.Width(how))))) + " ")
	}
	b.WriteString(hl(safe.Line(e.Title, max(w/4, 12)), th.Text))
	if s := cause(e.Question); s != "" {
		b.WriteString(th.Muted.S(" · ") + hl(safe.Line(strings.TrimPrefix(s, "tools/call "), max(w/4, 12)), th.Text))
	}
	if !open {
		b.WriteString(th.Muted.S(" · " + e.Over.Local().Format(time.TimeOnly)))
	}
	if s := r.v.text(e.Question); s != "" {
		b.WriteString("  " + hl(s, th.Muted))
	}
	return paint.Cut(b.String(), w)
}

// text is what a question says, made once.
func (v *inbox) text(q pending.Question) string {
	s, ok := v.texts[q.ID]
	if !ok {
		if len(v.texts) > 2000 {
			clear(v.texts)
		}
		s = pane.QuestionText(q)
		v.texts[q.ID] = s
	}
	return s
}

func (v *inbox) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	e, _, ok := v.selected()
	switch {
	case !ok:
		return nil
	case k == tui.CopyRaw:
		return tui.CopyBytes(e.Params)
	case c.Focus == "detail":
		return v.reply.Doc.CopyText(k)
	case k == tui.CopyValue:
		return tui.CopyString(e.Message(), true)
	case k == tui.CopyJSON:
		return tui.CopyBytes(e.Params)
	}
	return nil
}

// pageText is the whole question for $PAGER.
func (v *inbox) pageText(*tui.Ctx) (text, ext string, ok bool) { return v.reply.Doc.PageText() }
