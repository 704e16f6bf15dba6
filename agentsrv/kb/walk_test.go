package kb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/store"
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
	if err := k.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
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
	dir := folder(t, map[string]string{"a.md": "# A\n\nalbatross\n", "b.md": "# B\n\nbadger\n", "c.md": "# C\n\ncassowary\n"})
	db, err := store.Open(filepath.Join(t.TempDir(), "agent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	pass := func() *KB {
		k := open(t, Options{Dir: dir, DB: db})
		if err := k.Reindex(t.Context()); err != nil {
			t.Fatal(err)
		}
		return k
	}
	pass()
	ids := func() (out string) {
		rows, err := db.QueryContext(t.Context(), `SELECT d.path, c.id FROM kb_chunk c JOIN kb_file d ON d.id = c.file ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var path string
			var id int
			if err := rows.Scan(&path, &id); err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprint(path, " ", id, "; ")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := ids()
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "a.md"), later, later); err != nil {
		t.Fatal(err)
	}
	pass()
	if after := ids(); after != before {
		t.Errorf("a file that only got a new time was indexed again: %s, then %s", before, after)
	}
	write(t, filepath.Join(dir, "b.md"), "# B\n\nbuffalo herds\n")
	if err := os.Remove(filepath.Join(dir, "c.md")); err != nil {
		t.Fatal(err)
	}
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

// While a pass runs, what is indexed can be found; Close ends the pass.
func TestSearchWhileIndexing(t *testing.T) {
	files := map[string]string{"aaa.md": "# First\n\naardvark\n"}
	for i := range 2000 {
		files[fmt.Sprintf("f/%04d.txt", i)] = strings.Repeat(fmt.Sprintf("word%d and more text\n", i), 40)
	}
	k := open(t, Options{Dir: folder(t, files)})
	k.Start()
	for len(find(t, k, "aardvark", SearchOptions{})) == 0 {
		if k.State().Ready {
			t.Fatal("the whole pass is done, and nothing is found")
		}
	}
	if s := k.State(); s.Ready || !s.Indexing {
		t.Skipf("the pass was done before the first hit: %+v", s)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if s := k.State(); s.Indexing || s.Ready || s.Err == "" {
		t.Errorf("after Close: %+v", s)
	}
	if _, err := k.Search(t.Context(), "t", "aardvark", SearchOptions{}); err == nil {
		t.Error("a closed knowledge base was searched")
	}
}

func TestReindexIsCancelled(t *testing.T) {
	k := open(t, Options{Dir: folder(t, map[string]string{"a.md": "text"})})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Reindex(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := k.Reindex(t.Context()); err != nil || !k.State().Ready {
		t.Errorf("%v, %+v", err, k.State())
	}
}

func TestFolderThatIsNotThere(t *testing.T) {
	if _, err := New(Options{Dir: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "give one that exists") {
		t.Error(err)
	}
}
