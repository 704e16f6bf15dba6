package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/transport"
)

const (
	stdioCalls = 256                    // requests of the client that run at once
	lastWords  = 300 * time.Millisecond // for requests that run at the end of the input
	lastGasp   = time.Second            // for them to end once they are cancelled
)

// ServeStdio serves the endpoint of all agents over a pipe, one message a line, until in ends or ctx is done. Requests that run then
// get 300 ms; afterwards they are cancelled. The error is why in could not be read, or out not be written. Neither in nor out must block
// for ever once ctx is done; until then, goroutines use them.
func (r *Router) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	cfg := config.Server{Name: r.o.Name, Transport: config.HTTP, URL: "http://127.0.0.1/mcp"}
	p := &pipe{out: out, slots: make(chan struct{}, stdioCalls), running: map[string]bool{}, limit: int(r.o.MaxRequest)}
	p.to = transport.NewHTTP(cfg, transport.Tap{}, inProcess{r})
	if err := p.to.Start(ctx, p); err != nil {
		return err
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	read := make(chan error, 1)
	go func() { read <- p.read(work, in) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
			_ = d.SetReadDeadline(time.Now()) // pipes of some systems have none; the reader ends with its input then
		}
	case <-r.Done():
	}
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	end := time.AfterFunc(lastWords, cancel)
	defer end.Stop()
	closed := make(chan error, 1)
	go func() {
		p.calls.Wait()
		closed <- p.to.Close()
	}()
	select {
	case failed := <-closed:
		return errors.Join(err, failed)
	case <-time.After(lastWords + lastGasp):
		return errors.Join(err, errors.New("the client does not read its input"))
	}
}

// inProcess serves requests by the router itself.
type inProcess struct{ r *Router }

// RoundTrip serves one.
func (i inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return flow.RoundTrip(i.r.Handler(), in, func(v any) {
		i.r.log.Error("request handler panicked", "panic", v, "stack", string(debug.Stack()))
	})
}

// pipe is a client on the other end of a pipe.
type pipe struct {
	to    transport.Transport
	calls sync.WaitGroup
	slots chan struct{}
	limit int // bytes of a line

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	failed  error           // of writing
	ending  bool            // no further requests begin
	opening []byte          // id of an initialize that is under way
	running map[string]bool // requests by id; true for those that the client cancelled
}

// read takes lines until the input ends.
func (p *pipe) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := ingress.ReadLine(r, p.limit)
		switch line = bytes.TrimSpace(line); {
		case long:
			p.refuse(line, ingress.LineTooLong(p.limit))
		case len(line) > 0:
			p.take(ctx, line)
		}
		p.mu.Lock()
		failed, ending := p.failed, p.ending
		p.mu.Unlock()
		switch {
		case failed != nil:
			return failed
		case ending, errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// take takes one message of the client's. Requests run at the same time, but for initialize, which the others depend on.
func (p *pipe) take(ctx context.Context, line []byte) {
	env, err := ingress.Scan(line)
	if err != nil {
		p.refuse(env.ID, err)
		return
	}
	m := transport.Message{Frame: line, Env: env}
	if params, err := ingress.Inspect(env.Method, env.Params); err == nil && params.Version != nil {
		// What the modern era says in each message it says over HTTP in headers, too.
		version, _ := jsonrpc.String(params.Version)
		m.Header = http.Header{}
		for name, v := range mcp.StandardHeaders(version, mcp.MCPMethod(env.Method), env.Params) {
			m.Header.Set(name, v)
		}
		m.Header.Set("Mcp-Protocol-Version", version)
	}
	if env.Kind != jsonrpc.Request {
		if env.Method == string(mcp.MethodNotificationCancelled) {
			p.mu.Lock()
			id := jsonrpc.IDKey(string(jsonrpc.Get(env.Params, "requestId")))
			if _, ok := p.running[id]; ok {
				p.running[id] = true
			}
			p.mu.Unlock()
		}
		_ = p.to.Send(ctx, m) // nobody waits for an answer
		return
	}
	p.slots <- struct{}{}
	opens := env.Method == string(mcp.MethodInitialize)
	p.mu.Lock()
	if p.ending {
		p.mu.Unlock()
		return
	}
	if p.running[jsonrpc.IDKey(string(env.ID))] = false; opens {
		p.opening = env.ID
	}
	p.calls.Add(1) // not after ending
	p.mu.Unlock()
	run := func() {
		defer p.calls.Done()
		p.call(ctx, m)
		<-p.slots
	}
	if opens {
		run()
	} else {
		go run()
	}
}

// call sends a request whose answer comes to Frame, and answers it where there is none.
func (p *pipe) call(ctx context.Context, m transport.Message) {
	err := p.to.Send(ctx, m)
	id := jsonrpc.IDKey(string(m.Env.ID))
	p.mu.Lock()
	cancelled := p.running[id]
	delete(p.running, id)
	p.mu.Unlock()
	var h *transport.HTTPError
	var e *failure.Error
	switch {
	case err == nil, cancelled, ctx.Err() != nil:
	case errors.As(err, &h):
		if env, scan := jsonrpc.Scan(h.Body); scan == nil && env.Kind == jsonrpc.ErrorResponse {
			frame, _ := jsonrpc.Update(h.Body, jsonrpc.Set(m.Env.ID, "id")) // was scanned
			p.Frame(frame)
			return
		}
		p.refuse(m.Env.ID, errors.New(h.Error()))
	case errors.As(err, &e):
		p.refuse(m.Env.ID, errors.New(e.Message))
	default:
		p.refuse(m.Env.ID, err)
	}
}

func (p *pipe) refuse(id []byte, err error) {
	if f, ok := jsonrpc.AsRequestError(err); ok {
		p.Frame(ingress.Refuse(id, false, f).Frame)
		return
	}
	p.Frame(jsonrpc.NewError(id, jsonrpc.CodeInternal, err.Error(), nil))
}

// Frame writes a message of the router's.
func (p *pipe) Frame(frame []byte) {
	frame = jsonrpc.OneLine(frame)
	p.mu.Lock()
	if p.opening != nil {
		if env, err := jsonrpc.Scan(frame); err == nil && env.Method == "" && jsonrpc.SameID(env.ID, p.opening) {
			p.opening = nil
			p.to.Traits().HTTP.SetVersion(jsonrpc.GetString(env.Result, "protocolVersion"))
		}
	}
	failed := p.failed
	p.mu.Unlock()
	if failed != nil {
		return
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if _, err := p.out.Write(append(frame[:len(frame):len(frame)], '\n')); err != nil {
		p.mu.Lock()
		p.failed = err
		p.mu.Unlock()
	}
}

// Broken is called for a message that is too large to be passed on; its request fails by the error of Send.
func (p *pipe) Broken([]byte, []byte, error) {}

// Lost is called when the router ends.
func (p *pipe) Lost(error) {}
