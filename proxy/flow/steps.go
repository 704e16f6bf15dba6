package flow

import (
	"net/http"
	"time"
)

// Steps are when the router was done with what, since the call began, for traces; 0 where it did not get that far.
type Steps struct {
	Authorized time.Duration // who calls is known, and may
	Read       time.Duration // the message is there and in order
	Routed     time.Duration // its agent is known, and no limit reached
	Tries      [MaxTries]Try
	Tried      int // attempts in all; of more than MaxTries the last is in the last place
}

// MaxTries is how many attempts to ask an agent are told apart.
const MaxTries = 4

// Try is one attempt to ask the agent.
type Try struct {
	Began, Ended time.Duration // since the call began; Ended when the answer began, or failed
	Failed       bool
}

// Timed is an upstream that tells the call when each of its attempts began.
func Timed(up Upstream) Upstream { return timed{up} }

type timed struct{ Upstream }

// RoundTrip sends a request.
func (t timed) RoundTrip(r *http.Request) (*http.Response, error) {
	c := From(r.Context())
	if c == nil {
		return t.Upstream.RoundTrip(r)
	}
	try := &c.Tries[min(c.Tried, MaxTries-1)]
	c.Tried++
	*try = Try{Began: time.Since(c.Request.Began)}
	res, err := t.Upstream.RoundTrip(r)
	try.Ended, try.Failed = time.Since(c.Request.Began), err != nil
	return res, err
}
