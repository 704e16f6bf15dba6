package fuzz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

const (
	look        = 50 * time.Millisecond  // how often the wire is looked at while a call waits
	noiseGrace  = time.Second            // for an answer to come after noise
	brokenGrace = 250 * time.Millisecond // for one to come after a frame that may have been meant as the answer
	settling    = 500 * time.Millisecond // at most, for what comes after an answer
	maxRecent   = 64                     // calls that a late frame can be told to belong to
)

// errBroken ends the wait for an answer after the server sent something that is none.
var errBroken = errors.New("the server sent something else")

// errNotSent is why there was no call: see target.request.
var errNotSent = errors.New("the template cannot be expanded")

// client is a connection of its own to the server, made again where it is lost. It is used by one job at a time; only what mu guards is shared with
// the goroutine that looks at the wire during a call.
type client struct {
	subject *check.Subject
	o       Options
	s       *session.Session // nil where there is no connection
	end     func()           // ends s, nil with it
	used    *atomic.Int64    // connections so far, of all clients
	own     bool             // the server is a process of its own
	last    string           // name of the last connection, "" before the first
	since   time.Time        // when that was made

	mu      sync.Mutex     // the wire is looked at while a call waits
	checker *live.Checker  // of all connections of this client
	seen    uint64         // number of the journal's last entry that was checked
	found   []live.Finding // of the server, since the last drain
	recent  []sentCall     // the latest calls, the last one at the end
	late    []lateFinding  // what came after its call, and was not looked at yet
}

// sentCall is a call and the number of its request in the journal, 0 where it is not there.
type sentCall struct {
	seq uint64
	t   *target
	in  input
}

// outcome is how a call ended.
type outcome struct {
	reply      rpc.Reply
	err        *failure.Error // why there is no result, nil where there is one
	result     offer.Result   // empty where it is too large or cannot be read
	text       string         // texts of the result, or the message and data of the error; at most maxAnswer bytes of a result
	took       time.Duration  // until the answer, or until none was waited for
	total      time.Duration  // with what was looked at meanwhile, and a restart
	wire       []live.Finding // what the server did wrong on the wire meanwhile
	last       []live.Finding // the same, from when the connection was closed
	broken     bool           // the answer never came: something else did
	concurrent bool           // other calls were under way at the same server
	gone       bool           // so is the connection
	fatal      bool           // so is the server
}

// lateFinding is a violation that came after its call was over.
type lateFinding struct {
	sentCall
	live.Finding
}

// newClient returns a client without a connection. Of what is on the wire it takes only what the server did wrong, not what we did on purpose.
func newClient(s *check.Subject, o Options, used *atomic.Int64) *client {
	c := &client{subject: s, o: o, used: used}
	c.checker = live.NewChecker(func(f live.Finding) {
		if f.By == rules.Server {
			c.found = append(c.found, f)
		}
	})
	return c
}

func (c *client) isConnected() bool { return c.s != nil && c.s.Status().State == session.Connected }

// open makes a connection, in place of one that ended. It lists the tools, which is not a call of the run: rules about results look at the list.
func (c *client) open(ctx context.Context) error {
	c.close(sentCall{})
	n := c.used.Add(1)
	s, end, err := c.subject.Again(ctx, func(cfg *config.Server) {
		cfg.NoReconnect = true
		cfg.Name = fmt.Sprintf("%s-%d", cfg.Name, n) // what is on the wire is told apart by it
	})
	if err != nil {
		return fmt.Errorf("connect for the calls: %w", err)
	}
	c.s, c.end = s, end
	c.own, c.last, c.since = s.Status().PID != 0, s.Name(), time.Now()
	if s.Supports(offer.Tools.Method()) { // what is checked of results depends on what is listed
		ctx, cancel := context.WithTimeout(ctx, 2*c.o.Timeout)
		_, _ = s.List(ctx, offer.Tools) // the report says already that it fails
		cancel()
	}
	c.drain()
	return nil
}

// close ends the connection. wire is what was wrong with what was on its way since the call now.
func (c *client) close(now sentCall) (wire []live.Finding) {
	if c.end != nil {
		c.end()
		var out outcome
		c.assign(&out, c.drain(), now)
		wire = out.wire
	}
	c.s, c.end = nil, nil
	return wire
}

// drain checks the entries of the journal since the last drain, and returns the server's violations.
func (c *client) drain() []live.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.Journal == nil || c.s == nil {
		return nil
	}
	name := c.s.Name()
	c.o.Journal.Each(c.seen, func(e *journal.Entry) bool {
		c.seen = e.Seq
		if e.Server != name {
			return true
		}
		var body []byte
		if live.Wants(e) {
			body, _ = c.o.Journal.Body(e.Seq) // what is not kept any more is not looked at
		}
		c.checker.Add(e, body)
		return true
	})
	out := c.found
	c.found = nil
	return out
}

// call makes one call. settle waits for what the server sends after the answer. waiting is called when no answer is likely any more, and
// more than once.
func (c *client) call(ctx context.Context, t *target, in input, settle bool, waiting func()) (out outcome, err error) {
	method, params, _ := t.request(in) // run.call has looked
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan []live.Finding)
	go func() { watched <- c.watch(own, cancel, waiting) }()
	began := time.Now()
	o := session.CallOptions{Timeout: c.o.Timeout, MaxTimeout: 4 * c.o.Timeout, Exact: true}
	var failed error
	if t.kind == check.OfTool {
		var args json.RawMessage
		if in.IsSet() {
			args = in.JSON()
		}
		out.reply, failed = c.s.CallTool(own, t.name, args, o)
	} else {
		out.reply, failed = c.s.Call(own, method, params, o)
	}
	out.took = time.Since(began)
	out.broken = errors.Is(context.Cause(own), errBroken)
	cancel(nil)
	wire := <-watched
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if settle && failure.KindOf(failed) != failure.Timeout && !out.broken { // these waited long enough
		c.settle(ctx)
	}
	now := sentCall{out.reply.Request, t, in}
	c.assign(&out, append(wire, c.drain()...), now)
	if failed != nil && !errors.As(failed, &out.err) {
		out.err = &failure.Error{Kind: failure.KindOf(failed), Message: failed.Error(), Err: failed}
	}
	c.parseAnswer(&out)
	out.gone = !c.isConnected()
	return out, nil
}

// watch looks at the wire while a call waits. Where the server sent something that does not answer it, the answer does not come for long.
func (c *client) watch(ctx context.Context, cancel context.CancelCauseFunc, waiting func()) (wire []live.Finding) {
	t := time.NewTicker(look)
	defer t.Stop()
	var ends time.Time
	for {
		select {
		case <-ctx.Done():
			return wire
		case <-t.C:
		}
		for _, f := range c.drain() {
			wire = append(wire, f)
			if grace, ok := insteadOfAnswer(f.Rule.ID); ok && ends.IsZero() {
				ends = time.Now().Add(min(grace, c.o.Timeout))
				waiting()
			}
		}
		if !ends.IsZero() && time.Now().After(ends) {
			cancel(errBroken)
		}
	}
}

// insteadOfAnswer reports whether what breaks a rule of live traffic may be all that comes of a request, and how long to wait for more.
func insteadOfAnswer(rule string) (time.Duration, bool) {
	switch rule {
	case "stdout-noise", "http-body":
		return noiseGrace, true
	case "id-unknown", "id-changed", "id-null", "id-missing", "id-type", "batch", "no-result", "result-and-error", "duplicate-member", "jsonrpc-version", "message-shape", "broken-frame", "not-utf8":
		return brokenGrace, true
	}
	return 0, false
}

// settle waits until what the server sent before is there: over a pipe the answer to a ping comes after it.
func (c *client) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	_, _ = c.s.Ping(ctx) // an answer, or a while without one
}

// loginRequired reports whether the server wants a login for a ping too, not for one tool only.
func (c *client) loginRequired(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	_, err := c.s.Ping(ctx)
	return failure.KindOf(err) == failure.OAuth
}

// lateFindings returns the violations that came after the last call.
func (c *client) lateFindings(ctx context.Context) []lateFinding {
	if c.s == nil || len(c.recent) == 0 {
		return c.takeLate()
	}
	c.settle(ctx)
	last := c.recent[len(c.recent)-1]
	c.recent = c.recent[:len(c.recent)-1]
	var out outcome
	c.assign(&out, c.drain(), last)
	for _, f := range out.wire {
		if last.t != nil { // else a connection ended since
			c.late = append(c.late, lateFinding{last, f})
		}
	}
	return c.takeLate()
}

// takeLate returns the violations that came after their calls were over, and forgets them.
func (c *client) takeLate() []lateFinding {
	out := c.late
	c.late = nil
	return out
}

// assign gives violations to the calls that they belong to: those of now to out, those of earlier calls to c.late. What belongs to no call that is
// remembered goes to out, since it came while that was made.
func (c *client) assign(out *outcome, wire []live.Finding, now sentCall) {
	c.recent = append(c.recent, now)
	if len(c.recent) > maxRecent {
		c.recent = append([]sentCall(nil), c.recent[maxRecent/2:]...)
	}
	for _, f := range wire {
		root := uint64(0)
		if e, ok := c.o.Journal.Get(f.Seq); ok {
			root = e.Root
		}
		late := false
		for _, s := range c.recent[:len(c.recent)-1] {
			if s.seq != 0 && s.seq == root && now.seq != root {
				c.late, late = append(c.late, lateFinding{s, f}), true
				break
			}
		}
		if !late {
			out.wire = append(out.wire, f)
		}
	}
}

// parseAnswer fills in what the oracles look at: the result, and its texts or those of the error.
func (c *client) parseAnswer(out *outcome) {
	if out.err != nil {
		out.text = out.err.Message + "\n" + string(out.err.Data)
		return
	}
	if len(out.reply.Result) > live.MaxBody {
		return
	}
	r, err := offer.ParseResult(out.reply.Result)
	if err != nil {
		return // the wire's rules say so
	}
	out.result = r
	var b strings.Builder
	for _, one := range r.Contents {
		if b.Len() > maxAnswer {
			break
		}
		b.WriteString(one.Text + "\n")
	}
	out.text = text.Clip(b.String(), maxAnswer)
}

// maxAnswer is how much of what a server says is looked at, in bytes.
const maxAnswer = 256 << 10

// hasNoAnswer reports whether there was no answer: an error that is not an answer of the server.
func (o *outcome) hasNoAnswer() bool {
	return o.err != nil && o.kind() != failure.RpcError && o.kind() != failure.NotFound && o.kind() != failure.NeedsInput
}

func (o *outcome) kind() failure.Kind {
	if o.err == nil {
		return ""
	}
	return o.err.Kind
}

// stderr are the last lines that the server wrote there.
func (c *client) stderr(n int) string {
	if c.o.Journal == nil {
		return ""
	}
	var lines []string
	c.o.Journal.Each(max(c.seen, 200)-200, func(e *journal.Entry) bool {
		if e.Kind == journal.Stderr && e.Server == c.last {
			if body, err := c.o.Journal.Head(e.Seq, 500); err == nil {
				lines = append(lines, strings.TrimRight(string(body), "\r\n"))
			}
		}
		return true
	})
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
