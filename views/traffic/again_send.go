package traffic

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// target is where a request is sent.
type target struct {
	s       *session.Session
	version string // of the protocol, over a connection of its own; "" for the connection that there is
}

func (t target) String() string {
	if t.version != "" {
		return t.s.Title() + " in " + t.version
	}
	return t.s.Title()
}

// begin starts an operation of which this screen waits for the outcome.
func (v *resend) begin(c *tui.Ctx, what string, f func(context.Context) (any, error)) tea.Cmd {
	cmd, op := c.Go("again", safe.Line(what, 120), f)
	return v.wait(cmd, op, what)
}

// look is begin for what asks no server.
func (v *resend) look(c *tui.Ctx, what string, f func(context.Context) (any, error)) tea.Cmd {
	cmd, op := c.Replace("again", "look", what, f)
	return v.wait(cmd, op, what)
}

func (v *resend) wait(cmd tea.Cmd, op uint64, what string) tea.Cmd {
	v.op, v.what, v.err = op, safe.Line(what, 120), nil
	v.Touch()
	return cmd
}

// readRequest reads what is to be sent or compared.
func readRequest(j *journal.Journal, of pane.Again) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		var err error
		if of.Load != nil {
			if of, err = of.Load(ctx); err != nil {
				return openedRequest{of: of}, err
			}
		}
		o := openedRequest{of: of}
		if of.Request != nil {
			o.req = *of.Request
		} else if o.req, err = calls.FindRequest(j, of.Seq); err != nil {
			return o, err
		}
		switch {
		case of.Before != nil:
			o.before = *of.Before
		case o.req.Seq != 0:
			if o.before, err = calls.RecordedAnswer(j, o.req.Seq); err != nil {
				return o, err
			}
		default:
			o.before.Err = errors.New("no answer was recorded")
		}
		if of.After != nil {
			o.after = *of.After
		}
		if of.Asked != nil {
			o.asked, err = asked(*of.Asked, o.req)
			return o, err
		}
		if of.Earlier {
			q, _ := j.Get(o.req.Seq)
			seq := earlier(j, q, func() bool { return ctx.Err() != nil })
			if seq == 0 {
				return o, errNoEarlier
			}
			o.after = o.before
			if o.before, err = calls.RecordedAnswer(j, seq); err == nil {
				var was calls.Request
				if was, err = calls.FindRequest(j, seq); err == nil {
					o.asked, err = asked(was, o.req)
				}
			}
		}
		return o, err
	}
}

// asked is how a request differs from an earlier one, but for what is new in each.
func asked(was, r calls.Request) ([]compare.Difference, error) {
	a, err1 := jsonrpc.Update(was.Params(), jsonrpc.Delete("_meta"))
	b, err2 := jsonrpc.Update(r.Params(), jsonrpc.Delete("_meta"))
	return compare.Values(a, b, compare.Options{NoGuess: true}).Differences, errors.Join(err1, err2)
}

// done takes the outcomes of the screen's operations; false for anything else.
func (v *resend) done(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	var next func() tea.Cmd
	switch r := m.Value.(type) {
	case openedRequest:
		next = func() tea.Cmd { return v.opened(c, r) }
	case prepared:
		next = func() tea.Cmd { return v.agreed(c, r.to) }
	case sentAgain:
		next = func() tea.Cmd {
			v.after, v.noise, v.to, v.how, v.now = &r.after, r.noise, r.to, sentHow(r.after.Changed, v.edited), true
			return v.present(c)
		}
	case comparedAnswers:
		next = func() tea.Cmd { return v.show(c, r.Result) }
	default:
		return nil, false
	}
	if m.Op != v.op {
		return nil, true // something else was asked for meanwhile
	}
	v.op = 0
	v.Touch()
	if r, ok := m.Value.(openedRequest); ok && r.req.Frame != nil {
		v.adopt(c, &r)
		next = func() tea.Cmd { return v.opened(c, r) }
	}
	if m.Err != nil {
		v.err = m.Err
		if errors.Is(m.Err, context.Canceled) {
			v.err = errors.New("cancelled; the server was notified")
		}
		return nil, true
	}
	return next(), true
}

// adopt takes a request that was read, and the server that it was sent to.
func (v *resend) adopt(c *tui.Ctx, r *openedRequest) {
	v.req, v.some, v.before, v.edited = r.req, true, r.before, r.asked
	if s, ok := v.sessions(c).Server(r.req.Server); ok && v.sessions(c) == c.Sessions {
		v.to = target{s: s}
		for _, a := range []*calls.Answer{&v.before, &r.after} { // messages of the legacy era do not say their version
			if a.Version == calls.Legacy && s.Status().Era == session.Legacy {
				a.Version = s.Status().Version
			}
		}
	} else if !ok || v.sessions(c) != c.Sessions {
		v.to = v.chosen[r.req.Server]
	}
}

// opened goes on with a request.
func (v *resend) opened(c *tui.Ctx, r openedRequest) tea.Cmd {
	switch {
	case r.of.After != nil || r.of.Earlier:
		v.after, v.how = &r.after, "the call before asked for the same"+but(r.asked)
		return v.present(c)
	case r.of.Choose || v.to.s == nil:
		return tea.Batch(v.recorded(c), v.choose(c))
	}
	return tea.Batch(v.recorded(c), v.send(c, v.to))
}

// recorded shows the answer that there is, until there is another one.
func (v *resend) recorded(c *tui.Ctx) tea.Cmd {
	if v.before.Frame == nil {
		return nil
	}
	return v.Versus.Show(c, [2]pane.Side{v.side(c, "Before", &v.before, nil)}, compare.Result{})
}

// prepared says that a server is ready to be sent the request.
type prepared struct{ to target }

// send sends the request, once its server is connected, its tool is known, and where that is wanted somebody agreed.
func (v *resend) send(c *tui.Ctx, to target) tea.Cmd {
	if to.s == nil {
		return v.choose(c)
	}
	v.to, v.chosen[v.req.Server] = to, to
	known := v.req.Tool() == "" || to.s.Listing(offer.Tools).Loaded
	if to.s.Status().State == session.Connected && known {
		return v.agreed(c, to)
	}
	pool := v.Pool
	return v.begin(c, "connect "+to.s.Title(), func(ctx context.Context) (any, error) {
		err := pane.ConnectFrom(ctx, pool, to.s)
		if err == nil && !known && to.s.Supports("tools/list") {
			_, err = to.s.List(ctx, offer.Tools)
		}
		return prepared{to}, err
	})
}

// agreed asks before a tool that destroys, and sends.
func (v *resend) agreed(c *tui.Ctx, to target) tea.Cmd {
	it, known := v.req.Item(to.s)
	if c.ReadOnly && v.req.Tool() != "" && !(known && it.ReadOnly()) {
		v.err = errors.New("read-only mode: this tool is not marked as read-only; nothing was sent")
		v.Touch()
		return nil
	}
	run := func(c *tui.Ctx) tea.Cmd { return v.run(c, to) }
	if q := pane.ConsentQuestion(v.Consent, to.s.Name(), to.s.Title(), it, it.Name, v.req.Arguments(), run); q != nil {
		return c.Confirm(*q)
	}
	return run(c)
}

// sentAgain is the outcome of sending.
type sentAgain struct {
	to    target
	after calls.Answer
	noise *compare.Noise
}

// run sends the request, and once more where that does no harm and tells which differences mean nothing.
func (v *resend) run(c *tui.Ctx, to target) tea.Cmd {
	req, before, j := v.req, v.before, v.sessions(c).Journal()
	what := strings.TrimSpace(req.Method() + " " + req.Target())
	return v.begin(c, what+" to "+to.String(), to.over(func(ctx context.Context, s *session.Session) (any, error) {
		maker := &calls.Runner{Session: s, Journal: j, Options: session.CallOptions{OnProgress: pane.ReportTo(ctx)}}
		out := sentAgain{to: to}
		var err error
		if out.after, err = maker.Ask(ctx, req); err != nil || before.Frame == nil || out.after.Frame == nil {
			return out, err
		}
		_, out.noise, err = calls.Differ(before, out.after, nil, false, maker.NoiseProbe(ctx, req, out.after, false))
		return out, err
	}))
}

// over runs f on the connection of the target.
func (t target) over(f func(context.Context, *session.Session) (any, error)) func(context.Context) (any, error) {
	if t.version == "" {
		return func(ctx context.Context) (any, error) { return f(ctx, t.s) }
	}
	return func(ctx context.Context) (out any, err error) {
		as := session.Client{Protocol: t.version}
		if p := t.s.Presented(); p != nil {
			as.Info, as.Capabilities = p.Info, p.Capabilities
		}
		err = t.s.As(ctx, &as, func(ctx context.Context, s *session.Session) error {
			if s.Supports(string(mcp.MethodToolsList)) {
				if _, err := s.List(ctx, offer.Tools); err != nil { // its schemas say which headers a call has
					return err
				}
			}
			out, err = f(ctx, s)
			return err
		})
		if out == nil {
			out = sentAgain{to: t}
		}
		return out, err
	}
}

// askLearn sends the request once more to learn what varies, after asking where that may do something twice.
func (v *resend) askLearn(c *tui.Ctx) tea.Cmd {
	if v.req.Repeatable(v.to.s) {
		return v.learn(c)
	}
	return c.Confirm(tui.Confirmation{
		Title: "Call " + safe.Line(v.req.Target(), 120) + " once more?",
		Body:  "The tool does not say that it changes nothing. The second call is only to learn what is different between two equal calls.",
		Yes:   "call it", No: "no", Danger: true, OnYes: v.learn,
	})
}

func (v *resend) learn(c *tui.Ctx) tea.Cmd {
	req, to, after, j := v.req, v.to, *v.after, v.sessions(c).Journal()
	return v.begin(c, "learn what varies", to.over(func(ctx context.Context, s *session.Session) (any, error) {
		maker := &calls.Runner{Session: s, Journal: j, Options: session.CallOptions{OnProgress: pane.ReportTo(ctx)}}
		noise, err := maker.NoiseProbe(ctx, req, after, true)()
		return sentAgain{to: to, after: after, noise: noise}, err
	}))
}
