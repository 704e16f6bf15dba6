package agentsrv

import (
	"net/http"

	"github.com/mcphud/mcphud/agentsrv/basics"
	"github.com/mcphud/mcphud/agentsrv/batch"
	"github.com/mcphud/mcphud/agentsrv/check"
	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/listen"
)

// middlewares are what each request passes, in this order.
func (a *Agent) middlewares() []front.Middleware {
	var use []front.Middleware
	if a.o.Batch {
		use = append(use, batch.Middleware(batch.Options{Logger: a.log}))
	}
	if a.hostile != nil {
		use = append(use, a.hostile.Middleware)
	}
	return append(use,
		a.tenants.Middleware(),
		check.Middleware(a.schemaOf, a.log),
		a.tasks.Middleware(),
		a.queue.Middleware(),
	)
}

// schemaOf is what the arguments of a tool have to fit. The form gallery takes whatever arrives: it is there to show a
// client what it sent, wrong as it may be.
func (a *Agent) schemaOf(name string) (check.Tool, bool) {
	t, ok := check.Engine(a.engine)(name)
	if name == basics.Gallery {
		t.Input = nil
	}
	return t, ok
}

// hosts are the names by which clients may address the agent beside those of the loopback interface.
func (a *Agent) hosts() []string {
	if listen.Loopback(a.o.Host) {
		return nil
	}
	// Whoever comes from elsewhere shows a token, which no web page has; by which name is not known here.
	return []string{"*"}
}

// routes are the pages beside the MCP endpoint, for callers that may use that too.
func (a *Agent) routes() map[string]http.Handler {
	pages := a.tasks.Routes()
	pages["/queue"] = a.queue
	return pages
}

// public are the pages that need no token.
func (a *Agent) public() map[string]http.Handler {
	return nil
}
