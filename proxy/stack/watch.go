package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mcphud/mcphud/session/listen"
)

const (
	firstLook  = 10 * time.Millisecond // pause between looks for readiness, which doubles
	lookTime   = 2 * time.Second       // that one look may take
	maxFigures = 1 << 20               // bytes of /status that are read
)

// vital are what a watcher finds out about a process, for the process' own loop.
type vital struct {
	listening chan struct{} // closed when it listens
	ready     chan struct{} // closed when it can be used
	sick      chan error    // why it has to be restarted
}

// watch looks at a process until ctx ends.
func (p *proc) watch(ctx context.Context, c *child, v vital) {
	at := p.spec.URL
	if p.spec.own() {
		select {
		case at = <-c.url:
		case <-ctx.Done():
			return
		}
	}
	p.stack.edit(p, func(s *Status) { s.URL, s.Port = at, portOf(at) })
	told := p.tell(at)
	if p.spec.own() || at == "" {
		close(v.listening)
	}
	ready, pause, misses := false, firstLook, 0
	for {
		err := p.look(ctx, at, ready)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !ready:
			ready, misses = true, 0
			if !p.spec.own() && at != "" {
				close(v.listening)
			}
			close(v.ready)
		case err == nil:
			misses = 0
		case errors.Is(err, errNotYet):
		case pause >= p.stack.o.Poll && (ready || p.spec.own()): // a server of others has StartTimeout
			if misses++; misses >= p.stack.o.Misses {
				v.sick <- fmt.Errorf("it does not answer: %w", err)
				return
			}
		}
		if ready && p.spec.own() {
			p.figures(ctx, at)
			p.stack.bump() // whoever shows for how long it is up looks again
		}
		if ready {
			pause = p.stack.o.Poll
		}
		if !told {
			told = p.tell(at)
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, p.stack.o.Poll)
	}
}

// tell says where a process of ours listens to who asked for that; false if it has to be said again.
func (p *proc) tell(at string) bool {
	if !p.spec.own() || p.stack.o.Listening == nil {
		return true
	}
	err := p.stack.o.Listening(p.spec.Name, at)
	p.trouble(err)
	return err == nil
}

// errNotYet says that a process lives, and asks for patience.
var errNotYet = errors.New("not ready yet")

// look asks a process whether it can be used, and once it was, whether it still lives.
func (p *proc) look(ctx context.Context, at string, ready bool) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	switch {
	case at == "":
		return nil
	case !p.spec.own():
		return dial(ctx, at)
	case ready:
		_, err := get(ctx, p.client, at, "/health")
		return err
	}
	status, err := get(ctx, p.client, at, "/ready")
	switch status {
	case http.StatusServiceUnavailable:
		return errNotYet
	case http.StatusNotFound: // it is ready as soon as it listens
		_, err = get(ctx, p.client, at, "/health")
	}
	return err
}

// figures reads /status. What is not there, such as behind a token, stays unknown.
func (p *proc) figures(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	f, ok := readFigures(read(ctx, p.client, at, "/status"))
	if !ok {
		return
	}
	p.stack.edit(p, func(s *Status) { s.Figures = f })
}

// readFigures reads what agents (tools, queue) and routers (a member of agents for each) tell of themselves.
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

// portOf is the port of a URL, also where it is left out; 0 where there is none.
func portOf(at string) int {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return 0
	}
	n, _ := strconv.Atoi(listen.PortOf(u))
	return n
}

// dial reports whether something accepts connections at a URL.
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

// sleep waits; false if ctx ended first.
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
