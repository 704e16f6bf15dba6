package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// envelope is what a call of a tool is made of.
type envelope struct {
	Exchange front.Away `json:"exchange"`
	Tenant   string     `json:"tenant"`
	Trace    string     `json:"trace,omitempty"`
}

// Middleware makes tools/call wait for its turn, here or in another process. The rest of the way is what runs calls of others too,
// so that there may be one of these only.
func (q *Queue) Middleware() front.Middleware {
	m := queue.Middleware(q, q.o.Options, func(ctx context.Context, x *front.Exchange) ([]byte, error) {
		return json.Marshal(envelope{x.Away(), kit.TenantOf(ctx), telemetry.Traceparent(ctx)})
	})
	return func(next front.Next) front.Next {
		q.o.Perform = func(ctx context.Context, job queue.Job, line *Line) (json.RawMessage, error) {
			var e envelope
			if err := json.Unmarshal(job.Payload, &e); err != nil {
				return nil, fmt.Errorf("queue: the call cannot be read: %w", err)
			}
			x := e.Exchange.Exchange(line)
			ctx = trace.ContextWithSpanContext(ctx, telemetry.Remote(http.Header{"Traceparent": {e.Trace}}, nil, nil))
			return queue.Perform(kit.WithTenant(front.WithExchange(ctx, x), e.Tenant), x, next)
		}
		q.start()
		return m(next)
	}
}
