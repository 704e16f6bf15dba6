package stream

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/test/budget"
)

// A hop is what the queue adds to a call that runs at another replica, JetStream on disk.
func TestBudgetQueueHop(t *testing.T) {
	budget.Skip(t)
	p := newPair(t, func(o *Options) { o.pace = pace{} })
	payload := p.b.Pin(func(context.Context) (json.RawMessage, error) { return json.RawMessage(`{}`), nil })
	median := budget.Best(func() time.Duration {
		var all []time.Duration
		for range 200 {
			all = append(all, budget.Time(func() {
				if _, err := p.from.Do(t.Context(), queue.Job{Tenant: "t", Tool: "echo", Payload: payload}, notHere(t)); err != nil {
					t.Fatal(err)
				}
			}))
		}
		slices.Sort(all)
		return all[len(all)/2]
	})
	budget.Ceiling(t, "a hop to another replica through NATS, p50", median, 1500*time.Microsecond)
}
