package kb

import (
	"context"
	"errors"
	"fmt"
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
	leastText  = 256         // bytes of a text that is refused: it is not cut shorter
	mostRefuse = 3           // texts refused one after another: then it is not they that are wrong

	firstRetry, longestRetry = time.Second, 30 * time.Second      // between requests for the same texts
	firstPass, longestPass   = 10 * time.Second, 10 * time.Minute // between passes that failed
	refreshEvery             = 10 * time.Second                   // until embeddings by another process can be found
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

// meaningful is the text of a passage whose embedding is asked for.
func meaningful(title, heading, content string) string {
	if heading != "" {
		title = heading
	}
	return title + "\n\n" + content
}

// embedding makes embeddings until Close: all that are missing, and again when the endpoint failed or is not what it was.
func (k *KB) embedding() {
	refresh := time.NewTicker(refreshEvery)
	defer refresh.Stop()
	for n := 1; ; n++ {
		err := k.Embed(k.run)
		var again <-chan time.Time
		if err == nil {
			n = 0
		} else if k.local() {
			k.o.Log.Error("knowledge base: searches are by words alone", "error", err) // what failed fails again
		} else if k.run.Err() == nil {
			wait := failure.Backoff(n, k.firstPass, longestPass)
			k.o.Log.Warn("knowledge base: embeddings are incomplete, and searches by meaning with them", "error", err, "retry_in", text.Duration(wait))
			again = time.After(wait)
		}
		for waiting := true; waiting; {
			select {
			case <-k.run.Done():
				return
			case <-again:
				waiting = false
			case <-k.again:
				waiting = false
			case <-refresh.C:
				if err := k.refresh(k.run); err != nil && k.run.Err() == nil {
					k.o.Log.Warn("knowledge base: cannot see whether there are other embeddings", "error", err)
				}
			}
		}
	}
}

// refresh loads what another process that shares the database made since.
func (k *KB) refresh(ctx context.Context) error {
	select {
	case k.embeds <- struct{}{}:
		defer func() { <-k.embeds }()
	default:
		return nil // a pass does
	}
	ix, err := k.open(ctx)
	if err != nil || k.cacheDB(ix).Dialect() != store.Postgres {
		return err
	}
	c, err := openCache(ctx, k.cacheDB(ix), ix, k.o.Key, k.o.Embed.Model())
	if err != nil {
		return err
	}
	now, err := stampOf(ctx, ix, c)
	if err != nil || now == k.stamp {
		return err
	}
	texts, err := ix.hashes(ctx)
	if err != nil {
		return err
	}
	files, chunks, err := ix.size(ctx)
	if err != nil {
		return err
	}
	k.update(func(s *State) { s.Files, s.Chunks = files, chunks })
	return k.loadVectors(ctx, ix, c, texts)
}

// stamp tells what is indexed from what was.
type stamp struct{ chunks, newest, vectors int64 }

func stampOf(ctx context.Context, ix *index, c *cache) (s stamp, err error) {
	err = ix.db.QueryRowContext(ctx, `SELECT count(*), coalesce(max(c.id), 0) FROM kb_chunk c JOIN kb_file f ON f.id = c.file WHERE f.kb = ?`, ix.id).Scan(&s.chunks, &s.newest)
	if err == nil {
		err = c.db.QueryRowContext(ctx, `SELECT count(*) FROM kb_vector WHERE base = ? AND model = ?`, c.base, c.model).Scan(&s.vectors)
	}
	return s, err
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
	c, err := openCache(ctx, k.cacheDB(ix), ix, k.o.Key, k.o.Embed.Model())
	if err != nil {
		return err
	}
	// What there is can be found at once, also while another process makes more.
	texts, err := ix.hashes(ctx)
	if err == nil {
		err = k.loadVectors(ctx, ix, c, texts)
	}
	if err != nil {
		return err
	}
	release, err := lease(ctx, c.db, "embed "+k.o.Key, func() {
		k.o.Log.Info("knowledge base: waiting for another process that makes the embeddings")
	})
	if err != nil {
		return err
	}
	defer release()
	if texts, err = ix.hashes(ctx); err != nil {
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
		err = k.embedThese(ctx, ix, c, texts, missing, dims)
	} else if now, serr := stampOf(ctx, ix, c); serr != nil || now != k.stamp {
		err = errors.Join(serr, k.loadVectors(ctx, ix, c, texts)) // another process made them while this one waited
	}
	if err != nil {
		return err
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
	for batch := range slices.Chunk(missing, chat.MaxTexts) {
		found, err := ix.passages(ctx, batch)
		if err != nil {
			return err
		}
		var hashes []hash
		var contents []string
		for _, p := range found {
			hashes, contents = append(hashes, pad(p.hash)), append(contents, meaningful(p.Hit.Title, p.heading, p.Content))
		}
		if len(contents) == 0 {
			continue // gone meanwhile
		}
		got, err := k.embedTexts(ctx, contents, &refused)
		if err != nil {
			return errors.Join(err, k.loadVectors(context.WithoutCancel(ctx), ix, c, texts))
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
			if err := k.loadVectors(ctx, ix, c, texts); err != nil {
				return err
			}
		}
	}
	k.o.Log.Info("knowledge base: embeddings are up to date", "made", done, "model", k.o.Embed.Model(), "duration_ms", time.Since(start).Milliseconds())
	return k.loadVectors(ctx, ix, c, texts)
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
	case len(texts[0]) > leastText:
		return k.embedTexts(ctx, []string{text.Cut(texts[0], max(len(texts[0])/2, leastText))}, refused)
	}
	if *refused++; *refused >= mostRefuse {
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
	rows, err := ix.db.QueryContext(ctx, `SELECT c.id, c.hash, d.base FROM kb_chunk c JOIN kb_file d ON d.id = c.file WHERE d.kb = ?`, ix.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t textOf
		var raw []byte
		if err := rows.Scan(&t.id, &raw, &t.base); err != nil {
			return nil, err
		}
		t.hash = pad(raw)
		if i := slices.Index(bases, t.base); i >= 0 {
			t.base = bases[i] // one string for all
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

var bases = []string{General, Codebase, Documents}

// loadVectors takes the embeddings of the passages for searches from now on: into memory, unless there are too many and pgvector
// can search them.
func (k *KB) loadVectors(ctx context.Context, ix *index, c *cache, texts []textOf) (err error) {
	if k.stamp, err = stampOf(ctx, ix, c); err != nil {
		return err
	}
	v := &vectors{}
	if c.pgvector != "" {
		if v.count, v.dims, err = c.found(ctx, ix); err != nil {
			return err
		}
	}
	if v.count*v.dims > k.memory { // in memory is several times faster
		v.in, v.of = c, ix
	} else if err := v.load(ctx, c, texts); err != nil {
		return err
	}
	k.vectors.Store(v)
	k.update(func(s *State) { s.Embeddings.Vectors = v.size() })
	return nil
}

// load reads embeddings into memory.
func (v *vectors) load(ctx context.Context, c *cache, texts []textOf) error {
	of := map[hash][]textOf{}
	for _, t := range texts {
		of[t.hash] = append(of[t.hash], t)
	}
	return c.each(ctx, func(h hash, raw []byte) {
		for _, t := range of[h] {
			v.add(t.id, h[:], t.base, raw)
		}
	})
}
