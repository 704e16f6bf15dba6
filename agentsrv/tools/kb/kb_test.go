package kb

import (
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T, o Options) *KB {
	t.Helper()
	k, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, k.Close()) })
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
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
