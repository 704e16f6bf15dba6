package trace

import (
	"slices"

	"github.com/mcphud/mcphud/session/wire/span"
)

// A router that no collector listens to passes the trace context of its caller on as it is, so that its agent's spans are beside its
// own, together with those of requests about a task that the call became; and the steps of a router and an agent are spans beside what was done during them. adopt puts each below what it is part of.
func (n *Node) adopt() {
	n.adoptPolls()
	n.adoptForwarded()
	n.adoptRequests()
	n.adoptSteps()
	for _, c := range n.Children {
		c.adopt()
	}
}

// upstreamStep is the step of a router's span in which the agent is asked: the last attempt; nil if it did not come so far.
func (n *Node) upstreamStep() *Node {
	for i := len(n.Children) - 1; i >= 0; i-- {
		if c := n.Children[i]; c.Name == span.Upstream && c.clock == n.clock {
			return c
		}
	}
	return nil
}

// agent is the name of the agent that a router's span or a request is for.
func (n *Node) agent() string {
	name, _ := n.Attributes[span.AttrAgent].(string)
	return name
}

// adoptForwarded puts what an agent did below the router's span that is beside it: the one for that agent, the first for the first of
// several; if there is only one router's span, it is that. A router behind a router is put below it.
func (n *Node) adoptForwarded() {
	var routers []*Node
	for _, c := range n.Children {
		if c.Name == span.Forward && c.upstreamStep() != nil {
			routers = append(routers, c)
		}
	}
	if len(routers) == 0 {
		return
	}
	used := map[*Node]int{}
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool {
		if c.Kind != span.KindServer || c.Call {
			return false
		}
		var fits []*Node
		for _, r := range routers {
			if r == c || r.clock == c.clock || c.Name == span.Forward && (r.Took() < c.Took() || r.agent() != c.agent()) {
				continue
			}
			if c.Name == span.Forward || r.agent() == c.Server || len(routers) == 1 {
				fits = append(fits, r)
			}
		}
		if len(fits) == 0 {
			return false
		}
		r := fits[0]
		for _, f := range fits {
			if used[f] < used[r] {
				r = f
			}
		}
		used[r]++
		up := r.upstreamStep()
		up.Children = append(up.Children, c)
		return true
	})
}

// adoptRequests puts what came of the requests that an agent made below these.
func (n *Node) adoptRequests() {
	used, beside := map[*Node]bool{}, slices.Clone(n.Children)
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool {
		if c.Kind != span.KindServer || c.clock == n.clock {
			return false
		}
		for _, r := range beside {
			if r != c && r.Kind == span.KindClient && !r.Call && r.clock == n.clock && !used[r] && (r.agent() == "" || r.agent() == c.agent() || r.agent() == c.Server) {
				used[r] = true
				r.Children = append(r.Children, c)
				return true
			}
		}
		return false
	})
}

// adoptSteps puts what was done while a tool ran below that step, and what an agent did below the step in which the router asked it.
func (n *Node) adoptSteps() {
	var into *Node
	for _, c := range n.Children {
		if (c.Name == span.Run || c.Name == span.Upstream) && c.clock == n.clock && c.Kind == "" {
			into = c // the last attempt
		}
	}
	if into == nil {
		return
	}
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool {
		if steps[c.Name] && c.clock == n.clock && c.Kind == "" {
			return false
		}
		into.Children = append(into.Children, c)
		return true
	})
	sortNodes(into.Children)
}

// steps are the names of what a router or an agent does for a request.
var steps = map[string]bool{span.Auth: true, span.Ingress: true, span.Route: true, span.Wait: true, span.Upstream: true, span.Queue: true, span.Run: true}
