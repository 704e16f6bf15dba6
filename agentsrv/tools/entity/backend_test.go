package entity

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/pgtest"
)

func TestBackendEntitiesOnPostgreSQL(t *testing.T) { pgtest.Again(t, pgtest.Owner) }

// Replicas that start together make the tables once, and imports of the same entities do not collide.
func TestBackendReplicasShareTheGraph(t *testing.T) {
	url, ctx := pgtest.Run(t), context.Background()
	graphs := make([]*Graph, 4)
	var done sync.WaitGroup
	for i := range graphs {
		graphs[i] = graph(t, url)
		done.Go(func() {
			if _, err := graphs[i].Types(ctx, "t"); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	for i, g := range graphs {
		done.Go(func() {
			var b strings.Builder
			for n := range 200 {
				n = (n + i*50) % 200 // each in another order
				fmt.Fprintf(&b, `{"id":"p%d","type":"parcel","name":"Parcel %d by %d"}`+"\n", n, n, i)
			}
			if _, err := g.Import(ctx, "acme", strings.NewReader(b.String())); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	var written int
	if err := graphs[0].db.QueryRow(`SELECT count(DISTINCT xmin::text) FROM entity_lines WHERE tenant = 'acme'`).Scan(&written); err != nil || written != 1 {
		t.Errorf("the entities are of %d imports, %v", written, err)
	}
	if m, _, err := graphs[3].Find(ctx, "acme", "parcel", "p7"); err != nil || m == nil {
		t.Error(m, err)
	}
}
