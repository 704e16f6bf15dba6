package kb

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
)

func TestBackendKnowledgeBaseOnPostgreSQL(t *testing.T) { pgtest.Again(t, pgtest.Owner) }

// Without the rights to have pg_trgm words are corrected as well.
func TestBackendKnowledgeBaseWithoutExtensions(t *testing.T) { pgtest.Again(t, pgtest.Guest) }

// replica is a database handle of its own.
func replica(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Replicas that start at once, each with the files in another folder, index them once, and ask for each embedding once. What one of
// them adds later the others find.
func TestBackendReplicasShareOneIndex(t *testing.T) {
	url := pgtest.Run(t)
	m := &meanings{}
	var all []*KB
	var dirs []string
	for range 3 {
		dirs = append(dirs, folder(t, garage))
		k := open(t, Options{DB: replica(t, url), Key: "a/", Dir: dirs[len(dirs)-1], Embed: m.client(t, "m")})
		all = append(all, k)
	}
	var done sync.WaitGroup
	for _, k := range all {
		done.Go(func() {
			if err := k.Reindex(t.Context()); err != nil {
				t.Error(err)
			}
			if err := k.Embed(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	var rows, oldest, newest int
	if err := all[0].o.DB.QueryRowContext(t.Context(), `SELECT count(*), min(id), max(id) FROM kb_chunk`).Scan(&rows, &oldest, &newest); err != nil || rows != 5 || newest-oldest != 4 {
		t.Errorf("%d passages, numbered %d to %d: %v", rows, oldest, newest, err)
	}
	if n := m.embedded(); n != 5 {
		t.Errorf("%d embeddings were asked for, of 5 passages", n)
	}
	for i, k := range all {
		if r := results(t, k, "canine", SearchOptions{Limit: 1}); paths(r) != "dogs.md:semantic" || r.Note != "" {
			t.Errorf("%d: %+v", i, r)
		}
	}
	write(t, filepath.Join(dirs[0], "sea.md"), "A boat on the water.\n")
	if err := all[0].Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Embed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := all[1].refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := results(t, all[1], "vessel", SearchOptions{Limit: 1}); paths(r) != "sea.md:semantic" || all[1].State().Files != 6 || m.embedded() != 1+4 {
		t.Errorf("%+v %+v", r, all[1].State())
	}
}

// An agent that has other files than one of its name before says that they took the place of those. Files that are the same, elsewhere, or
// that changed in their folder, are nobody else's.
func TestBackendOtherFilesOfTheSameName(t *testing.T) {
	url := pgtest.Run(t)
	said := func(dir string) string {
		t.Helper()
		var log bytes.Buffer
		k := open(t, Options{DB: replica(t, url), Key: "a/", Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := k.Reindex(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, text, ok := strings.Cut(log.String(), "level=WARN"); ok {
			return text
		}
		return ""
	}
	first, same, other := folder(t, garage), folder(t, garage), folder(t, map[string]string{"sea.md": "A boat.\n"})
	for _, dir := range []string{first, same, first} {
		if text := said(dir); text != "" {
			t.Errorf("the same files: %s", text)
		}
	}
	if text := said(other); !strings.Contains(text, "took the place of others") || !strings.Contains(text, "before="+where(first)) || !strings.Contains(text, "dir="+where(other)) || !strings.Contains(text, "removed=5 files=1") {
		t.Errorf("other files: %s", text)
	}
	write(t, filepath.Join(other, "lake.md"), "Water.\n")
	if err := os.Remove(filepath.Join(other, "sea.md")); err != nil {
		t.Fatal(err)
	}
	if text := said(other); text != "" {
		t.Errorf("files that changed: %s", text)
	}
}

// where is a folder on this machine.
func where(dir string) string {
	host, _ := os.Hostname()
	return host + ":" + dir
}

// Who holds a lease and is gone does not keep others waiting for ever.
func TestBackendLeaseOfAProcessThatIsGone(t *testing.T) {
	db := replica(t, pgtest.Run(t))
	waited := false
	release, err := lease(t.Context(), db, "x", func() { waited = true })
	if err != nil || waited {
		t.Fatal(err, waited)
	}
	done := make(chan func())
	waiting := make(chan struct{})
	go func() {
		next, err := lease(t.Context(), db, "x", func() { close(waiting) })
		if err != nil {
			t.Error(err)
		}
		done <- next
	}()
	<-waiting
	if _, err := db.ExecContext(t.Context(), `UPDATE kb_lease SET until = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	select {
	case next := <-done:
		release() // which is not its to end any more
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM kb_lease`).Scan(&n); err != nil || n != 1 {
			t.Error(n, err)
		}
		next()
	case <-time.After(time.Minute):
		t.Fatal("nobody gets it")
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

// The language is what the database or its URL says.
func TestBackendLanguage(t *testing.T) {
	url := pgtest.Run(t)
	dir := folder(t, map[string]string{"a.md": "Die Bücher stehen im Regal.\n", "b.md": "Validating the houses.\n"})
	for _, c := range []struct{ language, finds string }{{"", "b.md"}, {"german", "a.md"}, {"simple", ""}} {
		address := url
		if c.language != "" {
			address += "&default_text_search_config=" + c.language
		}
		k := open(t, Options{DB: replica(t, address), Key: "a/", Dir: dir})
		if err := k.Reindex(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, q := range []string{"validates", "buch"} {
			for _, h := range find(t, k, q, SearchOptions{}) {
				got += h.Path
			}
		}
		if got != c.finds {
			t.Errorf("%s: %q, want %q", c.language, got, c.finds)
		}
	}
}

// With pgvector the database finds what is nearest where memory is too small, also by embeddings that were made before it was installed, and what it finds is what is
// found in memory.
func TestBackendVectorsInTheDatabase(t *testing.T) {
	url := pgtest.Run(t)
	db := replica(t, url)
	var there bool
	if err := db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')`).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if !there {
		t.Skip("this PostgreSQL has no pgvector, which Debian 12 has no package of")
	}
	m := &meanings{}
	dir := folder(t, garage)
	o := Options{DB: db, Key: "a/", Dir: dir, Embed: m.client(t, "m")}
	first := open(t, o)
	first.memory = 0
	pass := func(k *KB) {
		t.Helper()
		if err := errors.Join(k.Reindex(t.Context()), k.Embed(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	pass(first)
	if v := first.vectors.Load(); v.in == nil || v.count != 5 || v.dims != 64 || len(v.data) != 0 {
		t.Fatalf("%+v", v)
	}
	c, err := openCache(t.Context(), db, first.ix, "a/", "m")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := first.ix.hashes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	memory := &vectors{}
	if err := memory.load(t.Context(), c, texts); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"car", "hound", "salary on Friday"} {
		for _, base := range []string{"", Documents, Codebase, General} {
			v, err := o.Embed.Embed(t.Context(), []string{q})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.nearest(t.Context(), first.ix, v[0], base, 3, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := memory.nearest(v[0], base, 3, 0)
			far := func(n near) bool { return n.cosine < 0.02 } // which bytes may take for nothing at all
			got, want = slices.DeleteFunc(got, far), slices.DeleteFunc(want, far)
			if len(got) != len(want) {
				t.Fatalf("%s in %q: %v, want %v", q, base, got, want)
			}
			for i := range got { // equally near ones may change places
				if got[i].cosine-want[i].cosine > 0.02 || want[i].cosine-got[i].cosine > 0.02 || !slices.ContainsFunc(want, func(n near) bool { return n.id == got[i].id && n.tag == got[i].tag }) {
					t.Errorf("%s in %q: %v, want %v", q, base, got, want)
				}
			}
		}
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE kb_vector SET embedding = NULL`); err != nil {
		t.Fatal(err)
	}
	m.embedded()
	again := open(t, o)
	again.memory = 0
	pass(again)
	if r := results(t, again, "canine", SearchOptions{Limit: 1}); paths(r) != "dogs.md:semantic" || m.embedded() != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := db.ExecContext(t.Context(), `DROP EXTENSION vector CASCADE`); err != nil {
		t.Fatal(err)
	}
	if r := results(t, again, "hound", SearchOptions{}); r.Mode != FullText || !strings.Contains(r.Note, "cannot search by meaning now") || len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
}

// While the server is away a search says so, and after that it works again without anybody doing anything.
func TestBackendServerIsAway(t *testing.T) {
	server := pgtest.Private(t)
	m := &meanings{}
	k := meant(t, Options{DB: replica(t, server.URL("postgres")), Key: "a/", Dir: folder(t, garage), Embed: m.client(t, "m")})
	l := NewLibrary(k, nil)
	call := mcp.CallToolRequest{}
	call.Params.Arguments = map[string]any{"query": "canine", "tenant_id": "t"}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	var failed *jsonrpc.RequestError
	if r, err := l.tool(t.Context(), call); !errors.As(err, &failed) || failed.RetryAfter == 0 || !strings.Contains(err.Error(), "the store cannot be reached") {
		t.Errorf("%+v %v", r, err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		r, err := k.Search(t.Context(), "t", "canine", SearchOptions{Limit: 1})
		return err == nil && paths(r) == "dogs.md:semantic"
	})
}
