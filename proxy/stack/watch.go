package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
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
		if p.stack.o.Listening != nil {
			p.stack.o.Listening(p.spec.Name, at)
		}
	}
	p.stack.edit(p, func(s *Status) { s.URL, s.Port = at, portOf(at) })
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
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, p.stack.o.Poll)
	}
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
		return p.stack.dial(ctx, at)
	case ready:
		_, err := p.stack.get(ctx, at, "/health")
		return err
	}
	status, err := p.stack.get(ctx, at, "/ready")
	switch status {
	case http.StatusServiceUnavailable:
		return errNotYet
	case http.StatusNotFound: // it is ready as soon as it listens
		_, err = p.stack.get(ctx, at, "/health")
	}
	return err
}

// figures reads /status. What is not there, such as behind a token, stays unknown.
func (p *proc) figures(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	f, ok := readFigures(p.stack.read(ctx, at, "/status"))
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

// page is the URL of a page of the server whose endpoint is at.
func page(at, path string) (string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String(), nil
}

// get asks for a page; every status but 200 is an error.
func (s *Stack) get(ctx context.Context, at, path string) (status int, err error) {
	resp, err := s.ask(ctx, at, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxFigures)) // so that the connection is used again
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, fmt.Errorf("%s answers %s", path, resp.Status)
	}
	return resp.StatusCode, nil
}

// read is a page's body, nil if there is none.
func (s *Stack) read(ctx context.Context, at, path string) []byte {
	resp, err := s.ask(ctx, at, path)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFigures))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return body
}

func (s *Stack) ask(ctx context.Context, at, path string) (*http.Response, error) {
	to, err := page(at, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return nil, err
	}
	return s.client.Do(req)
}

// portOf is the port of a URL, also where it is left out; 0 where there is none.
func portOf(at string) int {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return 0
	}
	n, _ := strconv.Atoi(portName(u))
	return n
}

// dial reports whether something accepts connections at a URL.
func (s *Stack) dial(ctx context.Context, at string) error {
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), portName(u)))
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
