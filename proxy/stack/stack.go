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

// Stack is a set of supervised processes. Its methods are safe for concurrent use, but for Close, which comes last.
type Stack struct {
	o       Options
	levels  [][]string
	procs   []*proc // in the order of their specs
	byName  map[string]*proc
	rev     atomic.Uint64
	changed chan struct{}
	events  sync.Mutex // held while Options.Event runs
	running sync.WaitGroup

	mu      sync.Mutex
	turn    chan struct{} // closed and replaced with every change of a state
	started bool
}

// New makes a stack of processes that are not started yet. The error says which spec cannot be.
func New(specs []Spec, o Options) (*Stack, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	order, err := levels(specs)
	if err != nil {
		return nil, err
	}
	s := &Stack{
		o: o, levels: order, byName: map[string]*proc{}, changed: make(chan struct{}, 1), turn: make(chan struct{}),
	}
	for _, spec := range specs {
		p := &proc{stack: s, spec: spec, log: ring{bounds: o.Log}, poke: make(chan struct{}, 1), now: make(chan struct{})}
		p.status = Status{Name: spec.Name, Kind: spec.Kind, State: Stopped, Port: spec.Port, URL: spec.URL}
		s.procs = append(s.procs, p)
		s.byName[spec.Name] = p
	}
	return s, nil
}

// Start starts everything, in order, and waits for nothing. It is called once.
func (s *Stack) Start() {
	s.mu.Lock()
	s.started = true
	for _, p := range s.procs {
		p.want, p.status.State = true, Waiting
	}
	s.mu.Unlock()
	s.bump()
	for _, p := range s.procs {
		s.running.Go(p.run)
	}
}

// Processes are all processes as they are now, in the order of their specs.
func (s *Stack) Processes() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Status, len(s.procs))
	for i, p := range s.procs {
		out[i] = p.status
	}
	return out
}

// Log returns what a process has written, and what happened to it, since the line with number after; nil if there is no
// such process.
func (s *Stack) Log(name string, after uint64) []Line {
	p, ok := s.byName[name]
	if !ok {
		return nil
	}
	return p.log.after(after)
}

// Rev grows with every change of a status or log.
func (s *Stack) Rev() uint64 { return s.rev.Load() }

// Changed receives after changes; several make one. Capacity 1, for one reader.
func (s *Stack) Changed() <-chan struct{} { return s.changed }

func (s *Stack) bump() {
	s.rev.Add(1)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// edit changes a status without a change of state.
func (s *Stack) edit(p *proc, f func(*Status)) {
	s.mu.Lock()
	before := p.status
	f(&p.status)
	same := before == p.status
	s.mu.Unlock()
	if !same {
		s.bump()
	}
}

// tell tells of an event.
func (s *Stack) tell(e Event) {
	if s.o.Event != nil {
		s.events.Lock()
		defer s.events.Unlock()
		s.o.Event(e)
	}
}

// PIDs are the processes that run now, each the leader of its group: for an exit that cannot wait.
func (s *Stack) PIDs() (pids []int) {
	for _, st := range s.Processes() {
		if st.PID > 0 {
			pids = append(pids, st.PID)
		}
	}
	return pids
}

// await waits until done says so. done is called with s.mu held.
func (s *Stack) await(ctx context.Context, done func() (bool, error)) error {
	for {
		s.mu.Lock()
		ok, err := done()
		turn := s.turn
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

// Ready waits until processes are ready, all if none is named. The error names one in a crash loop, with what it said last.
func (s *Stack) Ready(ctx context.Context, names ...string) error {
	ps, err := s.pick(names)
	if err != nil {
		return err
	}
	return s.await(ctx, func() (bool, error) {
		all := true
		for _, p := range ps {
			if p.status.State == Crashing {
				return true, fmt.Errorf("%s does not start: %s", p.spec.Name, p.status.Err)
			}
			all = all && p.status.State == Ready
		}
		return all, nil
	})
}

// ErrUnknown says that there is no process of a name.
var ErrUnknown = errors.New("there is no such process in the stack")

// pick finds processes by name; none named are all.
func (s *Stack) pick(names []string) ([]*proc, error) {
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

// Run starts processes that do not run, all if none is named, and waits until they are ready. The error says which ones
// failed, and why; they are tried again.
func (s *Stack) Run(ctx context.Context, names ...string) error {
	return s.order(ctx, names, func(p *proc) {
		p.want = true
		if st := &p.status; st.State == Stopped || st.State == Failed || st.State == Crashing {
			p.gen++ // also ends the pause after a failure
			st.State = Waiting
		}
	})
}

// Restart ends processes and starts them again, all if none is named, and waits until they are ready, as Run does.
func (s *Stack) Restart(ctx context.Context, names ...string) error {
	return s.order(ctx, names, func(p *proc) {
		p.want, p.status.State = true, Waiting
		p.gen++
	})
}

// order asks for processes to run and waits for the outcome of each.
func (s *Stack) order(ctx context.Context, names []string, ask func(*proc)) error {
	ps, err := s.pick(names)
	if err != nil {
		return err
	}
	fails := map[*proc]int{}
	s.mu.Lock()
	for _, p := range ps {
		if p.quit {
			s.mu.Unlock()
			return errors.New("the stack is being shut down")
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
			case !p.want:
				failed = append(failed, p.spec.Name+": it was stopped meanwhile")
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
		case p.poke <- struct{}{}:
		default:
		}
	}
	s.bump()
}

// Stop ends processes, all if none is named, those that depend on others first, and waits until they are gone. They get
// Options.Drain to finish what they are doing.
func (s *Stack) Stop(ctx context.Context, names ...string) error {
	ps, err := s.pick(names)
	if err != nil {
		return err
	}
	return s.descend(ctx, ps, func(p *proc) { p.want = false })
}

// descend changes what is wanted of processes, those that depend on others first, and waits until they are stopped.
func (s *Stack) descend(ctx context.Context, ps []*proc, ask func(*proc)) error {
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

// Close ends everything, those that depend on others first. What is not done when ctx ends is killed. Nothing of the
// stack is left when it returns, neither process nor goroutine.
func (s *Stack) Close(ctx context.Context) {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if started && s.descend(ctx, s.procs, func(p *proc) { p.quit = true }) != nil {
		s.Kill()
	}
	s.running.Wait()
}

// Kill ends everything without waiting for what is being done.
func (s *Stack) Kill() {
	s.mu.Lock()
	for _, p := range s.procs {
		p.quit = true
		p.once.Do(func() { close(p.now) })
	}
	s.mu.Unlock()
	s.wake(s.procs)
}
