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
	maxList     = 16 << 20    // bytes of the largest answer to tools/list that is checked
	maxBuffered = 4 * maxList // bytes of all answers being read or checked
)

// Wrap checks the answers to tools/list that pass.
func (p *Store) Wrap(r *routes.Route, up flow.Upstream) flow.Upstream {
	w := &pinUpstream{Upstream: up, agent: r.Name, store: p}
	for _, one := range r.Replicas() {
		w.targets = append(w.targets, targetOf(one))
	}
	return w
}

// targetOf is config.Server.Target of what a route leads to.
func targetOf(r *routes.Route) string {
	s := config.Server{Command: r.Command, Args: r.Args, Cwd: r.Cwd}
	if r.Command == "" {
		s.URL = r.Address()
	}
	return s.Target()
}

type pinUpstream struct {
	flow.Upstream
	agent   string
	targets []string
	store   *Store
}

// RoundTrip sends a request.
func (w *pinUpstream) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.Upstream.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK || !isToolsList(r) {
		return res, err
	}
	if enc := res.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		w.store.recordSkipped(w.agent, "the tool list has a Content-Encoding")
		return res, nil
	}
	res.Body = &pinBody{ReadCloser: res.Body, w: w, events: ingress.IsEvents(res.Header)}
	return res, nil
}

// isToolsList reports whether a request is a tools/list.
func isToolsList(r *http.Request) bool {
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

// pinBody is a response body that copies what is read, and checks the copy on Close.
type pinBody struct {
	io.ReadCloser
	w      *pinUpstream
	events bool
	copied bytes.Buffer
	large  bool
	closed bool
}

// Read implements io.Reader.
func (r *pinBody) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if r.large {
		return n, err
	}
	r.large = r.copied.Len()+n > maxList
	if all := r.w.store.buffered.Add(int64(n)); r.large || all > maxBuffered {
		r.large = true
		r.w.store.buffered.Add(-int64(r.copied.Len() + n))
		r.copied = bytes.Buffer{}
		return n, err
	}
	r.copied.Write(b[:n])
	return n, err
}

// Close checks what was read, in the background unless all slots are taken: the caller waits for its answer.
func (r *pinBody) Close() error {
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
	size := int64(r.copied.Len())
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.slots <- struct{}{}:
		if !p.closed {
			p.tasks.Go(func() {
				r.check()
				p.buffered.Add(-size)
				<-p.slots
			})
			return err
		}
		<-p.slots
	default:
	}
	p.mu.Unlock()
	r.check()
	p.buffered.Add(-size)
	p.mu.Lock()
	return err
}

// check finds the answer in what was read; a stream that ended before it is ignored.
func (r *pinBody) check() {
	if !r.events {
		r.checkFrame(r.copied.Bytes())
		return
	}
	events := sse.NewReader(&r.copied, maxList, 0)
	for {
		e, err := events.Next()
		if err != nil {
			return
		}
		r.checkFrame(e.Data)
	}
}

func (r *pinBody) checkFrame(frame []byte) {
	if env, err := jsonrpc.Scan(bytes.TrimSpace(frame)); err == nil && env.Kind == jsonrpc.Response {
		r.w.store.Check(r.w.agent, env.Result, r.w.targets...)
	}
}
