package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// Objective is a threshold: a metric, how it compares, and a limit.
type Objective struct {
	text    string
	metric  string
	op      string
	limit   float64 // milliseconds, requests a second, a number, or a share of 1
	unit    string  // "ms", "/s", "%" or ""
	percent float64 // of a percentile
}

// Verdict is how an objective was met by one target.
type Verdict struct {
	Objective string  `json:"objective"`
	Target    string  `json:"target"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit,omitempty"`
	Met       bool    `json:"met"`
}

// String is for people: "p99<200ms: 31.4ms".
func (v Verdict) String() string {
	value := figure(v.Value) + v.Unit
	if v.Unit == "ms" {
		value = text.Duration(duration(v.Value))
	}
	return v.Objective + ": " + value
}

// ParseObjective reads METRIC, a comparison and a limit: p50 to p99.999, mean, min or max with a duration; errors with a number, or a
// share as 1%; rate with a number a second.
func ParseObjective(s string) (o Objective, err error) {
	bad := func(why string) (Objective, error) {
		return o, fmt.Errorf("%q %s: give it like p99<200ms, errors<1%% or rate>400/s", s, why)
	}
	i := strings.IndexAny(s, "<>")
	if i < 0 {
		return bad("has no < or >")
	}
	o.text = strings.Join(strings.Fields(s), "")
	o.metric, o.op = strings.TrimSpace(s[:i]), s[i:i+1]
	rest := s[i+1:]
	if strings.HasPrefix(rest, "=") {
		o.op, rest = o.op+"=", rest[1:]
	}
	rest = strings.TrimSpace(rest)
	number := func(s string) bool {
		o.limit, err = strconv.ParseFloat(s, 64)
		return err == nil && o.limit >= 0 && o.limit <= 1e15
	}
	switch {
	case o.metric == "errors":
		if share, ok := strings.CutSuffix(rest, "%"); ok {
			o.unit, rest = "%", share
		}
		if !number(rest) {
			return bad("has no number or percentage of errors")
		}
	case o.metric == "rate":
		o.unit = "/s"
		if !number(strings.TrimSuffix(rest, "/s")) {
			return bad("has no number of requests a second")
		}
	case o.metric == "mean", o.metric == "min", o.metric == "max", strings.HasPrefix(o.metric, "p"):
		if p, ok := strings.CutPrefix(o.metric, "p"); ok {
			if o.percent, err = strconv.ParseFloat(p, 64); err != nil || !(o.percent > 0 && o.percent < 100) {
				return bad("has no percentile between p0 and p100")
			}
		}
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return bad("has no duration")
		}
		o.unit, o.limit = "ms", float64(d)/float64(time.Millisecond)
	default:
		return bad("has an unknown metric")
	}
	return o, nil
}

// judge compares what was measured of one target.
func (o Objective) judge(r *TargetReport, m *meter) Verdict {
	v := Verdict{Objective: o.text, Target: r.Name, Unit: o.unit}
	total := r.Answered + r.Failed
	switch {
	case o.metric == "errors" && o.unit == "%":
		v.Value = 100 // a run without a single answer has met nothing
		if total > 0 {
			v.Value = 100 * float64(r.Failed) / float64(total)
		}
	case o.metric == "errors":
		v.Value = float64(r.Failed)
	case o.metric == "rate":
		v.Value = r.Rate
	case o.metric == "mean":
		v.Value = r.Latency.Mean
	case o.metric == "min":
		v.Value = r.Latency.Min
	case o.metric == "max":
		v.Value = r.Latency.Max
	default: // a percentile, which the report need not have: the histogram does
		v.Value = micros(m.latency.ValueAtPercentile(o.percent))
	}
	switch o.op {
	case "<":
		v.Met = v.Value < o.limit
	case "<=":
		v.Met = v.Value <= o.limit
	case ">":
		v.Met = v.Value > o.limit
	default:
		v.Met = v.Value >= o.limit
	}
	if o.unit == "ms" && r.Latency.Count == 0 { // nothing was measured: nothing is met
		v.Met = false
	}
	v.Value = round(v.Value)
	return v
}
