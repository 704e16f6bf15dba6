package bridge

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// exchange is one request on its way through a process.
type exchange struct {
	c      *child
	s      *clientSession // nil in the modern era
	alias  uint64         // its id and its progress token in the process
	id     []byte         // the caller's own
	token  []byte         // the caller's own, nil without
	method string
	events bool // the caller takes an event stream
	logs   bool // the caller of the modern era asked for log messages
	out    *queue

	left time.Time // when a caller went whose request goes on, under the child's mutex
}

// endless reports whether the request is there to have no end.
func (x *exchange) endless() bool { return x.method == string(mcp.MethodSubscriptionsListen) }

// forget is how long a request whose caller left is taken to go on in the process.
const forget = 5 * time.Minute

// do sends a request to a process and returns what it answers, once that begins.
func (c *child) do(r *http.Request, s *clientSession, env jsonrpc.Envelope, body []byte) (*http.Response, error) {
	events, _ := ingress.Accepts(r.Header)
	x, first, err := c.ask(r.Context(), s, env, body, events && !c.b.o.Caller(r.Context()).JSON)
	switch {
	case err != nil:
		if f, ok := jsonrpc.AsRequestError(err); ok {
			return refuse(r, env.ID, c.modern, f), nil
		}
		return nil, err
	case first.final:
		return first.response(r), nil
	}
	return stream(x.out, r, first, func() { x.abandon(r.Context()) }), nil
}

// ask sends a request and waits for the first message about it: the answer, unless the caller takes events.
func (c *child) ask(ctx context.Context, s *clientSession, env jsonrpc.Envelope, body []byte, events bool) (*exchange, message, error) {
	x := &exchange{s: s, id: env.ID, method: env.Method, events: events, out: newQueue(!c.common)}
	if err := c.add(x); err != nil {
		return nil, message{}, err
	}
	x.out.OnStall(x.cancel)
	if s != nil && x.events {
		s.deliverPending(x)
	}
	if err := c.send(ctx, x.rewriteRequest(body)); err != nil {
		c.drop(x)
		return nil, message{}, err
	}
	first, err := x.out.Next(ctx, 0)
	if err != nil && ctx.Err() != nil {
		x.abandon(ctx)
	}
	return x, first, err
}

// rewriteRequest returns the request with our id and token, in one line.
func (x *exchange) rewriteRequest(body []byte) []byte {
	own := strconv.AppendUint(nil, x.alias, 10)
	changes := []jsonrpc.Change{jsonrpc.Replace(own, "id")}
	if token := jsonrpc.Get(body, "params", "_meta", "progressToken"); token != nil && token[0] != 'n' {
		x.token = token
		changes = append(changes, jsonrpc.Replace(own, "params", "_meta", "progressToken"))
	}
	x.logs = x.c.modern && jsonrpc.Get(body, "params", "_meta", mcp.MetaKeyLogLevel) != nil
	body, _ = jsonrpc.Update(body, changes...) // was scanned
	return jsonrpc.OneLine(body)
}

// abandon gives up a request whose caller waits no more. In the modern era that cancels it. In the legacy era a client that
// goes cancels nothing; a wait that was ended for it does.
func (x *exchange) abandon(ctx context.Context) {
	if !x.c.modern && x.c.b.o.Caller(ctx).Left {
		x.c.mu.Lock()
		if x.left.IsZero() {
			x.left = time.Now()
		}
		x.c.mu.Unlock()
		x.out.Fail(errLeft)
		return
	}
	x.cancel()
}

// cancel cancels the request at the process, unless it is answered.
func (x *exchange) cancel() {
	if x.c.drop(x) && x.method != string(mcp.MethodInitialize) {
		x.c.write(jsonrpc.NewNotification(string(mcp.MethodNotificationCancelled), append(strconv.AppendUint([]byte(`{"requestId":`), x.alias, 10), '}')))
	}
	x.out.Fail(errLeft)
}

// drop forgets a request; false if it was answered.
func (c *child) drop(x *exchange) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[x.alias] != x {
		return false
	}
	delete(c.pending, x.alias)
	return true
}

// cause is the only session with requests under way, and the only such request: nil where there are several, or none. What a
// process does unasked in the legacy era belongs to them, if to anybody.
func (c *child) cause() (s *clientSession, x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, sessions := 0, 0
	for alias, p := range c.pending {
		if p.endless() {
			continue
		}
		if !p.left.IsZero() && time.Since(p.left) > forget {
			delete(c.pending, alias)
			continue
		}
		n++
		x = p
		if p.s != s {
			s = p.s
			sessions++
		}
	}
	if n != 1 {
		x = nil
	}
	if sessions != 1 {
		s = nil
	}
	return s, x
}
