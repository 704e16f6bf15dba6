package agentsrv

import (
	"net/http"

	"github.com/mcphud/mcphud/agentsrv/front"
)

// middlewares are what each request passes, in this order.
func (a *Agent) middlewares() []front.Middleware {
	return nil
}

// routes are the pages beside the MCP endpoint, for callers that may use that too.
func (a *Agent) routes() map[string]http.Handler {
	return map[string]http.Handler{"/queue": a.queue}
}

// public are the pages that need no token.
func (a *Agent) public() map[string]http.Handler {
	return nil
}
