package agentlet

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestBackendAgentsOnPostgreSQL(t *testing.T) { pgtest.Again(t, pgtest.Owner) }

// replica is the registry of a process that shares its database, with what it was told of.
func replica(t *testing.T, url string) (r *Registry, told chan string) {
	t.Helper()
	db, err := store.Open(url)
	require.NoError(t, err)
	told = make(chan string, 100)
	r, _ = New(Options{DB: db, Updated: func(tenant, uri string) { told <- tenant + " " + uri }, ListChanged: func(tenant string) { told <- tenant + " list" }}) // its error is a model's
	r.Start()
	t.Cleanup(func() {
		r.Close()
		assert.NoError(t, db.Close())
	})
	return r, told
}

func someone(i int) *Agent {
	return (&Agent{User: "u", Name: fmt.Sprint("n", i), Description: "d", OutputSchema: []byte(`{}`)}).setNames()
}

func TestBackendAgentsOfOtherReplicasAppear(t *testing.T) {
	url := pgtest.Run(t)
	a, atA := replica(t, url)
	b, atB := replica(t, url)
	ctx := t.Context()
	// Until b has looked for the first time, it tells of nothing, since nobody could have seen that there was less.
	var got []string
	for i := 0; len(got) < 2; i++ {
		require.NoError(t, a.insert(ctx, "acme", someone(i)))
		for more := true; more; {
			select {
			case s := <-atB:
				got = append(got, s)
			case <-time.After(100 * time.Millisecond):
				more = false
			}
		}
		if i > 500 {
			t.Fatal("nobody was told")
		}
	}
	for _, s := range got {
		if s != "acme "+MyAgents && s != "acme list" {
			t.Error(s)
		}
	}
	if found, err := b.find(ctx, "acme", "u", reference{user: "u", name: "n0"}); err != nil || found == nil || found.Created == "" {
		t.Error(found, err)
	}
	if found, err := b.find(ctx, "other", "u", reference{user: "u", name: "n0"}); err != nil || found != nil {
		t.Error(found, err)
	}
	if err := b.insert(ctx, "acme", someone(0)); err != errTaken {
		t.Error(err)
	}
	require.NoError(t, b.insert(ctx, "b", someone(0)))
	for s := range atA {
		if strings.HasPrefix(s, "acme") {
			t.Errorf("who made an agent is told of it again: %s", s)
		}
		if s == "b list" {
			break
		}
	}
}

func TestBackendReplicasShareTheLimit(t *testing.T) {
	url := pgtest.Run(t)
	a, _ := replica(t, url)
	b, _ := replica(t, url)
	ctx := t.Context()
	require.NoError(t, a.open(ctx))
	if _, err := a.o.DB.Exec(`INSERT INTO agents (tenant, "user", name, description, output_schema, tools, created) SELECT 't', 'x', i::text, '', '{}', '[]', '' FROM generate_series(1, ?) i`, maxAgents-3); err != nil {
		t.Fatal(err)
	}
	var made, full atomic.Int64
	var done sync.WaitGroup
	for i := range 10 {
		done.Go(func() {
			switch err := []*Registry{a, b}[i%2].insert(ctx, "t", someone(i)); err {
			case nil:
				made.Add(1)
			case errFull:
				full.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	done.Wait()
	if made.Load() != 3 || full.Load() != 7 {
		t.Errorf("%d made, %d refused", made.Load(), full.Load())
	}
}
