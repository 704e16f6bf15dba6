package agentsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/check"
	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/telemetry"
	"github.com/mcphud/mcphud/agentsrv/tools/batch"
	"github.com/mcphud/mcphud/session/base/listen"
)

// middlewares are what each request passes, in this order; called hears of each call of a tool.
func (a *Agent) middlewares(called func()) []front.Middleware {
	var use []front.Middleware
	if a.o.Batch {
		use = append(use, batch.Middleware(batch.Options{Logger: a.log}))
	}
	if a.hostile != nil {
		use = append(use, a.hostile.Middleware)
	}
	use = append(use, a.telemetry.Middleware(), a.tenants.Middleware())
	if a.skills != nil {
		use = append(use, a.skills)
	}
	return append(use,
		check.Middleware(a.schemaOf, a.log),
		a.tasks.Middleware(),
		a.tenants.Slots(),
		a.telemetry.Queued(),
		a.queue.Middleware(),
		a.telemetry.Started(),
		func(next front.Next) front.Next {
			return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
				if x.Method == string(mcp.MethodToolsCall) {
					called()
				}
				return next(ctx, x)
			}
		},
	)
}

// schemaOf is what the arguments of a tool have to fit.
func (a *Agent) schemaOf(name string) (check.Tool, bool) { return check.Engine(a.engine)(name) }

// hosts are the names by which clients may address the agent beside those of the loopback interface.
func (a *Agent) hosts() []string {
	if listen.Loopback(a.o.Host) {
		return nil
	}
	// Whoever comes from elsewhere shows a token, which no web page has; by which name is not known here.
	return []string{"*"}
}

// wrap is what misbehaves on purpose in front of the MCP endpoint, nil but in the profiles for that.
func (a *Agent) wrap() func(http.Handler) http.Handler {
	switch {
	case a.faults != nil:
		return a.faults.Wrap
	case a.hostile != nil:
		return a.hostile.Wrap
	}
	return nil
}

// routes are the pages beside the MCP endpoint, for callers that may use that too: tasks, the queue, status and metrics.
func (a *Agent) routes() map[string]http.Handler {
	pages := a.tasks.Routes()
	maps.Copy(pages, a.telemetry.Private())
	pages["/queue"] = a.queue.Page()
	return pages
}

// public are the pages that need no token.
func (a *Agent) public() map[string]http.Handler {
	pages := a.telemetry.Public()
	maps.Copy(pages, a.auth.Pages(a.o.Name))
	return pages
}

// telemetryOptions is what the pages for operators tell about the parts.
func (a *Agent) telemetryOptions() telemetry.Options {
	return telemetry.Options{
		Name: a.o.Name, Version: a.o.Version, OTLP: a.o.OTLP, Sink: a.o.Sink, Logger: a.log,
		Known: func(tool string) bool { _, ok := a.schemaOf(tool); return ok },
		Queue: func() telemetry.Queue {
			s := a.queue.Status()
			q := telemetry.Queue{Queued: s.Queued, Running: s.Running, Concurrency: s.Concurrency}
			if all := s.Shared; all != nil {
				q.Shared = &telemetry.Shared{Replicas: all.Replicas, Queued: all.Queued, Running: all.Running}
			}
			return q
		},
		Sessions: func() int { return a.front.ActiveSessions() },
		Tenants:  a.tenants.Active,
		Status: map[string]func(context.Context) any{
			"profile": func(context.Context) any { return a.o.Profile },
			"kb":      a.kbStatus,
		},
		Ready: map[string]func(context.Context) error{
			"queue": func(context.Context) error {
				if a.conn == nil {
					return nil
				}
				return a.conn.Ready()
			},
			"store": a.db.PingContext,
			"shutdown": func(context.Context) error {
				if a.closing.Load() {
					return errors.New("the agent is shutting down")
				}
				return nil
			},
			"knowledge base": func(context.Context) error {
				if a.kb == nil {
					return nil
				}
				if pending, files := a.kb.Status().Pending(); pending {
					return fmt.Errorf("indexing files: %d so far", files)
				}
				return nil
			},
		},
	}
}

// kbStatus is how far what is searched is indexed, nil in a profile that searches nothing.
func (a *Agent) kbStatus(ctx context.Context) any {
	if a.kb == nil {
		return nil
	}
	if err := a.kb.Load(ctx); err != nil {
		a.log.Error("knowledge base: cannot load the built-in texts", "error", err)
	}
	return a.kb.Status()
}
