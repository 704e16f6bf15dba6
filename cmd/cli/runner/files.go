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

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
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
		key, err := serverKey(c)
		if err != nil {
			return nil, err
		}
		s, ok := known[key]
		if !ok {
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

// serverKey is the same for calls that are made at the same server: all that is known of it, but not what it said of itself, and the folder of the
// file that describes it, "" for a call of the history.
func serverKey(c calls.Call) (string, error) {
	s, dir := c.Server, ""
	if s.Title, s.Info, s.Protocol = "", "", ""; c.File != "" {
		dir = filepath.Dir(c.File)
	}
	key, err := json.Marshal(struct {
		Dir    string
		Server calls.Server
	}{dir, s})
	return string(key), err
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
func (r *Run) All(ctx context.Context, print func(i int, ran []calls.Outcome) error) error {
	return r.a.Working(ctx, false, func(w *cli.Workplace) error { return r.In(ctx, w, print) })
}

// In is all in a workplace that is there already.
func (r *Run) In(ctx context.Context, w *cli.Workplace, print func(i int, ran []calls.Outcome) error) error {
	w.Side.Finish() // no notifications among the verdicts
	ctx, cancel := context.WithCancel(ctx)
	out := make([][]calls.Outcome, len(r.Files))
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
func (r *Run) whole(i int, ran []calls.Outcome) []calls.Outcome {
	for _, c := range r.Files[i].Calls[len(ran):] {
		ran = append(ran, calls.Skip(c, r.servers[i].Name, "not made: interrupted"))
	}
	return ran
}

// file makes the calls of one file.
func (r *Run) file(ctx context.Context, w *cli.Workplace, m *session.Manager, i int) (out []calls.Outcome) {
	f := r.Files[i]
	r.captured[i] = map[string]json.RawMessage{}
	for _, from := range r.needs[i] {
		select {
		case <-r.ended[from]:
		case <-ctx.Done():
			return nil
		}
	}
	maker := &calls.Runner{Server: r.servers[i].Name, Explain: cli.Explain}
	l, err := w.Link(m, r.servers[i])
	if err == nil {
		l.Asking = &r.asking
		defer func() { _ = m.Unregister(r.servers[i].Name) }() // the process has been ended anyway
		if err = l.Ready(ctx); failure.RemedyOf(err) == failure.LogIn {
			err = r.a.Refer(ctx, l.Session, err)
		}
		maker = Of(l)
		maker.Server = l.Title()
	}
	maker.Update = r.O.Update
	for _, c := range f.Calls {
		if ctx.Err() != nil {
			return out
		}
		if err != nil {
			out = append(out, maker.Judge(ctx, c, rpc.Reply{}, err))
			continue
		}
		c.Given = r.given
		out = append(out, advised(maker.Run(ctx, c, func(name string) (json.RawMessage, bool) {
			if v, ok := r.captured[i][name]; ok {
				return v, true
			}
			from, ok := r.needs[i][name]
			if !ok {
				return nil, false
			}
			v, ok := r.captured[from][name]
			return v, ok
		}, func(name string, v json.RawMessage) { r.captured[i][name] = v })))
	}
	return out
}

// advised is an outcome whose error says what to do about a snapshot that differs.
func advised(o calls.Outcome) calls.Outcome {
	if e, ok := errors.AsType[*failure.Error](o.Err); ok && slices.ContainsFunc(o.Failures, func(f expect.Failed) bool { return f.Assertion == expect.OfSnapshot }) {
		e.Next = "--update keeps the answer as the snapshot, if it is right"
	}
	return o
}

// Single makes the one call of a run and prints what it gave, as the command for it does.
func (r *Run) Single(ctx context.Context) error {
	c := r.Files[0].Calls[0]
	c.Given = r.given
	if r.O.Batch.file != "" || r.O.Second.Target != "" { // which do not run it, and that would fill it
		if err := r.fits(c); err != nil {
			return err
		}
		var err error
		if c, err = c.Filled(nothingCaptured); err != nil {
			return err
		}
	}
	return r.a.Connected(ctx, r.servers[0], func(ctx context.Context, l *cli.Link) error { return r.single(ctx, l, &c) })
}

// fits refuses what of a single call goes neither with --batch nor with --compare: one of them was given.
func (r *Run) fits(c calls.Call) error {
	flag := "--batch"
	if r.O.Batch.file == "" {
		flag = "--compare"
	}
	if r.O.Update {
		return failure.UsageError("--update and "+flag+" do not go together", "leave one of them out")
	}
	for _, has := range []struct {
		key string
		is  bool
	}{{"snapshot", c.Expect.Snapshot != nil}, {"capture", len(c.Capture) > 0}, {"repeat", c.Repeat > 1}, {"retry", c.Retry.For > 0}} {
		if has.is {
			return failure.UsageError(c.File+" has "+has.key+", which "+flag+" does not go with", "leave "+flag+" out, or "+has.key+" in another file; nothing was sent")
		}
	}
	return nil
}

// single makes the one call over a connection. c is filled, for when it has to be made again after a login.
func (r *Run) single(ctx context.Context, l *cli.Link, c *calls.Call) error {
	if r.O.Batch.file != "" {
		return Batch(ctx, r.a, l, *c, &r.O.Batch)
	}
	maker := Of(l)
	if err := maker.Fill(ctx, c); err != nil && c.Expect.Error == nil { // which is judged below
		return err
	}
	if r.O.Second.Target != "" {
		c, err := maker.Prepare(ctx, *c)
		if err != nil {
			return err
		}
		if c.Expect.Any() {
			l.Side.Warn("warning: what " + c.Name + " expects is not judged: --compare compares the answers")
		}
		return Against(ctx, r.a, l, c, &r.O.Second)
	}
	if maker.Update = r.O.Update; judged(*c) { // else it is as the command for it
		maker.Server = l.Title()
	}
	return One(ctx, l, maker, *c)
}

// judged reports whether a file says more of a call than what is sent.
func judged(c calls.Call) bool {
	return c.Expect.Any() || len(c.Capture) > 0 || c.Repeat > 1 || c.Retry.For > 0
}
