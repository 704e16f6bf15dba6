package queue_test

import (
	"context"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
)

func TestSuite(t *testing.T) {
	queuetest.Suite(t, func(t *testing.T, _ *queuetest.Board, o queue.Options) queue.Engine {
		q := queue.New(o)
		t.Cleanup(func() { _ = q.Drain(context.Background()) })
		return q
	})
}
