package kb

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestBackendKnowledgeBaseOnPostgreSQL(t *testing.T) { pgtest.Again(t, pgtest.Owner) }

// replica is a database handle of its own.
func replica(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Replicas that start at once, each with the files in another folder, make the embeddings together. Who starts later makes none, and what one
// of them adds another one finds in its own folder.
func TestBackendReplicasShareEmbeddings(t *testing.T) {
	url := pgtest.Run(t)
	files := maps.Clone(garage)
	for i := range 200 {
		files[fmt.Sprintf("f%03d.txt", i)] = fmt.Sprintf("word%d", i)
	}
	m := &meanings{}
	start := func(dir string) *KB {
		t.Helper()
		k := open(t, Options{DB: replica(t, url), Key: "a/", Dir: dir, Embed: m.client(t, "m")})
		require.NoError(t, k.Reindex(t.Context()))
		return k
	}
	dirs := []string{folder(t, files), folder(t, files), folder(t, files)}
	all := []*KB{start(dirs[0]), start(dirs[1])}
	var done sync.WaitGroup
	for _, k := range all {
		done.Go(func() {
			assert.NoError(t, k.Embed(t.Context()))
		})
	}
	done.Wait()
	if n := m.embedded(); n < 205 || n > 2*205 {
		t.Errorf("%d embeddings were asked for, of 205 passages", n)
	}
	all = append(all, meant(t, Options{DB: replica(t, url), Key: "a/", Dir: dirs[2], Embed: m.client(t, "m")}))
	assert.Equalf(t, m.embedded(), 0, "embeddings were asked for again")
	for i, k := range all {
		if r := results(t, k, "canine", SearchOptions{Limit: 1}); paths(r) != "dogs.md:semantic" || r.Note != "" {
			t.Errorf("%d: %+v", i, r)
		}
	}
	m.embedded()
	for i, k := range all[:2] {
		write(t, filepath.Join(dirs[i], "sea.md"), "A boat on the water.\n")
		require.NoError(t, errors.Join(k.Reindex(t.Context()), k.Embed(t.Context())))
		if r := results(t, k, "vessel", SearchOptions{Limit: 1}); paths(r) != "sea.md:semantic" {
			t.Errorf("%+v", r)
		}
	}
	assert.Equalf(t, m.embedded(), 1+2, "texts, of one passage and two queries")
	// Who does not have the new file yet leaves the others its embedding.
	require.NoError(t, all[2].Embed(t.Context()))
	assert.Equal(t, rowsOf(t, all[2].o.DB), 205+1)
}

// What older versions kept goes, also where nothing makes embeddings.
func TestBackendOldIndexGoes(t *testing.T) {
	db := replica(t, pgtest.Run(t))
	old := store.Steps{Postgres: []string{`CREATE TABLE kb_file (id TEXT); CREATE TABLE kb_chunk (content TEXT)`}}
	require.NoError(t, db.Migrate(t.Context(), "kb", old))
	require.NoError(t, open(t, Options{DB: db, Dir: folder(t, garage)}).Reindex(t.Context()))
	var left int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_tables WHERE tablename IN ('kb_file', 'kb_chunk')`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d tables are left: %v", left, err)
	}
}

// Bases in one database have nothing to do with each other: no word, no correction, no embedding and no source of one is another's.
func TestBackendBasesAreSeparate(t *testing.T) {
	url := pgtest.Run(t)
	m := &meanings{}
	base := func(key, text string) *KB {
		return meant(t, Options{DB: replica(t, url), Key: key, Dir: folder(t, map[string]string{key[2:] + ".md": text}), Embed: m.client(t, "m")})
	}
	acme, globex := base("a/acme", "The zeppelin is a vehicle.\n"), base("a/globex", "The submarine is a vessel.\n")
	// What another agent with the same tenant has is not ours either.
	other := base("b/acme", "The tractor is slow.\n")
	for _, q := range []string{"zeppelin", "zepelin", "submarine", "submarin", "automobile", "boat", "tractor", "vehicle vessel"} {
		for _, mode := range []string{Hybrid, Semantic, FullText} {
			for k, own := range map[*KB]string{acme: "acme.md", globex: "globex.md", other: "acme.md"} {
				for _, h := range results(t, k, q, SearchOptions{Limit: 20, Mode: mode}).Hits {
					if h.Path != own || k == other && !strings.Contains(h.Content, "tractor") {
						t.Errorf("%s %s: %+v", q, mode, h)
					}
				}
			}
		}
	}
	if r := results(t, acme, "zepelin", SearchOptions{Mode: FullText}); len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
	if c, err := globex.Read(t.Context(), "resource://kb/acme.md?line=1"); err == nil {
		t.Errorf("%+v", c)
	}
	if n := m.embedded(); n < 3 {
		t.Errorf("%d texts", n)
	}
	for key, want := range map[string]int{"a/acme": 1, "a/globex": 1, "b/acme": 1} {
		var n int
		if err := acme.o.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM kb_vector WHERE base = ?`, key).Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d embeddings: %v", key, n, err)
		}
	}
}

// While the server is away searches go on, since what they need of it is in memory, and so is what indexing needs. What it kept is there
// afterwards.
func TestBackendServerIsAway(t *testing.T) {
	server := pgtest.Private(t)
	m := &meanings{}
	dir := folder(t, garage)
	k := meant(t, Options{DB: replica(t, server.URL("postgres")), Key: "a/", Dir: dir, Embed: m.client(t, "m")})
	require.NoError(t, server.Stop())
	write(t, filepath.Join(dir, "sea.md"), "A boat.\n")
	require.NoError(t, k.Reindex(t.Context()))
	if r := results(t, k, "canine boat", SearchOptions{Limit: 2}); paths(r) != "sea.md:lexical dogs.md:semantic" {
		t.Errorf("%+v", r)
	}
	if err := k.Embed(t.Context()); err == nil {
		t.Error("embeddings were kept by a server that is away")
	}
	require.NoError(t, server.Start())
	m.embedded()
	until(t, func() bool { return k.Embed(t.Context()) == nil })
	if r := results(t, k, "vessel", SearchOptions{Limit: 1}); paths(r) != "sea.md:semantic" || m.embedded() != 1+1 {
		t.Errorf("%+v", r)
	}
}
