package call

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// cannot is why the form cannot be sent now.
func (v *formScreen) cannot(c *tui.Ctx) string {
	switch {
	case v.cur == nil:
		return "nothing is open"
	case v.cur.op != 0:
		return "it is running; x cancels"
	case c.ReadOnly && v.kind == offer.Tools && !v.cur.item.ReadOnly():
		return "read-only mode: this tool is not marked as read-only"
	case v.cur.item.Barred != nil:
		return v.cur.item.Barred.Error()
	}
	return pane.Offline(c)
}

// submit sends the form, as a task where asTask says so, after asking where the value is invalid or the tool destroys.
func (v *formScreen) submit(c *tui.Ctx, asTask bool) tea.Cmd {
	d := v.cur
	d.asTask = asTask
	if err := d.form.Err(); err != nil {
		return c.Toast(tui.Warning, "not valid JSON: "+err.Error())
	}
	valid := func(c *tui.Ctx) tea.Cmd {
		server := d.server
		if s := c.Server; s != nil && s.Name() == d.server {
			server = s.Title()
		}
		start := func(c *tui.Ctx) tea.Cmd { return v.start(c, d) }
		if q := pane.ConsentQuestion(v.consent, d.server, server, d.item, v.name(d.item), []byte(d.form.JSON()), start); q != nil {
			return c.Confirm(*q)
		}
		return start(c)
	}
	problems := d.form.Check() // not Problems: the last key may not be checked yet
	if len(problems) == 0 {
		return valid(c)
	}
	return c.Confirm(pane.InvalidForm(invalid(len(problems)), "Sending them tests how the server answers.", problems, valid))
}

// invalid is how many problems the arguments have.
func invalid(n int) string {
	if n == 1 {
		return "1 argument is invalid."
	}
	return fmt.Sprintf("%d arguments are invalid.", n)
}

// callDone is the outcome of a call.
type callDone struct {
	d     *draft
	reply rpc.Reply
}

// start starts a call as an operation of the shell, which the pane of results waits for.
func (v *formScreen) start(c *tui.Ctx, d *draft) tea.Cmd {
	if why := v.cannot(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	label := v.verb + " " + safe.Line(v.name(d.item), 80)
	d.sent = d.form.JSON()
	cmd, op := c.Go(v.info.ID, label, v.operation(c.Server, d))
	d.form.Sent()
	d.called = d.form.Revision()
	d.saved, d.kept = d.called, inputs.Kept{}
	d.op = op
	v.calls[op] = d
	v.reply.Wait(label)
	return tea.Batch(cmd, c.FocusPane("result"))
}

// operation makes the session's call of what a draft holds now: it runs beside the event loop, where the draft goes on changing.
func (v *formScreen) operation(s *session.Session, d *draft) func(context.Context) (any, error) {
	it, args, given := d.item, d.sent, d.form.Strings()
	task := newTaskCall(d.asTask)
	d.task = task
	return func(ctx context.Context) (any, error) {
		r, err := v.sessionCall(ctx, s, it, args, given, task.options(ctx))
		return callDone{d, r}, err
	}
}

// finished takes outcomes of operations.
func (v *formScreen) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if r, ok := m.Value.(pane.FileRead[*draft]); ok {
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return v.putFile(c, r)
	}
	if r, ok := m.Value.(recalled); ok {
		return r.d.fill(r.kept)
	}
	if _, ok := m.Value.(kept); ok {
		return nil
	}
	if cmd, ok := pane.CallSaved(c, m); ok {
		return cmd
	}
	d := v.calls[m.Op]
	if d == nil {
		cmd, _ := v.reply.Handle(c, m)
		return cmd
	}
	delete(v.calls, m.Op)
	d.op = 0
	return tea.Batch(v.keep(c, d), v.answered(c, d, m))
}

// answered shows the outcome of a call.
func (v *formScreen) answered(c *tui.Ctx, d *draft, m tui.OpDone) tea.Cmd {
	if a, ok := m.Value.(callDone); ok {
		d.request = a.reply.Request
	}
	if a, ok := m.Value.(callDone); ok && m.Err == nil && a.reply.Ongoing {
		return v.leftAsTask(c, d, a.reply)
	}
	if d != v.cur {
		return c.Toast(tui.Note, m.Label+" ended; see the traffic")
	}
	if m.Err != nil {
		v.reply.Fail(m, d.request)
		if v.reply.Cancelled || v.reply.WantsLogin() {
			return nil // the keys stay where x was pressed: a second one must not be typed into a field
		}
		return c.FocusPane("form")
	}
	r := m.Value.(callDone).reply
	d.last, d.gave = pane.ResultAsSent(c.Sessions.Journal(), r), d.sent
	last := d.last
	th := c.Theme
	return v.reply.Load(c, r.Request, func() (pane.Verdict, []pane.Part, error) {
		res, parts := pane.ResultParts(pane.FileName(v.name(d.item)), r.Result, last)
		return verdict(th, d.item, res, r), parts, nil
	})
}

// logIn logs in, and sends what was refused for want of that: the key was pressed on the refusal.
func (v *formScreen) logIn(c *tui.Ctx) tea.Cmd {
	d := v.cur
	if d == nil || !v.reply.WantsLogin() {
		return c.Navigate("login", tui.LogIn{})
	}
	return c.Navigate("login", tui.LogIn{Again: func(c *tui.Ctx) tea.Cmd {
		if d != v.cur {
			return nil // something else is open now
		}
		return v.start(c, d)
	}})
}

// verdict is how a call went: how long it took, how large the result is, and whether it is what the tool promised.
func verdict(th *tui.Theme, it offer.Item, res offer.Result, r rpc.Reply) (out pane.Verdict) {
	out.Line = "✓ " + cost(r)
	if res.IsError {
		out.Line = "✗ the tool failed (isError) · " + cost(r)
	}
	if len(it.OutputSchema) == 0 || res.IsError {
		return out
	}
	flaw := func(st paint.Style, s string) { out.Flaws = append(out.Flaws, st.S(s)) }
	if len(res.Structured) == 0 {
		flaw(th.Error, "✗ no structuredContent, which outputSchema promises")
		return out
	}
	problems, unchecked := schema.Parse(it.OutputSchema).ValidateJSON(res.Structured)
	switch {
	case unchecked != "":
		flaw(th.Warn, "? outputSchema not checked: "+safe.Line(unchecked, 300))
		return out
	case len(problems) == 0:
		out.Line += " · matches outputSchema"
	}
	for i, p := range problems {
		if i == 4 {
			flaw(th.Error, fmt.Sprintf("  … and %d more", len(problems)-i))
			break
		}
		flaw(th.Error, "✗ outputSchema: "+safe.Line(p.String(), 300))
	}
	return out
}

// cost is how long an answer took and how large it is.
func cost(r rpc.Reply) string {
	if !r.Cached.IsZero() {
		return "cached " + text.Duration(time.Since(r.Cached)) + " ago, nothing was sent · " + text.Bytes(len(r.Result))
	}
	return text.Duration(r.Took) + " · " + text.Bytes(len(r.Result))
}

// drawResult shows the running call's progress, or the answer.
func (v *formScreen) drawResult(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Title, p.Badge, p.Foot = "Result", "", ""
	if v.cur == nil {
		p.Lines, p.Scroll = nil, tui.Scroll{}
		return nil
	}
	if !v.reply.Shown() {
		what := "Fill in the form and press ctrl+g."
		if v.cur.bare {
			what = "Nothing is to be filled in: press ctrl+g."
		}
		p.Lines = pane.Message(c.Theme, p.W, what, "tab moves between form and result, f1 lists every key.")
		p.Scroll = tui.Scroll{}
		return nil
	}
	cur := v.reply.Draw(c, p)
	if v.cur.op == 0 {
		return cur
	}
	if v.question(c) != 0 {
		p.Lines = append(p.Lines, "", " "+c.Theme.Warn.S("✉ waits for your answer")+c.Theme.Muted.S(" · "+c.KeyOf("app.inbox")+" to answer"))
	}
	p.Lines = append(p.Lines, v.taskProgress(c)...)
	for _, op := range c.Ops() {
		if op.ID == v.cur.op {
			p.Lines = append(p.Lines, pane.ProgressLines(c.Theme, op, p.W)...)
		}
	}
	return cur
}

// question is what the running call waits for a person to answer, 0 if nothing.
func (v *formScreen) question(*tui.Ctx) uint64 {
	if v.cur == nil || v.cur.op == 0 {
		return 0
	}
	return v.asks(v.cur.server, v.name(v.cur.item))
}

// completionRest is how long nothing is typed before a server is asked for completions.
const completionRest = 150 * time.Millisecond

// completer asks the server to complete an argument, a moment after the last
// key; a question that is overtaken is cancelled. Nil where the server does not offer it.
func (v *formScreen) completer(s *session.Session, it offer.Item) func(pointer, text string) tea.Cmd {
	if v.ref == nil || !s.Supports("completion/complete") {
		return nil
	}
	ref := v.ref(it)
	stop := func() {}
	return func(pointer, text string) tea.Cmd {
		stop()
		key := s.Name() + "\x00" + v.name(it)
		d := v.drafts[key]
		if d == nil {
			return nil
		}
		name := strings.TrimPrefix(pointer, "/")
		known := d.form.Strings()
		delete(known, name)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		stop = cancel
		return func() tea.Msg {
			defer cancel()
			select {
			case <-time.After(completionRest):
			case <-ctx.Done():
				return nil
			}
			r, err := s.Complete(ctx, ref, name, text, known)
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil
			}
			return suggestions{d, pointer, text, completions(r.Result, err)}
		}
	}
}

// suggestions are the values that a server completes a text to.
type suggestions struct {
	d             *draft
	pointer, text string
	found         form.Suggestions
}

// completions reads a completion/complete result.
func completions(result []byte, err error) (out form.Suggestions) {
	var e *failure.Error
	switch {
	case errors.As(err, &e):
		out.Err = e.Message
		return out
	case err != nil:
		out.Err = err.Error()
		return out
	}
	found := jsonrpc.Get(result, "completion")
	values := jsonrpc.Get(found, "values")
	if err := jsonrpc.Elements(values, func(v []byte) bool {
		out.Values = append(out.Values, pane.PlainValue(v))
		return len(out.Values) < 100 // as many as the protocol allows
	}); err != nil {
		out.Err = "the answer has no completion.values"
	}
	out.More = string(jsonrpc.Get(found, "hasMore")) == "true"
	if n, err := strconv.ParseFloat(string(jsonrpc.Get(found, "total")), 64); err == nil && n > 0 && n < 1e9 {
		out.Total = int(n)
	}
	return out
}
