package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// subprotocol is what SDKs of both sides ask for and accept. WebSocket is not a part of the specification.
const subprotocol = "mcp"

// socket is a WebSocket (RFC 6455) with one JSON-RPC frame in each text message. Only its opening is an HTTP exchange, of which the journal has
// status and headers; what comes after it is in the journal as frames.
type socket struct {
	*httpClient                 // nil where the configuration cannot be used; started says why
	started     error           // what Start and Send report
	given       *url.URL        // as configured, ws or wss
	conn        *websocket.Conn // nil before it is open; set once, guarded by httpClient.mu
	in          Receiver
	turn        chan struct{} // holds a token while nobody writes; empty before it is open, and for good after half a message
	stall       time.Duration // how long the server may take to read a piece
	closing     chan struct{} // closed by Close: an end after it is not reported
	once        sync.Once     // closes closing
}

// newSocket makes one for the endpoint of cfg, whose URL may be http or https as well. net/http gets it with these schemes, and HTTP/1.1
// only: the upgrade is a header of that version.
func newSocket(cfg config.Server, tap Tap) *socket {
	t := &socket{turn: make(chan struct{}, 1), stall: writeStall, closing: make(chan struct{})}
	if config.TransportOf(cfg.URL) == config.WS {
		cfg.URL = "http" + strings.TrimPrefix(cfg.URL, "ws")
	}
	if t.httpClient, t.started = newHTTPClient(cfg, tap); t.started != nil {
		return t
	}
	given := *t.url
	given.Scheme = "ws" + strings.TrimPrefix(given.Scheme, "http")
	t.given = &given
	http1 := &http.Protocols{} // nothing else can be upgraded
	http1.SetHTTP1(true)
	t.rt.Protocols, t.rt.ForceAttemptHTTP2, t.rt.HTTP2 = http1, false, nil
	t.client.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		return &errRedirect{"the server redirects to " + mask.URL(req.URL.String()) + ", which a WebSocket does not follow"}
	}
	return t
}

// Traits are like those of pipes: what is said of a frame stands in the frame.
func (t *socket) Traits() Traits { return Traits{Kind: config.WS} }

// Start opens the WebSocket.
func (t *socket) Start(ctx context.Context, in Receiver) error {
	if t.started != nil {
		return t.started
	}
	if !t.begin() {
		return errClosed()
	}
	t.in = in
	x := t.exchange(ctx, "", "")
	defer x.detach()
	conn, err := t.upgrade(x)
	if err != nil {
		t.wg.Done()
		return err
	}
	conn.SetReadLimit(-1) // read has one of its own, which keeps the connection
	t.mu.Lock()
	closed := t.closed
	t.conn = conn
	t.mu.Unlock()
	if closed {
		_ = conn.CloseNow() // nobody waits for anything on it
		t.wg.Done()
		return errClosed()
	}
	t.turn <- struct{}{}
	go func() {
		defer t.wg.Done()
		t.read(conn)
	}()
	return nil
}

// upgrade asks for the WebSocket, and again when there are better credentials.
func (t *socket) upgrade(x *exchange) (*websocket.Conn, error) {
	for attempts := 1; ; attempts++ {
		req, err := http.NewRequestWithContext(x, http.MethodGet, t.url.String(), nil)
		if err != nil {
			return nil, explainHTTP(err, t.url, t.connect)
		}
		req.Header.Set("User-Agent", "mcphud")
		for name, value := range t.headers {
			if strings.EqualFold(name, "Host") {
				req.Host = value
				continue
			}
			req.Header.Set(name, value)
		}
		if t.auth != nil {
			if err := t.authorize(x, req); err != nil {
				return nil, err
			}
		}
		conn, resp, err := websocket.Dial(x, t.url.String(), &websocket.DialOptions{
			HTTPClient: t.client, HTTPHeader: req.Header, Host: req.Host, Subprotocols: []string{subprotocol},
		})
		if resp != nil && t.auth != nil {
			again, refused := t.auth.Answered(req, resp)
			if again = again && attempts < maxAttempts; again || refused != nil {
				if conn != nil {
					_ = conn.CloseNow() // it was refused
				}
				if refused != nil {
					return nil, refused
				}
				continue
			}
		}
		if err != nil {
			return nil, t.refusedUpgrade(x, resp, err)
		}
		return conn, nil
	}
}

// open is the WebSocket, nil before there is one.
func (t *socket) open() *websocket.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.conn
}

// refusedUpgrade says why there is no WebSocket: a *failure.Error, or an *HTTPError for statuses that mean the same on every transport. resp is nil
// where no answer came.
func (t *socket) refusedUpgrade(x *exchange, resp *http.Response, err error) error {
	if cause := x.caller.Err(); cause != nil {
		return cause
	}
	var redirect *errRedirect
	if resp == nil || errors.As(err, &redirect) {
		return t.failure(x, err)
	}
	h := &HTTPError{Status: resp.StatusCode, Method: http.MethodGet, URL: mask.URL(t.given.String()), Header: resp.Header}
	if resp.Body != nil {
		h.Body, _ = readBody(resp.Body, -1, maxErrorBody) // whatever there is
		t.journalBody(x, resp, h.Body)
	}
	e := &failure.Error{
		Kind: failure.Protocol, Status: h.Status, URL: h.URL, Err: h, Detail: text.Clip(text.OfPage(strings.ToValidUTF8(string(h.Body), "\uFFFD")), 400),
		Message: "the server answered " + resp.Status + " instead of opening a WebSocket",
		Next:    "check the path of the URL, or try Streamable HTTP", Remedy: failure.ChooseTransport,
	}
	switch {
	case h.Status == http.StatusSwitchingProtocols:
		_, why, _ := strings.Cut(err.Error(), "violation: ")
		e.Message, e.Detail, e.Err = "the server opened the WebSocket wrongly", text.Clip(mask.Text(why), 400), nil
	case h.Status >= 300 && h.Status != http.StatusUpgradeRequired:
		return h
	}
	return e
}

// read delivers what the server says until the connection ends.
func (t *socket) read(conn *websocket.Conn) {
	for {
		// Close ends this: a context would end the connection without a goodbye.
		kind, r, err := conn.Reader(context.Background())
		if err != nil {
			t.reportLost(err)
			return
		}
		body, err := readBody(r, -1, t.max)
		switch {
		case errors.Is(err, errTooLarge):
			if err = t.skip(body, r); err != nil {
				t.reportLost(err)
				return
			}
		case err != nil:
			t.reportLost(err)
			return
		case kind != websocket.MessageText:
			t.in.Broken(body[:min(len(body), headBytes)], body[max(0, len(body)-tailBytes):], &failure.Error{
				Kind: failure.Protocol, Message: "the server sent a binary message; MCP has text", Next: "report it to the server's author",
			})
		case len(strings.TrimSpace(string(body[:min(len(body), 64)]))) > 0 || len(body) > 64:
			t.in.Frame(body)
		}
	}
}

// skip reads the rest of a message that is too large, and reports it.
func (t *socket) skip(start []byte, r io.Reader) error {
	l := &lineReader{max: t.max, in: t.in, drop: true}
	l.skip(start)
	buf := make([]byte, writePiece)
	for {
		n, err := r.Read(buf)
		l.skip(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			l.tooLong()
			return nil
		case err != nil:
			return err
		}
	}
}

// reportLost reports the end of the connection, unless it is Close's.
func (t *socket) reportLost(err error) {
	select {
	case <-t.closing:
		return
	default:
	}
	e := &failure.Error{Kind: failure.ChannelClosed, URL: mask.URL(t.given.String()), Err: err, Next: "reconnect"}
	var c websocket.CloseError
	switch {
	case errors.As(err, &c):
		e.Message = fmt.Sprintf("the server closed the WebSocket: %d %s", c.Code, closeWord(c.Code))
		e.Detail, e.Err = text.Clip(strings.ToValidUTF8(c.Reason, "\uFFFD"), 200), nil
		switch c.Code {
		case websocket.StatusPolicyViolation:
			e.Next, e.Remedy = "check the credentials, then reconnect", failure.GiveHeader
		case websocket.StatusMessageTooBig:
			e.Next = "send less at once: the server's limit is smaller"
		case websocket.StatusTryAgainLater:
			e.Next = "wait, then reconnect"
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the server ended the connection without closing the WebSocket"
	default:
		e.Message = "the WebSocket broke: " + text.Clip(mask.Text(err.Error()), 300)
	}
	t.in.Lost(e)
}

// closeWord is what a close code stands for (RFC 6455, section 7.4.1).
func closeWord(code websocket.StatusCode) string {
	switch code {
	case websocket.StatusNormalClosure:
		return "normal closure"
	case websocket.StatusGoingAway:
		return "going away"
	case websocket.StatusProtocolError:
		return "protocol error"
	case websocket.StatusUnsupportedData:
		return "unsupported data"
	case websocket.StatusNoStatusRcvd:
		return "no reason given"
	case websocket.StatusInvalidFramePayloadData:
		return "invalid text"
	case websocket.StatusPolicyViolation:
		return "policy violation"
	case websocket.StatusMessageTooBig:
		return "message too big"
	case websocket.StatusInternalError:
		return "internal error"
	case websocket.StatusServiceRestart:
		return "service restart"
	case websocket.StatusTryAgainLater:
		return "try again later"
	case websocket.StatusBadGateway:
		return "bad gateway"
	}
	return "of the server's own"
}

// Send writes one message. ctx bounds the waiting for a turn only: half a message would break the connection.
func (t *socket) Send(ctx context.Context, m Message) error {
	if t.started != nil {
		return t.started
	}
	conn := t.open()
	if conn == nil {
		return &failure.Error{Kind: failure.ServerNotConnected, Message: "the WebSocket is not open", Next: "connect first"}
	}
	if !t.begin() {
		return errClosed()
	}
	defer t.wg.Done()
	select {
	case <-t.turn:
	case <-ctx.Done():
		return ctx.Err()
	case <-t.closing:
		return errClosed()
	}
	stalled, stall := context.WithCancel(context.Background())
	defer stall()
	timer := time.AfterFunc(t.stall, stall)
	defer timer.Stop()
	err := write(stalled, conn, m.Frame, func() { timer.Reset(t.stall) })
	if err == nil {
		t.turn <- struct{}{}
		return nil
	}
	// The turn is never given back: nothing can be written after half a message.
	t.closeConnections()
	if stalled.Err() != nil {
		err = fmt.Errorf("the server does not read what it is sent (waited %v)", t.stall)
	}
	return &failure.Error{Kind: failure.ChannelClosed, URL: mask.URL(t.given.String()), Message: err.Error(), Err: err, Next: "reconnect"}
}

// write writes a message, a large one in pieces; each is told to wrote.
func write(ctx context.Context, conn *websocket.Conn, frame []byte, wrote func()) error {
	if len(frame) <= writePiece {
		return conn.Write(ctx, websocket.MessageText, frame)
	}
	w, err := conn.Writer(ctx, websocket.MessageText)
	for err == nil && len(frame) > 0 {
		n := min(len(frame), writePiece)
		_, err = w.Write(frame[:n])
		frame = frame[n:]
		wrote()
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// Close says goodbye, for which a server has half a second, and ends the connection.
func (t *socket) Close() error {
	if t.httpClient == nil {
		return nil
	}
	t.once.Do(func() { close(t.closing) })
	if conn := t.open(); conn != nil {
		timer := time.AfterFunc(deleteGrace, t.closeConnections)
		_ = conn.Close(websocket.StatusNormalClosure, "") // the connection goes whatever the server says
		timer.Stop()
	}
	t.closeConnections()
	t.shutdown()
	return nil
}
