package aggregate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
)

// Members of a list's _meta.
const (
	metaMissing    = "mcphud/missing"    // agents whose part is not in the list, or not all of it, with the reason
	metaCollisions = "mcphud/collisions" // URIs that several agents have, with their names
	metaNames      = "mcphud/names"      // names that do not tell, with agent and own name
	metaLeftOut    = "mcphud/leftOut"    // what is not in the list, and why
)

// entry is one item of a merged list.
type entry struct {
	agent string
	item  *offer.Item
	name  string // in the merged list, or the URI
}

// Missing is an agent whose part is not in a list, or not all of it.
type Missing struct {
	Agent string `json:"agent"`
	Error string `json:"error"`
}

// Collision is a URI that several agents have.
type Collision struct {
	URI    string   `json:"uri"`
	Agents []string `json:"agents"`
}

// named reports whether the items of a list are known by names, which are made others, and not by URIs.
func isNamed(kind offer.Kind) bool { return kind == offer.Tools || kind == offer.Prompts }

// maxOwn bounds an agent's own name for a tool or prompt, in bytes. What is longer is left out: no client could show it.
const maxOwn = 1 << 10

// list merges one list of all agents, in the order of their names and then in their own. An agent that does not answer
// in time is missing. Entries that the naming has no name for have none.
func (c *client) list(ctx context.Context, kind offer.Kind, n toolset.Naming) ([]entry, []Missing) {
	c.forgetGone()
	agents, began := c.agents(), time.Now()
	fetches := make([]*fetch, len(agents))
	for i, a := range agents {
		fetches[i] = c.fetch(a, kind)
	}
	var all []entry
	var missing []Missing
	var away []toolset.ToolRef
	for i, a := range agents {
		f := fetches[i]
		err := c.await(ctx, fetchKey{a, kind}, f, began, c.s.o.Patience)
		var items []offer.Item
		select {
		case <-f.done:
			items = f.items // what there was before the error, if there was one
		default:
		}
		some, odd := c.merge(a, kind, items)
		if n.Bare() && isNamed(kind) {
			for _, own := range c.s.names.lastNames(fetchKey{a, kind}, some, err == nil) {
				if err != nil && len(some) == 0 {
					away = append(away, toolset.ToolRef{Server: a, Tool: own})
				}
			}
		}
		if err == nil && odd > 0 {
			err = fmt.Errorf("%d items left out: no name, a duplicate name, one of more than %d bytes, or an x-mcp-header that is not allowed", odd, maxOwn)
		}
		if err != nil {
			c.s.log.Debug("agent left out of a list", "agent", a, "list", kind.String(), "err", err)
			missing = append(missing, Missing{a, errorText(err)})
		}
		all = append(all, some...)
	}
	if isNamed(kind) {
		refs := make([]toolset.ToolRef, len(all), len(all)+len(away))
		for i, e := range all {
			refs[i] = toolset.ToolRef{Server: e.agent, Tool: e.item.Name}
		}
		names := n.Names(append(refs, away...), agents)
		for i := range all {
			all[i].name = names[i]
		}
	}
	return all, missing
}

// merge makes entries of one agent's items, without those that are not offered or selected; odd is how many cannot be listed.
func (c *client) merge(agent string, kind offer.Kind, items []offer.Item) (all []entry, odd int) {
	if len(items) == 0 {
		return nil, 0
	}
	all = make([]entry, 0, len(items))
	seen := make(map[string]struct{}, len(items))
	for i := range items {
		it := &items[i]
		if kind == offer.Tools && !c.s.o.Offers(agent, it.Name) || isNamed(kind) && !c.s.o.Selects(agent, it.Name) {
			continue
		}
		key := it.URI
		if isNamed(kind) {
			key = it.Name
		}
		if _, twice := seen[key]; twice || it.Barred != nil || key == "" || len(key) > maxURI || isNamed(kind) && len(key) > maxOwn || len(it.Raw) == 0 || it.Raw[0] != '{' {
			odd++
			continue
		}
		seen[key] = struct{}{}
		all = append(all, entry{agent: agent, item: it, name: key})
	}
	return all, odd
}

// errorText is what is said of an error in a list.
func errorText(err error) string {
	var e *failure.Error
	switch {
	case errors.As(err, &e):
		return e.Message
	case errors.Is(err, errLate), errors.Is(err, context.DeadlineExceeded):
		return errLate.Error()
	}
	return err.Error()
}

// collisions are the URIs of a list that several agents have.
func collisions(all []entry) (out []Collision) {
	owners := make(map[string][]string, len(all))
	for _, e := range all {
		if !slices.Contains(owners[e.name], e.agent) {
			owners[e.name] = append(owners[e.name], e.agent)
		}
	}
	for _, e := range all {
		if who := owners[e.name]; len(who) > 1 && who[0] == e.agent {
			out = append(out, Collision{e.name, who})
			delete(owners, e.name)
		}
	}
	return out
}
