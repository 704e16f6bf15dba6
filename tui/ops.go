package tui

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Op is a running operation as shown to the user.
type Op struct {
	ID         uint64
	View, Slot string
	Label      string
	Started    time.Time
	Cancelling bool
	Quiet      bool // not a call: quitting does not ask about it
	Progress   Progress
}

// Progress is how far an operation is.
type Progress = rpc.Progress

// Fraction is the share done in [0,1]; ok is false when it is not known.
func Fraction(p Progress) (f float64, ok bool) {
	if !p.HasTotal || p.Total <= 0 {
		return 0, false
	}
	return min(max(p.Progress/p.Total, 0), 1), true
}

// opSpec is what start needs to know.
type opSpec struct {
	view, slot, label string
	quiet             bool
	fn                func(context.Context) (any, error)
}

// operation is one operation in flight. Only progress is written off the event loop.
type operation struct {
	Op
	gen      uint64
	cancel   context.CancelFunc
	progress atomic.Pointer[Progress]
	dropped  bool
}

// operations tracks what runs. Its methods are for the event loop, but for enter, leave and wait.
type operations struct {
	ctx  context.Context // ends with the program
	last uint64
	all  []*operation
	gens map[string]uint64

	mu     sync.Mutex // for what follows
	active int        // functions that run
	idle   chan struct{}
}

func newOperations(ctx context.Context) *operations {
	return &operations{ctx: ctx, gens: map[string]uint64{}}
}

// opKey carries the *operation in an operation's context for Report.
type opKey struct{}

// Report tells the shell how far the operation of ctx is. It may be called from any goroutine, any number of times a
// second; outside of an operation it does nothing.
func Report(ctx context.Context, p Progress) {
	if r, ok := ctx.Value(opKey{}).(*operation); ok {
		r.progress.Store(&p)
	}
}

func (o *operations) start(s opSpec) (tea.Cmd, uint64) {
	slot := s.view + "\x00" + s.slot
	if s.slot != "" {
		for _, r := range o.all {
			if r.View == s.view && r.Slot == s.slot {
				r.dropped = true
				r.cancel()
			}
		}
	}
	o.last++
	o.gens[slot]++
	ctx, cancel := context.WithCancel(o.ctx)
	r := &operation{
		Op:     Op{ID: o.last, View: s.view, Slot: s.slot, Label: s.label, Quiet: s.quiet, Started: time.Now()},
		gen:    o.gens[slot],
		cancel: cancel,
	}
	o.all = append(o.all, r)
	fn := s.fn
	return func() tea.Msg {
		o.enter()
		defer o.leave()
		defer cancel()
		v, err := guard(context.WithValue(ctx, opKey{}, r), s.label, fn)
		if ctx.Err() != nil && err != nil && !errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w (%w)", context.Canceled, err)
		}
		return OpDone{
			Op: r.ID, View: r.View, Slot: r.Slot, Gen: r.gen, Label: r.Label,
			Value: v, Err: err, Took: time.Since(r.Started),
		}
	}, r.ID
}

// guard turns a panic of an operation into its error: one broken answer of a server must not end the program.
func guard(ctx context.Context, label string, fn func(context.Context) (any, error)) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: internal error, please report it: %s\n%s", label, mask.Log(fmt.Sprint(p)), debug.Stack())
		}
	}()
	return fn(ctx)
}

// done removes an operation: op is nil where there is none of that number, and wanted is false where a newer one took its place.
func (o *operations) done(id uint64) (op *Op, wanted bool) {
	i := slices.IndexFunc(o.all, func(r *operation) bool { return r.ID == id })
	if i < 0 {
		return nil, false
	}
	r := o.all[i]
	o.all = slices.Delete(o.all, i, i+1)
	return &r.Op, !r.dropped
}

func (o *operations) cancel(id uint64) bool {
	for _, r := range o.all {
		if r.ID == id {
			r.Cancelling = true
			r.cancel()
			return true
		}
	}
	return false
}

// cancelNewest cancels the newest operation that is not yet being cancelled,
// preferring calls and those of the given view. It returns the operation.
func (o *operations) cancelNewest(view string) (Op, bool) {
	best, rank := -1, -1
	for i, r := range o.all {
		if r.Cancelling || r.dropped {
			continue
		}
		n := 0
		if r.View == view {
			n++
		}
		if !r.Quiet {
			n += 2
		}
		if n >= rank {
			best, rank = i, n
		}
	}
	if best < 0 {
		return Op{}, false
	}
	o.cancel(o.all[best].ID)
	return o.all[best].Op, true
}

func (o *operations) list() []Op {
	out := make([]Op, 0, len(o.all))
	for _, r := range o.all {
		if r.dropped {
			continue
		}
		op := r.Op
		if p := r.progress.Load(); p != nil {
			op.Progress = *p
		}
		out = append(out, op)
	}
	return out
}

// calls counts the operations that quitting must ask about.
func (o *operations) calls() (n int) {
	for _, r := range o.all {
		if !r.Quiet && !r.dropped {
			n++
		}
	}
	return n
}

func (o *operations) close() {
	for _, r := range o.all {
		r.cancel()
	}
}

// enter and leave count the functions that run.
func (o *operations) enter() {
	o.mu.Lock()
	o.active++
	o.mu.Unlock()
}

func (o *operations) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.active--
	if o.active == 0 && o.idle != nil {
		close(o.idle)
		o.idle = nil
	}
}

// wait gives the functions that run up to d to end, so that servers are notified of the cancellation.
func (o *operations) wait(d time.Duration) {
	o.mu.Lock()
	if o.active == 0 {
		o.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	o.idle = idle
	o.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}
