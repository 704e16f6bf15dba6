package toolpin

import (
	"bytes"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

const (
	maxList = 16 << 20    // bytes of the largest answer to tools/list that is checked
	maxHeld = 4 * maxList // bytes of all answers being read or checked
)

// Wrap checks the answers to tools/list that pass.
func (p *Store) Wrap(r *routes.Route, up flow.Upstream) flow.Upstream {
	w := &watch{Upstream: up, agent: r.Name, store: p}
	for _, one := range r.Replicas() {
		w.targets = append(w.targets, target(one))
	}
	return w
}

// target is what a route leads to.
func target(r *routes.Route) string {
	s := config.Server{Command: r.Command, Args: r.Args, Cwd: r.Cwd}
	if r.Command == "" {
		s.URL = r.Address()
	}
	return s.Target()
}

type watch struct {
	flow.Upstream
	agent   string
	targets []string
	store   *Store
}

// RoundTrip sends a request.
func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.Upstream.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK || !lists(r) {
		return res, err
	}
	if enc := res.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		w.store.recordSkipped(w.agent, "the tool list has a Content-Encoding")
		return res, nil
	}
	res.Body = &reading{ReadCloser: res.Body, w: w, events: ingress.IsEvents(res.Header)}
	return res, nil
}

// lists reports whether a request is a tools/list.
func lists(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	if c := flow.From(r.Context()); c != nil {
		return c.Env.Method == string(mcp.MethodToolsList)
	}
	if r.GetBody == nil { // the router's own requests are small and have it
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	frame, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return false
	}
	env, err := jsonrpc.Scan(frame)
	return err == nil && env.Method == string(mcp.MethodToolsList)
}

// reading is a response body that keeps a copy of what is read.
type reading struct {
	io.ReadCloser
	w      *watch
	events bool
	kept   bytes.Buffer
	large  bool
	closed bool
}

// Read implements io.Reader.
func (r *reading) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if r.large {
		return n, err
	}
	r.large = r.kept.Len()+n > maxList
	if all := r.w.store.held.Add(int64(n)); r.large || all > maxHeld {
		r.large = true
		r.w.store.held.Add(-int64(r.kept.Len() + n))
		r.kept = bytes.Buffer{}
		return n, err
	}
	r.kept.Write(b[:n])
	return n, err
}

// Close checks what was read, in the background unless all slots are taken: the caller waits for its answer.
func (r *reading) Close() error {
	err := r.ReadCloser.Close()
	if r.closed {
		return err
	}
	r.closed = true
	p := r.w.store
	if r.large {
		p.recordSkipped(r.w.agent, "the tool list is larger than "+text.Bytes(maxList)+", or too many large lists arrived at once")
		return err
	}
	size := int64(r.kept.Len())
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.slots <- struct{}{}:
		if !p.closed {
			p.tasks.Go(func() {
				r.check()
				p.held.Add(-size)
				<-p.slots
			})
			return err
		}
		<-p.slots
	default:
	}
	p.mu.Unlock()
	r.check()
	p.held.Add(-size)
	p.mu.Lock()
	return err
}

// check finds the answer in what was read; a stream that ended before it is ignored.
func (r *reading) check() {
	if !r.events {
		r.answer(r.kept.Bytes())
		return
	}
	events := sse.NewReader(&r.kept, maxList, 0)
	for {
		e, err := events.Next()
		if err != nil {
			return
		}
		r.answer(e.Data)
	}
}

func (r *reading) answer(frame []byte) {
	if env, err := jsonrpc.Scan(bytes.TrimSpace(frame)); err == nil && env.Kind == jsonrpc.Response {
		r.w.store.Check(r.w.agent, env.Result, r.w.targets...)
	}
}
