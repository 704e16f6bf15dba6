package kb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/text"
)

// Limits of a search.
const (
	MaxQuery     = 1000 // characters of a query
	MaxLimit     = 20   // results of one search
	DefaultLimit = 5    // results where SearchOptions.Limit is 0

	maxWords    = 12  // of a query that are searched for
	snippetSize = 500 // bytes
	maxDocs     = 500 // passages that are counted for one word
	k1          = 1.2 // of the BM25 of FTS5
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
	Snippet  string  // the part of it with most words of the query, at most about 500 bytes
	Score    float64 // 0 to 1: the share of the query that the passage answers, by weight of the words
	Source   string  // URI under which the passage can be read as a resource
	Title    string  // of the file, and the heading that the passage is under
	Path     string  // of the file, relative to the folder, with slashes
	Line     int     // first line of the passage in the file, from 1
	LastLine int
	Page     int    // of a PDF document, from 1, whose lines are counted from its first page on; 0 for other files
	Base     string // General, Codebase or Documents
}

// Search finds the passages that answer query best, the best first. Library decides who may search this base; tenant is only named in
// the trace. A query without a single word finds nothing, and no text is an error: what FTS5 would take for syntax is not passed on.
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
	match, most, err := ix.match(ctx, query, k.State().Chunks)
	if err != nil || match == "" {
		return nil, err
	}
	rows, err := ix.search.QueryContext(ctx, match, o.Base, o.Limit)
	if err != nil {
		return nil, fmt.Errorf("knowledge base: search: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var h Hit
		var heading, title string
		var part int
		var bm25 float64
		if err := rows.Scan(&h.Line, &part, &h.LastLine, &h.Page, &heading, &h.Content, &h.Path, &h.Base, &title, &h.Snippet, &bm25); err != nil {
			return nil, fmt.Errorf("knowledge base: read what was found: %w", err)
		}
		if h.Title = heading; heading == "" || !strings.HasPrefix(heading, title) {
			h.Title = strings.TrimSuffix(title+" › "+heading, " › ")
		}
		h.Snippet, h.Source = around(h.Snippet), sourceURI(h.Path, h.Line, part)
		h.Score = min(max(math.Round(bm25/most*1e4)/1e4, 1e-4), 1)
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("knowledge base: read what was found: %w", err)
	}
	return hits, nil
}

// mark, a noncharacter, stands before each word of the query in what FTS5 cuts out of a passage.
const mark = "\U0010FFFF"

// around is a snippet of FTS5, which counts words and not bytes, without its marks and from shortly before the first of
// them on.
func around(snippet string) string {
	before, _, _ := strings.Cut(snippet, mark)
	s := strings.ReplaceAll(snippet, mark, "")
	if at := len(before) - snippetSize/2; at > 0 {
		s = "…" + s[cutBefore(s, at):]
	}
	return text.Cut(s, snippetSize)
}

// match is the FTS5 query for passages with any of the words of a text, or with words that look like those that no
// passage has, and the BM25 that a passage with all of them any number of times would come near; "" if there are no words.
func (ix *index) match(ctx context.Context, query string, chunks int) (match string, most float64, err error) {
	var all []string
	words(text.Cut(query, 4*MaxQuery), func(w string, _ bool) bool {
		if w = strings.ToLower(w); len(w) <= maxWord && !slices.Contains(all, w) {
			all = append(all, w)
		}
		return true
	})
	telling := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return common[w] })
	if len(telling) == 0 {
		telling = all
	}
	var parts []string
	for _, w := range telling[:min(len(telling), maxWords)] {
		part := `"` + w + `"`
		docs, err := ix.docs(ctx, part)
		if err == nil && docs == 0 {
			var near []string
			if near, err = ix.alikes(ctx, w); err == nil && len(near) > 0 {
				part = `"` + strings.Join(near, `" OR "`) + `"`
			}
		}
		if err != nil {
			return "", 0, fmt.Errorf("knowledge base: look up %q: %w", w, err)
		}
		n := float64(max(chunks, docs))
		// A mistyped word counts as one that no passage has: what looks like it is a guess. The weight is that of FTS5, with its
		// least one for words that half of the passages have: in a small base these are all there is.
		weight := max(math.Log((n-float64(docs)+0.5)/(float64(docs)+0.5)), 1e-6)
		parts, most = append(parts, part), most+(1+k1)*weight
	}
	return strings.Join(parts, " OR "), most, nil
}

// docs is how many passages match, at most maxDocs.
func (ix *index) docs(ctx context.Context, match string) (n int, err error) {
	err = ix.count.QueryRowContext(ctx, match, maxDocs).Scan(&n)
	return n, err
}
