package stream

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// An object store of nats.go leaves a goroutine behind for ever whose put ends before that began.
func TestMain(m *testing.M) {
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // most tests wait, for losses to be noticed
	}
	leaktest.Main(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

var quiet = slog.New(slog.DiscardHandler)

// join makes one replica of the test's agent. It has left when the test ends.
func join(t testing.TB, url string, b *queuetest.Board, change func(*Options)) *Queue {
	t.Helper()
	return joinAt(t, natsconn.Options{URL: url, Logger: quiet}, b, change)
}

func joinAt(t testing.TB, at natsconn.Options, b *queuetest.Board, change func(*Options)) *Queue {
	t.Helper()
	conn, err := natsconn.Open(t.Context(), at)
	require.NoError(t, err)
	o := Options{Conn: conn, Name: t.Name(), Perform: func(ctx context.Context, j queue.Job, _ *Line) (json.RawMessage, error) {
		return b.Run(ctx, j.Payload)
	}}
	o.Logger = quiet
	if change != nil {
		change(&o)
	}
	q, err := New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = q.Drain(ctx)
		conn.Close()
	})
	return q
}

// The same tests as for the queue in memory.
func TestSuite(t *testing.T) {
	s := natstest.Run(t)
	queuetest.Suite(t, func(t *testing.T, b *queuetest.Board, o queue.Options) queue.Engine {
		return join(t, s.URL, b, func(all *Options) { all.Options = o })
	})
}
