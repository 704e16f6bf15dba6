//go:build !race

package entity

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
)

func TestLargeGraphStaysQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("imports 5,000 entities")
	}
	g, ctx := graph(t, ""), context.Background()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"id":"p%d","type":"parcel","name":"Parcel number %d of the season","properties":{"note":"left at the door %d"}}`+"\n", i, i*7919, i)
	}
	start := time.Now()
	if _, err := g.Import(ctx, "acme", strings.NewReader(b.String())); err != nil {
		t.Fatal(err)
	}
	imported := time.Since(start)
	const limit = 2 * time.Second
	took := budget.Median(func() {
		m, near, err := g.Find(ctx, "acme", "parcel", "parcl numbr 792791900 of the seson")
		if err != nil || m == nil && len(near) == 0 {
			t.Fatal(m, err)
		}
	})
	t.Logf("import of 5,000: %v; fuzzy look-up: %v", imported, took)
	if took > limit {
		t.Errorf("a fuzzy look-up among 5,000 took %v", took)
	}
}
