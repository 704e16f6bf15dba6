package kb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/chat"
)

const (
	embedTime  = time.Minute // of one request for embeddings
	embedTries = 4           // requests for the same texts
	minText    = 256         // bytes; a text that the endpoint refuses is halved, but cut no shorter than this
	maxRefused = 3           // texts refused one after another: after these the endpoint is at fault, and the pass ends

	firstRetry, longestRetry = time.Second, 30 * time.Second      // between requests for the same texts
	firstPass, longestPass   = 10 * time.Second, 10 * time.Minute // between passes that failed
	embedEvery               = 10 * time.Second                   // between two lines of progress, and until what is made can be found
)

// Embeddings is how far the embeddings of a base are.
type Embeddings struct {
	Model   string `json:"model"`
	Running bool   `json:"running"`         // some are being made
	Vectors int    `json:"vectors"`         // passages that can be found by them
	Err     string `json:"error,omitempty"` // why the last pass failed, "" if it did not
}

var (
	errSlow = errors.New("no answer in time")
	errDims = errors.New("answers with embeddings of different lengths")
)

// embeddingText is the text of a passage whose embedding is asked for.
func embeddingText(title, heading, content string) string {
	if heading != "" {
		title = heading
	}
	return title + "\n\n" + content
}

// embedLoop calls Embed until Close: at once, again with backoff after a failure, and when checkDimensions asks for it.
func (k *KB) embedLoop() {
	for n := 1; ; n++ {
		err := k.Embed(k.run)
		var again <-chan time.Time
		switch {
		case err == nil:
			n = 0
		case k.local():
			k.o.Log.Error("knowledge base: searches are by words alone", "error", err) // what failed fails again
		case k.run.Err() == nil:
			wait := failure.Backoff(n, k.firstPass, longestPass)
			k.o.Log.Warn("knowledge base: embeddings are incomplete, and searches by meaning with them", "error", err, "retry_in", text.Duration(wait))
			again = time.After(wait)
		}
		select {
		case <-k.run.Done():
			return
		case <-again:
		case <-k.again:
		}
	}
}

// checkDimensions has the embeddings checked, since the endpoint made one of another length; at most once in a while.
func (k *KB) checkDimensions() {
	now := time.Now().UnixNano()
	if last := k.checkedAt.Load(); now-last < int64(k.checkEvery) && last != 0 || !k.checkedAt.CompareAndSwap(last, now) {
		return
	}
	k.probe.Store(true)
	select {
	case k.again <- struct{}{}:
	default:
	}
}

// Embed asks for the embeddings of all passages that have none, and returns when they have, or when ctx is done; the next pass goes
// on where this one stopped. Without Options.Embed it does nothing.
func (k *KB) Embed(ctx context.Context) error {
	if k.o.Embed == nil {
		return nil
	}
	select {
	case k.embeds <- struct{}{}:
		defer func() { <-k.embeds }()
	case <-ctx.Done():
		return fmt.Errorf("knowledge base: wait for another pass over the embeddings: %w", ctx.Err())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(k.run, cancel)()
	k.update(func(s *State) { s.Embeddings.Running = true })
	err := k.embedAll(ctx)
	if errors.Is(err, errDims) && ctx.Err() == nil { // the model is another one by the same name
		err = k.embedAll(ctx)
	}
	if err != nil {
		err = fmt.Errorf("knowledge base: embeddings: %w", err)
	}
	k.update(func(s *State) {
		s.Embeddings.Running, s.Embeddings.Err = false, ""
		if err != nil {
			s.Embeddings.Err = err.Error()
		}
	})
	return err
}

// embedAll is one pass over the passages.
func (k *KB) embedAll(ctx context.Context) error {
	ix, err := k.open(ctx)
	if err != nil {
		return err
	}
	c, err := openCache(ctx, k.cacheDB(ix), k.o.Key, k.o.Embed.Model())
	if err != nil {
		return err
	}
	texts, err := ix.hashes(ctx)
	if err == nil {
		err = k.loadVectors(ctx, c, texts) // what there is can be found at once
	}
	if err != nil {
		return err
	}
	have, dims, err := c.hashes(ctx)
	if err != nil {
		return err
	}
	if k.probe.Swap(false) && dims != 0 {
		got, err := k.ask(ctx, []string{"probe"})
		if err != nil {
			return err
		}
		if len(got[0]) != dims {
			return errors.Join(errDims, c.drop(ctx))
		}
	}
	var missing []int64 // one passage for each text
	seen := map[hash]bool{}
	for _, t := range texts {
		if !have[t.hash] && !seen[t.hash] {
			seen[t.hash] = true
			missing = append(missing, t.id)
		}
	}
	if len(missing) > 0 {
		if err := k.embedThese(ctx, ix, c, texts, missing, dims); err != nil {
			return err
		}
	}
	for _, t := range texts {
		delete(have, t.hash)
	}
	var gone []hash
	for h := range have {
		gone = append(gone, h)
	}
	return c.prune(ctx, gone)
}

// embedThese asks for the embeddings of the missing passages.
func (k *KB) embedThese(ctx context.Context, ix *index, c *cache, texts []textOf, missing []int64, dims int) error {
	start := time.Now()
	said := start
	done, refused := 0, 0
	have := map[hash]bool{}
	shared := c.db.Dialect() == store.Postgres
	if shared { // others may ask for the same at the same time: each begins elsewhere, and leaves out what is there by then
		rand.Shuffle(len(missing), func(i, j int) { missing[i], missing[j] = missing[j], missing[i] })
	}
	for batch := range slices.Chunk(missing, chat.MaxTexts) {
		found, err := ix.passages(ctx, batch)
		if err == nil && shared && len(found) > 0 {
			asked := make([]hash, len(found))
			for i, p := range found {
				asked[i] = padHash(p.hash)
			}
			have, err = c.existing(ctx, asked)
		}
		if err != nil {
			return err
		}
		var hashes []hash
		var contents []string
		for _, p := range found {
			if h := padHash(p.hash); !have[h] {
				hashes, contents = append(hashes, h), append(contents, embeddingText(p.Hit.Title, p.heading, p.Content))
			}
		}
		if len(contents) == 0 {
			continue // gone meanwhile, or made by another process
		}
		got, err := k.embedTexts(ctx, contents, &refused)
		if err != nil {
			return errors.Join(err, k.loadVectors(context.WithoutCancel(ctx), c, texts))
		}
		for _, v := range got {
			if dims == 0 {
				dims = len(v)
			}
			if v != nil && len(v) != dims {
				return errors.Join(fmt.Errorf("%s %w: %d and %d", k.o.Embed.Name(), errDims, dims, len(v)), c.drop(ctx))
			}
		}
		if err := c.put(ctx, hashes, got); err != nil {
			return err
		}
		if done += len(batch); time.Since(said) >= embedEvery {
			said = time.Now()
			k.o.Log.Info("knowledge base: embedding", "done", done, "of", len(missing))
			if err := k.loadVectors(ctx, c, texts); err != nil {
				return err
			}
		}
	}
	k.o.Log.Info("knowledge base: embeddings are up to date", "made", done, "model", k.o.Embed.Model(), "duration_ms", time.Since(start).Milliseconds())
	return k.loadVectors(ctx, c, texts)
}

// embedTexts returns the embeddings of texts, nil for one that the endpoint refuses even when it is short. refused counts those
// that it refused since it took one.
func (k *KB) embedTexts(ctx context.Context, texts []string, refused *int) ([][]float32, error) {
	got, err := k.ask(ctx, texts)
	var status *chat.StatusError
	switch {
	case err == nil:
		*refused = 0
		return got, nil
	case !errors.As(err, &status) || status.Status != http.StatusBadRequest && status.Status != http.StatusRequestEntityTooLarge && status.Status != http.StatusUnprocessableEntity:
		return nil, err
	case len(texts) > 1: // one of them, or all together, may be too long
		half := len(texts) / 2
		if got, err = k.embedTexts(ctx, texts[:half], refused); err != nil {
			return nil, err
		}
		more, err := k.embedTexts(ctx, texts[half:], refused)
		return append(got, more...), err
	case len(texts[0]) > minText:
		return k.embedTexts(ctx, []string{text.Cut(texts[0], max(len(texts[0])/2, minText))}, refused)
	}
	if *refused++; *refused >= maxRefused {
		return nil, err
	}
	return [][]float32{nil}, nil
}

// ask asks for embeddings, a few times if the endpoint fails in a way that may pass.
func (k *KB) ask(ctx context.Context, texts []string) (got [][]float32, err error) {
	for n := 1; ; n++ {
		one, cancel := context.WithTimeoutCause(ctx, embedTime, errSlow)
		got, err = k.o.Embed.Embed(one, texts)
		if err != nil && ctx.Err() == nil && context.Cause(one) == errSlow {
			err = fmt.Errorf("did not answer within %s", text.Duration(embedTime))
		}
		cancel()
		wait := failure.Backoff(n, k.firstRetry, longestRetry)
		var status *chat.StatusError
		if errors.As(err, &status) {
			if status.Status < 500 && status.Status != http.StatusTooManyRequests && status.Status != http.StatusRequestTimeout {
				n = embedTries
			}
			wait = max(wait, min(status.After, longestRetry))
		}
		switch {
		case err == nil:
			return got, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case k.local():
			return nil, err
		case n >= embedTries:
			return nil, fmt.Errorf("%s %w", k.o.Embed.Name(), err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// textOf is which text a passage has.
type textOf struct {
	id   int64
	hash hash
	base string
}

// hashes are the texts of all passages.
func (ix *index) hashes(ctx context.Context) (all []textOf, err error) {
	rows, err := ix.db.QueryContext(ctx, `SELECT c.id, c.hash, d.base FROM kb_chunk c JOIN kb_file d ON d.id = c.file`)
	return store.Collect(rows, err, func(r *sql.Rows) (t textOf, err error) {
		var raw []byte
		err = r.Scan(&t.id, &raw, &t.base)
		t.hash = padHash(raw)
		if i := slices.Index(bases, t.base); i >= 0 {
			t.base = bases[i] // one string for all
		}
		return t, err
	})
}

var bases = []string{General, Codebase, Documents}

// loadVectors takes the embeddings of the passages for searches from now on into memory.
func (k *KB) loadVectors(ctx context.Context, c *cache, texts []textOf) error {
	of := map[hash][]textOf{}
	for _, t := range texts {
		of[t.hash] = append(of[t.hash], t)
	}
	v := &vectors{}
	if err := c.each(ctx, func(h hash, raw []byte) {
		for _, t := range of[h] {
			v.add(t.id, h[:], t.base, raw)
		}
	}); err != nil {
		return err
	}
	k.vectors.Store(v)
	k.update(func(s *State) { s.Embeddings.Vectors = len(v.ids) })
	return nil
}
