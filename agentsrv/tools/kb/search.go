package kb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/tools/kb/wordvec"
	"github.com/mcphud/mcphud/session/base/text"
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

// How a search looks for passages, and how a passage was found.
const (
	FullText = "full-text" // by words
	Semantic = "semantic"  // by meaning, with embeddings
	Hybrid   = "hybrid"    // both, one rank made of two
)

// SearchOptions narrows a search.
type SearchOptions struct {
	Base  string // General, Codebase or Documents; "" searches all
	Limit int    // how many hits at most, 1 to MaxLimit; 0 is DefaultLimit
	Mode  string // FullText, Semantic or Hybrid; "" is Hybrid where there are embeddings
}

// Hit is one passage that a search found.
type Hit struct {
	Content  string  // the whole passage, at most about 1.5 kB, as it is in the file
	Snippet  string  // the part of it with most words of the query, at most about 500 bytes
	Score    float64 // 0 to 1. Full text: the share of the query that the passage answers, by weight of the words; Semantic: the similarity; Hybrid: the share of the best rank that there can be
	Source   string  // URI under which the passage can be read as a resource
	Title    string  // of the file, and the heading that the passage is under
	Path     string  // of the file, relative to the folder, with slashes
	Line     int     // first line of the passage in the file, from 1
	LastLine int
	Page     int    // of a PDF document, from 1, whose lines are counted from its first page on; 0 for other files
	Base     string // General, Codebase or Documents

	Found      string  // how: "lexical", "semantic" or "both"
	Similarity float64 // cosine of the angle to the query, where it was found by meaning
}

// Results are what a search found.
type Results struct {
	Hits    []Hit   // the best first
	Mode    string  // FullText, Semantic or Hybrid: what was done, which is less than what was asked for where Note says why
	Vectors string  // ByWords or ByEndpoint: what made the embeddings that were compared; "" for FullText
	Fuzzy   []Fuzzy // the words of the query that no passage has
	Note    string  // why meaning counts for nothing, or not for all passages; "" where it is as asked for
}

// Fuzzy is a word that was looked for as those that it may be a typing error of.
type Fuzzy struct {
	Word string   `json:"word"`
	As   []string `json:"as"`
}

// Search finds the passages that answer query best. Library decides who may search this base; tenant is only named in
// the trace. A query without a single word finds nothing by words, and no text is an error: what a database would take for syntax is not
// passed on.
func (k *KB) Search(ctx context.Context, tenant, query string, o SearchOptions) (r Results, err error) {
	if k.o.Trace != nil {
		var end func(error)
		attributes := map[string]string{"search.engine": "fts5", "mcp.tenant_id": tenant}
		if k.o.Embed != nil && o.Mode != FullText {
			attributes["search.embeddings"] = text.Clip(k.o.Embed.Model(), 100)
		}
		ctx, end = k.o.Trace(ctx, "search.vector", attributes)
		defer func() { end(err) }()
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	o.Limit = min(max(o.Limit, 1), MaxLimit)
	ix, err := k.open(ctx)
	if err != nil {
		return r, err
	}
	depth := o.Limit
	if k.o.Embed != nil && o.Mode != FullText {
		depth = fuseDepth
	}
	if o.Mode != FullText {
		k.embedCorpus(ctx)
	}
	meaning := k.startSemantic(ctx, query, o) // asks while the words are looked up
	terms, byWords, err := ix.lexical(ctx, query, o.Base, k.State().Chunks, depth)
	byMeaning := meaning()
	if err == nil {
		err = ctx.Err() // or a hit by meaning may be missing for that reason alone
	}
	if err != nil {
		return r, err
	}
	r.Mode, r.Note = FullText, byMeaning.note
	for _, t := range terms {
		if len(t.similar) > 0 && o.Mode != Semantic {
			r.Fuzzy = append(r.Fuzzy, Fuzzy{t.word, t.similar})
		}
	}
	if byMeaning.done {
		r.Vectors = k.o.Embed.Kind()
		if r.Mode = Hybrid; o.Mode == Semantic {
			r.Mode, byWords = Semantic, nil
		}
		byWords, err = k.fuse(ctx, ix, r.Mode, byWords, byMeaning.neighbours, o.Limit)
	}
	for _, p := range byWords[:min(len(byWords), o.Limit)] {
		r.Hits = append(r.Hits, p.hit(terms))
	}
	return r, err
}

// hit is the passage with what is made of its columns.
func (p *passage) hit(terms []term) Hit {
	h := p.Hit
	h.Snippet = excerpt(h.Content, terms)
	if h.Title = p.heading; p.heading == "" || !strings.HasPrefix(p.heading, p.Hit.Title) {
		h.Title = strings.TrimSuffix(p.Hit.Title+" › "+p.heading, " › ")
	}
	h.Source = sourceURI(h.Path, h.Line, p.part)
	h.Score = min(max(math.Round(h.Score*1e4)/1e4, 1e-4), 1)
	return h
}

// lexical finds passages with any of the words of a text, or with words that look like those that no passage has. Their score is the
// share of the BM25 that a passage with all of them any number of times would come near.
func (ix *index) lexical(ctx context.Context, query, base string, chunks, limit int) (terms []term, found []passage, err error) {
	terms, most, err := ix.terms(ctx, query, chunks)
	if err != nil || len(terms) == 0 {
		return nil, nil, err
	}
	if found, err = ix.find(ctx, terms, base, limit); err != nil {
		return nil, nil, fmt.Errorf("knowledge base: search: %w", err)
	}
	for i := range found {
		found[i].Found = "lexical"
		found[i].Score /= most
	}
	return terms, found, nil
}

// terms are the words of a query that say what it is about, and the weight of all.
func (ix *index) terms(ctx context.Context, query string, chunks int) (terms []term, most float64, err error) {
	var all []string
	words(text.Cut(query, 4*MaxQuery), func(w string, _ bool) bool {
		if w = strings.ToLower(w); len(w) <= maxWord && !slices.Contains(all, w) {
			all = append(all, w)
		}
		return true
	})
	keywords := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return wordvec.Common(w) })
	if len(keywords) == 0 {
		keywords = all
	}
	keywords = keywords[:min(len(keywords), maxWords)]
	if len(keywords) == 0 {
		return nil, 0, nil
	}
	counts, err := ix.docs(ctx, keywords)
	if err != nil {
		return nil, 0, fmt.Errorf("knowledge base: look up %q: %w", keywords, err)
	}
	var unknown []string
	for i, w := range keywords {
		if counts[i] == 0 {
			unknown = append(unknown, w)
		}
	}
	var near [][]string
	if len(unknown) > 0 {
		if near, err = ix.similarWords(ctx, unknown); err != nil {
			return nil, 0, fmt.Errorf("knowledge base: look for words like %q: %w", unknown, err)
		}
	}
	for i, w := range keywords {
		docs := counts[i]
		t := term{word: w, docs: docs}
		if docs == 0 {
			t.similar, near = near[0], near[1:]
		}
		n := float64(max(chunks, docs))
		// A mistyped word counts as one that no passage has: what looks like it is a guess. The weight is that of FTS5, with its
		// least one for words that half of the passages have: in a small base these are all there is.
		t.weight = max(math.Log((n-float64(docs)+0.5)/(float64(docs)+0.5)), 1e-6)
		terms, most = append(terms, t), most+(1+k1)*t.weight
	}
	return terms, most, nil
}
