package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Run makes the calls of files, each file with a connection of its own.
type Run struct {
	a       *cli.App
	O       Flags
	Files   []calls.File
	servers []config.Server // by file
	given   []string

	asking   sync.Mutex
	needs    []map[string]int // by file: captures that it needs of an earlier one
	ended    []chan struct{}  // by file
	captured []map[string]json.RawMessage
}

// PrepareRun finds the servers of files, and what each needs of others, before anything is sent.
func PrepareRun(ctx context.Context, a *cli.App, files []calls.File, target TargetOf, given []string, o Flags) (*Run, error) {
	r := &Run{a: a, O: o, Files: files, given: given}
	known := map[string]config.Server{}
	for i, f := range files {
		c := f.Calls[0]
		key := fmt.Sprintf("%q %q %q %q", c.Server, c.Command, c.URL, filepath.Dir(f.Path))
		s, ok := known[key]
		if !ok {
			var err error
			if s, err = target(func() (config.Server, error) { return serverOf(ctx, a, c, o.Trust) }); err != nil {
				return nil, err
			}
			if r.Several() {
				if s, err = a.Filled(ctx, s); err != nil {
					return nil, err
				}
			}
			known[key] = s
		}
		r.servers = append(r.servers, s)
		needs, err := needsOf(files, i)
		if err != nil {
			return nil, err
		}
		r.needs, r.ended, r.captured = append(r.needs, needs), append(r.ended, make(chan struct{})), append(r.captured, nil)
	}
	return r, nil
}

// Several reports whether there is more than one call, whose results are not printed, or a report of it.
func (r *Run) Several() bool {
	return len(r.Files) > 1 || r.Files[0].Steps || len(r.O.Reports.Out) > 0
}

// needsOf are the captures that a file needs, with the files of the same folder that they come from.
func needsOf(files []calls.File, i int) (map[string]int, error) {
	needs, own := map[string]int{}, map[string]bool{}
	for _, c := range files[i].Calls {
		for _, name := range c.Uses() {
			if own[name] {
				continue
			}
			from := -1
			for j := i - 1; j >= 0 && from < 0; j-- {
				if filepath.Dir(files[j].Path) == filepath.Dir(files[i].Path) && slices.ContainsFunc(files[j].Calls, func(c calls.Call) bool {
					return slices.ContainsFunc(c.Capture, func(c calls.Capture) bool { return c.Name == name })
				}) {
					from = j
				}
			}
			if from < 0 {
				return nil, &failure.Error{
					Kind: failure.Usage, Message: fmt.Sprintf("%s:%d: nothing captures %q before this call", c.File, c.Line, name),
					Next: "capture it in an earlier step, or run the folder with the file that does; nothing was sent",
				}
			}
			needs[name] = from
		}
		for _, capture := range c.Capture {
			own[capture.Name] = true
		}
	}
	return needs, nil
}

// All runs the files, several at a time, and gives what came of each to print in their order. The error is that of print, or of ctx.
func (r *Run) All(ctx context.Context, print func(i int, ran []Ran) error) error {
	return r.a.Working(ctx, false, func(w *cli.Workplace) error { return r.In(ctx, w, print) })
}

// In is all in a workplace that is there already.
func (r *Run) In(ctx context.Context, w *cli.Workplace, print func(i int, ran []Ran) error) error {
	w.Side.Finish() // no notifications among the verdicts
	ctx, cancel := context.WithCancel(ctx)
	out := make([][]Ran, len(r.Files))
	var next atomic.Int64
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range min(r.O.Concurrency, len(r.Files)) {
		workers.Go(func() {
			m := w.Manager()
			defer m.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(r.Files) {
					return
				}
				out[i] = r.file(ctx, w, m, i)
				close(r.ended[i])
			}
		})
	}
	for i := range r.Files {
		drawBar(w.Side, i, len(r.Files), r.Files[i].Name)
		select {
		case <-r.ended[i]:
		case <-ctx.Done():
			workers.Wait() // what is under way ends now
		}
		w.Side.Finish()
		if err := print(i, r.whole(i, out[i])); err != nil {
			return err
		}
		out[i] = nil
	}
	return ctx.Err()
}

// whole is what came of the calls of a file, with those that an interrupt left out.
func (r *Run) whole(i int, ran []Ran) []Ran {
	for _, c := range r.Files[i].Calls[len(ran):] {
		one := ranOf(c, r.servers[i].Name)
		one.Verdict, one.Skipped = skipped, "not made: interrupted"
		ran = append(ran, one)
	}
	return ran
}

// file makes the calls of one file.
func (r *Run) file(ctx context.Context, w *cli.Workplace, m *session.Manager, i int) (out []Ran) {
	f := r.Files[i]
	r.captured[i] = map[string]json.RawMessage{}
	for _, from := range r.needs[i] {
		select {
		case <-r.ended[from]:
		case <-ctx.Done():
			return nil
		}
	}
	l, err := w.Link(m, r.servers[i])
	server := r.servers[i].Name
	if err == nil {
		l.Asking = &r.asking
		defer func() { _ = m.Unregister(r.servers[i].Name) }() // the process has been ended anyway
		if err = l.Ready(ctx); failure.RemedyOf(err) == failure.LogIn {
			err = r.a.Refer(ctx, l.Session, err)
		}
		server = l.Title()
	}
	for _, c := range f.Calls {
		if ctx.Err() != nil {
			return out
		}
		if err != nil {
			out = append(out, r.judge(ctx, c, server, rpc.Reply{}, err))
			continue
		}
		out = append(out, r.call(ctx, l, c, r.captured[i], func(name string) (json.RawMessage, bool) {
			if v, ok := r.captured[i][name]; ok {
				return v, true
			}
			from, ok := r.needs[i][name]
			if !ok {
				return nil, false
			}
			v, ok := r.captured[from][name]
			return v, ok
		}))
	}
	return out
}

// call makes one call, as often as its file says, and captures parts of its answer.
func (r *Run) call(ctx context.Context, l *cli.Link, c calls.Call, captured map[string]json.RawMessage, from func(string) (json.RawMessage, bool)) (one Ran) {
	filled, err := c.Filled(from)
	if err != nil {
		one := ranOf(c, l.Title())
		one.Verdict, one.Skipped = skipped, err.Error()
		one.Err = &failure.Error{Kind: failure.Assertion, Stage: c.Name, Message: "not made: " + err.Error()}
		return one
	}
	for range max(c.Repeat, 1) {
		if one = r.attempts(ctx, l, filled); one.Verdict != history.OK {
			break
		}
	}
	if one.Result == nil {
		return one
	}
	for _, capture := range c.Capture {
		v, err := capture.Query.Value(ctx, one.Result)
		if err == nil && string(v) == "null" {
			err = errors.New(capture.Query.Text + " gives null")
		}
		if err != nil {
			f := expect.Failed{Assertion: expect.OfCapture, Expected: "a value for " + capture.Name, Got: err.Error(), Line: capture.Query.Line, Col: capture.Query.Col}
			one.fail(l.Title(), append(one.Failures, f))
			continue
		}
		captured[capture.Name] = v
	}
	return one
}

// attempts makes a call until its assertions hold, or its time is over.
func (r *Run) attempts(ctx context.Context, l *cli.Link, c calls.Call) Ran {
	for began := time.Now(); ; {
		k := kept(c, r.given)
		reply, err := k.make(ctx, l)
		if err != nil {
			err = k.named(ctx, l, err)
		}
		one := r.judge(ctx, c, l.Title(), reply, err)
		if one.Verdict == history.OK || time.Since(began)+c.Retry.Every >= c.Retry.For {
			return one
		}
		select {
		case <-time.After(c.Retry.Every):
		case <-ctx.Done():
			return one
		}
	}
}

// judge says how a call went: by its error, its assertions, and the error of a tool that nobody expected.
func (r *Run) judge(ctx context.Context, c calls.Call, server string, reply rpc.Reply, err error) Ran {
	one := ranOf(c, server)
	one.Took, one.Result, one.Reply = output.Ms(reply.Took), reply.Result, reply
	answer := expect.Answer{Result: reply.Result, Took: reply.Took}
	if err != nil {
		answer.Error = cli.Explain(ctx, err)
		one.Error, one.Result = answer.Error.JSON(), nil
	}
	if err != nil && (c.Expect.Error == nil || ctx.Err() != nil) {
		one.Err = err
		switch {
		case answer.Error.Kind == failure.Timeout:
			one.Verdict = history.Timeout
		case answer.Error.Code != nil:
			one.Verdict = history.RPCError
		default:
			one.Verdict = history.Failed
		}
		return one
	}
	one.Assertions = c.Expect.Count()
	failed := c.Expect.Check(ctx, answer)
	if failing := slices.DeleteFunc(slices.Clone(failed), func(f expect.Failed) bool { return f.Assertion == expect.OfSnapshot }); r.O.Update && len(failing) == 0 && c.Expect.Snapshot != nil {
		failed = nil
		wrote, err := c.Expect.Snapshot.Update(ctx, reply.Result)
		switch {
		case err != nil:
			failed = []expect.Failed{{Assertion: expect.OfSnapshot, Expected: "a snapshot to be written", Got: err.Error()}}
		case wrote:
			one.Snapshot = filepath.ToSlash(c.Expect.Snapshot.File)
		}
	}
	switch {
	case len(failed) > 0:
		one.fail(server, failed)
	case err == nil && c.Method == "tools/call" && !c.Expect.JudgesToolError():
		if err := toolFailure(server, c.Target, reply.Result); err != nil {
			one.Verdict, one.Err = history.IsError, err
		}
	}
	return one
}

// Single makes the one call of a run and prints what it gave, as the command for it does.
func (r *Run) Single(ctx context.Context) error {
	c := r.Files[0].Calls[0]
	if !c.Expect.Any() && len(c.Capture) == 0 && c.Repeat < 2 && c.Retry.For == 0 {
		return r.a.Connected(ctx, r.servers[0], func(ctx context.Context, l *cli.Link) error { return RunOne(ctx, r.a, l, kept(c, r.given)) })
	}
	return r.a.Connected(ctx, r.servers[0], func(ctx context.Context, l *cli.Link) error {
		one := r.call(ctx, l, c, map[string]json.RawMessage{}, func(string) (json.RawMessage, bool) { return nil, false })
		switch {
		case one.Error != nil && one.Verdict != history.OK && one.Verdict != unmet:
			return one.Err
		case one.Error != nil:
			raw := append(append([]byte(`{"error":`), one.Error...), '}')
			if err := l.Print(output.Answer{Result: raw, Frames: [][]byte{raw}, Text: func(t *output.Text) { t.JSON(raw) }}); err != nil {
				return err
			}
		default:
			if err := kept(c, nil).print(l, one.Reply); err != nil && failure.KindOf(err) != failure.ToolError { // that was judged
				return err
			}
		}
		if one.Snapshot != "" {
			l.Side.Warn("snapshot written: " + one.Snapshot)
		}
		return one.Err
	})
}
