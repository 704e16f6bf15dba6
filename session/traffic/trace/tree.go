// Package trace makes trees of what a journal knows of traces: the exchanges of clients, and the spans that routers and agents
// recorded of the same requests. It aligns clocks that differ, and says which time nobody accounts for.
//
// All of it is text of other processes: ids may be missing, equal or circular, times may be anything. A call that became a task has one line, which
// lasts until its last answer; time that no hop accounts for is named by its place, unless all of it is less than 2 % of the whole.
package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Node is a span in a tree.
type Node struct {
	span.Span
	Seq    uint64 // of the entry that it is made of
	Hop    string // who recorded it
	Server string // the server, or the agent that a router forwards to
	Call   bool   // a request, as the journal of its client has it

	From, To    time.Time     // Start and End by the clock of the tree's first span
	Unaccounted time.Duration // the part in which nobody says what was done
	Request     int64         // bytes of the request and of the answer, 0 where that is not known
	Response    int64
	Tries       int    // requests that were sent for it, or of a step of a router which attempt it is
	Frames      uint64 // Seq of the request whose exchange it is, 0 for none
	Pending     bool   // it is not over
	Orphan      bool   // its parent was recorded by nobody
	Children    []*Node

	clock string
	rpc   string // id of the JSON-RPC request that it is about, as on the wire
	task  *Node  // of a call that became a task: the span of that
	// Of such a call: whether the task is over, whether its result was asked for apart, the last answer so far, and what was asked
	// when it was over.
	over, fetched bool
	until         time.Time
	late          []*Node
	answered      time.Time // of an agent's span that lasts longer than that: when its request was answered; zero where that is not known
	above         *Node     // its parent, where that has no id
}

// Took is how long it took.
func (n *Node) Took() time.Duration { return n.End.Sub(n.Start) }

// Status is how it went.
func (n *Node) Status() string {
	if n.Pending {
		return journal.Pending
	}
	return n.Outcome()
}

// Tree is what is known of a trace.
type Tree struct {
	ID     string
	Roots  []*Node // by time; more than one where what is between them was not recorded
	Clocks []Clock // of others than the first span's
	Left   int     // spans and entries that are not in it: too many, or malformed
}

// Of makes the tree of a group.
func Of(j *journal.Journal, g *Group) *Tree {
	c := collect(j, g)
	t := &Tree{ID: g.ID, Left: c.left}
	t.Roots = c.link()
	for _, r := range t.Roots {
		r.adopt()
	}
	t.align()
	for _, r := range t.Roots {
		r.findUnaccounted()
	}
	return t
}

// Took is the time from the first to the last of it.
func (t *Tree) Took() time.Duration {
	var from, to time.Time
	for _, r := range t.Roots {
		if from.IsZero() || r.From.Before(from) {
			from = r.From
		}
		if r.To.After(to) {
			to = r.To
		}
	}
	return to.Sub(from)
}

// link puts children below their parents and returns those that have none. Of a circle one becomes a root.
func (c *collector) link() (roots []*Node) {
	parent := map[*Node]*Node{}
	for _, n := range c.nodes {
		if n.above != nil {
			parent[n] = n.above
		} else if p := c.byID[n.Parent]; p != nil && p != n {
			parent[n] = p
		} else {
			n.Orphan = n.Parent != ""
		}
	}
	state := map[*Node]int8{} // 1 on the way, 2 done
	for _, n := range c.nodes {
		var way []*Node
		at := n
		for at != nil && state[at] == 0 {
			state[at] = 1
			way = append(way, at)
			at = parent[at]
		}
		if at != nil && state[at] == 1 {
			delete(parent, at)
			at.Orphan = true
		}
		for _, w := range way {
			state[w] = 2
		}
	}
	for _, n := range c.nodes {
		if p := parent[n]; p != nil {
			p.Children = append(p.Children, n)
		} else {
			roots = append(roots, n)
		}
	}
	for _, n := range c.nodes {
		sortNodes(n.Children)
	}
	sortNodes(roots)
	// What a client began comes first: its clock is the one that everybody knows.
	slices.SortStableFunc(roots, func(a, b *Node) int {
		switch {
		case a.Call == b.Call:
			return 0
		case a.Call:
			return -1
		}
		return 1
	})
	return roots
}

func sortNodes(list []*Node) {
	slices.SortStableFunc(list, func(a, b *Node) int { return cmp.Or(a.Start.Compare(b.Start), b.End.Compare(a.End)) })
}

// findUnaccounted sets the part of a span's time that no span below it accounts for, for it and all below it. What an agent does itself, such as running a tool, needs no span
// below it; what is between two hops does.
func (n *Node) findUnaccounted() {
	for _, c := range n.Children {
		c.findUnaccounted()
	}
	spans := slices.Clone(n.Children)
	switch {
	case n.Name == span.Task && n.above != nil: // what the agent does meanwhile is below the request that began it
		work := n.above.agentSpans(nil)
		if len(work) == 0 {
			return // nobody tells what a server of others does meanwhile
		}
		spans = append(spans, work...)
	case len(spans) == 0 || len(spans) == 1 && n.task == spans[0] || !n.Call && n.Kind == "" && n.Name != span.Upstream:
		return
	}
	slices.SortFunc(spans, func(a, b *Node) int { return a.From.Compare(b.From) })
	at, gap := n.From, time.Duration(0)
	for _, c := range spans {
		from, to := c.From, c.To
		if to.After(n.To) {
			to = n.To
		}
		if from.After(at) {
			if from.After(n.To) {
				break
			}
			gap += from.Sub(at)
		}
		if to.After(at) {
			at = to
		}
	}
	if n.To.After(at) {
		gap += n.To.Sub(at)
	}
	n.Unaccounted = gap
}

// agentSpans appends the spans of agents below a span, but not what is below those.
func (n *Node) agentSpans(all []*Node) []*Node {
	for _, c := range n.Children {
		if c.Hop == span.Agent {
			all = append(all, c)
		} else {
			all = c.agentSpans(all)
		}
	}
	return all
}

// Lost is the sum of what is unaccounted for in a span and below it.
func (n *Node) Lost() time.Duration {
	sum := n.Unaccounted
	for _, c := range n.Children {
		sum += c.Lost()
	}
	return sum
}
