package front

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// hub is the one session that mcp-go knows of: what it broadcasts (a list changed) goes from here to all clients. With a
// session of mcp-go's for each client, each would need a queue and a goroutine of its own.
type hub struct {
	client
	id    string // at the engine
	srv   *Server
	queue chan mcp.JSONRPCNotification // what mcp-go broadcasts; cap 256, beyond which mcp-go drops
	stop  chan struct{}                // closed by close
	done  chan struct{}                // closed when pump ended

	mux       sync.Mutex         // guards what follows
	running   bool               // pump was started
	closed    bool               // it must not be started any more
	listeners map[*peer]struct{} // with a subscriptions/listen that runs
}

// init registers the hub at the engine; New calls it.
func (h *hub) init(s *Server) {
	h.id, h.srv, h.ready = jsonrpc.UUID(), s, true
	h.queue, h.stop, h.done = make(chan mcp.JSONRPCNotification, 256), make(chan struct{}), make(chan struct{})
	h.listeners = map[*peer]struct{}{}
	_ = s.o.Engine.RegisterSession(context.Background(), h) // fails for a known id only, and this one is new
}

// SessionID is minted, since several servers may share an engine.
func (h *hub) SessionID() string { return h.id }

// NotificationChannel is what mcp-go broadcasts into. The goroutine that empties it starts with the first broadcast.
func (h *hub) NotificationChannel() chan<- mcp.JSONRPCNotification {
	h.mux.Lock()
	defer h.mux.Unlock()
	if !h.running && !h.closed {
		h.running = true
		go h.pump()
	}
	return h.queue
}

// pump sends on what mcp-go broadcasts, until close.
func (h *hub) pump() {
	defer close(h.done)
	for {
		select {
		case n := <-h.queue:
			h.send("", n)
		case <-h.stop:
			return
		}
	}
}

// send delivers a notification to all clients of a tenant, "" for all clients. It does not wait for slow ones.
func (h *hub) send(tenant string, n mcp.JSONRPCNotification) {
	params, err := json.Marshal(n.Params)
	if err != nil {
		h.srv.o.Logger.Warn("cannot send a notification", "method", n.Method, "err", err)
		return
	}
	if string(params) == "{}" {
		params = nil
	}
	frame := jsonrpc.NewNotification(n.Method, params)
	for _, c := range h.srv.sessions.All() {
		if concerns(tenant, c.tenant) && c.Initialized() {
			_ = c.push(frame) // an ended session gets nothing
		}
	}
	h.toListeners(func(p *peer) bool { return concerns(tenant, p.x.Caller.Tenant) && p.wants(n.Method) }, n)
}

// toListeners gives a notification to the listeners that want it. It waits for none of them.
func (h *hub) toListeners(wants func(*peer) bool, n mcp.JSONRPCNotification) {
	h.mux.Lock()
	defer h.mux.Unlock()
	for p := range h.listeners {
		if !wants(p) {
			continue
		}
		select {
		case p.NotificationChannel() <- n:
		default: // too far behind: what it has not read yet says the same
		}
	}
}

func (h *hub) add(p *peer) {
	h.mux.Lock()
	h.listeners[p] = struct{}{}
	h.mux.Unlock()
}

func (h *hub) remove(p *peer) {
	h.mux.Lock()
	delete(h.listeners, p)
	h.mux.Unlock()
}

// close ends the goroutine and all listen streams.
func (h *hub) close() {
	h.srv.o.Engine.UnregisterSession(context.Background(), h.id)
	h.mux.Lock()
	running := h.running
	if !h.closed {
		h.closed = true
		close(h.stop)
	}
	for p := range h.listeners {
		p.x.Cancel(errClosing)
	}
	h.mux.Unlock()
	if running {
		<-h.done
	}
}

// wants reports whether a listen stream asked for this kind of notification.
func (p *peer) wants(method string) bool {
	f, ok := p.SubscriptionFilter()
	if !ok {
		return false
	}
	switch method {
	case string(mcp.MethodNotificationToolsListChanged):
		return f.ToolsListChanged
	case string(mcp.MethodNotificationPromptsListChanged):
		return f.PromptsListChanged
	case string(mcp.MethodNotificationResourcesListChanged):
		return f.ResourcesListChanged
	}
	return false
}
