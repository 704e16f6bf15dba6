package trace

import (
	"math"
	"time"

	"github.com/mcphud/mcphud/session/wire/span"
)

// Clock is how the clock of a hop differs from that of the first span.
type Clock struct {
	Hop    string        // router, agent or server
	Server string        // an agent's or server's name, "" for a router
	Offset time.Duration // is added to its times; 0 where they are possible as they are
	Bound  time.Duration // the offset may be wrong by as much; negative where nothing bounds it
	Jumped bool          // no offset makes them possible: a clock was set meanwhile
}

// edge is a span of one clock that has to lie inside of one of another.
type edge struct{ outer, inner *Node }

// unbounded is a bound that there is not, far from overflows.
const unbounded = time.Duration(math.MaxInt64 / 8)

// align gives each span its times by the clock of the first. That the span of whoever is asked lies inside of the span of whoever asks
// bounds the difference of their clocks from both sides, the more the less time the way takes.
func (t *Tree) align() {
	var edges []edge
	order := []string{}
	first := map[string]*Node{}
	var walk func(n, call *Node)
	walk = func(n, call *Node) {
		if n.Call {
			call = n
		}
		if first[n.clock] == nil {
			first[n.clock] = n
			order = append(order, n.clock)
		}
		for _, c := range n.Children {
			if c.clock != n.clock {
				edges = append(edges, edge{n, c})
				if call != n && call != nil && call.clock != c.clock && c.Attributes[span.AttrTask] == span.TaskOver {
					edges = append(edges, edge{call, c}) // what is between them was answered before
				}
			}
			walk(c, call)
		}
	}
	for _, r := range t.Roots {
		walk(r, nil)
	}
	offset := map[string]time.Duration{}
	if len(order) > 0 {
		offset[order[0]] = 0
	}
	// A clock is first met below one that was met before it, so that one pass in this order reaches all that can be reached.
	for _, clock := range order[min(1, len(order)):] {
		n := first[clock]
		c := t.clock(clock, edges, offset)
		c.Hop, c.Server = n.Hop, n.Server
		if n.Hop == span.Router {
			c.Server = ""
		}
		offset[clock] = c.Offset
		t.Clocks = append(t.Clocks, c)
	}
	var set func(n *Node)
	set = func(n *Node) {
		n.From, n.To = n.Start.Add(offset[n.clock]), n.End.Add(offset[n.clock])
		for _, c := range n.Children {
			set(c)
		}
	}
	for _, r := range t.Roots {
		set(r)
	}
}

// clock estimates the offset of one clock from those that are known.
func (t *Tree) clock(clock string, edges []edge, known map[string]time.Duration) Clock {
	low, high := -unbounded, unbounded
	var widest edge
	for _, e := range edges {
		lo, hi, ok := e.bounds(clock, known)
		if !ok {
			continue
		}
		low, high = max(low, lo), min(high, hi)
		if widest.outer == nil || e.outer.Took() > widest.outer.Took() {
			widest = e
		}
	}
	c := Clock{}
	if low > high { // which time was true when cannot be known: where the longest span begins is believed
		c.Jumped, c.Bound = true, -1
		if start, first, _ := widest.starts(clock, known); start > 0 || first < 0 {
			c.Offset = start
		}
		return c
	}
	switch {
	case low == -unbounded && high == unbounded:
		c.Bound = -1
	case low <= 0 && 0 <= high:
		c.Bound = max(bound(high), bound(-low))
	case low == -unbounded:
		c.Offset, c.Bound = high, -1
	case high == unbounded:
		c.Offset, c.Bound = low, -1
	default:
		c.Offset, c.Bound = low+(high-low)/2, (high-low+1)/2
	}
	return c
}

// bound is a distance from 0, or -1 where there is none.
func bound(d time.Duration) time.Duration {
	if d >= unbounded {
		return -1
	}
	return d
}

// bounds are between what the offset of a clock is by one edge. What was given up, goes on, or became a task bounds the start only.
func (e edge) bounds(clock string, known map[string]time.Duration) (low, high time.Duration, ok bool) {
	over := !e.outer.Pending && !e.inner.Pending && !(e.outer.Failed && e.inner.End.Sub(e.inner.Start) > e.outer.Took())
	end := e.inner.End
	if e.inner.Attributes[span.AttrTask] == span.TaskOver && !e.outer.Call { // it outlasts the answer to its request
		end, over = e.inner.answered, over && !e.inner.answered.IsZero()
	}
	over = over && e.outer.Attributes[span.AttrTask] != span.TaskRuns
	switch {
	case e.inner.clock == clock:
		at, ok := known[e.outer.clock]
		low = clip(e.outer.Start.Sub(e.inner.Start), at)
		high = unbounded
		if over {
			high = clip(e.outer.End.Sub(end), at)
		}
		return low, high, ok
	case e.outer.clock == clock:
		at, ok := known[e.inner.clock]
		high = clip(e.inner.Start.Sub(e.outer.Start), at)
		low = -unbounded
		if over {
			low = clip(end.Sub(e.outer.End), at)
		}
		return low, high, ok
	}
	return 0, 0, false
}

// starts are the offsets with which the inner span of an edge begins when the outer one does, and when that ends.
func (e edge) starts(clock string, known map[string]time.Duration) (low, high time.Duration, ok bool) {
	if e.inner.clock == clock {
		at, ok := known[e.outer.clock]
		return clip(e.outer.Start.Sub(e.inner.Start), at), clip(e.outer.End.Sub(e.inner.Start), at), ok
	}
	at, ok := known[e.inner.clock]
	return clip(e.inner.Start.Sub(e.outer.End), at), clip(e.inner.Start.Sub(e.outer.Start), at), ok
}

// clip is a sum far from overflows.
func clip(a, b time.Duration) time.Duration {
	return min(max(min(max(a, -unbounded), unbounded)+b, -unbounded), unbounded)
}
