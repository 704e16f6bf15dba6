package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mcphud/mcphud/session/base/listen"
)

const (
	firstPause = 10 * time.Millisecond // pause between looks for readiness, which doubles
	maxPage    = 1 << 20               // bytes of a page that are read
)

// health is what a watcher reports to the process' own loop.
type health struct {
	listening chan struct{} // closed when it listens
	ready     chan struct{} // closed when it is ready
	failed    chan error    // why it must be restarted
}

// watch checks the health of a process until ctx ends.
func (p *proc) watch(ctx context.Context, c *child, v health) {
	at := p.spec.URL
	if p.spec.isOurs() {
		select {
		case at = <-c.url:
		case <-ctx.Done():
			return
		}
	}
	p.stack.update(p, func(s *Status) { s.URL, s.Port = at, portOf(at) })
	reported := p.reportListening(at)
	if p.spec.isOurs() || at == "" {
		close(v.listening)
	}
	ready, pause, misses := false, firstPause, 0
	for {
		err := p.probe(ctx, at, ready)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !ready:
			ready, misses = true, 0
			if !p.spec.isOurs() && at != "" {
				close(v.listening)
			}
			close(v.ready)
		case err == nil:
			misses = 0
		case errors.Is(err, errNotYet):
		case pause >= p.stack.o.Poll && (ready || p.spec.isOurs()): // a third-party server has StartTimeout
			if misses++; misses >= p.stack.o.Misses {
				v.failed <- fmt.Errorf("health check failed: %w", err)
				return
			}
		}
		if ready && p.spec.isOurs() {
			p.readStatus(ctx, at)
			p.stack.notify() // for those who show how long it has been up
		}
		if ready {
			pause = p.stack.o.Poll
		}
		if !reported {
			reported = p.reportListening(at)
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, p.stack.o.Poll)
	}
}

// reportListening calls Options.Listening for a process of ours; false if it must be called again.
func (p *proc) reportListening(at string) bool {
	if !p.spec.isOurs() || p.stack.o.Listening == nil {
		return true
	}
	err := p.stack.o.Listening(p.spec.Name, at)
	p.setTrouble(err)
	p.stack.renew(p)
	return err == nil
}

// renew starts the processes anew whose variables are others than at their start, because another one listens elsewhere than was planned:
// a port can be taken between the plan and the start.
func (s *Stack) renew(moved *proc) {
	var old []*proc
	s.renewing.Lock()
	for _, p := range s.procs {
		if p == moved {
			continue
		}
		now := p.addedVariables()
		s.mu.Lock()
		if p.enabled && !p.closing && p.env != nil && !maps.Equal(p.env, now) {
			p.env, p.status.State = nil, Waiting // once, and nobody takes it for ready
			p.generation++
			old = append(old, p)
		}
		s.mu.Unlock()
	}
	s.renewing.Unlock()
	for _, p := range old {
		p.log.add(Note, moved.spec.Name+" is elsewhere than it was told, so it starts again")
	}
	s.wake(old)
}

// errNotYet is a process that answers, but is not ready.
var errNotYet = errors.New("not ready yet")

// probe checks whether a process is ready, and once it was, whether it is alive.
func (p *proc) probe(ctx context.Context, at string, ready bool) error {
	ctx, cancel := context.WithTimeout(ctx, p.stack.o.ProbeTimeout)
	defer cancel()
	switch {
	case at == "":
		return nil
	case !p.spec.isOurs():
		return dial(ctx, at)
	case ready:
		_, _, err := get(ctx, p.client, at, "/health", "")
		return err
	}
	status, _, err := get(ctx, p.client, at, "/ready", "")
	switch status {
	case http.StatusServiceUnavailable:
		return errNotYet
	case http.StatusNotFound: // without /ready it is ready when it listens
		_, _, err = get(ctx, p.client, at, "/health", "")
	}
	return err
}

// readStatus updates the figures from /status. Where it cannot be read, such as for lack of a JWT, they stay unknown.
func (p *proc) readStatus(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(ctx, p.stack.o.ProbeTimeout)
	defer cancel()
	if _, body, err := get(ctx, p.client, at, "/status", p.spec.callerToken()); err == nil {
		if f, ok := readFigures(body); ok {
			p.stack.update(p, func(s *Status) { s.Figures = f })
		}
	}
}

// readFigures parses the /status of an agent (tools, queue) or a router (a member of agents for each).
func readFigures(status []byte) (f Figures, ok bool) {
	var said struct {
		Tools  *struct{ Calls int64 }
		Queue  struct{ Queued, Running int }
		Agents map[string]struct {
			Requests int64
			InFlight int `json:"in_flight"`
		}
	}
	if status == nil || json.Unmarshal(status, &said) != nil || said.Tools == nil && said.Agents == nil {
		return f, false
	}
	f = Figures{Running: said.Queue.Running, Queued: said.Queue.Queued, Known: true}
	if said.Tools != nil {
		f.Requests = said.Tools.Calls
	}
	for _, a := range said.Agents {
		f.Requests += a.Requests
		f.Running += a.InFlight
	}
	return f, true
}

// portOf is the port of a URL, the scheme's default if it has none, 0 if it is not a URL with a host.
func portOf(at string) int {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return 0
	}
	n, _ := strconv.Atoi(listen.PortOf(u))
	return n
}

// dial checks that something accepts connections at a URL.
func dial(ctx context.Context, at string) error {
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), listen.PortOf(u)))
	if err != nil {
		return err
	}
	return conn.Close()
}

// sleep waits for d; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
