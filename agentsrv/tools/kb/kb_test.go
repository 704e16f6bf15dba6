package kb

import (
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/pgtest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T, o Options) *KB {
	t.Helper()
	k, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func find(t *testing.T, k *KB, query string, o SearchOptions) []Hit {
	t.Helper()
	return results(t, k, query, o).Hits
}

func results(t *testing.T, k *KB, query string, o SearchOptions) Results {
	t.Helper()
	r, err := k.Search(t.Context(), "default", query, o)
	if err != nil {
		t.Fatalf("%.60q: %v", query, err)
	}
	return r
}

// database is a store of the kind that the tests run with.
func database(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(pgtest.Path(t, filepath.Join(t.TempDir(), "agent.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
