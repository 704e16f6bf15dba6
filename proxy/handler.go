package proxy

import (
	"net/http"
	"strings"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/forward"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Handler is the router's whole HTTP surface.
func (r *Router) Handler() http.Handler {
	hosts := r.o.Hosts
	if !listen.Loopback(r.o.Host) {
		hosts = append([]string{"*"}, hosts...) // whoever serves other machines does so under names that only they know
	}
	return listen.Guard(http.HandlerFunc(r.route), hosts...)
}

// route finds what a path is for. Paths are taken as they are written: nothing in them is decoded, cleaned or redirected, so
// that no two spellings lead to one agent.
func (r *Router) route(w http.ResponseWriter, req *http.Request) {
	path := pathOf(req)
	if r.leaving.Load() { // whoever comes again gets another router
		w.Header()["Connection"] = []string{"close"}
	}
	if r.serveLinks(w, req, path) {
		return
	}
	if agent, task, ok := agentIn(path); ok {
		c := &flow.Call{Request: flow.Request{W: w, R: req, Began: time.Now(), Agent: agent, Task: task}}
		r.Serve(c)
		return
	}
	if path == "/health" {
		r.health(w, req)
		return
	}
	if h := r.handler(path); h != nil {
		h.ServeHTTP(w, req)
		return
	}
	ingress.WriteJSON(w, http.StatusNotFound, []byte(`{"error":"not_found","detail":"agents are at /mcps/NAME/mcp"}`))
}

// Serve serves a call that was not made by an HTTP request of a client's. Where its body is there it counts as read and checked. Rights, limits and records
// are those of all calls: whoever makes one says in its request who calls.
func (r *Router) Serve(c *flow.Call) { r.chain(c) }

// pathOf is the path of a request as the client wrote it.
func pathOf(req *http.Request) string {
	if !strings.HasPrefix(req.RequestURI, "/") { // in absolute form, or not from a server
		return req.URL.EscapedPath()
	}
	path, _, _ := strings.Cut(req.RequestURI, "?")
	return path
}

// handler is the handler of the longest path that matches, nil if there is none.
func (r *Router) handler(path string) http.Handler {
	if h := r.o.Handlers[path]; h != nil {
		return h
	}
	if h := r.own[path]; h != nil {
		return h
	}
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if h := r.o.Handlers[path[:i+1]]; h != nil {
			return h
		}
	}
	return nil
}

// prefixes are what may stand before the name of an agent in a path. Messages name the first; the others lead to the same.
var prefixes = [...]string{"/mcps/", "/mcp/", "/agent/"}

// agentIn is the part of a path that stands where an agent's name does, and whether the path is that of its tasks.
func agentIn(path string) (agent string, task, ok bool) {
	for _, p := range prefixes {
		if rest, is := strings.CutPrefix(path, p); is {
			agent, page, _ := strings.Cut(rest, "/")
			return agent, page == "task", agent != "" && (page == "mcp" || page == "task")
		}
	}
	return "", false, false
}

// health answers everybody that the router runs, and who may call all agents what lists do not have.
func (r *Router) health(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		ingress.MethodNotAllowed(w, "GET, HEAD")
		return
	}
	var left []string
	if r.merged != nil {
		for _, o := range r.merged.LeftOut() {
			left = append(left, o.String())
		}
	}
	said := map[string]any{}
	if left != nil {
		if p, err := r.Identify(req); err == nil && p.All() {
			said["left_out"] = left
		}
	}
	if c := r.o.Cluster; c != nil && !c.Status().Up { // everybody may read this
		said["cluster"] = "not reachable: this router goes on by itself"
	}
	if len(said) > 0 {
		said["status"] = "ok"
		page(w, http.StatusOK, said)
		return
	}
	ingress.WriteJSON(w, http.StatusOK, []byte(`{"status":"ok"}`))
}

// target is a target of an agent for a call, acquired: the caller releases it. nil if there is none. c is nil for what has no session. A group whose
// targets are all retired was replaced between the look at it and the try: then the one in its place is asked.
func (r *Router) target(agent string, c *flow.Call) *forward.Target {
	for {
		g := (*r.targets.Load())[agent]
		if g == nil {
			return nil
		}
		if t := g.Acquire(c); t != nil {
			return t
		}
		if (*r.targets.Load())[agent] == g { // the router closes
			return nil
		}
	}
}

// notFound is the failure for an unknown agent.
func notFound(agent string) *jsonrpc.RequestError {
	return &jsonrpc.RequestError{Kind: jsonrpc.KindMethodNotFound, Message: "Agent '" + text.Clip(agent, 100) + "' not found", Status: http.StatusNotFound}
}

// ingress reads and checks a request and finds its route, or refuses it.
func (r *Router) ingress(next flow.Handler) flow.Handler {
	limits := ingress.Limits{Body: r.o.MaxRequest, Time: r.o.BodyTimeout}
	return func(c *flow.Call) {
		if c.Task && c.R.Method != http.MethodGet {
			c.W.Header().Set("Allow", "GET")
			c.JSON(http.StatusMethodNotAllowed, []byte(`{"error":"method_not_allowed"}`))
			return
		}
		if c.R.Method == http.MethodPost && c.Body == nil && !read(c, limits) {
			return
		}
		c.Read = time.Since(c.Began)
		if ingress.Hops(c.R.Header) >= ingress.MaxHops {
			c.Refuse(&jsonrpc.RequestError{
				Kind: jsonrpc.KindUpstream, Status: http.StatusLoopDetected,
				Message: "too many proxy hops: routing loop",
			})
			return
		}
		var t *forward.Target
		if config.ValidName(c.Agent) {
			t = r.target(c.Agent, c)
		}
		if t == nil {
			c.Refuse(notFound(c.Agent))
			return
		}
		defer t.Release()
		c.Route, c.Target = t.Route, t.Serve
		if t.Route.Disabled {
			c.Refuse(notFound(c.Agent).With("reason", "disabled"))
			return
		}
		if c.R.Method == http.MethodPost || c.Task || checkMethod(c) {
			next(c)
		}
	}
}

// read reads the message of a POST into c, or refuses the call. A message that readers could take in two ways is refused here, before anybody decides by it.
func read(c *flow.Call, limits ingress.Limits) bool {
	body, err := limits.Read(c.W, c.R)
	if err != nil {
		c.W.Header().Set("Connection", "close")
		c.Refuse(err)
		return false
	}
	c.Body = body
	if c.Env, err = ingress.Scan(body); err != nil {
		c.Env.Kind = jsonrpc.Invalid
		if f, ok := jsonrpc.AsRequestError(err); ok && f.Kind == jsonrpc.KindInvalidRequest {
			err = f.With("detail", "unsupported request for agent MCP proxy")
		}
		c.Refuse(err)
		return false
	}
	if c.Env.Kind != jsonrpc.Request && c.Env.Kind != jsonrpc.Notification {
		c.Modern = ingress.Modern(c.R)
		return true
	}
	c.Params, err = ingress.Inspect(c.Env.Method, c.Env.Params)
	modern, version, wrong := ingress.Era(c.R.Header, c.Env.Method, c.Env.ID, c.Env.Params, c.Params)
	c.Modern, c.Version = modern, version
	if err == nil {
		err = wrong
	}
	if err != nil {
		c.Refuse(err)
		return false
	}
	return true
}

// checkMethod refuses the HTTP methods that a route does not have: GET where it has no stream, and in the modern era all but POST.
func checkMethod(c *flow.Call) bool {
	modern := ingress.Modern(c.R)
	allow, body := "POST, DELETE", `{"error":"method_not_allowed"}`
	switch {
	case modern:
		c.Modern, allow = true, "POST"
	case c.R.Method == http.MethodDelete, c.R.Method == http.MethodGet && c.Route.Stream:
		return true
	case c.R.Method == http.MethodGet:
		body = `{"error":"event_stream_not_supported"}`
	}
	if c.Route.Stream && !modern {
		allow = "GET, POST, DELETE"
	}
	c.W.Header().Set("Allow", allow)
	c.JSON(http.StatusMethodNotAllowed, []byte(body))
	return false
}
