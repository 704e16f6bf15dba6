package kb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/tools/kb/wordvec"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// asked are the queries of a file of testdata, and the headings of the passages that answer each.
func asked(t *testing.T, file string) (queries []string, want [][]string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	for l := range strings.Lines(string(raw)) {
		query, sections, ok := strings.Cut(strings.TrimSpace(l), "\t")
		if !ok {
			t.Fatalf("%s: no tab in %q", file, l)
		}
		queries, want = append(queries, query), append(want, strings.Split(sections, "|"))
	}
	return queries, want
}

// answered is how many queries have a passage that answers them among the first n hits.
func answered(t *testing.T, k *KB, file, mode string, n int) (found, all int) {
	t.Helper()
	queries, want := asked(t, file)
	for i, q := range queries {
		r := results(t, k, q, SearchOptions{Limit: n, Mode: mode})
		if known := !strings.HasSuffix(r.Note, "have no word of the query"); known && (r.Note != "" || r.Mode != mode || (r.Vectors == ByWords) != (mode != FullText)) {
			t.Errorf("%q: asked for %s, is %s by %q: %s", q, mode, r.Mode, r.Vectors, r.Note)
		}
		if slices.ContainsFunc(r.Hits, func(h Hit) bool { return slices.Contains(want[i], sectionOf(h)) }) {
			found++
		} else if mode == Hybrid {
			t.Logf("not in the first %d: %q", n, q)
		}
	}
	return found, len(queries)
}

func sectionOf(h Hit) string {
	_, heading, _ := strings.Cut(h.Title, " › ")
	return heading
}

// What says the same in other words is found by the built-in vectors of words: none of these shares a word with its passage that fewer
// than a tenth of the passages have.
func TestT3b_Paraphrases(t *testing.T) {
	k := open(t, Options{Embed: WordVectors()})
	both, n := answered(t, k, "paraphrases.tsv", Hybrid, 3)
	words, _ := answered(t, k, "paraphrases.tsv", FullText, 3)
	t.Logf("of %d paraphrases %d are answered by the first three, by words alone %d", n, both, words)
	if n != 20 || both < 16 || words > 4 {
		t.Errorf("of %d paraphrases %d are answered by the first three, and by words alone %d; want 16 of 20, and few by words", n, both, words)
	}
	queries, want := asked(t, "paraphrases.tsv")
	for i, q := range queries {
		for w := range strings.FieldsFuncSeq(strings.ToLower(q), func(r rune) bool { return !isLetter(r) }) {
			if wordvec.Common(w) {
				continue
			}
			rows, err := k.ix.db.QueryContext(t.Context(), `SELECT heading FROM kb_chunk WHERE id IN (SELECT rowid FROM kb_fts WHERE kb_fts MATCH ?)`, `"`+w+`"`)
			require.NoError(t, err)
			have, shared := 0, false
			for rows.Next() {
				var heading string
				require.NoError(t, rows.Scan(&heading))
				_, heading, _ = strings.Cut(heading, " › ")
				have, shared = have+1, shared || slices.Contains(want[i], heading)
			}
			require.NoError(t, errors.Join(rows.Err(), rows.Close()))
			if shared && have*10 < k.State().Chunks {
				t.Errorf("%q shares %s, which %d passages have, with %q", q, w, have, want[i])
			}
		}
	}
}

// Questions that were written without a look at what is found are answered far more often than by words alone, if by no means always.
func TestT3b_ObliqueQuestions(t *testing.T) {
	k := open(t, Options{Embed: WordVectors()})
	both, n := answered(t, k, "oblique.tsv", Hybrid, 3)
	words, _ := answered(t, k, "oblique.tsv", FullText, 3)
	t.Logf("of %d questions %d are answered by the first three, by words alone %d", n, both, words)
	if n < 70 || both < 23 || both*2 < words*3 {
		t.Errorf("of %d questions %d are answered by the first three, and by words alone %d", n, both, words)
	}
}

// What the words of a question find is not lost among guesses.
func TestT3b_WordVectorsHideNothing(t *testing.T) {
	k := open(t, Options{Embed: WordVectors()})
	five, n := answered(t, k, "queries.tsv", Hybrid, 5)
	first, _ := answered(t, k, "queries.tsv", Hybrid, 1)
	words, _ := answered(t, k, "queries.tsv", FullText, 5)
	t.Logf("of %d queries %d are answered first and %d among five, by words alone %d", n, first, five, words)
	if five < words-2 || float64(first) < 0.6*float64(n) {
		t.Errorf("of %d queries %d are answered by the first hit and %d by the first five, and %d by words alone", n, first, five, words)
	}
}

// Nothing is made at the start, and all at the first search that looks by meaning.
func TestT3b_WordVectorsWaitForASearch(t *testing.T) {
	db := database(t)
	k := open(t, Options{Embed: WordVectors(), DB: db, Key: "x/"})
	k.Start()
	if k.vectors.Load() != nil || k.ix != nil {
		t.Error("there are vectors before anybody searches")
	}
	find(t, k, "tools", SearchOptions{Mode: FullText})
	if k.vectors.Load() != nil {
		t.Error("a search by words made vectors")
	}
	find(t, k, "tools", SearchOptions{})
	if s := k.State(); s.Embeddings.Vectors != s.Chunks || s.Embeddings.Model != wordvec.Model {
		t.Errorf("%+v", s)
	}
}

// A passage without a known word is near to nothing, and a query without one says so.
func TestT3b_TextsWithoutKnownWords(t *testing.T) {
	k := meant(t, Options{Embed: WordVectors(), Dir: folder(t, map[string]string{"a.md": "工具列表在这里\n", "b.txt": "zqxv 12345\n", "c.md": "The ship sails to Hamburg.\n"})})
	if s := k.State(); s.Embeddings.Vectors != 3 || s.Chunks != 3 {
		t.Errorf("%+v", s)
	}
	if r := results(t, k, "boat", SearchOptions{}); r.Mode != Hybrid || r.Note != "" || paths(r) != "c.md:semantic" {
		t.Errorf("%+v", r)
	}
	if r := results(t, k, "工具", SearchOptions{}); r.Mode != FullText || r.Vectors != "" || r.Note != "full-text only: the built-in word vectors have no word of the query" || paths(r) != "a.md:lexical" {
		t.Errorf("%+v", r)
	}
	if r := results(t, k, "hambrug", SearchOptions{}); len(r.Fuzzy) != 1 || r.Fuzzy[0].Word != "hambrug" || !slices.Equal(r.Fuzzy[0].As, []string{"hamburg"}) {
		t.Errorf("%+v", r.Fuzzy)
	}
}

// Damaged vectors are said in each answer, and the words find what they find.
func TestT3b_DamagedVectors(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("wordvec", "words.bin"))
	require.NoError(t, err)
	if len(whole) > 2<<20 {
		t.Errorf("the word vectors take %d bytes", len(whole))
	}
	damaged := map[string][]byte{
		"does not begin": nil, "does not begin as": whole[:10], "bytes in the place": whole[:len(whole)/2], "in the place of": append(slices.Clone(whole), 0),
		"checksum": slices.Concat(whole[:5000], []byte{whole[5000] ^ 1}, whole[5001:]), "says it has": slices.Concat(whole[:15], []byte{255, 255, 255, 255}, whole[19:]),
	}
	for want, data := range damaged {
		bad := wordVectors{func() (*wordvec.Words, error) { return wordvec.Read(data) }}
		for dir, q := range map[string]string{"": "tools", folder(t, garage): "car"} {
			k := open(t, Options{Embed: bad, Dir: dir})
			k.Start()
			until(t, func() bool { s := k.State(); return dir == "" || s.Ready && s.Embeddings.Err != "" })
			for range 2 {
				r := results(t, k, q, SearchOptions{})
				if r.Mode != FullText || len(r.Hits) == 0 || !strings.Contains(r.Note, "full-text only: knowledge base: embeddings: the word vectors are damaged: ") || !strings.Contains(r.Note, want) {
					t.Errorf("%s: %s %q, %d hits", want, r.Mode, r.Note, len(r.Hits))
				}
			}
		}
	}
}

// What an endpoint made and what words make is never compared, and what was paid for stays.
func TestT3b_AnotherEmbedder(t *testing.T) {
	pgtest.SQLite(t) // PostgreSQL keeps none by words
	db := database(t)
	m := &meanings{dims: 100} // as many as the vectors of words have
	o := Options{DB: db, Key: "x/", Dir: folder(t, garage), Embed: m.client(t, "m")}
	if r := results(t, meant(t, o), "canine", SearchOptions{Limit: 1}); r.Vectors != ByEndpoint || paths(r) != "dogs.md:semantic" {
		t.Errorf("by an endpoint: %+v", r)
	}
	o.Embed = WordVectors()
	for range 2 { // the second time they are in the store
		k := meant(t, o)
		if r := results(t, k, "puppy", SearchOptions{Limit: 1}); r.Vectors != ByWords || r.Mode != Hybrid || paths(r) != "dogs.md:semantic" {
			t.Errorf("by words: %+v", r)
		}
		if n := rowsOf(t, db); n != 10 || k.State().Embeddings.Vectors != 5 {
			t.Errorf("%d embeddings are kept; want the 5 of the endpoint and 5 by words: %+v", n, k.State())
		}
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE kb_vector SET model = ? WHERE model = ?`, wordvec.Prefix+"50d-0", wordvec.Model); err != nil {
		t.Fatal(err)
	}
	if meant(t, o); rowsOf(t, db) != 10 {
		t.Errorf("%d embeddings are kept after other vectors of words", rowsOf(t, db))
	}
	m.embedded()
	o.Embed = m.client(t, "m")
	if r := results(t, meant(t, o), "canine", SearchOptions{Limit: 1}); r.Vectors != ByEndpoint || rowsOf(t, db) != 5 || m.embedded() != 1 { // the query
		t.Errorf("by the endpoint again: %+v, %d rows", r, rowsOf(t, db))
	}
}

// A search that is given up leaves the vectors to the next one.
func TestT3b_FirstSearchGivenUp(t *testing.T) {
	k := open(t, Options{Embed: WordVectors()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Search(ctx, "t", "tools", SearchOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if r := results(t, k, "tools", SearchOptions{}); r.Mode != Hybrid || r.Note != "" {
		t.Errorf("%s %q", r.Mode, r.Note)
	}
}
