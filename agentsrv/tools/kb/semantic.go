package kb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	fuseDepth = 50 // passages of each rank that are fused
	fuseRank  = 60 // the constant of reciprocal rank fusion: how little the first places count more than the next

	queryTime = 5 * time.Second  // how long a search waits for the embedding of its query
	pauseTime = 10 * time.Second // how long searches ask for no embedding after one that was not answered in time
)

// semanticResult is what a search by meaning found.
type semanticResult struct {
	done       bool
	neighbours []neighbour
	note       string // why they are not done, or not of all passages
}

// startSemantic begins to ask for the embedding of a query. The function that it returns waits for it, and is to be called.
func (k *KB) startSemantic(ctx context.Context, query string, o SearchOptions) func() semanticResult {
	switch v := k.vectors.Load(); {
	case o.Mode == FullText, o.Mode == "" && k.o.Embed == nil:
		return func() semanticResult { return semanticResult{} }
	case k.o.Embed == nil:
		return func() semanticResult {
			return semanticResult{note: "full-text only: no embeddings are configured for this agent"}
		}
	case v == nil || len(v.ids) == 0:
		s := k.State()
		note := fmt.Sprintf("full-text only: %d of %d passages have embeddings so far", s.Embeddings.Vectors, s.Chunks)
		if s.Embeddings.Err != "" {
			note = "full-text only: " + s.Embeddings.Err
		}
		return func() semanticResult { return semanticResult{note: note} }
	case time.Now().UnixNano() < k.pausedUntil.Load():
		return func() semanticResult {
			return semanticResult{note: "full-text only: the embeddings endpoint did not answer in time just now"}
		}
	default:
		out := make(chan semanticResult, 1)
		go func() { out <- k.nearest(ctx, v, query, o.Base) }()
		return func() semanticResult { return <-out }
	}
}

// embedCorpus makes the embeddings of the corpus at the first search that looks at them, where no endpoint is asked for them.
func (k *KB) embedCorpus(ctx context.Context) {
	if k.root != nil || !k.local() || k.vectors.Load() != nil || k.State().Embeddings.Err != "" {
		return
	}
	// Whoever asked first may give up; what is made here is for everybody.
	if err := k.Embed(context.WithoutCancel(ctx)); err != nil {
		k.o.Log.Error("knowledge base: searches are by words alone", "error", err)
	}
}

// nearest asks for the embedding of a query, and finds what is nearest to it.
func (k *KB) nearest(ctx context.Context, v *vectors, query, base string) semanticResult {
	ctx, cancel := context.WithTimeoutCause(ctx, k.queryTime, errSlow)
	defer cancel()
	got, err := k.o.Embed.Embed(ctx, []string{text.Cut(query, 4*MaxQuery)})
	switch {
	case err != nil && context.Cause(ctx) == errSlow:
		k.pausedUntil.Store(time.Now().Add(pauseTime).UnixNano())
		return semanticResult{note: fmt.Sprintf("full-text only: %s did not answer within %s", k.o.Embed.Name(), text.Duration(k.queryTime))}
	case err != nil:
		return semanticResult{note: fmt.Sprintf("full-text only: %s %v", k.o.Embed.Name(), err)}
	case len(got[0]) != v.dims:
		k.checkDimensions()
		return semanticResult{note: fmt.Sprintf("full-text only: %s answers with %d numbers, and the passages have %d", k.o.Embed.Name(), len(got[0]), v.dims)}
	}
	s := semanticResult{done: true}
	if !slices.ContainsFunc(got[0], func(x float32) bool { return x != 0 }) {
		return semanticResult{note: fmt.Sprintf("full-text only: %s have no word of the query", k.o.Embed.Name())}
	}
	s.neighbours = v.nearest(got[0], base, fuseDepth, k.o.Embed.MinCosine())
	if all := k.State().Chunks; len(v.ids) < all {
		s.note = fmt.Sprintf("%d of %d passages have embeddings so far; the others are found by their words only", len(v.ids), all)
	}
	return s
}

// fuse makes one rank of two: each passage counts by its places in them, and not by scores, which cannot be compared.
func (k *KB) fuse(ctx context.Context, ix *index, mode string, byWords []passage, byMeaning []neighbour, limit int) ([]passage, error) {
	coverage := 0.
	if len(byWords) > 0 {
		coverage = byWords[0].Score
	}
	share, rank := k.o.Embed.FusionWeights(coverage)
	at := map[int64]int{}
	for i := range byWords {
		at[byWords[i].id] = i
		byWords[i].Score = (1 - share) * (rank + 1) / (rank + 1 + float64(i))
	}
	var missing []int64
	for _, n := range byMeaning {
		if _, ok := at[n.id]; !ok {
			missing = append(missing, n.id)
		}
	}
	more, err := ix.passages(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("knowledge base: read what was found: %w", err)
	}
	for _, p := range more {
		p.Found = "semantic"
		at[p.id] = len(byWords)
		byWords = append(byWords, p)
	}
	place := 0
	for _, n := range byMeaning {
		i, ok := at[n.id]
		if !ok || tagOf(byWords[i].hash) != n.tag { // what is in memory is of a passage that is not there any more
			continue
		}
		place++
		p := &byWords[i]
		p.Similarity = math.Round(float64(n.cosine)*1e3) / 1e3
		switch {
		case mode == Semantic:
			p.Score = p.Similarity
		case p.Found == "lexical":
			p.Found = "both"
			fallthrough
		default:
			p.Score += share * (rank + 1) / (rank + float64(place))
		}
	}
	byWords = slices.DeleteFunc(byWords, func(p passage) bool { return p.Score <= 0 })
	slices.SortStableFunc(byWords, func(a, b passage) int { return cmp.Compare(b.Score, a.Score) })
	return byWords[:min(len(byWords), limit)], nil
}

// passages are those with the given ids that there still are, in no order.
func (ix *index) passages(ctx context.Context, ids []int64) (found []passage, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := ix.db.QueryContext(ctx, `SELECT `+columns+` FROM kb_chunk c JOIN kb_file d ON d.id = c.file WHERE c.id IN (`+placeholders(len(ids))+`)`, anySlice(ids)...)
	return store.Collect(rows, err, func(r *sql.Rows) (p passage, err error) { return p, r.Scan(p.targets()...) })
}
