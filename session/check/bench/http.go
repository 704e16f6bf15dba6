package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/sse"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	// kept is how much of an answer is looked at: a thousand large ones that come at once are not to fill the memory. Of a larger one the
	// rest is read, and only its beginning says what it is.
	kept       = 1 << 20
	maxRefusal = 64 << 10         // bytes of the body of a refusal that are read
	afterwards = time.Second      // how long a stream may go on after its answer, so that its connection can be used again
	cancelWait = time.Second      // how long telling a server of a cancelled request may take
	idle       = 90 * time.Second // after which an idle connection is closed
)

// httpConn is a session over Streamable HTTP, and the TCP connections of its own that its requests go over.
type httpConn struct {
	rt      *http.Transport
	max     int64
	session *session.Session
	readers sync.Pool // of *sse.Reader

	mu      sync.Mutex
	capture *capture // nil while nothing is to be kept
}

// capture is a request that is kept instead of sent.
type capture struct {
	method string
	url    *url.URL
	host   string
	header http.Header
	frame  []byte
}

// newHTTPConn has no session yet.
func newHTTPConn(cfg config.Server) (*httpConn, error) {
	network, err := transport.NewNetwork(cfg)
	if err != nil {
		return nil, err
	}
	c := &httpConn{max: cfg.MaxFrame}
	if c.max <= 0 {
		c.max = config.DefaultMaxFrame
	}
	c.rt = network.Transport(network.URL(), (&net.Dialer{Timeout: cfg.ConnectLimit(), KeepAlive: 15 * time.Second}).DialContext)
	c.rt.TLSHandshakeTimeout = cfg.ConnectLimit()
	c.rt.ForceAttemptHTTP2 = true  // net/http gives it up where a transport has a dialer of its own
	c.rt.DisableCompression = true // unpacking would be our time, and not the server's
	c.rt.MaxIdleConnsPerHost = MaxClients
	c.rt.IdleConnTimeout = idle
	c.rt.MaxResponseHeaderBytes = 1 << 20
	c.readers.New = func() any { return sse.NewReader(nil, kept, c.max) }
	return c, nil
}

// RoundTrip is what the requests of the session go through.
func (c *httpConn) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	k := c.capture
	c.mu.Unlock()
	// The session's other requests go to the server, also while one is prepared: a login that is renewed, say.
	if k == nil || req.Method != http.MethodPost || req.GetBody == nil {
		return c.rt.RoundTrip(req)
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	frame, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	env, err := jsonrpc.Scan(frame)
	if err != nil || env.Method != k.method || env.Kind != jsonrpc.Request {
		return c.rt.RoundTrip(req)
	}
	c.mu.Lock()
	k.url, k.host, k.header, k.frame = req.URL, req.Host, req.Header.Clone(), frame
	c.mu.Unlock()
	_ = req.Body.Close()
	answer := jsonrpc.NewResult(env.ID, []byte("{}"))
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(answer)), Body: io.NopCloser(bytes.NewReader(answer)),
	}, nil
}

// prepare lets the session make the request, and keeps it.
func (c *httpConn) prepare(ctx context.Context, method string, params json.RawMessage) (*message, error) {
	k := &capture{method: method}
	c.set(k)
	_, err := c.session.Call(ctx, method, params, session.CallOptions{Exact: true})
	c.set(nil)
	if err != nil {
		return nil, err
	}
	if k.frame == nil {
		return nil, errNotMade
	}
	m, err := prepareMessage(k.frame, k.header)
	if err != nil {
		return nil, err
	}
	m.request = &http.Request{Method: http.MethodPost, URL: k.url, Host: k.host, Header: k.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return m, nil
}

func (c *httpConn) set(k *capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capture = k
}

// close closes the connections that nobody uses.
func (c *httpConn) close() { c.rt.CloseIdleConnections() }

// err is nil: the next request may find the server again.
func (c *httpConn) err() error { return nil }

func request(ctx context.Context, m *message, frame []byte) *http.Request {
	req := m.request.WithContext(ctx)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(frame)), int64(len(frame))
	// With it net/http sends the request again where the server had closed an idle connection before anything of it was sent.
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
	return req
}

func (c *httpConn) send(ctx context.Context, m *message, id uint64, s *shot) (reply, error) {
	answer, err := c.exchange(ctx, m, id, s)
	if err == nil {
		return answer, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if ctx.Err() != nil && c.session.Status().Era != session.Modern { // there closing the stream says the same
		c.cancel(m, id)
	}
	return reply{}, err
}

func (c *httpConn) exchange(ctx context.Context, m *message, id uint64, s *shot) (reply, error) {
	resp, err := c.rt.RoundTrip(request(httptrace.WithClientTrace(ctx, s.trace()), m, m.frame(id)))
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // the status is the error
		s.mark(&s.whole)
		if env, err := jsonrpc.Scan(body); err == nil && env.Kind == jsonrpc.ErrorResponse {
			return reply{frame: body}, nil
		}
		return reply{}, &httpStatus{resp.StatusCode, body}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return c.stream(resp.Body, id, s)
	}
	body, err := c.read(resp)
	if err != nil {
		return reply{}, err
	}
	s.mark(&s.whole)
	return body, answers(body.frame, id)
}

// read reads all of a body, and keeps its beginning.
func (c *httpConn) read(resp *http.Response) (reply, error) {
	length := resp.ContentLength
	if length < 0 {
		length = bytes.MinRead
	}
	b := make([]byte, 0, min(length, kept)+1) // with room for what says that it is the end
	for len(b) <= kept {
		n, err := resp.Body.Read(b[len(b):min(cap(b), kept+1)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return reply{frame: b}, nil
		}
		if err != nil {
			return reply{}, err
		}
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
	}
	n, err := io.Copy(io.Discard, io.LimitReader(resp.Body, c.max-kept))
	if err == nil && n >= c.max-kept {
		err = fmt.Errorf("%w: it has more than %d bytes", errProtocol, c.max)
	}
	return reply{b, true}, err
}

// answers says what is wrong with an answer to the request with this id. What is not JSON-RPC at all is judged later.
func answers(frame []byte, id uint64) error {
	got := jsonrpc.Get(frame, "id")
	var want [20]byte
	if got == nil || string(got) == "null" || bytes.Equal(got, strconv.AppendUint(want[:0], id, 10)) {
		return nil
	}
	return fmt.Errorf("%w: it has the id %.40s instead of %d", errProtocol, got, id)
}

// stream reads events until the answer came, and then, for a moment, to the end.
func (c *httpConn) stream(body io.ReadCloser, id uint64, s *shot) (reply, error) {
	r, ok := c.readers.Get().(*sse.Reader)
	if !ok {
		return reply{}, errors.New("no reader") // the pool has nothing else
	}
	r.Reset(body)
	defer func() {
		r.Reset(nil)
		c.readers.Put(r)
	}()
	for {
		ev, err := r.Next()
		var large *sse.TooLongError
		switch {
		case err == io.EOF:
			return reply{}, fmt.Errorf("%w: the stream ended without one", errProtocol)
		case errors.As(err, &large) && !large.Fatal:
			if ev.Data = large.Head; jsonrpc.Get(ev.Data, "id") == nil || answers(ev.Data, id) != nil {
				continue
			}
		case err != nil:
			return reply{}, err
		default:
			env, err := jsonrpc.Scan(ev.Data)
			if err != nil || env.Kind != jsonrpc.Response && env.Kind != jsonrpc.ErrorResponse || answers(ev.Data, id) != nil {
				continue
			}
		}
		s.mark(&s.whole)
		timer := time.AfterFunc(afterwards, func() { _ = body.Close() })
		_, _ = io.CopyN(io.Discard, body, maxRefusal) // for the connection's sake
		timer.Stop()
		return reply{ev.Data, large != nil}, nil
	}
}

// cancel tells the server that nobody waits for an answer any more.
func (c *httpConn) cancel(m *message, id uint64) {
	ctx, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	if resp, err := c.rt.RoundTrip(request(ctx, m, cancelledFrame(id))); err == nil {
		_, _ = io.CopyN(io.Discard, resp.Body, maxRefusal)
		_ = resp.Body.Close()
	}
}
