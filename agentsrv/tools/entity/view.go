package entity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// view is a graph as one tenant sees it: an own entity hides one of the demonstration graph with the same id. It is never changed.
type view struct {
	version int64
	size    int // bytes of the tenant's own lines
	types   []string
	all     []*node // by type and id
	byID    map[string]*node
	byName  map[string][]*node // folded
	edges   map[string][]link  // by the id at either end
}

// node is an entity with what it is found by.
type node struct {
	Entity
	layer  int      // 0 for a tenant's own, 1 for the demonstration graph
	names  []string // folded: its own, and its aliases
	framed string   // names, a blank on either side of each word, as trigrams are taken of them
	words  string   // of its properties, framed
}

// link is an edge as one end of it sees it.
type link struct{ direction, relation, id string }

func newView(version int64, own []line) *view {
	v := &view{version: version, byID: map[string]*node{}, byName: map[string][]*node{}, edges: map[string][]link{}}
	types := map[string]bool{}
	for i, lines := range [][]line{own, demoLines()} {
		for _, l := range lines {
			types[l.Type] = true
			if i == 0 {
				v.size += len(l.raw)
			}
			for _, e := range l.Related {
				v.edges[l.ID] = append(v.edges[l.ID], link{"out", e.Relation, e.ID})
				v.edges[e.ID] = append(v.edges[e.ID], link{"in", e.Relation, l.ID})
			}
			if v.byID[l.ID] != nil {
				continue
			}
			n := &node{Entity: Entity{l.ID, l.Type, l.Name, l.Properties}, layer: i}
			for _, name := range append([]string{l.Name}, l.Aliases...) {
				if f := fold(name); !slices.Contains(n.names, f) {
					n.names = append(n.names, f)
				}
			}
			n.framed = " " + strings.Join(n.names, " ") + " "
			said := words(texts(l.Properties))
			n.words = " " + strings.Join(said[:min(len(said), maxWords)], " ") + " "
			v.byID[l.ID] = n
		}
	}
	v.types = slices.Sorted(maps.Keys(types))
	v.types = v.types[:min(len(v.types), maxTypes)]
	v.all = slices.SortedFunc(maps.Values(v.byID), func(a, b *node) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	for _, n := range v.all {
		for _, name := range n.names {
			v.byName[name] = append(v.byName[name], n)
		}
	}
	return v
}

// candidate is an entity that a query may mean.
type candidate struct {
	*node
	name  string // of its names, the shortest that fits
	score float64
}

// withName are the entities of a type with a name that fits, at most six: a tenant's own first, then those with the shortest such name.
func (v *view) withName(typ string, fits func(name string) bool) (all []candidate) {
	for _, n := range v.all {
		c := candidate{node: n}
		for _, name := range n.names {
			if fits(name) && (c.name == "" || compareNames(name, c.name) < 0) {
				c.name = name
			}
		}
		if n.Type == typ && c.name != "" {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.layer, b.layer), compareNames(a.name, b.name), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), 6)]
}

// compareNames compares names by their length, and then by the alphabet.
func compareNames(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// bestByTerms are the entities of a type with most of the terms in a text of theirs, at most 64; score is how many.
func (v *view) bestByTerms(ctx context.Context, typ string, terms []string, of func(*node) string) (all []candidate, err error) {
	terms = terms[:min(len(terms), maxQueryGrams)]
	for i, n := range v.all {
		if i%1000 == 0 && ctx.Err() != nil { // nobody waits for it
			return nil, ctx.Err()
		}
		if n.Type != typ {
			continue
		}
		hits, text := 0, of(n)
		for _, t := range terms {
			if strings.Contains(text, t) {
				hits++
			}
		}
		if hits > 0 {
			all = append(all, candidate{node: n, score: float64(hits)})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), maxCandidates)], nil
}

// rank sorts candidates by their score, then by the length of their names.
func rank(c []candidate) {
	slices.SortStableFunc(c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.framed), len(b.framed)), cmp.Compare(a.ID, b.ID))
	})
}
