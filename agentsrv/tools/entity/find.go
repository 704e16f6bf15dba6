package entity

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
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

type candidate struct {
	Entity
	fold  string // its name, folded, or its names, a line each
	score float64
}

// visible is the part of a tenant's own and the shared graph that the tenant sees: an own entity hides a shared one of the same id.
const visible = ` e.tenant IN (@tenant, '') AND NOT (e.tenant = '' AND EXISTS (SELECT 1 FROM entities o WHERE o.tenant = @tenant AND o.id = e.id))`

// Find looks for one entity of a type: by id, by name, by the beginning of its name, by a similar name, by words of its
// properties, in this order. Where nothing fits, match is nil and nearest has what comes closest.
func (g *Graph) Find(ctx context.Context, tenant, typ, query string) (match *Match, nearest []Nearest, err error) {
	if err := g.open(ctx); err != nil {
		return nil, nil, err
	}
	query = strings.ReplaceAll(query, "\x00", "\ufffd") // which no database looks for
	args := []any{sql.Named("tenant", tenant), sql.Named("type", typ)}
	q := fold(query)
	for _, step := range []struct{ by, where, order string }{
		{ByID, `e.id = @query`, `e.id`},
		{ByName, `n.fold = @fold`, `e.name, e.id`},
		{ByPrefix, `n.fold >= @fold AND n.fold < @end`, `min(length(n.fold)), min(n.fold), e.id`},
	} {
		if q == "" && step.by != ByID {
			break
		}
		got, err := g.queryCandidates(ctx, `SELECT e.id, e.type, e.name, e.properties, min(n.fold), 0 FROM entities e
			JOIN entity_names n ON n.tenant = e.tenant AND n.type = e.type AND n.id = e.id
			WHERE e.type = @type AND `+step.where+` AND `+visible+` GROUP BY e.tenant, e.id ORDER BY e.tenant DESC, `+step.order+` LIMIT 6`,
			append(args, sql.Named("query", query), sql.Named("fold", q), sql.Named("end", q+string(utf8.MaxRune)))...)
		if err != nil {
			return nil, nil, err
		}
		if len(got) > 0 {
			score := 1.0
			if step.by == ByPrefix {
				score = max(0.5, float64(len(q))/float64(len(got[0].fold)))
			}
			return found(got, step.by, score), nil, nil
		}
	}
	return g.guess(ctx, args, query)
}

// guess compares the names that share trigrams with the query, and counts the query's words in properties.
func (g *Graph) guess(ctx context.Context, args []any, query string) (*Match, []Nearest, error) {
	q := fold(query)
	similar, err := g.similar(ctx, args, q)
	if err != nil {
		return nil, nil, err
	}
	for i := range similar {
		score := 0.0
		for name := range strings.SplitSeq(similar[i].fold, "\n") {
			score = max(score, similarity(q, name))
		}
		similar[i].score = score
	}
	rank(similar)
	asked := words(query)
	for i, w := range asked {
		asked[i] = "w" + w
	}
	described, err := g.byTerms(ctx, args, asked)
	if err != nil {
		return nil, nil, err
	}
	for i := range described {
		described[i].score /= float64(max(1, min(len(asked), maxQueryGrams)))
	}
	rank(described)
	fuzzy, words := -1.0, -1.0
	if len(similar) > 0 && similar[0].score >= minFuzzy {
		fuzzy = similar[0].score
	}
	if len(described) > 0 && described[0].score >= minCoverage {
		words = 0.8 * described[0].score // said about it is less than said of it
	}
	switch {
	case fuzzy < 0 && words < 0:
		return nil, near(similar), nil
	case fuzzy >= words:
		return found(best(similar), ByFuzzy, fuzzy), nil, nil
	}
	return found(best(described), ByDescription, words), nil, nil
}

// byTerms are the entities that have most of the terms; score is how many.
func (g *Graph) byTerms(ctx context.Context, args []any, terms []string) ([]candidate, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	terms = terms[:min(len(terms), maxQueryGrams)]
	list, err := json.Marshal(terms)
	if err != nil {
		return nil, err
	}
	return g.queryCandidates(ctx, rankQuery(`SELECT tenant, id, count(*) AS hits FROM entity_terms
			WHERE tenant IN (@tenant, '') AND type = @type AND term IN (SELECT value FROM `+g.elements("@terms")+`)`), append(slices.Clone(args), sql.Named("terms", string(list)))...)
}

// rankQuery are the entities that a query of tenant, id and hits has most hits for, with all their names.
func rankQuery(query string) string {
	return `SELECT e.id, e.type, e.name, e.properties, (SELECT string_agg(n.fold, '
') FROM entity_names n WHERE n.tenant = e.tenant AND n.id = e.id), t.hits
		FROM (` + query + ` GROUP BY tenant, id ORDER BY hits DESC, id LIMIT ` + fmt.Sprint(maxCandidates) + `) t
		JOIN entities e ON e.tenant = t.tenant AND e.id = t.id WHERE ` + visible
}

// elements is the table function whose column value has the texts of a JSON array.
func (g *Graph) elements(array string) string {
	if g.isShared() {
		return "json_array_elements_text(" + array + "::json)"
	}
	return "json_each(" + array + ")"
}

// similar are the entities whose names share most trigrams with a folded query.
func (g *Graph) similar(ctx context.Context, args []any, q string) (got []candidate, err error) {
	if g.trigrams && q != "" {
		tx, err := g.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return nil, fmt.Errorf("entity: look up: %w", err)
		}
		defer func() { _ = tx.Rollback() }() // it only reads
		if _, err := tx.ExecContext(ctx, similarEnough); err != nil {
			return nil, fmt.Errorf("entity: look up: %w", err)
		}
		return g.candidates(ctx, tx, rankQuery(`SELECT tenant, id, max(greatest(similarity(fold, @fold), word_similarity(@fold, fold))) AS hits FROM entity_names
			WHERE tenant IN (@tenant, '') AND type = @type AND (fold % @fold OR @fold <% fold)`), append(slices.Clone(args), sql.Named("fold", q))...)
	}
	var grams []string
	for t := range trigrams(q) {
		grams = append(grams, "3"+t)
	}
	slices.Sort(grams)
	return g.byTerms(ctx, args, grams)
}

// similarEnough lets pg_trgm find more than what is similar in the end: that is measured otherwise.
const similarEnough = `SET LOCAL pg_trgm.similarity_threshold = 0.12; SET LOCAL pg_trgm.word_similarity_threshold = 0.25`

func (g *Graph) queryCandidates(ctx context.Context, query string, args ...any) ([]candidate, error) {
	return g.candidates(ctx, g.db, query, args...)
}

// candidates are what a query of a database or a transaction finds.
func (g *Graph) candidates(ctx context.Context, in interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any,
) ([]candidate, error) {
	rows, err := in.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("entity: look up: %w", err)
	}
	return collect(rows, func(r *sql.Rows) (c candidate, err error) {
		var properties string
		err = r.Scan(&c.ID, &c.Type, &c.Name, &properties, &c.fold, &c.score)
		c.Properties = json.RawMessage(properties)
		return c, err
	})
}

func rank(c []candidate) {
	slices.SortStableFunc(c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.fold), len(b.fold)), cmp.Compare(a.ID, b.ID))
	})
}

// best are those that fit as well as the first.
func best(c []candidate) []candidate {
	n := 1
	for n < len(c) && n < 6 && c[n].score == c[0].score {
		n++
	}
	return c[:n]
}

func found(c []candidate, by string, score float64) *Match {
	m := &Match{Entity: c[0].Entity, By: by, Score: score}
	for _, other := range c[1:] {
		m.Others = append(m.Others, other.Name)
	}
	return m
}

func near(c []candidate) []Nearest {
	all := []Nearest{}
	for _, x := range c[:min(len(c), maxNearest)] {
		all = append(all, Nearest{x.ID, x.Type, x.Name})
	}
	return all
}
