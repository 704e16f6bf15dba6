package queue

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Middleware makes tools/call wait for its turn; all other methods pass, and so does the tool queue_status, which has to
// answer just when the queue is full.
func (q *Queue) Middleware() front.Middleware { return Middleware(q, q.opts, nil) }

// Middleware is that of any engine with these options. payload makes Job.Payload, where jobs go to other processes.
func Middleware(e Engine, o Options, payload func(context.Context, *front.Exchange) ([]byte, error)) front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			if x.Method != string(mcp.MethodToolsCall) {
				return next(ctx, x)
			}
			tool := jsonrpc.GetString(x.Params, "name")
			if tool == ToolName {
				return next(ctx, x)
			}
			job := Job{Tenant: kit.TenantOf(ctx), Tool: tool}
			if o.ToolTimeout != nil {
				job.Timeout = o.ToolTimeout(tool, x.Params)
			}
			if payload != nil {
				if h := kit.HooksOf(ctx); h != nil {
					job.ID = h.ID
				}
				job.Repeatable = o.Repeatable != nil && o.Repeatable(tool)
				var err error
				if job.Payload, err = payload(ctx, x); err != nil {
					return nil, err
				}
			}
			return e.Do(ctx, job, func(ctx context.Context) (json.RawMessage, error) { return Perform(ctx, x, next) })
		}
	}
}

// Perform is the rest of the way of a call whose turn it is: progress that the handler reports is a sign of life, and while it
// waits as front.Exchange.Waiting says others have its slot.
func Perform(ctx context.Context, x *front.Exchange, next front.Next) (json.RawMessage, error) {
	x.OnWait(func(f func()) { _ = Wait(ctx, func() error { f(); return nil }) }) // ctx tells that it has to end
	return next(kit.WithNotifier(ctx, alive{kit.NotifierOf(ctx)}), x)
}

// alive counts progress as activity.
type alive struct{ to kit.Notifier }

// Notify passes the notification on.
func (a alive) Notify(ctx context.Context, method string, params map[string]any) error {
	if method == string(mcp.MethodNotificationProgress) {
		Touch(ctx)
	}
	return a.to.Notify(ctx, method, params)
}
