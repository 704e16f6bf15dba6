package servers

import (
	"context"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/tui/widget"
)

// manyServers is a list as long as the largest registry may have, with texts like published ones.
func manyServers(n int) registry.List {
	words := []string{"server", "data", "search", "github", "cloud", "files", "weather", "agent", "memory", "postgres", "browser", "api", "tools", "analytics", "mail", "calendar", "context", "code", "docs", "image"}
	r := rand.New(rand.NewSource(1))
	l := registry.List{Synced: time.Now()}
	for i := range n {
		about := ""
		for range 12 {
			about += words[r.Intn(len(words))] + " "
		}
		l.Servers = append(l.Servers, registry.Summary{
			Name: fmt.Sprintf("io.github.owner-%d/%s-%s-%d", i%9000, words[r.Intn(len(words))], words[r.Intn(len(words))], i), Description: about, Version: "1.0.0", Kinds: "remote npm",
		})
	}
	return l
}

// TestBudgetRegistrySearch: 100,000 servers are searched anew at each key, within 50 ms.
func TestBudgetRegistrySearch(t *testing.T) {
	budget.Skip(t)
	v := newRegistry(nil)
	v.show(manyServers(100_000))
	n, text := v.Freeze()
	for _, typed := range []string{"p", "po", "pos", "postgres", "postgres search", "owner-77/", "nothing like it"} {
		q := widget.ParseQuery(typed)
		worst := budget.Best(func() time.Duration {
			return budget.Time(func() {
				if _, err := q.Filter(context.Background(), n, text); err != nil {
					t.Fatal(err)
				}
			})
		})
		budget.Ceiling(t, fmt.Sprintf("100,000 servers of a registry, searched for %q", typed), worst, 50*time.Millisecond)
	}
}
