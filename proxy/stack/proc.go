package stack

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// proc is one process of the stack: a goroutine that starts it, watches it, and starts it again, as long as it is wanted.
type proc struct {
	stack *Stack
	spec  Spec
	log   ring
	poke  chan struct{} // capacity 1: what is wanted changed
	now   chan struct{} // closed to end it without waiting
	once  sync.Once

	// Guarded by stack.mu.
	status Status
	note   string // why it is in its state
	want   bool   // whether it is to run
	gen    uint64 // counts requests to start afresh
	quit   bool   // nothing is wanted any more
	fails  int    // failures altogether
	readies,
	starts int

	port int // to ask for at the next start; only used by run
	// client asks the process how it is; another one each time it is started. Only used by its watcher.
	client *http.Client
}

// run is the life of the process.
func (p *proc) run() {
	p.port = p.spec.Port
	row := 0 // failures in a row
	for {
		gen, ok := p.wanted()
		if !ok {
			p.set(Stopped, "", nil)
			if p.over() {
				return
			}
			<-p.poke
			row = 0
			continue
		}
		if !p.depend(gen) {
			continue
		}
		stable, err := p.live(gen)
		if err == nil {
			row = 0
			continue // it was asked to end
		}
		if stable {
			row = 0
		}
		row++
		if !p.rest(gen, row, err) {
			row = 0
		}
	}
}

// wanted returns whether the process is to run, and which start this is.
func (p *proc) wanted() (gen uint64, ok bool) {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	return p.gen, p.want && !p.quit
}

func (p *proc) over() bool {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	return p.quit
}

// still reports whether the start gen is still wanted.
func (p *proc) still(gen uint64) bool {
	now, ok := p.wanted()
	return ok && now == gen
}

// depend waits for the processes that this one comes after; false if it is not wanted any more.
func (p *proc) depend(gen uint64) bool {
	for {
		name, turn := p.awaits()
		if !p.still(gen) {
			return false
		}
		if name == "" {
			return true
		}
		p.set(Waiting, "for "+name, nil)
		select {
		case <-turn:
		case <-p.poke:
		}
	}
}

// awaits names a process that this one has to wait for, "" for none, and when to look again.
func (p *proc) awaits() (name string, turn <-chan struct{}) {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	for _, dep := range p.spec.After {
		switch p.stack.byName[dep].status.State {
		case Waiting, Starting, Stopping:
			return dep, p.stack.turn
		}
	}
	return "", nil
}

// live runs the process once. The error is why it failed, nil if it was asked to end; stable is whether it had been ready
// for long.
func (p *proc) live(gen uint64) (stable bool, failed error) {
	p.set(Starting, p.elsewhere(), nil)
	c, err := p.spawn(p.port)
	if err != nil {
		return false, err
	}
	p.begin(c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := vital{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	p.client = newClient(p.spec.Cert)
	defer p.client.CloseIdleConnections()
	var watcher sync.WaitGroup
	watcher.Go(func() { p.watch(ctx, c, v) })
	late := time.NewTimer(p.stack.o.StartTimeout)
	defer late.Stop()
	var why error
	var since time.Time
	heard, asked, exited := false, false, false
	for why == nil && !asked && !exited {
		select {
		case <-c.Exited():
			exited = true
		case <-p.poke:
			asked = !p.still(gen)
		case <-v.listening:
			late.Stop()
			v.listening, heard = nil, true
		case <-v.ready:
			v.ready, since = nil, time.Now()
			if asked = !p.still(gen); !asked {
				p.set(Ready, p.reached(), nil)
			}
		case <-late.C:
			why = fmt.Errorf("it did not listen within %s", p.stack.o.StartTimeout)
		case why = <-v.sick:
		}
	}
	cancel()
	watcher.Wait()
	if !exited {
		note := "asked to leave"
		grace := p.spec.Drain
		grace = cmp.Or(grace, p.stack.o.Drain)
		if why != nil {
			note, grace = why.Error(), min(grace, sickGrace)
		}
		p.set(Stopping, note, nil)
		c.end(grace, p.now)
	}
	how := c.finish()
	p.learn(c, heard)
	switch {
	case asked || exited && !p.still(gen): // also one that left by itself when it was asked to
		p.log.add(Note, how)
		return false, nil
	case exited:
		why = failure(how, c.words())
	}
	return !since.IsZero() && time.Since(since) >= p.stack.o.Backoff.Stable, why
}

// elsewhere gives up the port of a process that may have any, if somebody else has it by now, and says so.
func (p *proc) elsewhere() string {
	if !p.spec.own() || p.spec.Fixed || p.port == 0 {
		return ""
	}
	port := p.port
	lns, err := vacant(context.Background(), fmt.Sprintf("http://127.0.0.1:%d", port))
	closeListeners(lns)
	if err == nil {
		return ""
	}
	p.port = 0
	return fmt.Sprintf("on another port: %d is taken%s", port, holder(port))
}

// sickGrace is how long a process that does not answer gets to leave.
const sickGrace = 2 * time.Second

// learn decides which port to ask for the next time: the same again, so that clients find it, or any, if that may be why
// it failed.
func (p *proc) learn(c *child, heard bool) {
	if !p.spec.own() || p.spec.Fixed {
		return
	}
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	if p.port = p.status.Port; !heard {
		p.port = 0
	}
}

// begin notes a process that was started.
func (p *proc) begin(c *child) {
	p.log.add(Note, fmt.Sprintf("started, pid %d", c.PID()))
	p.stack.edit(p, func(s *Status) {
		s.PID, s.Started, s.Figures = c.PID(), time.Now(), Figures{}
		if !p.spec.own() {
			s.URL = p.spec.URL
		}
		if p.starts++; p.starts > 1 {
			s.Restarts++
		}
	})
}

func (p *proc) reached() string {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	if p.status.URL == "" {
		return ""
	}
	return "at " + p.status.URL
}

// rest waits until it is time for the next start; false if it was asked for at once.
func (p *proc) rest(gen uint64, row int, err error) bool {
	d := p.stack.o.Backoff.wait(row)
	state := Failed
	if row >= p.stack.o.Backoff.Loop {
		state = Crashing
	}
	p.stack.edit(p, func(s *Status) { s.RetryAt = time.Now().Add(d) })
	p.set(state, fmt.Sprintf("%v; next start in %s", err, d.Round(10*time.Millisecond)), err)
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			return true
		case <-p.poke:
			if !p.still(gen) {
				return false
			}
		}
	}
}

// trouble notes what is wrong around the process, nil for nothing any more.
func (p *proc) trouble(err error) {
	now, note := "", "recovered"
	if err != nil {
		now = err.Error()
		note = now
	}
	s := p.stack
	s.mu.Lock()
	same := p.status.Trouble == now
	p.status.Trouble = now
	event := Event{Time: time.Now(), Status: p.status, Note: note}
	s.mu.Unlock()
	if same {
		return
	}
	p.log.add(Note, note)
	s.bump()
	s.tell(event)
}

// set enters a state. Nothing happens if the process is in it already, for the same reason.
func (p *proc) set(state State, note string, err error) {
	s, now := p.stack, time.Now()
	s.mu.Lock()
	st := &p.status
	if st.State == state && p.note == note && err == nil {
		s.mu.Unlock()
		return
	}
	st.State, st.Since, p.note = state, now, note
	switch state {
	case Ready:
		p.readies++
		st.Err = ""
	case Failed, Crashing:
		p.fails++
		st.Err = err.Error()
	case Starting:
		st.RetryAt = time.Time{}
	}
	if state == Stopped || state == Failed || state == Crashing {
		st.PID, st.Figures, st.Trouble = 0, Figures{}, ""
	}
	event := Event{Time: now, Status: *st, Note: note}
	s.mu.Unlock()
	if note != "" {
		note = ": " + note
	}
	p.log.add(Note, string(state)+note)
	s.tell(event) // before who waits for it goes on, and says more
	s.mu.Lock()
	close(s.turn)
	s.turn = make(chan struct{})
	s.mu.Unlock()
	s.bump()
}
