package fuzz

import (
	"context"
	"time"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// Bounds of making one failure small.
const (
	maxShrinks  = 150             // calls
	shrinkTime  = 5 * time.Second // and at least leastCalls, however long they take
	leastCalls  = 4
	shrinkTimes = 4 // of the timeout, where each call may cost one
)

// shrinker looks for the smallest arguments with which the same oracle says the same.
type shrinker struct {
	r     *run
	c     *client
	t     *target
	in    input // as it failed first
	h     hit   // by its key: the same rule and cause have to come again
	until time.Time
	calls int
	tried map[string]bool // in vain
	gone  bool            // the server, for good
}

// shrink makes a failure small, and says how often it came again. It ends early, with what it has, when ctx or the time does.
func (r *run) shrink(ctx context.Context, c *client, t *target, in input, h hit) (least input, last hit, how recurrence) {
	s := &shrinker{r: r, c: c, t: t, in: in, h: h, until: time.Now().Add(max(shrinkTime, shrinkTimes*r.o.Timeout)), tried: map[string]bool{}}
	for _, v := range []*schema.Value{schema.ObjectValue(), nil} { // no arguments at all are not the same to all servers
		if found, o, ok := s.again(ctx, v); ok {
			return found, o, recurrence{}
		}
	}
	least, last = in, h
	confirmed := false
	if in.IsSet() && !s.gone {
		delete(s.tried, argumentsText(in))
		if found, o, ok := s.again(ctx, in.Value.Value); ok {
			least, last, confirmed = found, o, true
		}
	}
	switch {
	case s.gone, confirmed:
	case ctx.Err() != nil, r.outOfTime():
		return in, h, recurrence{notRetried: true}
	default:
		return r.retryAlone(ctx, c, t, in, h)
	}
	for progress := confirmed; progress; {
		progress = false
		Smaller(least.Value.Value, func(v *schema.Value) bool {
			if Weight(v) >= Weight(least.Value.Value) {
				return true
			}
			found, o, ok := s.again(ctx, v)
			if ok {
				least, last, progress = found, o, true
			}
			return !ok
		})
	}
	return least, last, recurrence{}
}

// again makes the call with other arguments, and reports whether the same is wrong with it.
func (s *shrinker) again(ctx context.Context, v *schema.Value) (input, hit, bool) {
	candidate := s.t.classify(Value{Value: v, What: s.in.What})
	candidate.Extreme = s.in.Extreme
	if s.tried[argumentsText(candidate)] || !s.t.canExpand(candidate) || ctx.Err() != nil || s.r.outOfTime() || s.calls >= leastCalls && time.Now().After(s.until) || s.calls >= maxShrinks {
		return input{}, hit{}, false
	}
	switch rule := s.h.rule; {
	case rule == "fuzz/refused" && candidate.verdict != allowed,
		rule == "fuzz/accepted" && (candidate.cause != s.in.cause || candidate.problems > s.in.problems),
		rule == "fuzz/wrong-layer" && candidate.verdict != s.in.verdict: // it would be another failure
		return input{}, hit{}, false
	}
	s.calls++
	s.tried[argumentsText(candidate)] = true
	out, err := s.r.call(ctx, s.c, s.t, candidate, true)
	for err == nil && out.isRateLimited() && !s.r.outOfTime() { // it says nothing about the arguments
		s.t.count(candidate, &out)
		s.t.limited++
		s.r.pause(ctx, &out)
		out, err = s.r.call(ctx, s.c, s.t, candidate, true)
	}
	if err != nil {
		s.gone = s.gone || s.h.rule == "fuzz/died" && ctx.Err() == nil // it cannot be started again
		s.calls = maxShrinks
		return input{}, hit{}, false
	}
	s.t.count(candidate, &out)
	for _, o := range s.c.oracles(s.t, candidate, &out) {
		if o.key() == s.h.key() {
			return candidate, o, true
		}
	}
	return input{}, hit{}, false
}
