package queue

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Middleware makes tools/call wait for its turn; all other methods pass, and so does the tool queue_status, which has to
// answer just when the queue is full. Progress that the handler reports is a sign of life, and while it waits as
// front.Exchange.Waiting says others have its slot.
func (q *Queue) Middleware() front.Middleware {
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
			if q.opts.ToolTimeout != nil {
				job.Timeout = q.opts.ToolTimeout(tool, x.Params)
			}
			result := new(json.RawMessage) // the handler's own, should it be abandoned
			err := q.Do(ctx, job, func(ctx context.Context) error {
				x.OnWait(func(f func()) { _ = Wait(ctx, func() error { f(); return nil }) }) // ctx tells that it has to end
				raw, err := next(kit.WithNotifier(ctx, alive{kit.NotifierOf(ctx)}), x)
				*result = raw
				return err
			})
			if err != nil {
				return nil, err
			}
			return *result, nil
		}
	}
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
