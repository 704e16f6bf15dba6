package entity

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// How a query found its entity, best first.
const (
	ByID          = "id"
	ByName        = "name"
	ByPrefix      = "prefix"
	ByFuzzy       = "fuzzy"
	ByDescription = "description"
)

const (
	maxCandidates = 64  // entities that a fuzzy query compares
	maxQueryGrams = 100 // trigrams or words of a query that are looked up
	minFuzzy      = 0.5 // similarity below which two names are not the same
	minCoverage   = 0.5 // share of a query's words that a description has to have
	maxNearest    = 5
	maxRelated    = 100
	maxTypes      = 100
)

// Match is an entity and how well it fits the query.
type Match struct {
	Entity Entity
	By     string   // one of ByID … ByDescription
	Score  float64  // 0 to 1
	Others []string // names of further entities that fit as well, up to five
}

// Nearest is an entity that is not what was asked for, but may be what was meant.
type Nearest struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
}

// Find looks for one entity of a type: by id, by name, by the beginning of its name, by a similar name, by words of its
// properties, in this order. Where nothing fits, match is nil and nearest has what comes closest.
func (g *Graph) Find(ctx context.Context, tenant, typ, query string) (match *Match, nearest []Nearest, err error) {
	v, err := g.view(ctx, tenant)
	if err != nil {
		return nil, nil, err
	}
	if n := v.byID[query]; n != nil && n.Type == typ {
		return newMatch([]candidate{{node: n}}, ByID, 1), nil, nil
	}
	if q := fold(query); q != "" {
		if got := v.withName(typ, func(name string) bool { return name == q }); len(got) > 0 {
			return newMatch(got, ByName, 1), nil, nil
		}
		if got := v.withName(typ, func(name string) bool { return strings.HasPrefix(name, q) }); len(got) > 0 {
			return newMatch(got, ByPrefix, max(0.5, float64(len(q))/float64(len(got[0].name)))), nil, nil
		}
	}
	return v.guess(ctx, typ, query)
}

// guess compares the names that share trigrams with the query, and counts the query's words in properties.
func (v *view) guess(ctx context.Context, typ, query string) (*Match, []Nearest, error) {
	q := fold(query)
	grams := slices.Sorted(maps.Keys(trigrams(q)))
	similar, err := v.bestByTerms(ctx, typ, grams, func(n *node) string { return n.framed })
	if err != nil {
		return nil, nil, err
	}
	for i, c := range similar {
		similar[i].score = 0
		for _, name := range c.names {
			similar[i].score = max(similar[i].score, similarity(q, name))
		}
	}
	rank(similar)
	asked := words(query)
	for i, w := range asked {
		asked[i] = " " + w + " "
	}
	described, err := v.bestByTerms(ctx, typ, asked, func(n *node) string { return n.words })
	if err != nil {
		return nil, nil, err
	}
	for i := range described {
		described[i].score /= float64(max(1, min(len(asked), maxQueryGrams)))
	}
	rank(described)
	alike, said := -1.0, -1.0
	if len(similar) > 0 && similar[0].score >= minFuzzy {
		alike = similar[0].score
	}
	if len(described) > 0 && described[0].score >= minCoverage {
		said = 0.8 * described[0].score // said about it is less than said of it
	}
	switch {
	case alike < 0 && said < 0:
		return nil, nearestOf(similar), nil
	case alike >= said:
		return newMatch(bestOf(similar), ByFuzzy, alike), nil, nil
	}
	return newMatch(bestOf(described), ByDescription, said), nil, nil
}

// bestOf are those that fit as well as the first.
func bestOf(c []candidate) []candidate {
	n := 1
	for n < len(c) && n < 6 && c[n].score == c[0].score {
		n++
	}
	return c[:n]
}

func newMatch(c []candidate, by string, score float64) *Match {
	m := &Match{Entity: c[0].Entity, By: by, Score: score}
	for _, other := range c[1:] {
		m.Others = append(m.Others, other.Name)
	}
	return m
}

func nearestOf(c []candidate) []Nearest {
	all := []Nearest{}
	for _, x := range c[:min(len(c), maxNearest)] {
		all = append(all, Nearest{x.ID, x.Type, x.Name})
	}
	return all
}
