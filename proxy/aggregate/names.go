package aggregate

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
)

// view is how the merged lists look to who makes a request.
type view struct {
	toolset.Naming
	routes.ClientLimits
}

// view is the one of this request's client.
func (x *exchange) view() view {
	m := x.s.o.Merged()
	name := ""
	if len(m.Clients) > 0 {
		if name = x.c.name; x.modern {
			name = jsonrpc.GetString(x.env.Params, "_meta", mcp.MetaKeyClientInfo, "name")
		}
	}
	n, l := m.For(name)
	return view{n, l}
}

// given are the names of a list that do not tell by themselves what they are of.
type given map[string]toolset.ToolRef

// A client may call what it was told of by the name that it was told, also when the lists have changed: it is not guessed
// which tool another list would mean by that.
const (
	maxGiven = 8  // lists that are remembered for one client
	maxLists = 64 // different ones that are kept once for all clients
)

// names are the lists' names that clients were given, those of the same list once.
type names struct {
	mu     sync.Mutex
	seed   maphash.Seed
	shared map[uint64]*given
	known  map[fetchKey][]string // own names of what agents had last
}

// share is g, or one like it that a client has already.
func (n *names) share(g given) *given {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shared == nil {
		n.seed, n.shared = maphash.MakeSeed(), map[uint64]*given{}
	}
	var sum uint64
	for name, ref := range g {
		sum += maphash.Comparable(n.seed, [3]string{name, ref.Server, ref.Tool})
	}
	if have := n.shared[sum]; have != nil && maps.Equal(*have, g) {
		return have
	}
	for old := range n.shared {
		if len(n.shared) < maxLists {
			break
		}
		delete(n.shared, old)
	}
	n.shared[sum] = &g
	return &g
}

// lastNames records what an agent has, or says what it had when it last answered, so that the names of others' tools do not change
// while it is away.
func (n *names) lastNames(key fetchKey, now []entry, answered bool) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !answered {
		return n.known[key]
	}
	own := make([]string, len(now))
	for i, e := range now {
		own[i] = e.item.Name
	}
	if n.known == nil {
		n.known = map[fetchKey][]string{}
	}
	n.known[key] = own
	return own
}

// retain forgets all agents but these.
func (n *names) retain(agents []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.known, func(k fetchKey, _ []string) bool { return !slices.Contains(agents, k.agent) })
}

// rememberGiven remembers what a client was told.
func (c *client) rememberGiven(kind offer.Kind, g given) {
	if len(g) == 0 {
		return
	}
	list := c.s.names.share(g)
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.DeleteFunc(c.given[kind], func(old *given) bool { return old == list })
	c.given[kind] = slices.Insert(all[:min(len(all), maxGiven-1)], 0, list)
}

// resolveGiven finds what a name means by the latest list that had it.
func (c *client) resolveGiven(kind offer.Kind, name string, agents []string) (ref toolset.ToolRef, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.given[kind] {
		if ref, ok := (*g)[name]; ok && slices.Contains(agents, ref.Server) {
			return ref, true
		}
	}
	return ref, false
}
