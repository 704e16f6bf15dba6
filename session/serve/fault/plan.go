// Package fault makes an HTTP server that speaks MCP unreliable on purpose, to see what its clients do then: answers come
// late, not at all, broken, or with an error. Which request suffers what is drawn by percentages, from a seed, so that a
// run can be repeated; or one request is picked with Next.
package fault

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Kind is something that can happen to a request.
type Kind string

// The kinds. In all but the first four the request is handled as usual, and its answer suffers.
const (
	Delay        Kind = "delay"         // it waits before it is handled
	Drop         Kind = "drop"          // the connection is closed without an answer
	HTTP500      Kind = "http_500"      // status 500 and a text
	JSONRPCError Kind = "jsonrpc_error" // a JSON-RPC error, -32603 with data.kind fault_injected
	PartialJSON  Kind = "partial_json"  // half of the body, then the connection is closed
	TruncatedSSE Kind = "truncated_sse" // an event stream that ends, properly, within the first event
	SlowBody     Kind = "slow_body"     // the body comes in 16 pieces over the plan's delay, or a second
	WrongID      Kind = "wrong_id"      // the answer is to a request that nobody made
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{Delay, Drop, HTTP500, JSONRPCError, PartialJSON, TruncatedSSE, SlowBody, WrongID}
}

// MaxDelay is the longest delay of a plan.
const MaxDelay = 5 * time.Minute

// Plan says how many requests suffer. Drop, Error and Partial exclude each other, so that together they are at most 100;
// a delay comes on top of them. The zero value leaves all requests alone.
type Plan struct {
	Delay          time.Duration
	DelayPercent   float64
	DropPercent    float64 // Drop
	ErrorPercent   float64 // HTTP500 and JSONRPCError, half each
	PartialPercent float64 // PartialJSON and TruncatedSSE, half each
	Seed           uint64  // of the random numbers; the same seed and the same requests have the same faults
}

// Check says what is wrong with a plan.
func (p Plan) Check() error {
	for _, x := range []struct {
		name string
		is   float64
	}{{"delay", p.DelayPercent}, {"drop", p.DropPercent}, {"error", p.ErrorPercent}, {"partial", p.PartialPercent}} {
		if !(x.is >= 0 && x.is <= 100) {
			return fmt.Errorf("fault: the %s percentage is %v, not from 0 to 100", x.name, x.is)
		}
	}
	if sum := p.DropPercent + p.ErrorPercent + p.PartialPercent; sum > 100 {
		return fmt.Errorf("fault: drop, error and partial percentages add up to %v; the maximum is 100", sum)
	}
	if p.Delay < 0 || p.Delay > MaxDelay {
		return fmt.Errorf("fault: the delay is %v, not from 0 to %v", p.Delay, MaxDelay)
	}
	return nil
}

// maxPending bounds how many requests can be picked in advance.
const maxPending = 100

// Pick is one fault for the next request of a method.
type Pick struct {
	Kind   Kind   `json:"kind"`
	Method string `json:"method"` // "" is any
}

// Injector decides what happens to requests. The zero value leaves them alone; it is safe for concurrent use.
type Injector struct {
	mu       sync.Mutex
	plan     Plan
	random   *rand.Rand
	pending  []Pick
	requests int64
	injected map[Kind]int64
}

// New returns an injector that follows a plan.
func New(p Plan) (*Injector, error) {
	i := &Injector{}
	return i, i.Set(p)
}

// Set replaces the plan, and begins its random numbers anew.
func (i *Injector) Set(p Plan) error {
	if err := p.Check(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.plan, i.random = p, rand.New(rand.NewPCG(p.Seed, 0))
	return nil
}

// Next makes one request suffer: the next one of that method that is not picked yet.
func (i *Injector) Next(p Pick) error {
	if !slices.Contains(Kinds(), p.Kind) {
		return fmt.Errorf("fault: unknown kind %q; the kinds are %v", p.Kind, Kinds())
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.pending) == maxPending {
		return fmt.Errorf("fault: %d faults are pending, the maximum; send requests first", maxPending)
	}
	i.pending = append(i.pending, p)
	return nil
}

// Status is what an injector does and did.
type Status struct {
	Plan     Plan
	Pending  []Pick         // picked with Next and not met yet
	Requests int64          // that could have suffered
	Injected map[Kind]int64 // how many did, by kind
}

// Status returns the present state.
func (i *Injector) Status() Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := Status{Plan: i.plan, Pending: slices.Clone(i.pending), Requests: i.requests, Injected: map[Kind]int64{}}
	for k, n := range i.injected {
		s.Injected[k] = n
	}
	return s
}

// decide draws what a request suffers: at most one kind, and a delay besides.
func (i *Injector) decide(method string) (kind Kind, delay time.Duration, span time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests++
	if span = i.plan.Delay; span == 0 {
		span = time.Second
	}
	if n := slices.IndexFunc(i.pending, func(p Pick) bool { return p.Method == "" || p.Method == method }); n >= 0 {
		kind = i.pending[n].Kind
		i.pending = slices.Delete(i.pending, n, n+1)
		if kind == Delay {
			kind, delay = "", span
			i.count(Delay)
		} else {
			i.count(kind)
		}
		return kind, delay, span
	}
	if i.random == nil {
		return "", 0, span
	}
	// Three numbers each time, whatever they are needed for, or the faults of one kind would shift those of another.
	late, which, half := i.random.Float64()*100, i.random.Float64()*100, i.random.IntN(2)
	if late < i.plan.DelayPercent {
		delay = i.plan.Delay
		i.count(Delay)
	}
	p := i.plan
	switch {
	case which < p.DropPercent:
		kind = Drop
	case which < p.DropPercent+p.ErrorPercent:
		kind = []Kind{HTTP500, JSONRPCError}[half]
	case which < p.DropPercent+p.ErrorPercent+p.PartialPercent:
		kind = []Kind{PartialJSON, TruncatedSSE}[half]
	default:
		return "", delay, span
	}
	i.count(kind)
	return kind, delay, span
}

func (i *Injector) count(k Kind) {
	if i.injected == nil {
		i.injected = map[Kind]int64{}
	}
	i.injected[k]++
}
