package duplex

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// Options configures a Server. Handler and Admit are required.
type Options struct {
	// Handler is Streamable HTTP, behind the guard against other origins.
	Handler http.Handler
	// Admit reports whether the sender of a request may connect, and who that is; if not, it answers the request. Handler decides about
	// each message again.
	Admit    func(w http.ResponseWriter, r *http.Request) (who string, ok bool)
	Panicked func(any) // gets what Handler panics with; nil discards

	Limit     int64         // bytes of a message of a client, default 10 MiB
	Most      int           // connections at a time, default 1,000
	Body      time.Duration // for a message to arrive once it has begun, default 30 s
	Write     time.Duration // for a client to take a message, or a piece of a large one, default 30 s
	Heartbeat time.Duration // between signs of life on a silent connection, default 15 s
}

// Server serves clients with one connection each. Close ends them.
type Server struct {
	o Options

	mu     sync.Mutex
	closed bool
	links  map[*link]bool     // all that are connected
	events map[string]*link   // those with an event stream, by the id in the URL for their messages
	served sync.WaitGroup     // of links; not added to once closed
	ending context.Context    // done when what runs has to end
	end    context.CancelFunc // of ending
}

// link is one connection.
type link struct {
	client *Client
	who    string
	once   sync.Once
	stop   chan struct{} // closed by Close
}

// New makes a server.
func New(o Options) *Server {
	o.Limit = cmp.Or(o.Limit, 10<<20)
	o.Most = cmp.Or(o.Most, 1000)
	o.Body = cmp.Or(o.Body, 30*time.Second)
	o.Write = cmp.Or(o.Write, 30*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, sse.Heartbeat)
	if o.Panicked == nil {
		o.Panicked = func(any) {}
	}
	s := &Server{o: o, links: map[*link]bool{}, events: map[string]*link{}}
	s.ending, s.end = context.WithCancel(context.Background())
	return s
}

// Connections is how many clients are connected.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links)
}

// open admits a client and counts it, or answers its request.
func (s *Server) open(w http.ResponseWriter, r *http.Request) *link {
	who, ok := s.o.Admit(w, r)
	if !ok {
		return nil
	}
	l := &link{who: who, stop: make(chan struct{})}
	s.mu.Lock()
	var why error
	switch {
	case s.closed:
		why = &jsonrpc.RequestError{Kind: jsonrpc.KindInterrupted, Message: "the server is shutting down", Status: http.StatusServiceUnavailable, RetryAfter: time.Second}
	case len(s.links) >= s.o.Most:
		why = &jsonrpc.RequestError{
			Kind: jsonrpc.KindQueueFull, Message: "too many connections: all that this server keeps at once are in use; try again later",
			Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
		}
	default:
		s.links[l] = true
		s.served.Add(1)
	}
	s.mu.Unlock()
	if why != nil {
		refuse(w, why)
		return nil
	}
	return l
}

// leave ends what is left of a connection.
func (s *Server) leave(l *link) {
	if l.client != nil {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		l.client.End(gone)
	}
	s.mu.Lock()
	delete(s.links, l)
	s.mu.Unlock()
	s.served.Done()
}

// refuse answers an HTTP request that becomes no message.
func refuse(w http.ResponseWriter, err error) {
	f, ok := jsonrpc.AsRequestError(err)
	if !ok {
		f = &jsonrpc.RequestError{Kind: jsonrpc.KindInternal, Message: "the connection could not be opened", Err: err, Status: http.StatusInternalServerError}
	}
	ingress.Refuse(nil, false, f).Write(w)
}

// Close takes no further clients and lets those that there are have their answers until ctx is done; then it ends them. It returns
// when none is left.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Keys(s.links))
	s.mu.Unlock()
	defer context.AfterFunc(ctx, s.end)() // whether it was in time does not matter
	for _, l := range all {
		l.once.Do(func() { close(l.stop) })
	}
	s.served.Wait()
	s.end()
}

type carriedKey struct{}

// Carried reports whether a request with this context carries a message of a Client: what HTTP says in headers, such as parameters of a tool,
// stands in the message alone.
func Carried(ctx context.Context) bool { return ctx.Value(carriedKey{}) != nil }

// requester makes the requests of one client, as if it had made them itself.
type requester struct {
	s    *Server
	base *http.Request // with which it connected
}

// own are headers that belong to the request with which a client connected, or to the message; what is between client and server sees them there.
var own = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Cache-Control": true, "Connection": true, "Content-Encoding": true, "Content-Length": true, "Content-Type": true,
	"Keep-Alive": true, "Last-Event-Id": true, "Mcp-Method": true, "Mcp-Name": true, "Mcp-Protocol-Version": true, "Mcp-Session-Id": true, "Te": true,
	"Trailer": true, "Traceparent": true, "Tracestate": true, "Transfer-Encoding": true, "Upgrade": true,
	"Sec-Websocket-Extensions": true, "Sec-Websocket-Key": true, "Sec-Websocket-Protocol": true, "Sec-Websocket-Version": true,
}

// RoundTrip implements [http.RoundTripper].
func (q requester) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(context.WithValue(r.Context(), carriedKey{}, true))
	in.RequestURI, in.Host, in.RemoteAddr, in.TLS = r.URL.RequestURI(), q.base.Host, q.base.RemoteAddr, q.base.TLS
	for name, values := range q.base.Header {
		if !own[name] {
			in.Header[name] = values
		}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return RoundTrip(q.s.o.Handler, in, q.s.o.Panicked)
}
