package fuzz

import (
	"context"
	"time"

	"github.com/mcphud/mcphud/session/check/fuzz/values"
	"github.com/mcphud/mcphud/session/schema"
)

// Bounds of making one failure small.
const (
	maxShrinks  = 150
	shrinkTime  = 5 * time.Second // and at least a few calls, however long they take
	leastCalls  = 4
	shrinkTimes = 4 // of the timeout, where each call may cost one
)

// shrink looks for the smallest arguments with which the same oracle says the same. sure is false where the failure did not come again at
// all. It ends early, with what it has, when ctx does.
func (r *run) shrink(ctx context.Context, t *target, in input, h hit) (least input, last hit, sure bool) {
	until := time.Now().Add(max(shrinkTime, shrinkTimes*r.o.Timeout))
	calls, gone := 0, false
	var again func(v values.Value) (input, hit, bool)
	again = func(v values.Value) (input, hit, bool) {
		if calls++; ctx.Err() != nil || calls > leastCalls && time.Now().After(until) || calls > maxShrinks {
			return input{}, hit{}, false
		}
		candidate := t.judge(v)
		candidate.Extreme = in.Extreme
		if h.rule == "fuzz/refused" && candidate.verdict != allowed || h.rule == "fuzz/accepted" && (candidate.cause != in.cause || candidate.problems > in.problems) || h.rule == "fuzz/wrong-layer" && candidate.verdict != in.verdict {
			calls--
			return input{}, hit{}, false
		}
		out, err := r.c.call(ctx, t, candidate, true)
		if err != nil {
			gone = gone || h.rule == "fuzz/died" && ctx.Err() == nil // it cannot be started again
			calls = maxShrinks
			return input{}, hit{}, false
		}
		t.count(candidate, &out)
		if out.throttled() && !r.late() { // it says nothing about the arguments
			t.limited++
			r.pause(ctx, &out)
			return again(v)
		}
		for _, o := range r.c.oracles(t, candidate, &out) {
			if o.key() == h.key() {
				return candidate, o, true
			}
		}
		return input{}, hit{}, false
	}
	least, last = in, h
	for _, v := range []*schema.Value{schema.ObjectValue(), nil} { // no arguments at all are not the same to all servers
		if found, o, ok := again(values.Value{Value: v, What: in.What}); ok {
			return found, o, true
		}
	}
	if !in.IsSet() {
		return in, last, gone
	}
	confirmed := false
	for progress := true; progress; {
		progress = false
		values.Smaller(least.Value.Value, func(v *schema.Value) bool {
			if values.Weight(v) >= values.Weight(least.Value.Value) {
				return true
			}
			found, o, ok := again(values.Value{Value: v, What: in.What})
			if ok {
				least, last, progress, confirmed = found, o, true, true
			}
			return !ok
		})
	}
	if !confirmed {
		calls = min(calls, leastCalls-1) // the original, once more
		_, _, confirmed = again(in.Value)
	}
	return least, last, confirmed || gone
}
