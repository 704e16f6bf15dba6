package agentsrv

import (
	"context"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/telemetry"
	"github.com/mcphud/mcphud/agentsrv/tools/delegate"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// calls lets the agent call others. Hops are counted on, so that a loop of agents ends with too many hops; and who waits for another agent
// holds no slot of the queue meanwhile, or two agents with one slot each could wait for one another for ever.
func (a *Agent) calls(p *parts) error {
	d, err := delegate.New(delegate.Options{
		Trace:  telemetry.Request,
		Router: a.o.Router,
		Hops: func(ctx context.Context) int {
			if x := front.From(ctx); x != nil {
				return ingress.Hops(x.Header)
			}
			return 0
		},
		Wait: func(ctx context.Context, f func()) {
			if x := front.From(ctx); x != nil {
				x.Waiting(f)
				return
			}
			f()
		},
	})
	if err != nil {
		return err
	}
	a.closes = append(a.closes, d.Close)
	p.add(d)
	return nil
}
