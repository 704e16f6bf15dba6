package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Answer is what came back.
type Answer struct {
	Server  string // its title
	Version string // of the protocol; Legacy for one of that era, "" if nothing is known
	Frame   []byte // the whole response, nil if there is none
	Err     error  // why there is no result
	At      time.Time
	Took    time.Duration
	Seq     uint64 // of the request in the journal of the session, 0 for none
	// Changed is what of the request was sent otherwise than it was recorded.
	Changed []compare.Difference
}

// Send sends r to a server that is connected, as it is or fitted to the server, and waits for the answer. j is the journal of the
// session. The error is that of ctx; any other is the answer's.
func (r Request) Send(ctx context.Context, s *session.Session, j *journal.Journal, o session.CallOptions) (Answer, error) {
	a := Answer{Server: s.Title(), Version: s.Status().Version, At: time.Now()}
	if r.Timeout > 0 {
		o.Timeout = r.Timeout
	}
	var reply rpc.Reply
	fits, exact, err := r.fit(s)
	switch {
	case err != nil:
	case exact || r.Notification():
		reply, err = s.Resend(ctx, fits.Frame, o)
	default:
		reply, err = s.Call(ctx, fits.Method(), fits.Params(), o)
	}
	a.Frame, a.Took, a.Seq, a.Err = reply.Frame, reply.Took, reply.Request, err
	if a.Took == 0 {
		a.Took = time.Since(a.At)
	}
	if j != nil && a.Seq != 0 {
		if sent, err := j.Body(a.Seq); err == nil {
			a.Changed = compare.Values(r.Frame, sent, compare.Options{NoGuess: true}).Differences
		}
	}
	return a, ctx.Err()
}

// RecordedAnswer is the answer that a journal has to a request, by the entry of the request. Frame is nil where there is none.
func RecordedAnswer(j *journal.Journal, seq uint64) (Answer, error) {
	q, ok := j.Get(seq)
	if !ok {
		return Answer{}, journal.ErrNoEntry
	}
	a := Answer{Server: q.Server, At: q.Time, Took: q.Took, Seq: seq}
	if sent, err := j.Body(seq); err == nil {
		a.Version = cmp.Or(jsonrpc.GetString(sent, "params", "_meta", mcp.MetaKeyProtocolVersion), Legacy)
	}
	if e, ok := j.Get(q.Peer); ok && q.Peer != 0 && e.Size > 0 {
		frame, err := j.Body(e.Seq)
		if err != nil {
			return a, err
		}
		a.Frame = frame
	} else {
		a.Err = errors.New("no answer was recorded")
	}
	return a, nil
}

// Compare says how two answers differ. ignore reports which JSON pointers of [Values] do not count; nil for none.
func Compare(before, after Answer, noise *compare.Noise, ignore func(pointer string) bool) compare.Result {
	a, b := Values(before, after)
	return compare.Values(a, b, compare.Options{
		Noise: noise, Before: before.At, After: after.At, Versions: [2]string{before.Version, after.Version}, Ignore: ignore,
	})
}

// Differ is Compare, which learns what varies: where a difference counts, or always, learn asks once more, unless it is nil. noise is what was
// learned, nil where nothing was asked.
func Differ(before, after Answer, ignore func(pointer string) bool, always bool, learn func() (*compare.Noise, error)) (r compare.Result, noise *compare.Noise, err error) {
	r = Compare(before, after, nil, ignore)
	if learn == nil || !always && r.Same() {
		return r, nil, nil
	}
	if noise, err = learn(); err != nil {
		return r, nil, err
	}
	return Compare(before, after, noise, ignore), noise, nil
}

// Values are what is compared of two answers: their results, or all of both where one of them is an error.
func Values(before, after Answer) (a, b []byte) {
	if a, b = before.result(), after.result(); a != nil && b != nil {
		return a, b
	}
	return before.outcome(), after.outcome()
}

// Learn is where two answers to the same request differ.
func Learn(first, second Answer) *compare.Noise { return compare.Learn(Values(first, second)) }

func (a Answer) result() []byte { return jsonrpc.Get(a.Frame, "result") }

// outcome is the response without what belongs to one request, or why there is none.
func (a Answer) outcome() []byte {
	if a.Frame == nil {
		why := "no answer"
		if a.Err != nil {
			why = a.Err.Error()
		}
		return fmt.Appendf(nil, `{"failed":%s}`, jsonrpc.Quote(why))
	}
	out, err := jsonrpc.Update(a.Frame, jsonrpc.Delete("jsonrpc"), jsonrpc.Delete("id"))
	if err != nil {
		return a.Frame
	}
	return out
}

// Shown is what people are shown of the answer: its result, or else its error.
func (a Answer) Shown() []byte {
	if r := a.result(); r != nil {
		return r
	}
	return a.outcome()
}

// Failed reports whether there is no result, or one that says isError.
func (a Answer) Failed() bool { return a.result() == nil || offer.IsError(a.result()) }

// Request is the request of a call, without its secrets, at a server of the caller's, with its metadata and time limit.
func (c Call) Request(server string) (Request, error) {
	name := "name"
	if c.Method == ResourcesRead {
		name = "uri"
	}
	params, err := jsonrpc.Update(nil, jsonrpc.Set(jsonrpc.Quote(c.Target), name))
	if args := c.Unmasked(); err == nil && len(args) > 0 {
		params, err = jsonrpc.Update(params, jsonrpc.Set(args, "arguments"))
	}
	if meta := c.UnmaskedMeta(); err == nil && len(meta) > 0 {
		params, err = jsonrpc.Update(params, jsonrpc.Set(meta, "_meta"))
	}
	if err != nil {
		return Request{}, err
	}
	r, err := NewRequest(server, c.Method, params)
	r.Timeout = c.Timeout
	return r, err
}

// Answer is what a call of the history got. The error says that it is not kept.
func (h *History) Answer(ctx context.Context, c Call) (Answer, error) {
	a := Answer{Server: c.Server.Where(), At: c.At.Time, Took: time.Duration(c.Took * float64(time.Millisecond))}
	body, err := h.Result(ctx, c)
	switch {
	case err != nil:
		return a, err
	case body != nil:
		a.Frame = jsonrpc.NewResult([]byte("0"), body)
	case c.Message != "":
		a.Err = errors.New(c.Message)
	default:
		return a, fmt.Errorf("the result of call %d is not kept", c.ID)
	}
	return a, nil
}

// Ask sends a request once more.
func (r *Runner) Ask(ctx context.Context, q Request) (Answer, error) {
	return q.Send(ctx, r.Session, r.Journal, r.Options)
}

// Confirm refuses a request for a tool that the server does not have, and asks before one that destroys.
func (r *Runner) Confirm(ctx context.Context, q Request) error {
	if q.Tool() == "" {
		return nil
	}
	if _, err := r.Session.List(ctx, offer.Tools); err != nil {
		return err
	}
	it, ok := q.Item(r.Session)
	if !ok {
		_, err := r.Find(ctx, q.Tool()) // says what is like it
		return err
	}
	return r.Allow(ctx, it, q.Arguments())
}

// NoiseProbe finds where the answers to a request vary, by asking once more after the first answer; nil where that may do something twice, unless
// it is wanted anyway.
func (r *Runner) NoiseProbe(ctx context.Context, q Request, first Answer, anyway bool) func() (*compare.Noise, error) {
	if !anyway && !q.Repeatable(r.Session) {
		return nil
	}
	return func() (*compare.Noise, error) {
		second, err := r.Ask(ctx, q)
		return Learn(first, second), err
	}
}
