package fuzz

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// Bounds of what is called slow, and of what is called growing.
const (
	slower      = 10                     // times the median
	slowest     = 500 * time.Millisecond // what is quicker is never slow
	leastTimes  = 5                      // calls that a median is taken of
	windows     = 4                      // over which memory has to grow in each
	perWindow   = 60                     // calls
	growth      = 24 << 20               // bytes over all windows
	perStep     = 2 << 20                // bytes over each
	memoryShare = 10                     // of the time, for one tool, as a divisor: one that is slower is not called so often
)

// median of the calls that were valid; of an even number the later of the two in the middle.
func median(all []timing) time.Duration {
	if len(all) == 0 {
		return 0
	}
	took := make([]time.Duration, len(all))
	for i, s := range all {
		took[i] = s.took
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// afterCalls looks at what only many calls show.
func (r *run) afterCalls(ctx context.Context) error {
	for _, t := range r.targets {
		if err := r.checkSlow(ctx, t); err != nil {
			return err
		}
	}
	grown, err := r.memoryGrew(ctx)
	if err != nil || !grown {
		return err
	}
	for _, t := range r.targets {
		if r.outOfTime() {
			r.cut = true
			return nil
		}
		if _, err := r.checkMemory(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// memoryGrew reports whether memory grew while each tool was called some more: only then it is worth finding out which one it is.
func (r *run) memoryGrew(ctx context.Context) (bool, error) {
	c := r.conns.current()
	if err := r.connect(ctx, c); err != nil {
		return false, err
	}
	before, ok := resident(c.s.Status().PID)
	if !ok {
		return false, nil // not a child of ours, or not a system that tells
	}
	for w := range 2 { // the first is for what is made once
		for _, t := range r.targets {
			for range perWindow / 3 {
				if !r.repeatable(t) || r.outOfTime() {
					break
				}
				if out, err := r.call(ctx, c, t, t.times[0].in, false); err != nil || out.hasNoAnswer() || out.isRateLimited() {
					return false, err
				}
			}
		}
		if c.s == nil {
			return false, nil
		}
		now, ok := resident(c.s.Status().PID)
		if !ok || w == 1 {
			return ok && now-before > perStep, nil
		}
		before = now
	}
	return false, nil
}

// repeatable reports whether a target is a tool that can be called many times.
func (r *run) repeatable(t *target) bool {
	return t.kind == check.OfTool && len(t.times) > 0 && t.stopped == "" && median(t.times)*perWindow*(windows+1) <= r.o.For/memoryShare
}

// checkSlow makes the slowest call of a target again: only what is slow each time counts. The quickest of the three is reported.
func (r *run) checkSlow(ctx context.Context, t *target) error {
	c := r.conns.current()
	if len(t.times) < leastTimes || t.stopped != "" {
		return nil
	}
	usual := median(t.times)
	most := slices.MaxFunc(t.times, func(a, b timing) int { return int(a.took - b.took) })
	limit := max(slower*usual, slowest)
	if most.took <= limit {
		return nil
	}
	took := most.took
	for range 2 {
		if r.outOfTime() {
			r.cut = true
			return nil
		}
		out, err := r.call(ctx, c, t, most.in, false)
		if err != nil || out.took <= limit || out.hasNoAnswer() {
			return err
		}
		took = min(took, out.took)
	}
	r.addFinding(t, most.in, hit{
		rule: "fuzz/slow", severity: check.Info, sure: check.Likely,
		message: fmt.Sprintf("%s each time with %s, against %s as a rule", text.Duration(took), text.Clip(argumentsText(most.in), 80), text.Duration(usual)),
	}, recurrence{})
	return nil
}

// checkMemory makes the same call many times, and looks at what the server's processes use. It has to grow in each window after the
// first, and enough over all of them.
func (r *run) checkMemory(ctx context.Context, t *target) (found bool, err error) {
	c := r.conns.current()
	if !r.repeatable(t) {
		return false, nil
	}
	in := t.times[0].in
	var used []int64
	for w := range windows + 1 {
		for range perWindow {
			if r.outOfTime() {
				r.cut = true
				return false, nil
			}
			out, err := r.call(ctx, c, t, in, false)
			if err != nil {
				return false, err
			}
			if out.hasNoAnswer() || out.isRateLimited() {
				return false, nil
			}
		}
		r.rec.Step(0, 0, "memory: "+t.name)
		now, ok := resident(c.s.Status().PID)
		if !ok {
			return false, nil
		}
		used = append(used, now)
		if w > 0 && used[w]-used[w-1] < perStep {
			return false, nil
		}
	}
	grown := used[windows] - used[0]
	if grown < growth {
		return false, nil
	}
	r.addFinding(t, in, hit{
		rule: "fuzz/memory", severity: check.Warning, sure: check.Likely,
		message: fmt.Sprintf("%s more after %d equal calls, %s a call", text.Bytes(grown), windows*perWindow, text.Bytes(grown/(windows*perWindow))),
	}, recurrence{})
	return true, nil
}

// noTool is the name of a tool that no server has.
const noTool = "no_such_tool"

// checkUnknownTool asks for a tool that does not exist, which is error -32602
// (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling). It is a finding of the server, not of a tool.
func (r *run) checkUnknownTool(ctx context.Context) (found bool, err error) {
	c := r.conns.current()
	if len(r.s.Tools) == 0 {
		return false, nil
	}
	t := newTarget(check.OfTool, noTool, schema.FromArguments(nil), false)
	t.place = check.Place{Kind: check.OfServer}
	if slices.ContainsFunc(r.s.Tools, func(it offer.Item) bool { return it.Name == t.name }) {
		return false, nil
	}
	out, err := r.call(ctx, c, t, input{}, true)
	if err != nil {
		return false, err
	}
	h := hit{rule: "fuzz/wrong-layer", cause: "unknown tool", severity: check.Warning, evidence: text.Clip(out.text, 600)}
	switch {
	case out.hasNoAnswer(), out.isRateLimited():
		return false, nil // the tools that exist say more
	case out.err == nil && !out.result.IsError:
		h.severity, h.message = check.Error, "a tool that does not exist is called with success"
	case out.err == nil:
		h.message = "a tool that does not exist is a failure of the tool, not error -32602"
	case out.err.Code != nil && *out.err.Code != jsonrpc.CodeInvalidParams:
		h.message = fmt.Sprintf("a tool that does not exist is error %d, not -32602", *out.err.Code)
	default:
		return false, nil
	}
	r.addFinding(t, input{}, h, recurrence{})
	return true, nil
}
