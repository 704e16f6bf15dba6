package tenant

import (
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestBackendTenantsOnPostgreSQL(t *testing.T) { pgtest.Again(t, pgtest.Owner) }

// The limit of remembered tenants is one of all processes together.
func TestBackendReplicasShareTheLimit(t *testing.T) {
	url := pgtest.Run(t)
	var all [2]*Registry
	for i := range all {
		db, err := store.Open(url)
		require.NoError(t, err)
		defer db.Close()
		if all[i], err = NewRegistry(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all[0].db.Exec(`INSERT INTO tenants (id) SELECT 'x' || i FROM generate_series(1, ?) i`, maxRemembered-3); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for i := range 10 {
		done.Go(func() {
			if _, err := all[i%2].isKnown(t.Context(), "new"+string(rune('a'+i)), true); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if n, err := count(all[0]); n != maxRemembered || err != nil {
		t.Error(n, err)
	}
}
