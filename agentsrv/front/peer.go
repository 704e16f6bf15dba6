package front

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

var errTooMany = errors.New("too many subscriptions; unsubscribe from some first")

// peerQueue is how many notifications may wait that go through mcp-go instead of kit.Notify; more are an error that the
// sender sees (mcp-go's ErrNotificationChannelBlocked).
const peerQueue = 256

// peer is what mcp-go sees of the client behind one request. It ends with the request (flush), whatever of mcp-go still has it.
type peer struct {
	*client           // of the session, or of this request alone
	id      string    // by which mcp-go knows the session
	x       *Exchange // what it sends goes on the stream of this
	hub     *hub      // nil for a peer that no server made

	mux    sync.Mutex                   // guards what follows
	queue  chan mcp.JSONRPCNotification // nil before a handler asks for it
	stop   chan struct{}                // closed by flush; nil while no pump runs
	done   chan struct{}                // closed when the pump ended; nil if there was none
	ended  bool                         // no pump may start: what is queued after that is dropped
	filter *mcp.SubscriptionFilter      // what subscriptions/listen granted; nil for other requests
}

var (
	_ server.SessionWithSampling                 = (*peer)(nil)
	_ server.SessionWithElicitation              = (*peer)(nil)
	_ server.SessionWithRoots                    = (*peer)(nil)
	_ server.SessionWithLogging                  = (*peer)(nil)
	_ server.SessionWithClientInfo               = (*peer)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*peer)(nil)
	_ server.SessionWithProtocolVersion          = (*peer)(nil)
	_ server.SessionWithSubscriptionFilter       = (*peer)(nil)
)

// SessionID identifies the session, or the request of a caller without one.
func (p *peer) SessionID() string { return p.id }

// NotificationChannel is for notifications that handlers send through mcp-go. They are written by a goroutine that
// starts with the first one and ends with the request, in their order.
func (p *peer) NotificationChannel() chan<- mcp.JSONRPCNotification {
	p.mux.Lock()
	defer p.mux.Unlock()
	if p.queue == nil {
		p.queue = make(chan mcp.JSONRPCNotification, peerQueue)
		if !p.ended {
			p.stop, p.done = make(chan struct{}), make(chan struct{})
			go p.pump(p.queue, p.stop)
		}
	}
	return p.queue
}

// pump writes what is queued, in order. On the stream of a subscription the acknowledgement is the first (2026-07-28), whatever came before it.
func (p *peer) pump(queue <-chan mcp.JSONRPCNotification, stop <-chan struct{}) {
	defer close(p.done)
	var early []mcp.JSONRPCNotification // those that came before a listen stream was acknowledged
	acked := false
	handle := func(n mcp.JSONRPCNotification) {
		if p.isListening() && !acked {
			if n.Method != string(mcp.MethodNotificationSubscriptionsAcknowledged) {
				early = append(early, n) // bounded: the acknowledgement is sent at once
				return
			}
			acked = true
			p.forward(n)
			for _, e := range early {
				p.forward(e)
			}
			early = nil
			return
		}
		p.forward(n)
	}
	for {
		select {
		case n := <-queue:
			handle(n)
		case <-stop:
			for {
				select {
				case n := <-queue:
					handle(n)
				default:
					return
				}
			}
		}
	}
}

// forward writes one notification on the request's stream, tagged as the stream of a subscription demands.
func (p *peer) forward(n mcp.JSONRPCNotification) {
	if p.isListening() {
		meta := maps.Clone(n.Params.Meta)
		if meta == nil {
			meta = map[string]any{}
		}
		meta[mcp.MetaKeySubscriptionID] = json.RawMessage(p.x.ID)
		n.Params.Meta = meta
	}
	params, err := json.Marshal(n.Params)
	if err != nil {
		return // a value that JSON cannot hold; the sender has gone on long ago
	}
	if string(params) == "{}" {
		params = nil
	}
	_ = p.x.send(jsonrpc.NewNotification(n.Method, params)) // a client that is gone shows in the request's context
}

// flush ends the pump after everything that was sent has been written.
func (p *peer) flush() {
	p.mux.Lock()
	p.ended = true
	stop, done := p.stop, p.done
	p.stop = nil
	p.mux.Unlock()
	if stop != nil {
		close(stop)
	}
	if done != nil {
		<-done
	}
}

// isListening reports whether the request is a subscriptions/listen that was granted something.
func (p *peer) isListening() bool {
	p.mux.Lock()
	defer p.mux.Unlock()
	return p.filter != nil
}

// SetSubscriptionFilter is called when subscriptions/listen begins, and with the zero filter when it ends.
func (p *peer) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	p.mux.Lock()
	began := p.filter == nil
	if began {
		p.filter = &f
	}
	p.mux.Unlock()
	switch {
	case p.hub == nil:
	case began:
		p.hub.add(p)
	default: // the filter itself stays: the end of the stream is tagged too
		p.hub.remove(p)
	}
}

// SubscriptionFilter is what SetSubscriptionFilter set.
func (p *peer) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	p.mux.Lock()
	defer p.mux.Unlock()
	if p.filter == nil {
		return mcp.SubscriptionFilter{}, false
	}
	return *p.filter, true
}

// RequestSampling asks the client for a completion.
func (p *peer) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	var res mcp.CreateMessageResult
	if err := p.ask(ctx, string(mcp.MethodSamplingCreateMessage), r.CreateMessageParams, &res); err != nil {
		return nil, err
	}
	return &res, nil
}

// RequestElicitation asks the client's user.
func (p *peer) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var res mcp.ElicitationResult
	if err := p.ask(ctx, string(mcp.MethodElicitationCreate), r.Params, &res); err != nil {
		return nil, err
	}
	return &res, nil
}

// ListRoots asks the client for its roots.
func (p *peer) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	var res mcp.ListRootsResult
	if err := p.ask(ctx, string(mcp.MethodListRoots), nil, &res); err != nil {
		return nil, err
	}
	return &res, nil
}
