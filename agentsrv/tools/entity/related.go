package entity

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Related is an entity at the other end of an edge.
type Related struct {
	Relation  string `json:"relation"`  // such as operates_from
	Direction string `json:"direction"` // "out": the edge leads from the entity asked for to this one; "in": the other way
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
}

// Related are the entities one edge away from the entity with this id, up to 100, outgoing edges first; total says how
// many there are.
func (g *Graph) Related(ctx context.Context, tenant, id string) (all []Related, total int, err error) {
	v, err := g.view(ctx, tenant)
	if err != nil {
		return nil, 0, err
	}
	links := slices.Clone(v.edges[id])
	slices.SortFunc(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.direction, a.direction), cmp.Compare(a.relation, b.relation), cmp.Compare(a.id, b.id))
	})
	for _, a := range slices.Compact(links) {
		if n := v.byID[a.id]; n != nil {
			all = append(all, Related{a.relation, a.direction, n.ID, n.Type, n.Name})
		}
	}
	return all[:min(len(all), maxRelated)], len(all), nil
}

const (
	maxMentionWords = 4000 // of a text that is searched for names
	maxMentionName  = 5    // words of a name that is found in a text
)

// Mentions are the entities whose name or alias occurs in a text, in the order of their first occurrence, at most limit.
// Of two names at the same place the longer counts. Only the first 4,000 words of the text are searched.
func (g *Graph) Mentions(ctx context.Context, tenant, text string, limit int) (all []Entity, err error) {
	v, err := g.view(ctx, tenant)
	if err != nil {
		return nil, err
	}
	w := strings.Fields(fold(text))
	w = w[:min(len(w), maxMentionWords)]
	seen := map[string]bool{}
	for at := 0; at < len(w); {
		n := min(maxMentionName, len(w)-at)
		for n > 0 && v.byName[strings.Join(w[at:at+n], " ")] == nil {
			n--
		}
		for _, e := range v.byName[strings.Join(w[at:at+n], " ")] {
			if !seen[e.ID] && len(all) < limit {
				all = append(all, e.Entity)
			}
			seen[e.ID] = true
		}
		at += max(1, n)
	}
	return all, nil
}
