package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// start is a process that belongs to no session, while it is being made and after.
type start struct {
	done chan struct{}
	c    *child
	err  error
}

// get is the process of a key, made by the first who asks; the others wait. It is not made in the name of the caller, who may
// leave while others wait.
func (b *Bridge) get(ctx context.Context, key string, begin func(context.Context) (*child, error)) (*child, error) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, errClosed
	}
	st := b.common[key]
	if st == nil {
		st = &start{done: make(chan struct{})}
		b.common[key] = st
		b.wg.Go(func() {
			c, err := begin(b.life)
			b.mu.Lock()
			if err == nil {
				err = c.exitError()
			}
			st.c, st.err = c, err
			if err != nil && b.common[key] == st {
				delete(b.common, key)
			}
			b.mu.Unlock()
			close(st.done)
		})
	}
	b.mu.Unlock()
	select {
	case <-st.done:
		return st.c, st.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// shakeTimeout bounds the bridge's own handshakes.
const shakeTimeout = 30 * time.Second

// initialize opens a session of the legacy era.
func (b *Bridge) initialize(r *http.Request, env jsonrpc.Envelope, body []byte) (*http.Response, error) {
	if b.o.Shared {
		return b.join(r, env)
	}
	c, err := b.spawn(r.Context(), false)
	if err != nil {
		return b.unable(r, env, false, err)
	}
	s, err := c.newSession(env)
	if err != nil {
		b.discard(c)
		return nil, err
	}
	_, m, err := c.ask(r.Context(), s, env, body, false)
	if err == nil && m.env.Kind == jsonrpc.Response {
		err = b.register(s)
	}
	if err != nil {
		b.discard(c)
		return nil, err
	}
	res := m.response(r)
	if m.env.Kind != jsonrpc.Response {
		b.discard(c)
		return res, nil
	}
	res.Header[ingress.HeaderSession] = []string{s.id}
	return res, nil
}

// unable answers where no process could be had.
func (b *Bridge) unable(r *http.Request, env jsonrpc.Envelope, modern bool, err error) (*http.Response, error) {
	if _, ok := jsonrpc.AsRequestError(err); ok || errors.As(err, new(*jsonrpc.Error)) { // of ours, or the server refused the handshake
		return refuse(r, env.ID, modern, err), nil
	}
	return nil, err
}

// join opens a session with the process that all share, which was initialized once, by us.
func (b *Bridge) join(r *http.Request, env jsonrpc.Envelope) (*http.Response, error) {
	c, err := b.get(r.Context(), "legacy", b.introduce)
	if err != nil {
		return b.unable(r, env, false, err)
	}
	s, err := c.newSession(env)
	if err == nil {
		err = b.register(s)
	}
	if err != nil {
		return nil, err
	}
	asked := jsonrpc.GetString(env.Params, "protocolVersion")
	res := respond(r, http.StatusOK, ingress.TypeJSON, jsonrpc.NewResult(env.ID, negotiate(c.hello, asked)))
	res.Header[ingress.HeaderSession] = []string{s.id}
	return res, nil
}

// negotiate is the result of an initialize for a client that asked for an older version than the process speaks. What the newer
// ones added a client of an older one ignores.
func negotiate(hello []byte, asked string) []byte {
	if mcp.IsValidProtocolVersion(asked) && asked < jsonrpc.GetString(hello, "protocolVersion") { // versions are dates
		hello, _ = jsonrpc.Update(hello, jsonrpc.Replace(jsonrpc.Quote(asked), "protocolVersion")) // was scanned
	}
	return hello
}

// introduce starts a process for several clients and initializes it. The capabilities are those of a client that can do what
// clients are asked for during a request; where the client that caused it cannot, it is refused then. Roots are nothing that
// several clients could have in common.
func (b *Bridge) introduce(ctx context.Context) (*child, error) {
	ctx, cancel := context.WithTimeout(ctx, shakeTimeout)
	defer cancel()
	c, err := b.spawn(ctx, false)
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(b.o.Client)
	if err != nil { // strings always marshal
		return nil, err
	}
	params := fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":{"sampling":{},"elicitation":{}},"clientInfo":%s}`, mcp.LATEST_LEGACY_PROTOCOL_VERSION, info)
	m, err := c.request(ctx, string(mcp.MethodInitialize), params)
	if err == nil {
		err = c.send(ctx, jsonrpc.NewNotification(string(mcp.MethodNotificationInitialized), nil))
	}
	if err != nil {
		b.discard(c)
		return nil, err
	}
	c.hello = m.env.Result
	return c, nil
}

// request makes a request on the bridge's own account. An error response is a *jsonrpc.Error.
func (c *child) request(ctx context.Context, method string, params []byte) (message, error) {
	id := []byte("0") // never seen by the process
	env := jsonrpc.Envelope{Kind: jsonrpc.Request, ID: id, Method: method, Params: params}
	_, m, err := c.ask(ctx, nil, env, jsonrpc.NewRequest(id, method, params), false)
	if err != nil || m.env.Kind == jsonrpc.Response {
		return m, err
	}
	e, err := jsonrpc.ParseError(m.env.Error)
	if err != nil {
		return m, fmt.Errorf("answer to %s is a malformed error: %w", method, err)
	}
	return m, e
}

const (
	probeTime = 10 * time.Second // how long a server may take to say whether it knows the modern era
	legacyFor = 10 * time.Minute // after which it is asked again
)

// errLegacy answers requests of the modern era to a server that does not know it, as servers of the legacy era do over HTTP.
var errLegacy = &jsonrpc.RequestError{
	Kind: jsonrpc.KindInvalidRequest, Status: http.StatusBadRequest,
	Message: "Unsupported protocol version: this agent's server speaks " + mcp.LATEST_LEGACY_PROTOCOL_VERSION + " or older; send initialize",
}

// modern serves a request of the modern era.
func (b *Bridge) modern(r *http.Request, env jsonrpc.Envelope, body []byte) (*http.Response, error) {
	key := "modern"
	if !b.o.Shared {
		key += " " + b.o.Caller(r.Context()).Principal
	}
	for again := false; ; again = true {
		c, err := b.get(r.Context(), key, b.probe)
		if err != nil {
			return b.unable(r, env, true, err)
		}
		if c.exitError() != nil && !again { // ended since; its successor is not in place yet
			b.retire(key, c)
			continue
		}
		return c.do(r, nil, env, body)
	}
}

// retire takes a process out of use.
func (b *Bridge) retire(key string, c *child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if st := b.common[key]; st != nil && st.c == c {
		delete(b.common, key)
	}
}

// probe starts a process for requests of the modern era, and finds out whether it knows that.
func (b *Bridge) probe(ctx context.Context) (*child, error) {
	b.mu.Lock()
	legacy := b.o.Dial != nil || time.Now().Before(b.legacyUntil)
	b.mu.Unlock()
	if legacy {
		return nil, errLegacy
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	c, err := b.spawn(ctx, true)
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(b.o.Client)
	if err != nil { // strings always marshal
		return nil, err
	}
	c.probing.Store(true)
	params := fmt.Appendf(nil, `{"_meta":{%q:%q,%q:{},%q:%s}}`, mcp.MetaKeyProtocolVersion, mcp.LATEST_PROTOCOL_VERSION,
		mcp.MetaKeyClientCapabilities, mcp.MetaKeyClientInfo, info)
	_, err = c.request(ctx, string(mcp.MethodServerDiscover), params)
	c.probing.Store(false)
	var rpc *jsonrpc.Error
	if err == nil || errors.As(err, &rpc) && (rpc.Code == jsonrpc.CodeUnsupportedVersion || rpc.Code == jsonrpc.CodeMissingCapability) {
		b.sweepLater()
		return c, nil
	}
	b.discard(c)
	if b.life.Err() != nil {
		return nil, errClosed
	}
	if ctx.Err() == nil { // it said so, or left at the question; a silent one may only have been slow
		b.mu.Lock()
		b.legacyUntil = time.Now().Add(legacyFor)
		b.mu.Unlock()
	}
	return nil, errLegacy
}

// sweepLater schedules the end of unused processes.
func (b *Bridge) sweepLater() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sweep == nil && !b.closed && !b.o.Shared {
		b.sweep = time.AfterFunc(b.o.Idle/4, b.endIdle)
	}
}

func (b *Bridge) endIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep = nil
	if b.closed {
		return
	}
	for key, st := range b.common {
		if st.c != nil && st.c.isUnused(b.o.Idle) {
			delete(b.common, key)
			if _, ok := b.children[st.c]; ok {
				b.closeChild(st.c)
			}
		}
	}
	if len(b.common) > 0 {
		b.sweep = time.AfterFunc(b.o.Idle/4, b.endIdle)
	}
}

func (c *child) isUnused(since time.Duration) bool {
	at, idle := c.idleSince()
	return idle && time.Since(at) > since
}

// idleSince is since when a process has had nothing to do; false while a request is under way in it or a client listens.
func (c *child) idleSince() (at time.Time, idle bool) {
	listening := false
	c.each(func(s *clientSession) {
		s.mu.Lock()
		defer s.mu.Unlock()
		listening = listening || s.open
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, len(c.pending) == 0 && !listening
}
