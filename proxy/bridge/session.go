package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// clientSession is a client's session of the legacy era with one process.
type clientSession struct {
	b            *Bridge
	c            *child
	id           string
	capabilities []string // what the client says that it can be asked for, of ingress.ClientCapabilities

	mu      sync.Mutex
	general *queue // what belongs to no request, or has to wait
	open    bool   // the client listens to it
	watched map[string]struct{}
}

// newSession opens a session with a process. It has no use before it is registered.
func (c *child) newSession(env jsonrpc.Envelope) (*clientSession, error) {
	s := &clientSession{b: c.b, c: c, id: rand.Text(), capabilities: capabilityNames(jsonrpc.Get(env.Params, "capabilities")), general: newQueue(false), watched: map[string]struct{}{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return nil, c.dead
	}
	c.sessions[s] = struct{}{}
	return s, nil
}

func (b *Bridge) register(s *clientSession) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := s.c.exitError(); err != nil {
		return err
	}
	b.sessions[s.id] = s
	return nil
}

// endSession ends a session, and its process unless others share that.
func (b *Bridge) endSession(s *clientSession) {
	b.mu.Lock()
	delete(b.sessions, s.id)
	b.mu.Unlock()
	if s.c.common {
		s.c.leave(s)
		return
	}
	s.c.die(errEnded)
	b.discard(s.c)
}

var errEnded = errors.New("the client ended the session")

// leave takes a session off a process that others use too.
func (c *child) leave(s *clientSession) {
	s.end()
	c.mu.Lock()
	delete(c.sessions, s)
	var running []*exchange
	for _, x := range c.pending {
		if x.s == s {
			running = append(running, x)
		}
	}
	var asked []string
	for id, to := range c.asks {
		if to == s {
			asked = append(asked, id)
			delete(c.asks, id)
		}
	}
	c.mu.Unlock()
	for _, x := range running {
		x.cancel()
	}
	for _, id := range asked {
		c.write(jsonrpc.NewError([]byte(id), jsonrpc.CodeInternal, "the client ended the session", nil))
	}
	s.mu.Lock()
	watched := s.watched
	s.watched = nil
	s.mu.Unlock()
	for uri := range watched {
		if !c.watchedBy(uri) {
			c.mu.Lock()
			c.next++
			id := c.next
			c.mu.Unlock()
			params := append(append([]byte(`{"uri":`), jsonrpc.Quote(uri)...), '}')
			c.write(jsonrpc.NewRequest(strconv.AppendUint(nil, id, 10), string(mcp.MethodResourcesUnsubscribe), params))
		}
	}
}

func (c *child) watchedBy(uri string) (any bool) {
	c.each(func(s *clientSession) { any = any || s.watches(uri) })
	return any
}

func (s *clientSession) watches(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.watched[uri]
	return ok
}

// end closes the client's stream.
func (s *clientSession) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.general.Fail(errReplaced)
}

// capabilityNames is the part of a client's capabilities that is kept: they come at any length.
func capabilityNames(caps []byte) (names []string) {
	for _, name := range ingress.ClientCapabilities {
		if v := jsonrpc.Get(caps, name); v != nil && v[0] == '{' {
			names = append(names, name)
		}
	}
	return names
}

// answers reports whether the client said that it answers requests of a method.
func (s *clientSession) answers(method string) bool {
	name := ingress.CapabilityFor(method)
	return name == "" || slices.Contains(s.capabilities, name)
}

// listen is the answer to GET: a stream of what belongs to no request. A second one takes over from the first.
func (s *clientSession) listen(r *http.Request) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := newQueue(false)
	if s.c.exitError() != nil {
		q.Fail(errReplaced)
	} else {
		s.general.MoveTo(q)
		s.general.Fail(errReplaced)
		s.general, s.open = q, true
	}
	return stream(q, r, message{}, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.general == q {
			s.general, s.open = newQueue(false), false
			q.MoveTo(s.general)
		}
	})
}

// deliverPending gives a request's stream what waits for the client, who listens to no other.
func (s *clientSession) deliverPending(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		s.general.MoveTo(x.out)
	}
}

// send sends the client a message: on the stream that it listens to, else on that of some request of its own. With neither it
// waits for one if keep is set. It is false if the message was dropped.
func (s *clientSession) send(m message, keep bool) bool {
	s.mu.Lock()
	if s.open {
		s.general.Put(m)
		s.mu.Unlock()
		return true
	}
	s.mu.Unlock()
	s.c.mu.Lock()
	var to *exchange
	for _, x := range s.c.pending {
		if x.s == s && x.events && x.left.IsZero() && (to == nil || x.alias < to.alias) {
			to = x
		}
	}
	s.c.mu.Unlock()
	if to != nil && to.send(m) {
		return true
	}
	if keep {
		s.mu.Lock()
		s.general.Put(m)
		s.mu.Unlock()
	}
	return keep
}

// request serves a request of the session.
func (s *clientSession) request(r *http.Request, env jsonrpc.Envelope, body []byte) (*http.Response, error) {
	if s.c.common {
		uri := jsonrpc.GetString(env.Params, "uri")
		switch env.Method {
		case string(mcp.MethodResourcesSubscribe):
			if len(uri) > maxURI {
				return refuse(r, env.ID, false, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: uri is longer than %d bytes", maxURI).With("field", "uri")), nil
			}
			if !s.watch(uri) {
				return refuse(r, env.ID, false, jsonrpc.Errorf(jsonrpc.KindQueueFull, "too many subscriptions: the maximum of a session is %d; unsubscribe from some", maxWatched)), nil
			}
		case string(mcp.MethodResourcesUnsubscribe):
			s.mu.Lock()
			delete(s.watched, uri)
			s.mu.Unlock()
			if s.c.watchedBy(uri) { // others go on listening
				return respond(r, http.StatusOK, ingress.TypeJSON, jsonrpc.NewResult(env.ID, nil)), nil
			}
		}
	}
	return s.c.do(r, s, env, body)
}

// What one client can make us remember.
const (
	maxWatched = 1000
	maxURI     = 8 << 10 // bytes
)

func (s *clientSession) watch(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.watched[uri]; !ok && len(s.watched) >= maxWatched {
		return false
	}
	if s.watched != nil {
		s.watched[uri] = struct{}{}
	}
	return true
}

// notify forwards a client's notification. A shared process gets none in which clients describe themselves, since the
// bridge is its only client.
func (s *clientSession) notify(ctx context.Context, env jsonrpc.Envelope, body []byte) error {
	switch mcp.MCPMethod(env.Method) {
	case mcp.MethodNotificationCancelled:
		if x := s.findRequest(jsonrpc.Get(env.Params, "requestId")); x != nil {
			x.cancel()
		}
		return nil
	case mcp.MethodNotificationInitialized, mcp.MethodNotificationRootsListChanged:
		if s.c.common {
			return nil
		}
	}
	return s.c.send(ctx, jsonrpc.OneLine(body))
}

// findRequest finds a request of the session by the client's id.
func (s *clientSession) findRequest(id []byte) *exchange {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	for _, x := range s.c.pending {
		if x.s == s && jsonrpc.SameID(x.id, id) {
			return x
		}
	}
	return nil
}

// answer passes on the client's answer to a request of the process. Answers to what the client was not asked go nowhere.
func (s *clientSession) answer(ctx context.Context, env jsonrpc.Envelope, body []byte) error {
	id := jsonrpc.IDKey(string(env.ID))
	s.c.mu.Lock()
	mine := s.c.asks[id] == s
	if mine {
		delete(s.c.asks, id)
	}
	s.c.mu.Unlock()
	if !mine {
		return nil
	}
	return s.c.send(ctx, jsonrpc.OneLine(body))
}
