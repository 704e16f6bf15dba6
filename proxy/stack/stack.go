package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Stack is a set of supervised processes. Its methods are safe for concurrent use, except Close, which must be the last.
type Stack struct {
	o       Options
	levels  [][]string
	procs   []*proc // in the order of their specs
	byName  map[string]*proc
	rev     atomic.Uint64
	changed chan struct{}
	events  sync.Mutex // held while Options.Event runs
	running sync.WaitGroup
	// renewing is held while variables for a start are read and kept, so that renew sees either the old ones or none that are old.
	renewing sync.Mutex

	mu           sync.Mutex
	stateChanged chan struct{} // closed and replaced with every change of a state
	started      bool
}

// New returns a stack of processes that are not started yet. The error names an invalid spec.
func New(specs []Spec, o Options) (*Stack, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	order, err := levels(specs)
	if err != nil {
		return nil, err
	}
	s := &Stack{
		o: o, levels: order, byName: map[string]*proc{}, changed: make(chan struct{}, 1), stateChanged: make(chan struct{}),
	}
	for _, spec := range specs {
		p := &proc{stack: s, spec: spec, log: ring{bounds: o.Log}, wakeup: make(chan struct{}, 1), kill: make(chan struct{})}
		p.status = Status{Name: spec.Name, Kind: spec.Kind, State: Stopped, Port: spec.Port, URL: spec.URL}
		s.procs = append(s.procs, p)
		s.byName[spec.Name] = p
	}
	return s, nil
}

// Start starts all processes, in order, without waiting for them. It must be called once.
func (s *Stack) Start() {
	s.mu.Lock()
	s.started = true
	for _, p := range s.procs {
		p.enabled, p.status.State = true, Waiting
	}
	s.mu.Unlock()
	s.notify()
	for _, p := range s.procs {
		s.running.Go(p.run)
	}
}

// Processes returns the status of all processes, in the order of their specs.
func (s *Stack) Processes() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Status, len(s.procs))
	for i, p := range s.procs {
		out[i] = p.status
	}
	return out
}

// Log returns the output of a process and its events since the line with number after; nil if there is no such process.
func (s *Stack) Log(name string, after uint64) []Line {
	p, ok := s.byName[name]
	if !ok {
		return nil
	}
	return p.log.after(after)
}

// Rev is a revision that grows with every change of a status or log.
func (s *Stack) Rev() uint64 { return s.rev.Load() }

// Changed receives after changes, once for several of them. It is for one reader.
func (s *Stack) Changed() <-chan struct{} { return s.changed }

func (s *Stack) notify() {
	s.rev.Add(1)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// update changes a status, not its state.
func (s *Stack) update(p *proc, f func(*Status)) {
	s.mu.Lock()
	before := p.status
	f(&p.status)
	same := before == p.status
	s.mu.Unlock()
	if !same {
		s.notify()
	}
}

// emit passes an event to Options.Event.
func (s *Stack) emit(e Event) {
	if s.o.Event != nil {
		s.events.Lock()
		defer s.events.Unlock()
		s.o.Event(e)
	}
}

// PIDs returns the processes that run now, each the leader of its process group, for an exit that cannot wait.
func (s *Stack) PIDs() (pids []int) {
	for _, st := range s.Processes() {
		if st.PID > 0 {
			pids = append(pids, st.PID)
		}
	}
	return pids
}

// await waits until done returns true, and returns its error. done is called with s.mu held.
func (s *Stack) await(ctx context.Context, done func() (bool, error)) error {
	for {
		s.mu.Lock()
		ok, err := done()
		turn := s.stateChanged
		s.mu.Unlock()
		if ok {
			return err
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Ready waits until the named processes, or all, are ready. The error names one in a crash loop, with its last output.
func (s *Stack) Ready(ctx context.Context, names ...string) error {
	ps, err := s.find(names)
	if err != nil {
		return err
	}
	return s.await(ctx, func() (bool, error) {
		all := true
		for _, p := range ps {
			if p.status.State == Crashing {
				return true, fmt.Errorf("%s cannot start: %s", p.spec.Name, p.status.Err)
			}
			all = all && p.status.State == Ready
		}
		return all, nil
	})
}

// ErrUnknown is wrapped by errors about a name that no process has.
var ErrUnknown = errors.New("no such process in the stack")

// find returns processes by name; without names, all of them.
func (s *Stack) find(names []string) ([]*proc, error) {
	if len(names) == 0 {
		return s.procs, nil
	}
	var out []*proc
	for _, name := range names {
		p, ok := s.byName[name]
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		out = append(out, p)
	}
	return out, nil
}

// Run starts those of the named processes, or of all, that do not run, and waits until they are ready. The error names those
// that failed, with the reason; they are retried.
func (s *Stack) Run(ctx context.Context, names ...string) error {
	return s.request(ctx, names, func(p *proc) {
		p.enabled = true
		if st := &p.status; st.State == Stopped || st.State == Failed || st.State == Crashing {
			p.generation++ // ends the pause after a failure
			st.State = Waiting
		}
	})
}

// Restart stops the named processes, or all, starts them again, and waits until they are ready, as Run does.
func (s *Stack) Restart(ctx context.Context, names ...string) error {
	return s.request(ctx, names, func(p *proc) {
		p.enabled, p.status.State = true, Waiting
		p.generation++
	})
}

// request lets change make processes run and waits for the outcome of each.
func (s *Stack) request(ctx context.Context, names []string, ask func(*proc)) error {
	ps, err := s.find(names)
	if err != nil {
		return err
	}
	fails := map[*proc]int{}
	s.mu.Lock()
	for _, p := range ps {
		if p.closing {
			s.mu.Unlock()
			return errors.New("the stack is shutting down")
		}
		fails[p] = p.fails
		ask(p)
	}
	s.mu.Unlock()
	s.wake(ps)
	return s.await(ctx, func() (bool, error) {
		var failed []string
		for _, p := range ps {
			switch {
			case p.fails > fails[p]:
				failed = append(failed, p.spec.Name+": "+p.status.Err)
			case p.status.State == Ready:
			case !p.enabled:
				failed = append(failed, p.spec.Name+": stopped in the meantime")
			default:
				return false, nil
			}
		}
		if failed != nil {
			return true, errors.New(strings.Join(failed, "; "))
		}
		return true, nil
	})
}

func (s *Stack) wake(ps []*proc) {
	for _, p := range ps {
		select {
		case p.wakeup <- struct{}{}:
		default:
		}
	}
	s.notify()
}

// Stop stops the named processes, or all, dependents first, and waits until they are gone. They get Options.Drain to finish
// what they are doing.
func (s *Stack) Stop(ctx context.Context, names ...string) error {
	ps, err := s.find(names)
	if err != nil {
		return err
	}
	return s.stopInOrder(ctx, ps, func(p *proc) { p.enabled = false })
}

// stopInOrder lets change stop processes, dependents first, and waits until they are stopped.
func (s *Stack) stopInOrder(ctx context.Context, ps []*proc, ask func(*proc)) error {
	for _, level := range slices.Backward(s.levels) {
		var now []*proc
		s.mu.Lock()
		for _, p := range ps {
			if slices.Contains(level, p.spec.Name) {
				ask(p)
				now = append(now, p)
			}
		}
		s.mu.Unlock()
		s.wake(now)
		err := s.await(ctx, func() (bool, error) {
			return !slices.ContainsFunc(now, func(p *proc) bool { return p.status.State != Stopped }), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close stops everything, dependents first. Processes that still run when ctx ends are killed. When it returns, no process
// and no goroutine of the stack is left.
func (s *Stack) Close(ctx context.Context) {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if started && s.stopInOrder(ctx, s.procs, func(p *proc) { p.closing = true }) != nil {
		s.Kill()
	}
	s.running.Wait()
}

// Kill ends everything without a grace period.
func (s *Stack) Kill() {
	s.mu.Lock()
	for _, p := range s.procs {
		p.closing = true
		p.once.Do(func() { close(p.kill) })
	}
	s.mu.Unlock()
	s.wake(s.procs)
}
