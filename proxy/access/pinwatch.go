package access

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/forward"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/sse"
)

const (
	maxList = 16 << 20    // bytes of the largest answer to tools/list that is checked
	maxKept = 4 * maxList // of all that are being read
)

// Wrap reads along where tools/list is answered.
func (p *Pins) Wrap(r *routes.Route, up forward.Upstream) forward.Upstream {
	return &watch{Upstream: up, agent: r.Name, pins: p}
}

type watch struct {
	forward.Upstream
	agent string
	pins  *Pins
}

// RoundTrip sends a request.
func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.Upstream.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK || !lists(r) {
		return res, err
	}
	if enc := res.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		w.pins.unseen(w.agent, "the list of tools has a Content-Encoding")
		return res, nil
	}
	res.Body = &reading{ReadCloser: res.Body, w: w, events: flow.IsEvents(res.Header)}
	return res, nil
}

// lists reports whether a request asks for the tools of an agent.
func lists(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	if c := flow.From(r.Context()); c != nil {
		return c.Env.Method == string(mcp.MethodToolsList)
	}
	if r.GetBody == nil { // one of the router's own, which is small
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

// reading keeps what passes until the end.
type reading struct {
	io.ReadCloser
	w      *watch
	events bool
	kept   bytes.Buffer
	large  bool
	closed bool
}

// Read reads, and keeps a copy.
func (r *reading) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if r.large {
		return n, err
	}
	r.large = r.kept.Len()+n > maxList
	if all := r.w.pins.kept.Add(int64(n)); r.large || all > maxKept {
		r.large = true
		r.w.pins.kept.Add(-int64(r.kept.Len() + n))
		r.kept = bytes.Buffer{}
		return n, err
	}
	r.kept.Write(b[:n])
	return n, err
}

// Close checks what was read, in the background unless much is being checked already: the caller waits for its answer.
func (r *reading) Close() error {
	err := r.ReadCloser.Close()
	if r.closed {
		return err
	}
	r.closed = true
	p := r.w.pins
	if r.large {
		p.unseen(r.w.agent, fmt.Sprintf("the list of tools is larger than %d MiB, or too many that are large came at a time", maxList>>20))
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
				p.kept.Add(-size)
				<-p.slots
			})
			return err
		}
		<-p.slots
	default:
	}
	p.mu.Unlock()
	r.check()
	p.kept.Add(-size)
	p.mu.Lock()
	return err
}

// check finds the answer in what was read. What broke off before it tells nothing.
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
		r.w.pins.Check(r.w.agent, env.Result)
	}
}
