package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/muesli/cancelreader"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/views/pages"
)

const maxConcurrency = 256

// BatchHelp explains --batch in the help of the verb that has it.
const (
	BatchHelp = "--batch FILE calls the tool once for each object of arguments in a file, --concurrency N of them at a time, with KEY=VALUE set on each. All calls are made, also after one failed, as long as there is a connection; " +
		"the outcomes are printed in the order of the file as they come, a JSON line each (index, verdict, took_ms, and result or error), and the exit code is that of the first that failed."
)

// Batching are the flags of many calls of one tool.
type Batching struct {
	cmd         *cobra.Command
	file        string
	concurrency int
	printed     int               // results, also before a login that the calls turned out to need
	secrets     map[string]string // that were given, by their pointers, likewise
}

// Register gives a command the flags.
func (b *Batching) Register(c *cobra.Command) {
	b.RegisterFile(c)
	c.Flags().IntVar(&b.concurrency, "concurrency", 1, "with --batch, `N` calls at a time")
}

// RegisterFile gives the flag for the file to a command that has --concurrency already.
func (b *Batching) RegisterFile(c *cobra.Command) {
	b.cmd = c
	c.Flags().StringVar(&b.file, "batch", "", "call the tool once for each object of arguments in `FILE`: JSON lines, or an array; - for stdin")
}

// Asked reports whether there are many calls, and refuses flags that do not fit.
func (b *Batching) Asked(args string, task, second bool) (bool, error) {
	switch given := b.cmd.Flags().Changed("batch"); {
	case !given && b.cmd.Flags().Changed("concurrency"):
		return false, failure.UsageError("--concurrency is for the calls of --batch", "give --batch FILE")
	case !given:
		return false, nil
	case b.file == "":
		return false, failure.UsageError("--batch names no file", "give a file, or - for stdin")
	case args != "" || task || second:
		return false, failure.UsageError("--batch goes with none of --args, --task and --compare", "leave them out")
	case b.concurrency < 1 || b.concurrency > maxConcurrency:
		return false, failure.UsageError(fmt.Sprintf("--concurrency %d is not possible", b.concurrency), fmt.Sprintf("give 1 to %d", maxConcurrency))
	}
	return true, nil
}

// BatchCall is one of many calls, as it is printed.
type BatchCall struct {
	Index   int             `json:"index"`
	Verdict string          `json:"verdict"`
	Took    float64         `json:"took_ms"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`

	frame []byte
	err   error // what the call failed with
	ended bool  // no further call makes sense
	// unseen is not printed: it was interrupted, or is made again after a login.
	unseen bool
}

// Batch makes the call of a tool once for each object of a file, whose members are put in the place of the call's arguments, and prints the outcomes in the
// order of the file. All else of the call is the same each time, also what it expects.
func Batch(ctx context.Context, a *cli.App, l *cli.Link, c calls.Call, b *Batching) error {
	if c.Method != calls.ToolsCall {
		return failure.UsageError("--batch is for calls of tools, and this is "+c.Method, "leave it out")
	}
	maker := Of(l)
	maker.Options = session.CallOptions{} // how far each is, is not reported
	it, err := FindTool(ctx, l, c.Target)
	if err != nil {
		return err
	}
	if b.secrets == nil {
		b.secrets = map[string]string{}
	}
	with := func(raw json.RawMessage) (calls.Call, error) {
		one, err := maker.Over(ctx, c, raw, b.secrets)
		if err != nil {
			return one, err
		}
		base, err := schema.ParseValue(one.Arguments)
		if err != nil {
			return one, err
		}
		one.Arguments, err = calls.Arguments(l.Name(), it, base, one.Given)
		one.Target, one.Given = it.Name, nil
		return one, err
	}
	n, err := countObjects(ctx, a, b.file, func(raw json.RawMessage) error { _, err := with(raw); return err })
	if err != nil {
		return err
	}
	if err := allowAll(ctx, l, it, n); err != nil {
		return err
	}
	l.Side.Finish() // from now on nothing but outcomes is printed
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	printed := b.printed // before a login: those are not made again
	r := &batchRun{l: l, b: b, maker: maker, total: n, next: printed, cancel: cancel, done: map[int]*BatchCall{}, slots: make(chan struct{}, 2*b.concurrency)}
	var running sync.WaitGroup
	work := make(chan func())
	for range b.concurrency {
		running.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	err = EachObject(ctx, a, b.file, func(i int, raw json.RawMessage) error {
		if i < printed {
			return nil
		}
		one, err := with(raw)
		if err != nil {
			return err
		}
		if i == printed {
			for _, d := range calls.Doubts(it, one.Arguments) {
				r.maker.Doubt(d)
			}
		}
		select { // outcomes that cannot be printed yet are kept in bounds
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case work <- func() { r.finish(r.call(ctx, i, one)) }:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(work)
	running.Wait()
	l.Side.Finish()
	switch {
	case r.broken != nil:
		return r.broken
	case outer.Err() != nil:
		return context.Cause(outer)
	}
	if r.over {
		if !r.again && n > r.next {
			l.Side.Warn(fmt.Sprintf("%d of %s not made: the connection is gone", n-r.next, text.Count(n, "call was", "calls were")))
		}
		return r.first
	}
	if err != nil {
		return err
	}
	if l.Out.Format == output.FormatText {
		err = l.Out.Print(output.Answer{Text: func(t *output.Text) { t.Block(fmt.Sprintf("%d calls, %d failed", r.next, r.failed)) }})
	}
	return cmp.Or(err, r.first)
}

// countObjects reads a whole file before anything is sent, and returns how many objects it has; -1 where it can be read but once.
func countObjects(ctx context.Context, a *cli.App, file string, check func(json.RawMessage) error) (int, error) {
	if info, err := os.Stat(file); file == "-" || err == nil && !info.Mode().IsRegular() {
		return -1, nil
	}
	n := 0
	err := EachObject(ctx, a, file, func(_ int, raw json.RawMessage) error {
		n++
		return check(raw)
	})
	return n, err
}

// allowAll is allow for n calls; n is -1 where it is not known.
func allowAll(ctx context.Context, l *cli.Link, it offer.Item, n int) error {
	times := "once for each object that comes"
	if n >= 0 {
		times = text.Count(n, "time", "times")
	}
	return l.AllowAfter(ctx, it, fmt.Sprintf("%s Call it %s?", consent.Marks(l.Title(), it, it.Name), times))
}

// batchRun is many calls that are made.
type batchRun struct {
	l      *cli.Link
	maker  *calls.Runner
	b      *Batching
	total  int // -1 where it is not known
	cancel context.CancelFunc
	slots  chan struct{}

	mu     sync.Mutex
	next   int // to be printed
	failed int
	done   map[int]*BatchCall // that wait for those before them
	first  error              // of the calls, in their order
	over   bool               // no further call made sense
	again  bool               // the rest is made after a login
	broken error              // of the output
}

// call makes one call.
func (r *batchRun) call(ctx context.Context, i int, call calls.Call) *BatchCall {
	began := time.Now()
	call.Name = cmp.Or(call.Name, call.Method+" "+call.Target)
	reply, err := r.maker.Send(ctx, call)
	took := time.Since(began)
	if e := r.l.Out.Expect; e != nil && e.Any() && (r.l.Out.JudgesToolError() || !offer.IsError(reply.Result)) {
		call.Expect = *e
	}
	o := r.maker.Judge(context.WithoutCancel(ctx), call, reply, err) // each assertion has its own limits
	c := &BatchCall{Index: i, Verdict: o.Verdict, Took: output.Ms(took), Result: o.Result, Error: o.Error, frame: reply.Frame, err: o.Err}
	if o.Verdict == calls.Unmet {
		c.Verdict = calls.Failed
		if e, ok := errors.AsType[*failure.Error](o.Err); ok {
			c.Error = e.JSON()
		}
	}
	if err != nil {
		c.unseen = ctx.Err() != nil || failure.RemedyOf(err) == failure.LogIn && r.b.file != "-"
		c.ended = c.unseen || r.l.Status().State != session.Connected
	}
	return c
}

// finish takes the outcome of a call, and prints those whose turn it is.
func (r *batchRun) finish(c *BatchCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[c.Index] = c
	for {
		c := r.done[r.next]
		if c == nil || r.broken != nil || r.over {
			break
		}
		delete(r.done, r.next)
		<-r.slots
		if c.err != nil {
			r.first = cmp.Or(r.first, c.err)
			r.failed++
		}
		if c.ended {
			r.over, r.again, r.first = true, c.unseen, c.err
			r.cancel()
		}
		if c.unseen {
			break
		}
		r.next++
		r.b.printed = r.next
		if r.broken = batchCall(r.l.Out, c); r.broken != nil {
			r.cancel()
		}
	}
	note := fmt.Sprintf("%d failed", r.failed)
	r.l.Side.Report(rpc.Progress{Progress: float64(r.next), Total: float64(max(r.total, 0)), HasTotal: r.total > 0, Message: note})
}

// batchCall prints the outcome of one of many calls.
func batchCall(p *output.Printer, c *BatchCall) error {
	switch p.Format {
	case output.FormatText:
		return p.Print(output.Answer{Text: func(t *output.Text) {
			line := fmt.Sprintf("%s  %d  %s", pages.Verdict(c.Verdict), c.Index, text.Duration(time.Duration(c.Took*float64(time.Millisecond)).Round(time.Microsecond)))
			switch {
			case c.err != nil:
				var e *failure.Error
				if errors.As(c.err, &e) {
					line += "  " + text.Clip(text.FirstLine(e.Message), 300)
				}
			default:
				line += "  " + firstText(c.Result)
			}
			t.Block(line)
		}})
	case output.FormatRaw:
		if c.frame != nil {
			return p.Line(c.frame)
		}
	}
	c.Result = output.OneLine(c.Result)
	raw, err := output.Marshal(c)
	if err != nil {
		return err
	}
	return p.Line(raw)
}

// firstText is the first line of text of a result, or how large it is.
func firstText(result []byte) string {
	if cs, err := offer.Contents(result); err == nil {
		for _, c := range cs {
			if c.Type == "text" && strings.TrimSpace(c.Text) != "" {
				return text.Clip(text.FirstLine(c.Text), 200)
			}
		}
	}
	return text.Bytes(len(result))
}

// EachObject reads a file of objects, - for stdin, and calls f for each with its number, from 0.
func EachObject(ctx context.Context, a *cli.App, file string, f func(n int, raw json.RawMessage) error) error {
	var in io.Reader
	name := "stdin"
	if file == "-" {
		r, err := cancelreader.NewReader(a.In)
		if err != nil { // a regular file or /dev/null, which Linux cannot wait for: reading it takes no time
			r, err = cancelreader.NewReader(struct{ io.Reader }{a.In})
		}
		if err != nil {
			return err
		}
		defer r.Close()
		defer context.AfterFunc(ctx, func() { r.Cancel() })()
		in = r
	} else {
		opened, err := os.Open(file)
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "name a file that can be read, or - for stdin"}
		}
		defer opened.Close()
		in, name = opened, file
	}
	n := 0
	for raw, err := range bench.Objects(in) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: name + ": " + err.Error(), Err: err, Next: "give JSON lines, or an array of objects"}
		}
		if err := f(n, raw); err != nil {
			var e *failure.Error
			if !errors.As(err, &e) && ctx.Err() == nil {
				err = &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("%s: object %d: %v", name, n+1, err), Err: err, Next: "correct it"}
			}
			return err
		}
		n++
	}
	if n == 0 && ctx.Err() == nil {
		return failure.UsageError("no objects in "+name, "give JSON lines, or an array of objects; nothing was sent")
	}
	return nil
}
