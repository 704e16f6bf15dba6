package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Runner makes calls on one session, which is connected, and judges what comes. What it asks of a person goes through its functions, of
// which only Find and Explain have to be there.
type Runner struct {
	Session *session.Session
	Journal *journal.Journal    // of the session
	Options session.CallOptions // of each call, which adds its time limit and metadata
	Server  string              // how outcomes call the server
	Update  bool                // keeps answers as new snapshots where all other assertions hold

	// Asking is held while somebody is asked, where other runners may ask too; nil for none.
	Asking sync.Locker
	// Find is a tool of the server by one of its names.
	Find func(ctx context.Context, name string) (offer.Item, error)
	// Secret asks for a value that is not kept, by the key of the argument; ok is false where nobody can be asked.
	Secret func(ctx context.Context, key string) (value string, ok bool, err error)
	// Allow refuses a tool, or asks before one that destroys. The error says that it is not called.
	Allow func(ctx context.Context, it offer.Item, args []byte) error
	// Doubt is told what of the arguments the tool's schema does not allow. They are sent: that is how a server is tried.
	Doubt func(problem string)
	// Unlisted completes the error of a call about what the server lists, such as a name that it does not have.
	Unlisted func(ctx context.Context, c Call, err error) error
	// Explain makes any error one that says what to do.
	Explain func(ctx context.Context, err error) *failure.Error
}

// Make makes a call once.
func (r *Runner) Make(ctx context.Context, c Call) (reply rpc.Reply, err error) {
	if c, err = r.Prepare(ctx, c); err == nil {
		reply, err = r.Send(ctx, c)
	}
	if err != nil && r.Unlisted != nil && c.Method != ToolsCall {
		err = r.Unlisted(ctx, c, err)
	}
	return reply, err
}

// Send makes a call as it was prepared.
func (r *Runner) Send(ctx context.Context, c Call) (rpc.Reply, error) {
	o := r.Options
	o.Timeout, o.Meta = c.Timeout, c.Meta
	switch c.Method {
	case ResourcesRead:
		return r.Session.ReadResource(ctx, c.Target, o)
	case PromptsGet:
		var args map[string]string
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return rpc.Reply{}, fmt.Errorf("the arguments of a prompt: %w", err)
		}
		return r.Session.GetPrompt(ctx, c.Target, args, o)
	}
	return r.Session.CallTool(ctx, c.Target, c.Arguments, o)
}

// lockAsking runs f, which may ask somebody, while no other runner asks.
func (r *Runner) lockAsking(f func() error) error {
	if r.Asking != nil {
		r.Asking.Lock()
		defer r.Asking.Unlock()
	}
	return f()
}

// Run makes a call with what earlier ones captured, as often as it says, judges the answers, and hands on what it captures.
func (r *Runner) Run(ctx context.Context, c Call, captured func(name string) (json.RawMessage, bool), capture func(name string, value json.RawMessage)) (o Outcome) {
	filled, err := c.Filled(captured)
	if err != nil {
		o := Skip(c, r.Server, err.Error())
		o.Err = &failure.Error{Kind: failure.Assertion, Stage: c.Name, Message: "not made: " + err.Error()}
		return o
	}
	if err := r.Fill(ctx, &filled); err != nil { // once, however often the call is made
		return r.Judge(ctx, filled, rpc.Reply{}, err)
	}
	for range max(c.Repeat, 1) {
		if o = r.attempts(ctx, filled); o.Verdict != OK {
			break
		}
	}
	if o.Result == nil {
		return o
	}
	for _, part := range c.Capture {
		v, err := part.Query.Value(ctx, o.Result)
		if err == nil && string(v) == "null" {
			err = errors.New(part.Query.Text + " gives null")
		}
		if err != nil {
			o.fail(append(o.Failures, expect.Failed{Assertion: expect.OfCapture, Expected: "a value for " + part.Name, Got: err.Error(), Line: part.Query.Line, Col: part.Query.Col}))
			continue
		}
		capture(part.Name, v)
	}
	return o
}

// attempts makes a call until its assertions hold, or its time is over.
func (r *Runner) attempts(ctx context.Context, c Call) Outcome {
	for began := time.Now(); ; {
		reply, err := r.Make(ctx, c)
		o := r.Judge(ctx, c, reply, err)
		if o.Verdict == OK || time.Since(began)+c.Retry.Every >= c.Retry.For {
			return o
		}
		select {
		case <-time.After(c.Retry.Every):
		case <-ctx.Done():
			return o
		}
	}
}

// Judge says how a call went: by its error, its assertions, and the error of a tool that nobody expected.
func (r *Runner) Judge(ctx context.Context, c Call, reply rpc.Reply, err error) Outcome {
	o := outcomeOf(c, r.Server)
	o.Took, o.Result, o.Reply = millis(reply.Took), reply.Result, reply
	answer := expect.Answer{Result: reply.Result, Took: reply.Took}
	if err != nil {
		answer.Error = r.Explain(ctx, err)
		o.Error, o.Result = answer.Error.JSON(), nil
	}
	if err != nil && (c.Expect.Error == nil || ctx.Err() != nil) {
		o.Err = err
		o.Verdict, _ = verdictOf(answer.Error)
		return o
	}
	o.Assertions = c.Expect.Count()
	failed := c.Expect.Check(ctx, answer)
	ofSnapshot := func(f expect.Failed) bool { return f.Assertion == expect.OfSnapshot }
	if r.Update && c.Expect.Snapshot != nil && len(slices.DeleteFunc(slices.Clone(failed), ofSnapshot)) == 0 {
		failed = nil
		wrote, err := c.Expect.Snapshot.Update(ctx, reply.Result)
		switch {
		case err != nil:
			failed = []expect.Failed{{Assertion: expect.OfSnapshot, Expected: "a snapshot to be written", Got: err.Error()}}
		case wrote:
			o.Snapshot = filepath.ToSlash(c.Expect.Snapshot.File)
		}
	}
	switch {
	case len(failed) > 0:
		o.fail(failed)
	case err == nil && c.Method == ToolsCall && !c.Expect.JudgesToolError():
		if err := ToolError(r.Server, c.Method+" "+c.Target, reply.Result); err != nil {
			o.Verdict, o.Err = IsError, err
		}
	}
	return o
}
