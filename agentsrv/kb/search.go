package kb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Limits of a search.
const (
	MaxQuery     = 1000 // characters of a query
	MaxLimit     = 20   // results of one search
	DefaultLimit = 5    // results where SearchOptions.Limit is 0

	maxTerms      = 12    // of a query that are looked up, the rarest
	maxCandidates = 48    // passages that FTS5 ranks first, for the ranking of rank.go
	maxPostings   = 6_000 // passages with one of the words that FTS5 ranks, at most; the commonest words are left to rank.go
)

// The parts of a knowledge base.
const (
	General   = "general"
	Codebase  = "codebase"
	Documents = "documents"
)

// SearchOptions narrows a search.
type SearchOptions struct {
	Base  string // General, Codebase or Documents; "" searches all
	Limit int    // how many hits at most, 1 to MaxLimit; 0 is DefaultLimit
}

// Hit is one passage that a search found.
type Hit struct {
	Content  string  // the whole passage, at most about 1.5 kB, as it is in the file
	Snippet  string  // the lines of it around the words of the query, at most about 500 bytes
	Score    float64 // 0 to 1: the share of the query that the passage answers, by weight of the words
	Source   string  // URI under which the passage can be read as a resource
	Title    string  // of the file, and the heading that the passage is under
	Path     string  // of the file, relative to the folder, with slashes
	Line     int     // first line of the passage in the file, from 1
	LastLine int
	Base     string // General, Codebase or Documents
}

// Search finds the passages that answer query best, the best first. Everything that is indexed is shared by all tenants;
// tenant is only named in the trace. A query without a single word finds nothing, and no text is an error: whatever
// FTS5 would take for syntax is not passed on.
func (k *KB) Search(ctx context.Context, tenant, query string, o SearchOptions) (hits []Hit, err error) {
	if k.o.Trace != nil {
		var end func(error)
		ctx, end = k.o.Trace(ctx, "search.vector", map[string]string{"search.engine": "fts5", "mcp.tenant_id": tenant})
		defer func() { end(err) }()
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	o.Limit = min(max(o.Limit, 1), MaxLimit)
	ix, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	terms, err := ix.query(ctx, query, k.State().Chunks)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	found, err := ix.candidates(ctx, terms, o.Base)
	if err != nil {
		return nil, err
	}
	rank(found, terms)
	for _, c := range found[:min(o.Limit, len(found))] {
		hits = append(hits, c.hit(terms))
	}
	return hits, nil
}

// term is one word of a query: itself, and what it may have been meant to be.
type term struct {
	alts   []alt
	weight float64 // how much of the query it is: more, the fewer passages have it
}

type alt struct {
	text string
	like float64 // 1 for the word itself, less for a word that looks like it or is used for the same thing
	docs int     // passages that have it
}

// query takes the words out of a text, rarest first, and adds look-alikes to those that no passage has.
func (ix *index) query(ctx context.Context, text string, chunks int) ([]term, error) {
	type counted struct {
		text string
		docs int
	}
	var words []counted
	seen := map[string]bool{}
	var err error
	lookup := func(t string) bool {
		if seen[t] {
			return true
		}
		seen[t] = true
		var docs int
		docs, err = ix.docs(ctx, t)
		words = append(words, counted{t, docs})
		return err == nil
	}
	text = clip(text, 4*MaxQuery)
	eachTerm(text, func(t string, _, _ int) bool { return common[t] || lookup(t) })
	if err == nil && len(words) == 0 { // nothing but common words: better those than nothing
		eachTerm(text, func(t string, _, _ int) bool { return lookup(t) })
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(words, func(a, b counted) int { return cmp.Compare(rarity(a.docs), rarity(b.docs)) })
	var terms []term
	for _, w := range words[:min(len(words), maxTerms)] {
		t := term{alts: []alt{{w.text, 1, w.docs}}}
		docs := w.docs
		if docs == 0 {
			near, n, err := ix.alikes(ctx, w.text)
			if err != nil {
				return nil, err
			}
			t.alts = append(t.alts, near...)
			docs = n
		}
		for _, r := range related()[w.text] {
			n, err := ix.docs(ctx, r)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				t.alts = append(t.alts, alt{r, relatedLike, n})
			}
		}
		n := float64(max(chunks, docs, 1))
		t.weight = math.Log(1 + (n-float64(docs)+0.5)/(float64(docs)+0.5))
		if docs == 0 {
			t.weight /= 2 // a word that nobody wrote says little about which passage is meant
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// docs is how many passages have a term.
func (ix *index) docs(ctx context.Context, term string) (n int, err error) {
	err = ix.word.QueryRowContext(ctx, term).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("knowledge base: look up %q: %w", term, err)
	}
	return n, nil
}

// rarity orders words for the cut: words that no passage has come last, since they find nothing by themselves, and most
// of a long text of garbage is such.
func rarity(docs int) int {
	if docs == 0 {
		return math.MaxInt
	}
	return docs
}

// candidate is a passage that has at least one of the words.
type candidate struct {
	id         int64
	chunk      chunk
	path, base string
	title      string
	score      float64
}

// candidates are the passages that BM25 puts first.
func (ix *index) candidates(ctx context.Context, terms []term, base string) ([]candidate, error) {
	var alts []alt
	for _, t := range terms {
		alts = append(alts, t.alts...)
	}
	slices.SortStableFunc(alts, func(a, b alt) int { return cmp.Compare(a.docs, b.docs) })
	var match []string
	sum := 0
	for _, a := range alts {
		if sum += a.docs; sum > maxPostings && len(match) > 0 {
			break
		}
		match = append(match, `"`+a.text+`"`)
	}
	rows, err := ix.search.QueryContext(ctx, strings.Join(match, " OR "), base, maxCandidates)
	if err != nil {
		return nil, fmt.Errorf("knowledge base: search: %w", err)
	}
	defer rows.Close()
	var out []candidate
	for rows.Next() {
		var c candidate
		if err := rows.Scan(&c.id, &c.chunk.Line, &c.chunk.Part, &c.chunk.Last, &c.chunk.Heading, &c.chunk.Content, &c.path, &c.base, &c.title); err != nil {
			return nil, fmt.Errorf("knowledge base: read what was found: %w", err)
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("knowledge base: read what was found: %w", err)
	}
	return out, nil
}

// clip is the first n bytes of s at most, and no torn character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:cutBefore(s, n)]
}

func (c *candidate) hit(terms []term) Hit {
	title := c.chunk.Heading
	if title == "" || !strings.HasPrefix(title, c.title) {
		title = strings.TrimSuffix(c.title+" › "+title, " › ")
	}
	return Hit{
		Content: c.chunk.Content, Snippet: snippet(c.chunk.Content, terms), Score: c.score,
		Source: sourceURI(c.path, c.chunk.Line, c.chunk.Part), Title: title, Path: c.path,
		Line: c.chunk.Line, LastLine: c.chunk.Last, Base: c.base,
	}
}
