package bench

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
)

// What a plan may ask for at most.
const (
	MaxRate        = 200_000 // requests a second
	MaxClients     = 10_000  // and requests in flight
	MaxConnections = 1_000
	MaxFor         = 24 * time.Hour
	MaxCount       = 1_000_000_000
	MaxArguments   = 10_000 // different params of one plan
)

// DefaultInFlight is how many requests are in flight at most at a constant rate.
const DefaultInFlight = 1000

// Plan says what to send, and how.
type Plan struct {
	Method string            // "ping" is server/discover in protocol versions without it
	Params []json.RawMessage // taken in turn; none sends no params
	// Rate is how many requests are due in a second; 0 for Clients that wait for their answers.
	Rate    float64
	Clients int
	// For and Count end the run, whichever comes first; 0 for no such end. They begin after Warmup, in which nothing is measured.
	For    time.Duration
	Count  int
	Warmup time.Duration
	// InFlight bounds the requests that wait for their answers at a constant rate; 0 for DefaultInFlight.
	InFlight int
	// Timeout is how long a request may take, from when it was due; 0 for 30 s.
	Timeout time.Duration
}

func wrong(format string, args ...any) error {
	return &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf(format, args...), Next: "choose another number"}
}

// Check refuses what makes no sense.
func (p Plan) Check() error { return p.complete() }

// complete fills in what was left out, and refuses what makes no sense.
func (p *Plan) complete() error {
	if p.Rate == 0 && p.Clients == 0 {
		p.Clients = 1
	}
	if p.For == 0 && p.Count == 0 {
		p.For = 10 * time.Second
	}
	if p.InFlight == 0 {
		p.InFlight = DefaultInFlight
	}
	if p.Timeout == 0 {
		p.Timeout = 30 * time.Second
	}
	if len(p.Params) == 0 {
		p.Params = []json.RawMessage{nil}
	}
	switch {
	case p.Rate != 0 && p.Clients != 0:
		return &failure.Error{Kind: failure.Usage, Message: "a constant rate and a number of clients exclude each other", Next: "give one of them"}
	case !(p.Rate >= 0 && p.Rate <= MaxRate): // NaN is neither
		return wrong("a rate of %g requests a second is not possible: there are 0 to %d", p.Rate, MaxRate)
	case p.Rate > 0 && p.Rate < 0.01:
		return wrong("a rate of %g requests a second is too slow: the least is 0.01", p.Rate)
	case p.Clients < 0 || p.Clients > MaxClients:
		return wrong("%d clients are not possible: there are 1 to %d", p.Clients, MaxClients)
	case p.InFlight < 1 || p.InFlight > MaxClients:
		return wrong("%d requests in flight are not possible: there are 1 to %d", p.InFlight, MaxClients)
	case p.For < 0 || p.For > MaxFor:
		return wrong("a run of %v is not possible: the longest is %v", p.For, MaxFor)
	case p.Warmup < 0 || p.Warmup > MaxFor:
		return wrong("a warm-up of %v is not possible: the longest is %v", p.Warmup, MaxFor)
	case p.Count < 0 || p.Count > MaxCount:
		return wrong("%d requests are not possible: the most are %d", p.Count, MaxCount)
	case len(p.Params) > MaxArguments:
		return wrong("%d different arguments are too many: the most are %d", len(p.Params), MaxArguments)
	case p.Timeout < 0 || p.Timeout > MaxFor:
		return wrong("a time limit of %v is not possible: the longest is %v", p.Timeout, MaxFor)
	}
	return nil
}
