// Package duplex serves clients that have one connection for everything by a handler of Streamable HTTP in this process: a pipe, a
// WebSocket, or the event stream and the page for messages of HTTP+SSE (2024-11-05). Each message of such a client becomes the request
// that it would be over Streamable HTTP, so that whatever stands before the handler, such as authentication, limits and an audit log,
// sees it like any other, and what comes back in the answer or on the session's own stream is written to the connection.
//
//	links := duplex.New(duplex.Options{Handler: mcp, Admit: admit})
//	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) { links.WebSocket(w, r, "/mcp") })
//	defer links.Close(ctx)
package duplex

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// MaxCalls is how many requests of one client run at once.
const MaxCalls = 256

// Client is a client on the other end of a connection. Its methods are safe for concurrent use; what is taken one after the other begins
// in that order.
type Client struct {
	to     transport.Transport
	write  func(frame []byte) error
	calls  sync.WaitGroup
	slots  chan struct{}
	work   context.Context // of what Take begins
	cancel context.CancelFunc

	writing sync.Mutex // held while write runs

	mu      sync.Mutex
	failed  error           // of writing
	ending  bool            // no further requests begin
	opening []byte          // id of an initialize that is under way
	running map[string]bool // requests by id; true for those that the client cancelled
	over    chan struct{}   // closed by the first End once nothing is left; nil before it
}

// Connect begins to serve a client at path by the requests that via makes. write gets one frame at a time, without line ends in it; nothing
// is written after an error.
func Connect(ctx context.Context, name, path string, via http.RoundTripper, write func(frame []byte) error) (*Client, error) {
	c := &Client{write: write, slots: make(chan struct{}, MaxCalls), running: map[string]bool{}}
	c.to = transport.NewHTTP(config.Server{Name: name, Transport: config.HTTP, URL: "http://127.0.0.1" + path}, transport.Tap{}, via)
	if err := c.to.Start(ctx, c); err != nil {
		return nil, err
	}
	c.work, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return c, nil
}

// Take takes one message of the client's, with further headers for its request, nil for none. Requests run at the same time, but for
// initialize, which the others depend on. The error is why there is no use in taking another.
func (c *Client) Take(frame []byte, more http.Header) error {
	env, err := ingress.Scan(frame)
	if err != nil {
		c.Refuse(env.ID, err)
		return c.checkUsable()
	}
	m := transport.Message{Frame: frame, Env: env, Header: more.Clone()}
	if params, err := ingress.Inspect(env.Method, env.Params); err == nil && params.Version != nil {
		// What the modern era says in each message it says over HTTP in headers, too.
		version, _ := jsonrpc.String(params.Version)
		if m.Header == nil {
			m.Header = http.Header{}
		}
		for name, v := range mcp.StandardHeaders(version, mcp.MCPMethod(env.Method), env.Params) {
			m.Header.Set(name, v)
		}
		m.Header.Set("Mcp-Protocol-Version", version)
	}
	if env.Kind != jsonrpc.Request {
		if env.Method == string(mcp.MethodNotificationCancelled) {
			c.mu.Lock()
			id := jsonrpc.IDKey(string(jsonrpc.Get(env.Params, "requestId")))
			if _, ok := c.running[id]; ok {
				c.running[id] = true
			}
			c.mu.Unlock()
		}
		_ = c.to.Send(c.work, m) // nobody waits for an answer
		return c.checkUsable()
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.work.Done():
		return c.checkUsable()
	}
	opens := env.Method == string(mcp.MethodInitialize)
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return errEnding
	}
	if c.running[jsonrpc.IDKey(string(env.ID))] = false; opens {
		c.opening = env.ID
	}
	c.calls.Add(1) // not after ending
	c.mu.Unlock()
	run := func() {
		defer c.calls.Done()
		c.call(m)
		<-c.slots
	}
	if opens {
		run()
	} else {
		go run()
	}
	return c.checkUsable()
}

var errEnding = errors.New("the connection ends")

func (c *Client) checkUsable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil && c.ending {
		return errEnding
	}
	return c.failed
}

// Failed is why nothing can be written any more, nil if it can.
func (c *Client) Failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// call sends a request whose answer comes to Frame, and answers it where there is none.
func (c *Client) call(m transport.Message) {
	err := c.to.Send(c.work, m)
	id := jsonrpc.IDKey(string(m.Env.ID))
	c.mu.Lock()
	cancelled := c.running[id]
	delete(c.running, id)
	c.mu.Unlock()
	var h *transport.HTTPError
	var e *failure.Error
	switch {
	case err == nil, cancelled, c.work.Err() != nil:
	case errors.As(err, &h):
		if env, scan := jsonrpc.Scan(h.Body); scan == nil && env.Kind == jsonrpc.ErrorResponse {
			frame, _ := jsonrpc.Update(h.Body, jsonrpc.Set(m.Env.ID, "id")) // was scanned
			c.Frame(frame)
			return
		}
		c.Refuse(m.Env.ID, errors.New(h.Error()))
	case errors.As(err, &e):
		c.Refuse(m.Env.ID, errors.New(e.Message))
	default:
		c.Refuse(m.Env.ID, err)
	}
}

// Refuse answers a request with an error, or with id nil a message that is none.
func (c *Client) Refuse(id []byte, err error) {
	if f, ok := jsonrpc.AsRequestError(err); ok {
		c.Frame(ingress.Refuse(id, false, f).Frame)
		return
	}
	c.Frame(jsonrpc.NewError(id, jsonrpc.CodeInternal, err.Error(), nil))
}

// Frame implements [transport.Receiver]: it writes a message of the handler's.
func (c *Client) Frame(frame []byte) {
	frame = jsonrpc.OneLine(frame)
	c.mu.Lock()
	if c.opening != nil {
		if env, err := jsonrpc.Scan(frame); err == nil && env.Method == "" && jsonrpc.SameID(env.ID, c.opening) {
			c.opening = nil
			c.to.Traits().HTTP.SetVersion(jsonrpc.GetString(env.Result, "protocolVersion"))
		}
	}
	failed := c.failed
	c.mu.Unlock()
	if failed != nil {
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.Failed() != nil { // while another was written
		return
	}
	if err := c.write(frame); err != nil {
		c.mu.Lock()
		c.failed = err
		c.mu.Unlock()
	}
}

// Broken implements [transport.Receiver]: a message is too large to be passed on, and its request fails by the error of Send.
func (c *Client) Broken([]byte, []byte, error) {}

// Lost implements [transport.Receiver]: the handler's own stream is over.
func (c *Client) Lost(error) {}

// End ends the client: requests that run may end until ctx is done, and are cancelled then. It returns when nothing of the client is left,
// also where another End is under way.
func (c *Client) End(ctx context.Context) {
	c.mu.Lock()
	if c.over != nil {
		over := c.over
		c.mu.Unlock()
		defer context.AfterFunc(ctx, c.cancel)()
		<-over
		return
	}
	over := make(chan struct{})
	c.over, c.ending = over, true
	c.mu.Unlock()
	defer context.AfterFunc(ctx, c.cancel)()
	c.calls.Wait()
	c.cancel()
	_ = c.to.Close() // what it would say is about a server that is this process
	close(over)
}
