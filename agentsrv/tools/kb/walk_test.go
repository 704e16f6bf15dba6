package kb

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestT3_IndexesAFolder(t *testing.T) {
	outside := folder(t, map[string]string{"secret.txt": "hippopotamus"})
	dir := folder(t, map[string]string{
		"README.md": "# Widgets\n\nHow to polish a widget.\n", "src/polish.go": "package polish\n\nfunc PolishWidget() {}\n",
		"conf/app.yaml": "polish: widget\n", ".git/config": "polish widget", "bin.dat": "polish widget\x00", "latin.txt": "polish widget \xe4",
		"big.txt": strings.Repeat("polish widget\n", maxFile/14+1), "node_modules/x/index.js": "polish widget", "empty.txt": "",
	})
	for link, to := range map[string]string{"leak.txt": filepath.Join(outside, "secret.txt"), "leak": outside, "inside.md": "README.md"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	k := open(t, Options{Dir: dir})
	require.NoError(t, k.Reindex(t.Context()))
	got := map[string]string{}
	for _, h := range find(t, k, "polish widgets", SearchOptions{Limit: 20}) {
		got[h.Path] = h.Base
	}
	want := map[string]string{"README.md": Documents, "src/polish.go": Codebase, "conf/app.yaml": General, "inside.md": Documents}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if hits := find(t, k, "hippopotamus", SearchOptions{}); len(hits) > 0 {
		t.Errorf("a link led out of the folder: %+v", hits)
	}
	if s := k.State(); !s.Ready || s.Indexing || s.Files != 5 || s.Skipped != 5 || s.Err != "" {
		t.Errorf("%+v", s)
	}
}

func TestIndexFollowsTheFolder(t *testing.T) {
	pgtest.SQLite(t) // which alone keeps an index
	dir := folder(t, map[string]string{"a.md": "# A\n\nalbatross\n", "b.md": "# B\n\nbadger\n", "c.md": "# C\n\ncassowary\n"})
	db := database(t)
	pass := func() *KB {
		k := open(t, Options{Dir: dir, DB: db})
		require.NoError(t, k.Reindex(t.Context()))
		return k
	}
	pass()
	ids := func() string {
		rows, err := db.QueryContext(t.Context(), `SELECT d.path || ' ' || c.id FROM kb_chunk c JOIN kb_file d ON d.id = c.file ORDER BY 1`)
		all, err := store.Collect(rows, err, func(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) })
		require.NoError(t, err)
		return strings.Join(all, "; ")
	}
	before := ids()
	later := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a.md"), later, later))
	pass()
	if after := ids(); after != before {
		t.Errorf("a file that only got a new time was indexed again: %s, then %s", before, after)
	}
	write(t, filepath.Join(dir, "b.md"), "# B\n\nbuffalo herds\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "c.md")))
	k := pass()
	for q, want := range map[string]int{"albatross": 1, "badger": 0, "buffalo": 1, "bufalo": 1, "cassowary": 0, "casowary": 0} {
		if hits := find(t, k, q, SearchOptions{}); len(hits) != want {
			t.Errorf("%s: %+v", q, hits)
		}
	}
	other := open(t, Options{Dir: folder(t, map[string]string{"x.md": "xerus"}), DB: db})
	if hits := find(t, other, "albatross", SearchOptions{}); len(hits) > 0 {
		t.Errorf("another folder's index was taken over: %+v", hits)
	}
}

// paused is a log that stops the pass that writes to it, at its first line of progress.
type paused struct {
	slog.Handler
	reached, release chan struct{}
}

func (p paused) Enabled(context.Context, slog.Level) bool { return true }

func (p paused) Handle(_ context.Context, r slog.Record) error {
	if strings.HasSuffix(r.Message, ": indexing") {
		p.reached <- struct{}{}
		<-p.release
	}
	return nil
}

// While a pass runs, what is indexed can be found; Close ends the pass, and the next one goes on.
func TestSearchWhileIndexing(t *testing.T) {
	files := map[string]string{"a.md": "# First\n\naardvark\n", "z.md": "# Last\n\nzebra\n"}
	for i := range 2*logEvery - 2 {
		files[fmt.Sprintf("f/%04d.txt", i)] = fmt.Sprintf("word%d", i)
	}
	dir := folder(t, files)
	db := database(t)
	p := paused{slog.DiscardHandler, make(chan struct{}), make(chan struct{})}
	k := open(t, Options{Dir: dir, DB: db, Log: slog.New(p)})
	if k.State().Ready {
		t.Error("ready before the first pass")
	}
	k.Start()
	<-p.reached
	if s := k.State(); s.Ready || !s.Indexing {
		t.Errorf("in the middle of a pass: %+v", s)
	}
	if hits := find(t, k, "aardvark", SearchOptions{}); len(hits) != 1 {
		t.Errorf("what is indexed already is not found: %+v", hits)
	}
	if hits := find(t, k, "zebra", SearchOptions{}); len(hits) != 0 {
		t.Errorf("the pass is done already: %+v", hits)
	}
	closed := make(chan error)
	go func() { closed <- k.Close() }()
	<-k.run.Done()
	close(p.release)
	require.NoError(t, <-closed)
	if s := k.State(); s.Indexing || s.Ready || s.Err == "" || s.Files != logEvery {
		t.Errorf("after Close: %+v", s)
	}
	if _, err := k.Search(t.Context(), "t", "aardvark", SearchOptions{}); err == nil {
		t.Error("a closed knowledge base was searched")
	}
	next := open(t, Options{Dir: dir, DB: db})
	require.NoError(t, next.Reindex(t.Context()))
	if s := next.State(); !s.Ready || s.Files != 2*logEvery || len(find(t, next, "zebra", SearchOptions{})) != 1 {
		t.Errorf("after the next pass: %+v", s)
	}
}

func TestReindexIsCancelled(t *testing.T) {
	k := open(t, Options{Dir: folder(t, map[string]string{"a.md": "text"})})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, k.Reindex(ctx), context.Canceled)
	if err := k.Reindex(t.Context()); err != nil || !k.State().Ready {
		t.Errorf("%v, %+v", err, k.State())
	}
}

// A pass that failed, as when the database is away for a while, is made again.
func TestIndexingIsTriedAgain(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "albatross\n"})
	k := open(t, Options{Dir: dir, DB: database(t), Key: "x/"})
	k.firstPass = time.Millisecond
	ix, err := k.open(t.Context())
	require.NoError(t, err)
	if _, err := ix.db.ExecContext(t.Context(), `ALTER TABLE kb_file RENAME TO away`); err != nil {
		t.Fatal(err)
	}
	k.Start()
	until(t, func() bool { return k.State().Err != "" })
	if _, err := ix.db.ExecContext(t.Context(), `ALTER TABLE away RENAME TO kb_file`); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return k.State().Ready })
	if s := k.State(); s.Err != "" || len(find(t, k, "albatross", SearchOptions{})) != 1 {
		t.Errorf("%+v", s)
	}
}

// until waits for a condition.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never comes")
		}
	}
}

func TestFolderThatIsNotThere(t *testing.T) {
	if _, err := New(Options{Dir: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "give one that exists") {
		t.Error(err)
	}
}
