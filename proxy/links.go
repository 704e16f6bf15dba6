package proxy

import (
	"net/http"
	"strings"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// newLinks makes what serves clients that have a connection of their own. Each of their messages passes the router like any other.
func (r *Router) newLinks() *duplex.Server {
	return duplex.New(duplex.Options{
		Handler: http.HandlerFunc(r.route), Admit: r.admit, Panicked: r.logPanic,
		Limit: r.o.MaxRequest, Body: r.o.BodyTimeout, Write: r.o.WriteTimeout,
	})
}

// admit decides whether a client may connect to the endpoint of a path, and refuses it if not. who is its principal. Each message on the connection is
// authenticated once more: a token that is taken back ends what it allowed.
func (r *Router) admit(w http.ResponseWriter, req *http.Request) (who string, ok bool) {
	p, err := r.Identify(req)
	agent := ""
	if err == nil {
		if agent = agentOf(pathOf(req)); agent != "" && !p.May(agent) {
			err = jsonrpc.Errorf(jsonrpc.KindForbidden, "Agent '%s' is not authorized to access agent '%s'", p.Name, text.Clip(agent, 100))
		} else if agent != "" && !r.hasRoute(agent) {
			err = notFound(agent)
		}
	}
	if err == nil {
		return p.Name, true
	}
	if f, is := jsonrpc.AsRequestError(err); is && f.HTTPStatus(false) == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", ingress.Resource{}.Challenge(f))
	}
	r.policy.refuse(&flow.Call{Request: flow.Request{W: w, R: req, Began: time.Now(), Agent: agent}}, err)
	return "", false
}

// hasRoute reports whether there is an agent of that name, and it is not disabled.
func (r *Router) hasRoute(agent string) bool {
	route := r.Routes().Routes[agent]
	return config.ValidName(agent) && route != nil && !route.Disabled
}

// serveLinks serves a request of a client that wants a connection of its own, or sends a message for one. It is false for any other, and
// where nobody asked for such connections.
func (r *Router) serveLinks(w http.ResponseWriter, req *http.Request, path string) bool {
	if duplex.Carried(req.Context()) {
		return false
	}
	if duplex.IsWebSocket(req) && isEnabled(r.o.WebSocket, r.Routes().WebSocket) {
		if _, task, ok := agentIn(path); ok && !task || path == "/mcp" && r.merged != nil {
			r.links.WebSocket(w, req, path)
			return true
		}
	}
	if !isEnabled(r.o.SSE, r.Routes().SSE) {
		return false
	}
	base, page := "", strings.TrimPrefix(path, "/")
	if agent := agentOf(path); agent != "" {
		i := strings.LastIndexByte(path, '/')
		base, page = path[:i], path[i+1:]
	} else if r.merged == nil {
		return false
	}
	switch page {
	case "sse":
		r.links.Events(w, req, base+"/mcp", base+"/messages")
	case "messages":
		r.links.Message(w, req)
	default:
		return false
	}
	return true
}

// isEnabled is a setting of the options, or else of the routes.
func isEnabled(option *bool, routes bool) bool {
	if option != nil {
		return *option
	}
	return routes
}

// agentOf is the agent's name in the path of an endpoint, of an event stream or of the page for its messages, "" for that of all agents.
func agentOf(path string) string {
	for _, p := range prefixes {
		if rest, is := strings.CutPrefix(path, p); is {
			if agent, page, _ := strings.Cut(rest, "/"); page == "mcp" || page == "sse" || page == "messages" {
				return agent
			}
		}
	}
	return ""
}
