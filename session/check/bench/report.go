package bench

import (
	"math"
	"time"
)

// Version is that of the report's JSON. It grows when a member changes its meaning or goes.
const Version = 1

// Report is what was measured. Times are milliseconds.
type Report struct {
	Version    int            `json:"version"`
	Tool       string         `json:"tool"` // the program that measured, and its version
	Began      time.Time      `json:"began"`
	Plan       PlanReport     `json:"plan"`
	Targets    []TargetReport `json:"targets"`
	Objectives []Verdict      `json:"slo"`
	Ended      string         `json:"ended,omitempty"` // why it ended early, "" where it did not
}

// PlanReport is what was asked for.
type PlanReport struct {
	Method    string  `json:"method"`
	Tool      string  `json:"tool,omitempty"`
	Arguments int     `json:"arguments"` // how many different ones, in turn
	Rate      float64 `json:"rate_per_s,omitempty"`
	Clients   int     `json:"clients,omitempty"`
	InFlight  int     `json:"in_flight_limit,omitempty"`
	For       float64 `json:"for_ms,omitempty"`
	Count     int     `json:"count,omitempty"`
	Warmup    float64 `json:"warmup_ms,omitempty"`
	Timeout   float64 `json:"timeout_ms"`
}

// TargetReport is what became of the requests to one server.
type TargetReport struct {
	Name        string  `json:"name"`
	Protocol    string  `json:"protocol"`
	Transport   string  `json:"transport"`
	Connections int     `json:"connections"`
	Answered    int64   `json:"answered"`
	Failed      int64   `json:"failed"`
	Unsent      int64   `json:"unsent"` // were due, and nobody was free to send them before the end
	Millis      float64 `json:"took_ms"`
	Rate        float64 `json:"answered_per_s"`
	// At a constant rate: whether all requests were sent. Queued found all slots taken when they were due; Backlog is the most of them
	// that waited at once.
	RateHeld *bool `json:"rate_held,omitempty"`
	Queued   int64 `json:"queued,omitempty"`
	Backlog  int64 `json:"backlog,omitempty"`
	InFlight int64 `json:"in_flight_most"`
	// Own is how much of the machine this process took to measure it, in processor cores.
	Own     float64       `json:"own_cores"`
	Latency Distribution  `json:"latency"`
	Bars    []Bar         `json:"bars"`
	Phases  []PhaseReport `json:"phases"`
	Errors  []Errors      `json:"errors"`
	Series  []Point       `json:"series"`
	Lost    string        `json:"lost,omitempty"` // why the server is gone
	Notes   []string      `json:"notes,omitempty"`
}

// Distribution is how times are distributed.
type Distribution struct {
	Count  int64   `json:"count"`
	Mean   float64 `json:"mean_ms"`
	StdDev float64 `json:"stddev_ms"`
	Min    float64 `json:"min_ms"`
	P50    float64 `json:"p50_ms"`
	P75    float64 `json:"p75_ms"`
	P90    float64 `json:"p90_ms"`
	P99    float64 `json:"p99_ms"`
	P999   float64 `json:"p99_9_ms"`
	P9999  float64 `json:"p99_99_ms"`
	Max    float64 `json:"max_ms"`
	// Histogram is all of it, of microseconds, in the compressed encoding of HdrHistogram's version 2, base64, as its interval logs have
	// it: such texts can be decoded and added up in many languages.
	Histogram string `json:"hdr,omitempty"`
}

// Bar is how many requests took between two times, in milliseconds.
type Bar struct {
	From  float64 `json:"from_ms"`
	To    float64 `json:"to_ms"`
	Count int64   `json:"count"`
}

// PhaseReport is the time of one phase. Not every request has every phase: a connection is dialled once.
type PhaseReport struct {
	Name string `json:"name"`
	Distribution
}

// Errors are errors of one kind.
type Errors struct {
	Kind    string  `json:"kind"`
	Count   int64   `json:"count"`
	First   string  `json:"first"` // what the first of them said
	FirstAt float64 `json:"first_at_ms"`
}

// Point is what became of the requests that were due in one interval. Where two became one P50 is their mean, weighted, and P99 the larger.
type Point struct {
	At     float64 `json:"at_ms"`
	Millis float64 `json:"interval_ms"`
	Count  int64   `json:"count"`
	Errors int64   `json:"errors"`
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
	Max    float64 `json:"max_ms"`

	start time.Duration
}

func (p Point) with(next Point) Point {
	n := p.Count + next.Count
	if n > 0 {
		p.P50 = round((p.P50*float64(p.Count) + next.P50*float64(next.Count)) / float64(n))
	}
	p.Millis += next.Millis
	p.Count, p.Errors = n, p.Errors+next.Errors
	p.P99, p.Max = max(p.P99, next.P99), max(p.Max, next.Max)
	return p
}

func round(f float64) float64           { return math.Round(f*1000) / 1000 }
func micros(us int64) float64           { return float64(us) / 1000 }
func millis(d time.Duration) float64    { return float64(d.Microseconds()) / 1000 }
func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func (p *Plan) report() PlanReport {
	r := PlanReport{
		Method: p.Method, Tool: p.tool(), Arguments: len(p.Params), Rate: p.Rate, Clients: p.Clients, For: millis(p.For), Count: p.Count,
		Warmup: millis(p.Warmup), Timeout: millis(p.Timeout),
	}
	if p.Rate > 0 {
		r.InFlight = p.InFlight
	}
	return r
}
