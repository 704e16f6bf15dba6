package stack

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// proc is one process of the stack: a goroutine that starts it, monitors it, and restarts it while it is enabled.
type proc struct {
	stack  *Stack
	spec   Spec
	log    ring
	wakeup chan struct{} // capacity 1: enabled, generation or closing changed
	kill   chan struct{} // closed to end it without a grace period
	once   sync.Once

	// Guarded by stack.mu.
	status     Status
	note       string // the reason for its state
	enabled    bool   // whether it should run
	generation uint64 // counts requests to start anew
	closing    bool   // the stack is being closed
	fails      int    // failures in all
	readies,
	starts int
	env map[string]string // what its last start added

	port int // to ask for at the next start; only used by run
	// client is for health checks; a new one for each start. Only used by its watcher.
	client *http.Client
}

// run starts and restarts the process until the stack is closed.
func (p *proc) run() {
	p.port = p.spec.Port
	row := 0 // failures in a row
	for {
		gen, ok := p.desiredState()
		if !ok {
			p.setState(Stopped, "", nil)
			if p.isClosing() {
				return
			}
			<-p.wakeup
			row = 0
			continue
		}
		if !p.awaitDependencies(gen) {
			continue
		}
		stable, err := p.runOnce(gen)
		if err == nil {
			row = 0
			continue // it was asked to stop
		}
		if stable {
			row = 0
		}
		row++
		if !p.pause(gen, row, err) {
			row = 0
		}
	}
}

// desiredState returns whether the process should run, and the generation of that request.
func (p *proc) desiredState() (gen uint64, ok bool) {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	return p.generation, p.enabled && !p.closing
}

func (p *proc) isClosing() bool {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	return p.closing
}

// isCurrent reports whether the process should run, and no newer start was requested.
func (p *proc) isCurrent(gen uint64) bool {
	now, ok := p.desiredState()
	return ok && now == gen
}

// awaitDependencies waits for the processes that this one comes after; false if it should not run any more.
func (p *proc) awaitDependencies(gen uint64) bool {
	for {
		name, turn := p.dependency()
		if !p.isCurrent(gen) {
			return false
		}
		if name == "" {
			return true
		}
		p.setState(Waiting, "for "+name, nil)
		select {
		case <-turn:
		case <-p.wakeup:
		}
	}
}

// dependency names a process that this one has to wait for, "" for none; changed is closed when that may be another one.
func (p *proc) dependency() (name string, turn <-chan struct{}) {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	for _, dep := range p.spec.After {
		switch p.stack.byName[dep].status.State {
		case Waiting, Starting, Stopping:
			return dep, p.stack.stateChanged
		}
	}
	return "", nil
}

// runOnce runs the process once. The error is why it failed, nil if it was asked to stop; stable is whether it had been
// ready for Backoff.Stable.
func (p *proc) runOnce(gen uint64) (stable bool, failed error) {
	p.setState(Starting, p.releasePort(), nil)
	c, err := p.spawn(p.port)
	if err != nil {
		return false, err
	}
	p.noteStart(c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := health{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
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
		case <-p.wakeup:
			asked = !p.isCurrent(gen)
		case <-v.listening:
			late.Stop()
			v.listening, heard = nil, true
		case <-v.ready:
			v.ready, since = nil, time.Now()
			if asked = !p.isCurrent(gen); !asked {
				p.setState(Ready, p.address(), nil)
			}
		case <-late.C:
			why = fmt.Errorf("did not listen within %s", p.stack.o.StartTimeout)
		case why = <-v.failed:
		}
	}
	cancel()
	watcher.Wait()
	if !exited {
		note := "SIGTERM sent"
		grace := p.spec.Drain
		grace = cmp.Or(grace, p.stack.o.Drain)
		if why != nil {
			note, grace = why.Error(), min(grace, unhealthyGrace)
		}
		p.setState(Stopping, note, nil)
		c.stop(grace, p.kill)
	}
	how := c.finish()
	p.choosePort(c, heard)
	switch {
	case asked || exited && !p.isCurrent(gen): // it may exit before the request is noticed here
		p.log.add(Note, how)
		return false, nil
	case exited:
		why = withWords(how, c.lastWords())
	}
	return !since.IsZero() && time.Since(since) >= p.stack.o.Backoff.Stable, why
}

// releasePort gives up the port of a process that may have any, if another process has it by now. It returns the note.
func (p *proc) releasePort() string {
	if !p.spec.isOurs() || p.spec.Fixed || p.port == 0 {
		return ""
	}
	port := p.port
	lns, err := listenFree(context.Background(), fmt.Sprintf("http://127.0.0.1:%d", port))
	closeListeners(lns)
	if err == nil {
		return ""
	}
	p.port = 0
	return fmt.Sprintf("on another port: %d is taken%s", port, holder(port))
}

// unhealthyGrace is the time from SIGTERM to SIGKILL for a process that does not answer.
const unhealthyGrace = 2 * time.Second

// choosePort decides which port the next start asks for: the same again, so that clients find it, or any if it never
// listened, since the port may be why.
func (p *proc) choosePort(c *child, heard bool) {
	if !p.spec.isOurs() || p.spec.Fixed {
		return
	}
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	if p.port = p.status.Port; !heard {
		p.port = 0
	}
}

// noteStart records a process that was started.
func (p *proc) noteStart(c *child) {
	p.log.add(Note, fmt.Sprintf("started, pid %d", c.PID()))
	p.stack.update(p, func(s *Status) {
		s.PID, s.Started, s.Figures = c.PID(), time.Now(), Figures{}
		if !p.spec.isOurs() {
			s.URL = p.spec.URL
		}
		if p.starts++; p.starts > 1 {
			s.Restarts++
		}
	})
}

func (p *proc) address() string {
	p.stack.mu.Lock()
	defer p.stack.mu.Unlock()
	if p.status.URL == "" {
		return ""
	}
	return "at " + strings.TrimPrefix(p.status.URL, "tcp://")
}

// pause waits until the next start is due; false if one was requested in the meantime.
func (p *proc) pause(gen uint64, row int, err error) bool {
	d := p.stack.o.Backoff.wait(row)
	state := Failed
	if row >= p.stack.o.Backoff.Loop {
		state = Crashing
	}
	p.stack.update(p, func(s *Status) { s.RetryAt = time.Now().Add(d) })
	p.setState(state, fmt.Sprintf("%v; next start in %s", err, text.Duration(d)), err)
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			return true
		case <-p.wakeup:
			if !p.isCurrent(gen) {
				return false
			}
		}
	}
}

// setTrouble records a problem around a process that runs; nil says that it is over.
func (p *proc) setTrouble(err error) {
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
	s.notify()
	s.emit(event)
}

// setState enters a state. It does nothing if the process is in it already for the same reason.
func (p *proc) setState(state State, note string, err error) {
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
	s.emit(event) // before those who wait for the state go on and cause more
	s.mu.Lock()
	close(s.stateChanged)
	s.stateChanged = make(chan struct{})
	s.mu.Unlock()
	s.notify()
}
