package kb

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// meanings is an embeddings API that knows which words mean the same.
type meanings struct {
	mu     sync.Mutex
	dims   int
	texts  []string                                                // all that were embedded
	before func(w http.ResponseWriter, texts []string) (over bool) // nil to answer all
	calls  int
}

var synonyms = [][]string{{"car", "automobile", "vehicle"}, {"dog", "hound", "canine"}, {"salary", "wage", "pay"}, {"ship", "vessel", "boat"}}

func (m *meanings) of(text string) []float32 {
	v := make([]float32, m.dims)
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		w = strings.Trim(w, ".,#\n")
		at := -1
		for i, same := range synonyms {
			if slices.Contains(same, w) {
				at = i
			}
		}
		if at >= 0 {
			v[at] += 3
			continue
		}
		h := fnv.New32()
		_, _ = h.Write([]byte(w))
		v[len(synonyms)+int(h.Sum32())%(m.dims-len(synonyms))] += 0.3
	}
	v[m.dims-1] += 0.01
	return v
}

func (m *meanings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Input) > chat.MaxTexts {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	m.mu.Lock()
	m.calls++
	before := m.before
	m.mu.Unlock()
	if before != nil && before(w, in.Input) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	type one struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var out struct {
		Data []one `json:"data"`
	}
	for i, t := range in.Input {
		m.texts = append(m.texts, t)
		out.Data = append(out.Data, one{i, m.of(t)})
	}
	_ = json.NewEncoder(w).Encode(out)
}

// embedded is how many texts were embedded since it was asked last.
func (m *meanings) embedded() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.texts)
	m.texts = nil
	return n
}

func (m *meanings) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// client asks m for embeddings by a model.
func (m *meanings) client(t *testing.T, model string) Embedder {
	t.Helper()
	m.dims = max(m.dims, 64)
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	c, err := chat.New(chat.Model{URL: s.URL + "/v1", Name: model})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return Endpoint(c)
}

// meant opens a base whose passages have embeddings.
func meant(t *testing.T, o Options) *KB {
	t.Helper()
	k := open(t, o)
	k.firstRetry = time.Millisecond
	require.NoError(t, k.Reindex(t.Context()))
	require.NoError(t, k.Embed(t.Context()))
	return k
}

func paths(r Results) (out string) {
	for _, h := range r.Hits {
		out += h.Path + ":" + h.Found + " "
	}
	return strings.TrimSpace(out)
}

var garage = map[string]string{
	"motors.md": "# Garage\n\nEvery automobile is parked below.\n", "dogs.md": "# Kennel\n\nThe hound sleeps in the yard.\n",
	"pay.md": "# Office\n\nThe salary comes on Friday.\n", "notes.txt": "The car of the director.\n", "code.go": "package car // vehicle\n",
}

func TestSearchByMeaning(t *testing.T) {
	db := database(t)
	m := &meanings{}
	k := meant(t, Options{DB: db, Key: "x/", Dir: folder(t, garage), Embed: m.client(t, "m")})
	if s := k.State().Embeddings; s.Vectors != 5 || s.Running || s.Err != "" || s.Model != "m" {
		t.Errorf("%+v", s)
	}
	r := results(t, k, "car", SearchOptions{Limit: 3})
	got := paths(r)
	if r.Mode != Hybrid || r.Note != "" || !strings.Contains(got, "notes.txt:both") || !strings.Contains(got, "code.go:both") || !strings.HasSuffix(got, "motors.md:semantic") {
		t.Errorf("hybrid: %s %q: %s", r.Mode, r.Note, got)
	}
	for i, h := range r.Hits {
		if h.Similarity < 0.5 || h.Similarity > 1 || h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > r.Hits[i-1].Score || h.Content == "" || h.Snippet == "" || h.Title == "" {
			t.Errorf("%+v", h)
		}
		if c, err := k.Read(t.Context(), h.Source); err != nil || c.Text != h.Content {
			t.Errorf("%s: %v", h.Source, err)
		}
	}
	if r := results(t, k, "canine", SearchOptions{Limit: 1}); paths(r) != "dogs.md:semantic" {
		t.Errorf("a word that no passage has: %s", paths(r))
	}
	if r := results(t, k, "car", SearchOptions{Mode: Semantic, Limit: 1, Base: Documents}); r.Mode != Semantic || !strings.HasSuffix(paths(r), "semantic") || r.Hits[0].Score != r.Hits[0].Similarity {
		t.Errorf("by meaning alone: %+v", r)
	}
	if r := results(t, k, "vehicle", SearchOptions{Base: Documents, Limit: 2}); strings.Contains(paths(r), "code.go") || len(r.Hits) != 2 {
		t.Errorf("of one part: %s", paths(r))
	}
	before := m.embedded()
	if r := results(t, k, "car", SearchOptions{Mode: FullText}); r.Mode != FullText || r.Note != "" || strings.Contains(paths(r), "motors.md") || strings.Contains(paths(r), "both") {
		t.Errorf("by words alone: %+v", r)
	}
	if m.embedded() != 0 || before == 0 {
		t.Error("a search by words asked for an embedding")
	}
}

// Nothing is embedded twice: not by the next process, nor for a file that was moved or has the same passage as another.
func TestEmbeddingsAreKept(t *testing.T) {
	db := database(t)
	m := &meanings{}
	c := m.client(t, "m")
	dir := folder(t, garage)
	write(t, filepath.Join(dir, "same.md"), garage["motors.md"])
	o := Options{DB: db, Key: "x/", Dir: dir, Embed: c}
	meant(t, o)
	assert.Equalf(t, m.embedded(), 5, "texts for 6 passages, two of them alike")
	k := meant(t, o)
	if n := m.embedded(); n != 0 || k.State().Embeddings.Vectors != 6 {
		t.Errorf("after a restart %d texts were embedded again: %+v", n, k.State())
	}
	write(t, filepath.Join(dir, "dogs.md"), "# Kennel\n\nThe canine barks.\n")
	if k = meant(t, o); m.embedded() != 1 || k.State().Embeddings.Vectors != 6 {
		t.Errorf("after a change: %+v", k.State())
	}
	kept := 5
	if db.Dialect() == store.Postgres { // another replica may still have the text of before
		kept++
	}
	assert.Equalf(t, rowsOf(t, db), kept, "embeddings are kept")
	// Another model.
	o.Embed = m.client(t, "other")
	if k = meant(t, o); m.embedded() != 5 || k.State().Embeddings.Vectors != 6 || rowsOf(t, db) != 5 {
		t.Errorf("with another model: %+v, %d rows", k.State(), rowsOf(t, db))
	}
	// Another base of the same database has its own.
	o.Key = "x/acme"
	if k = meant(t, o); m.embedded() != 5 || rowsOf(t, db) != 10 {
		t.Errorf("of another base: %+v, %d rows", k.State(), rowsOf(t, db))
	}
}

func rowsOf(t *testing.T, db *store.DB) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM kb_vector`).Scan(&n))
	return n
}

// A model that makes embeddings of another length is noticed: by a pass at once, by a query that then falls back to words.
func TestEmbeddingsOfAnotherLength(t *testing.T) {
	db := database(t)
	m := &meanings{}
	dir := folder(t, garage)
	o := Options{DB: db, Key: "x/", Dir: dir, Embed: m.client(t, "m")}
	k := meant(t, o)
	m.set(func() { m.dims = 100 })
	r := results(t, k, "car", SearchOptions{})
	if r.Mode != FullText || !strings.Contains(r.Note, "answers with 100 numbers, and the passages have 64") || len(r.Hits) != 2 {
		t.Errorf("%+v", r)
	}
	m.embedded()
	require.NoError(t, k.Embed(t.Context()))
	if r := results(t, k, "canine", SearchOptions{Limit: 1}); r.Mode != Hybrid || paths(r) != "dogs.md:semantic" {
		t.Errorf("%+v", r)
	}
	m.set(func() { m.dims = 80 })
	write(t, filepath.Join(dir, "new.md"), "A boat.\n")
	k = meant(t, o)
	if r := results(t, k, "vessel", SearchOptions{Limit: 1}); r.Mode != Hybrid || paths(r) != "new.md:semantic" || k.State().Embeddings.Vectors != 6 {
		t.Errorf("%+v %+v", r, k.State())
	}
}

// While there are no embeddings, or none of the query, words are searched, and the answer says why.
func TestSearchWithoutTheEndpoint(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, []string) bool {
		return func(w http.ResponseWriter, _ []string) bool {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	m := &meanings{before: status(503, `{"error":"loading"}`)}
	k := open(t, Options{Dir: folder(t, garage), Embed: m.client(t, "m")})
	k.firstRetry = time.Millisecond
	require.NoError(t, k.Reindex(t.Context()))
	r := results(t, k, "car", SearchOptions{})
	if r.Mode != FullText || r.Note != "full-text only: 0 of 5 passages have embeddings so far" || len(r.Hits) != 2 || r.Hits[0].Found != "lexical" {
		t.Errorf("%+v", r)
	}
	err := k.Embed(t.Context())
	if err == nil || !strings.Contains(err.Error(), "status 503: loading") || m.calls != embedTries {
		t.Errorf("%v after %d requests", err, m.calls)
	}
	if r := results(t, k, "car", SearchOptions{}); !strings.Contains(r.Note, "status 503") || len(r.Hits) != 2 {
		t.Errorf("%+v", r)
	}
	m.set(func() { m.before = nil })
	require.NoError(t, k.Embed(t.Context()))
	k.queryTime = time.Minute // what it answers counts here, not when
	for body, want := range map[string]string{
		`{"data":[{"embedding":[NaN]}]}`: "did not answer with embeddings", `{"data":[]}`: "0 embeddings", `{"data":[{"embedding":[0,0]}]}`: "no direction",
		`{"data":[{"embedding":[1,2]}]}`: "with 2 numbers", strings.Repeat(" ", 17<<20): "more than",
	} {
		m.set(func() { m.before = status(200, body) })
		if r := results(t, k, "car", SearchOptions{}); r.Mode != FullText || !strings.Contains(r.Note, want) || len(r.Hits) != 2 {
			t.Errorf("%.40s: %+v", body, r)
		}
	}
	release := make(chan struct{})
	defer close(release)
	m.set(func() { m.before = func(http.ResponseWriter, []string) bool { <-release; return true } })
	k.queryTime = 20 * time.Millisecond
	if r := results(t, k, "car", SearchOptions{}); r.Mode != FullText || !strings.Contains(r.Note, "did not answer within 20") || len(r.Hits) != 2 {
		t.Errorf("%+v", r)
	}
	k.queryTime = time.Hour
	if r := results(t, k, "car", SearchOptions{}); !strings.Contains(r.Note, "did not answer in time just now") || len(r.Hits) != 2 {
		t.Errorf("the next one waits as well: %+v", r)
	}
	plain := open(t, Options{})
	if r := results(t, plain, "tools", SearchOptions{}); r.Mode != FullText || r.Note != "" || len(r.Hits) == 0 {
		t.Errorf("%s %q", r.Mode, r.Note)
	}
	if r := results(t, plain, "tools", SearchOptions{Mode: Semantic}); r.Mode != FullText || !strings.Contains(r.Note, "no embeddings are configured") || len(r.Hits) == 0 {
		t.Errorf("%s %q", r.Mode, r.Note)
	}
}

// A text that the endpoint refuses is cut shorter, and at last left out; an endpoint that refuses everything is not asked about all.
func TestTextsThatAreRefused(t *testing.T) {
	files := map[string]string{"long.txt": strings.Repeat("The car waits. ", 80), "bad.txt": "forbidden word"}
	for i := range 40 {
		files[fmt.Sprintf("f%02d.txt", i)] = fmt.Sprintf("word%d", i)
	}
	m := &meanings{before: func(w http.ResponseWriter, texts []string) bool {
		for _, text := range texts {
			if len(text) > 400 || strings.Contains(text, "forbidden") {
				w.WriteHeader(http.StatusBadRequest)
				return true
			}
		}
		return false
	}}
	k := meant(t, Options{Dir: folder(t, files), Embed: m.client(t, "m")})
	if s := k.State(); s.Embeddings.Vectors != 41 || s.Chunks != 42 {
		t.Errorf("%+v", s)
	}
	r := results(t, k, "vehicle", SearchOptions{Limit: 1})
	if paths(r) != "long.txt:semantic" || !strings.Contains(r.Note, "41 of 42 passages") {
		t.Errorf("%+v", r)
	}
	m = &meanings{before: func(w http.ResponseWriter, _ []string) bool { w.WriteHeader(http.StatusBadRequest); return true }}
	k = open(t, Options{Dir: folder(t, files), Embed: m.client(t, "m")})
	require.NoError(t, k.Reindex(t.Context()))
	if err := k.Embed(t.Context()); err == nil || m.calls > 20 {
		t.Errorf("%v after %d requests", err, m.calls)
	}
}

// The built-in texts have embeddings as well, which a store keeps though their index is in memory.
func TestEmbeddingsOfTheCorpus(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "agent.db"))
	require.NoError(t, err)
	defer db.Close()
	m := &meanings{}
	o := Options{DB: db, Key: "x/", Embed: m.client(t, "m")}
	first := meant(t, o)
	if n := m.embedded(); n != first.State().Chunks || n < 200 {
		t.Errorf("%d texts", n)
	}
	k := open(t, o)
	k.Start()
	until(t, func() bool { return k.State().Embeddings.Vectors > 0 })
	if r := results(t, k, "cancel a call", SearchOptions{}); r.Mode != Hybrid || r.Note != "" || m.embedded() != 1 {
		t.Errorf("%+v", r)
	}
}

// What is in memory of a passage that is not there any more is not found, also if another one has its id now.
func TestPassagesThatAreGone(t *testing.T) {
	db := database(t)
	m := &meanings{}
	dir := folder(t, garage)
	k := meant(t, Options{DB: db, Key: "x/", Dir: dir, Embed: m.client(t, "m")})
	for name := range garage {
		write(t, filepath.Join(dir, name), "Something else is in "+name)
	}
	require.NoError(t, k.Reindex(t.Context()))
	if r := results(t, k, "canine", SearchOptions{}); len(r.Hits) != 0 {
		t.Errorf("%+v", r)
	}
}
