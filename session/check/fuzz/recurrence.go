package fuzz

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// Bounds of trying the same call again, to see whether a failure comes and goes.
const (
	chanceCalls = 10
	chanceTime  = 2 * time.Second // for all of them
	replayCalls = 3               // of a kept failure, until it counts as fixed
	replayOften = 25              // of one that comes and goes
)

// recurrence is how often a failure came again when its call was repeated. The zero value is each time.
type recurrence struct {
	notRetried bool   // there was no time for that
	once       bool   // not once
	before     bool   // in an earlier run, not each time
	firstOnly  bool   // only as the first call of a connection
	gone       string // what became of the server, "" where it is there
	// times is how often it came in calls equal calls, whatever their arguments were.
	times, calls int
}

// isRandom reports whether the failure does not depend on the arguments.
func (s recurrence) isRandom() bool { return s.calls > 0 || s.once || s.before }

// describe says so for people, and how sure the finding is; "" for a failure that comes each time.
func (s recurrence) describe() (why string, sure check.Confidence) {
	switch {
	case s.gone != "":
		return s.gone, check.Likely
	case s.notRetried:
		return "seen once, and not tried again", check.Possible
	case s.firstOnly:
		return "only as the first call of a connection", check.Likely
	case s.times > 0:
		return fmt.Sprintf("in %d of %d equal calls: it does not depend on the arguments", s.times, s.calls), check.Likely
	case s.once:
		return "seen once, and not again with the same arguments: it does not depend on them", check.Possible
	}
	return "", ""
}

// plainestInput is the smallest call that is as valid as that one; of one that is not valid, the smallest that is.
func (r *run) plainestInput(t *target, in input) input {
	v := in.Value.Value
	if !in.IsSet() || in.verdict == forbidden {
		v = t.base(newRand(r.o.Seed, t.kind, t.name, "first"), nil)
	}
	least := t.classify(Value{Value: v, What: in.What})
	for progress := true; progress; {
		progress = false
		Smaller(least.Value.Value, func(v *schema.Value) bool {
			smaller := t.classify(Value{Value: v, What: in.What})
			if smaller.verdict == least.verdict && t.canExpand(smaller) && Weight(v) < Weight(least.Value.Value) {
				least, progress = smaller, true
			}
			return !progress
		})
	}
	least.Extreme = in.Extreme
	return least
}

// retryAlone looks into a failure that did not come again: as the first call of a connection, and in some calls that are as plain as can be.
func (r *run) retryAlone(ctx context.Context, c *client, t *target, in input, h hit) (least input, last hit, how recurrence) {
	ends := time.Now().Add(chanceTime)
	try := func(in input) (last hit, same bool) {
		out, err := r.call(ctx, c, t, in, true)
		if err != nil {
			return h, false
		}
		t.count(in, &out)
		for _, o := range c.oracles(t, in, &out) {
			if o.key() == h.key() {
				return o, true
			}
		}
		return h, false
	}
	if c.own && !r.outOfTime() {
		c.close(sentCall{})
		if last, same := try(in); same {
			return in, last, recurrence{firstOnly: true}
		}
	}
	if h.rule == "fuzz/accepted" || h.rule == "fuzz/refused" { // these are about the arguments
		return in, h, recurrence{once: true}
	}
	least, last = r.plainestInput(t, in), h
	for range chanceCalls {
		if ctx.Err() != nil || r.outOfTime() || time.Now().After(ends) || h.rule == "fuzz/no-answer" {
			break
		}
		how.calls++
		if o, same := try(least); same {
			last = o
			how.times++
		}
	}
	how.once = how.times == 0
	return least, last, how
}
