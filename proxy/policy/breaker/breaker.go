// Package breaker stands between the forwarder and an agent: it repeats requests where that is harmless, opens a circuit breaker
// after repeated failures, and injects the faults of a route.
package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// State is the state of a circuit breaker.
type State string

// The states.
const (
	Closed   State = "closed"    // as usual
	Open     State = "open"      // not at all, for a time
	HalfOpen State = "half-open" // by one request, whose fate decides
)

// Options tune breakers. Zero values mean the defaults.
type Options struct {
	Failures int           // in a row that open a breaker; default 10
	Pause    time.Duration // that it is open for the first time; each time after is twice as long; default 1 s
	MaxPause time.Duration // default 30 s
	Logger   *slog.Logger
	// Changed is told when a breaker opens, for how long, and when it closes, with 0. It must not block. nil is told nothing.
	Changed func(agent, endpoint string, open time.Duration, failures int, why string)

	now func() time.Time
}

// Breakers are those of all routes.
type Breakers struct {
	o  Options
	mu sync.Mutex
	by map[string][]*Breaker // of the routes in force, one for each upstream
}

// New makes Breakers. They start nothing.
func New(o Options) *Breakers {
	if o.Failures <= 0 {
		o.Failures = 10
	}
	if o.Pause <= 0 {
		o.Pause = time.Second
	}
	if o.MaxPause <= 0 {
		o.MaxPause = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	return &Breakers{o: o, by: map[string][]*Breaker{}}
}

// Wrap puts a breaker around the way to an agent.
func (b *Breakers) Wrap(r *routes.Route, up flow.Upstream) flow.Upstream {
	n := &Breaker{Upstream: up, o: b.o, route: r, all: b, state: Closed}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.by[r.Name] = append(b.by[r.Name], n)
	return n
}

// Status is what became of the breaker of an agent.
type Status struct {
	State    State     `json:"state"`
	Failures int       `json:"failures"` // in a row
	Opened   int       `json:"opened"`   // how often
	Retries  int       `json:"retries"`
	RetryAt  time.Time `json:"retry_at,omitzero"` // when an open one lets a request through
	Error    string    `json:"error,omitempty"`   // of the last failure
	Answered bool      `json:"-"`                 // a request succeeded since the route is in force
	// Upstreams are those of an agent with several, by their URL without secrets. The agent's own state is that of the best.
	Upstreams map[string]Status `json:"upstreams,omitempty"`
}

// Status is that of an agent; a closed breaker for one that there is not.
func (b *Breakers) Status(agent string) Status {
	b.mu.Lock()
	all := slices.Clone(b.by[agent])
	b.mu.Unlock()
	if len(all) == 0 {
		return Status{State: Closed}
	}
	out := all[len(all)-1].status()
	if len(all) == 1 || all[0].route.Endpoint() == nil {
		return out
	}
	order := map[State]int{Closed: 0, HalfOpen: 1, Open: 2}
	each := map[string]Status{}
	for _, one := range all {
		s := one.status()
		each[one.endpoint()] = s
		s.Answered = s.Answered || out.Answered
		out.Answered = s.Answered
		if order[s.State] < order[out.State] || s.State == out.State && s.Failures < out.Failures {
			out = s
		}
	}
	if len(each) > 1 { // else the route's next version takes the place
		out.Upstreams = each
	}
	return out
}

// Breaker is that of one route.
type Breaker struct {
	flow.Upstream
	o     Options
	route *routes.Route
	all   *Breakers

	mu       sync.Mutex
	state    State
	failures int // in a row
	opened   int // in all
	pauses   int // in a row
	retries  int
	until    time.Time // when the next request is let through, unless closed
	why      string    // of the last failure
	answered bool      // something succeeded
}

// Apply opens the breaker of an agent's upstream for a time, or closes it if that is 0, because another router's did.
func (b *Breakers) Apply(agent, endpoint string, open time.Duration, failures int, why string) {
	b.mu.Lock()
	all := slices.Clone(b.by[agent])
	b.mu.Unlock()
	for _, one := range all {
		if one.endpoint() == endpoint {
			one.apply(open, failures, why)
		}
	}
}

// endpoint is where the agent is, without secrets; "" for a command.
func (b *Breaker) endpoint() string {
	return mask.URL(b.route.Address())
}

func (b *Breaker) apply(open time.Duration, failures int, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case open <= 0 && b.state == Closed:
	case open <= 0:
		b.state, b.failures, b.pauses, b.why = Closed, 0, 0, ""
		b.o.Logger.Info("circuit breaker closed: another router reached the agent", "agent", b.route.Name)
	default:
		open = min(open, b.o.MaxPause)
		if b.state == Closed {
			b.opened++
			b.o.Logger.Warn("circuit breaker open: another router cannot reach the agent", "agent", b.route.Name, "for", text.Duration(open), "error", why)
		}
		b.state, b.failures, b.why = Open, max(failures, 1), mask.Text(why)
		b.until = b.o.now().Add(open)
	}
}

// notifyOthers tells others, if there are any; b.mu is held.
func (b *Breaker) notifyOthers(open time.Duration) {
	if e := b.endpoint(); b.o.Changed != nil && e != "" { // a process is the router's own
		b.o.Changed(b.route.Name, e, open, b.failures, b.why)
	}
}

// Close closes the way to the agent.
func (b *Breaker) Close() error {
	b.all.mu.Lock()
	left := slices.DeleteFunc(b.all.by[b.route.Name], func(o *Breaker) bool { return o == b }) // the route's next version may be there
	if b.all.by[b.route.Name] = left; len(left) == 0 {
		delete(b.all.by, b.route.Name)
	}
	b.all.mu.Unlock()
	return b.Upstream.Close()
}

func (b *Breaker) status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Status{State: b.state, Failures: b.failures, Opened: b.opened, Retries: b.retries, Error: b.why, Answered: b.answered}
	if b.state == Open {
		s.RetryAt = b.until.UTC()
		if !b.o.now().Before(b.until) {
			s.State = HalfOpen // the next request will be let through
		}
	}
	return s
}

// enter admits a request, or returns why not. probe reports that its outcome decides whether the breaker closes.
func (b *Breaker) enter() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Closed {
		return false, nil
	}
	now := b.o.now()
	if wait := b.until.Sub(now); wait > 0 {
		return false, &jsonrpc.RequestError{
			Kind: jsonrpc.KindUnreachable, Status: http.StatusServiceUnavailable, RetryAfter: wait, Err: flow.ErrNotSent,
			Message: fmt.Sprintf("Failed to reach agent: circuit breaker of '%s' open after %d failures, the latest: %s", b.route.Name, b.failures, b.why),
		}
	}
	// A probe that takes long must not keep everybody else away for good.
	b.state, b.until = HalfOpen, now.Add(b.pause())
	return true, nil
}

func (b *Breaker) pause() time.Duration { return failure.Backoff(b.pauses+1, b.o.Pause, b.o.MaxPause) }

// leave records the outcome of a request; why is "" for success.
func (b *Breaker) leave(probe bool, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if why == "" {
		was := b.state
		b.state, b.failures, b.pauses, b.why = Closed, 0, 0, ""
		if was != Closed {
			b.o.Logger.Info("circuit breaker closed: the agent answers again", "agent", b.route.Name)
			b.notifyOthers(0)
		}
		return
	}
	b.failures++
	b.why = why
	switch {
	case probe && b.state == HalfOpen:
		b.pauses++
	case b.state != Closed || b.failures < b.o.Failures:
		return
	}
	b.state = Open
	b.opened++
	b.until = b.o.now().Add(b.pause())
	b.o.Logger.Warn("circuit breaker open after repeated failures", "agent", b.route.Name, "failures", b.failures, "for", text.Duration(b.pause()), "error", why)
	b.notifyOthers(b.pause())
}

// forget ends a request whose outcome says nothing about the agent, such as one whose client disconnected.
func (b *Breaker) forget(probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe && b.state == HalfOpen {
		b.state, b.until = Open, b.o.now() // the next one tells
	}
}

// verdict is why an attempt counts as a failure of the agent, "" if it does not; none reports that it says nothing
// about the agent.
func (b *Breaker) verdict(r *http.Request, res *http.Response, err error) (why string, none bool) {
	if err == nil {
		switch res.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return "HTTP status " + fmt.Sprint(res.StatusCode), false
		}
		return "", false
	}
	c := flow.From(r.Context())
	switch {
	case c != nil && c.R.Context().Err() != nil: // the client left
		return "", true
	case c == nil && errors.Is(context.Cause(r.Context()), context.Canceled): // the router gave up itself
		return "", true
	case b.route.WaitReady > 0 && Refused(err): // an agent that starts is waited for
		return "", true
	}
	if f, ok := jsonrpc.AsRequestError(err); ok && (f.Kind == jsonrpc.KindQueueFull || f.Kind == jsonrpc.KindRateLimited || f.Kind == jsonrpc.KindOAuth) { // it is busy, or wants a login
		return "", true
	}
	if cause := context.Cause(r.Context()); cause != nil {
		err = cause
	}
	return mask.Text(err.Error()), false
}

// Refused reports that no connection to the agent could be made, so that nothing was sent.
func Refused(err error) bool {
	var op *net.OpError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &op) && op.Op == "dial"
}
