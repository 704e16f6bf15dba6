package task

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/store"
)

// BenchmarkCall is what tasks and queue together add to a tools/call that wants no task.
func BenchmarkCall(b *testing.B) {
	db, err := store.Open("")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, q := New(Options{Table: SQL(db, quiet), Default: Policy{Support: "optional"}}), queue.New(queue.Options{})
	result := json.RawMessage(`{"content":[]}`)
	next := s.Middleware()(q.Middleware()(func(context.Context, *front.Exchange) (json.RawMessage, error) { return result, nil }))
	x := front.NewExchange(nil, []byte("1"), "tools/call", []byte(`{"name":"echo","arguments":{"text":"hello"}}`))
	ctx := front.WithExchange(b.Context(), x)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := next(ctx, x); err != nil {
			b.Fatal(err)
		}
	}
}
