package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// ErrSessionLost says that the server does not know our Mcp-Session-Id any more: initialize again, once. It comes with
// the *HTTPError of the refusal.
var ErrSessionLost = errors.New("the server ended the session")

// Protocol versions are dates and compare as text. "", which no version is known by yet, is less than all of them.
const (
	versionHeaderSince = "2025-06-18" // the first with the MCP-Protocol-Version header
	modernSince        = "2026-07-28" // the first without sessions and without streams that can be resumed
)

// deleteGrace bounds the goodbye to the server: a one-shot command must not wait for a server that has hung. Over Streamable HTTP that is
// the DELETE of its session
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management), over a WebSocket the closing handshake.
const deleteGrace = 500 * time.Millisecond

// streamable is Streamable HTTP, of both eras:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http. Each message is a POST of
// its own, answered with JSON or a stream of events. What is particular to the legacy era follows from what is sent: an
// answered initialize can bring a session, and notifications/initialized opens the stream for the server's own messages.
type streamable struct {
	*httpClient       // nil where the configuration cannot be used; started says why
	started     error // what Start and Send report
	in          Receiver

	// mu guards what the headers of every request are made of, and what is known of the server's own stream. It is not httpClient.mu, which
	// is for what Close waits for.
	mu      sync.Mutex
	version string        // by SetVersion; "" during the handshake
	session string        // of the last answered initialize; "" for none
	opened  chan struct{} // closed when the server has answered the request for its own stream; nil before that is made
	openBy  time.Time     // nobody waits for that any longer
}

func newHTTP(cfg config.Server, tap Tap) *streamable {
	c, err := newHTTPClient(cfg, tap)
	return &streamable{httpClient: c, started: err}
}

// NewHTTP returns a transport to a server over Streamable HTTP whose requests go through via instead of the network, for
// Options.Dial. A cfg without a usable URL is an error of Start.
func NewHTTP(cfg config.Server, tap Tap, via http.RoundTripper) Transport {
	t := newHTTP(cfg, tap)
	if t.httpClient != nil {
		t.via = via
	}
	return t
}

// Start connects nothing: the first message does.
func (t *streamable) Start(_ context.Context, in Receiver) error {
	t.in = in
	return t.started
}

// Traits has the headers.
func (t *streamable) Traits() Traits { return Traits{Kind: config.HTTP, HTTP: t} }

// SetVersion sets the version for the MCP-Protocol-Version header.
func (t *streamable) SetVersion(v string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version = v
}

// Version returns what SetVersion set.
func (t *streamable) Version() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

// SessionID returns the session that the server gave us, "" if none.
func (t *streamable) SessionID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// Send posts one message and, for a request, delivers what the server says until it was answered.
//
// A refusal is an *HTTPError, with ErrSessionLost if it means that. Its body can be the answer, an error response; a
// result is delivered like any other answer, whatever the status.
func (t *streamable) Send(ctx context.Context, m Message) error {
	if t.httpClient == nil {
		return t.started
	}
	if !t.begin() {
		return errClosed()
	}
	defer t.wg.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	t.awaitOpened(ctx, m.Env.Method)
	x := t.exchange(ctx, m.Env.Method, string(m.Env.ID))
	keep := false // drain has the exchange and the response, and ends them
	defer func() {
		if !keep {
			x.close()
		}
	}()
	req, err := http.NewRequestWithContext(x, http.MethodPost, t.url.String(), bytes.NewReader(m.Frame))
	if err != nil {
		return explainHTTP(err, t.url, t.connect)
	}
	req.Header.Set("Content-Type", "application/json")
	session := t.header(req.Header, "application/json, text/event-stream", m.Header)
	resp, err := t.do(x, req)
	if err != nil {
		return err
	}
	defer func() {
		if !keep {
			_ = resp.Body.Close()
		}
	}()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return t.handleRefusal(x, m, resp, session)
	}
	if m.Env.Method == "initialize" {
		if err := t.adopt(resp.Header.Get("Mcp-Session-Id")); err != nil {
			return err
		}
	}
	if m.Env.Kind != jsonrpc.Request {
		t.handleAccepted(x, resp)
		if m.Env.Method == "notifications/initialized" {
			t.listen()
		}
		return nil
	}
	if mediaType(resp) != "text/event-stream" {
		return t.answer(x, m, resp)
	}
	keep, err = t.stream(x, m, resp)
	return err
}

// header sets what every request carries, and returns the session among it: a refusal is about that one, though another may have taken its
// place by the time it comes. own headers replace those.
func (t *streamable) header(h http.Header, accept string, own http.Header) (session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.Set("Accept", accept)
	if t.session != "" {
		h.Set("Mcp-Session-Id", t.session)
	}
	if t.version >= versionHeaderSince {
		h.Set("MCP-Protocol-Version", t.version)
	}
	for name, values := range own {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return t.session
}

// adopt keeps the session of an answered initialize, "" for a server without. The specification allows visible ASCII (0x21 to 0x7E) in it; anything
// else is refused, for we would have to send it back in a header.
func (t *streamable) adopt(id string) error {
	if strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		return &failure.Error{Kind: failure.Protocol, Message: fmt.Sprintf("the server's Mcp-Session-Id %.80q is not visible ASCII", id), Next: "report it to the server's author"}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = id
	return nil
}

// mediaType is the type of a body, in lower case and without parameters. What is not one by RFC 9110 is read up to its first semicolon:
// servers send "text/event-stream;" and worse.
func mediaType(resp *http.Response) string {
	ct := resp.Header.Get("Content-Type")
	mt, _, err := mime.ParseMediaType(ct)
	if err != nil {
		mt, _, _ = strings.Cut(strings.ToLower(ct), ";")
		mt = strings.TrimSpace(mt)
	}
	return mt
}

// handleRefusal handles any status that is not a success. Servers answer requests with such a status too: an error response with 400 or
// 404 (2026-07-28), by some even a result. So the body is looked at first. A message in it goes to the receiver, or with the error to the caller, and is
// recorded there; any other body is recorded here. session is what the request carried, "" for none.
func (t *streamable) handleRefusal(x *exchange, m Message, resp *http.Response, session string) error {
	h, body := t.readRefusal(resp)
	if err := x.caller.Err(); err != nil {
		return err
	}
	env, bad := jsonrpc.Scan(body)
	null := env.ID == nil || env.ID[0] == 'n'
	if bad != nil || m.Env.Kind != jsonrpc.Request || !answers(env, m) && !(null && env.Kind == jsonrpc.ErrorResponse) {
		env = jsonrpc.Envelope{}
	}
	switch {
	case session != "" && endsSession(h, env, null):
		t.journalBody(x, resp, body)
		return fmt.Errorf("%w: %w", ErrSessionLost, h)
	case h.Status == http.StatusUnauthorized, h.Status == http.StatusForbidden, env.Kind == jsonrpc.Invalid:
		t.journalBody(x, resp, body)
		return h
	case env.Kind == jsonrpc.ErrorResponse && len(h.Body) == len(body):
		return h // the answer, and the caller wants to know its status
	}
	t.in.Frame(body)
	return nil
}

// answers reports whether env is the answer to m.
func answers(env jsonrpc.Envelope, m Message) bool {
	return (env.Kind == jsonrpc.Response || env.Kind == jsonrpc.ErrorResponse) && m.Env.ID != nil && bytes.Equal(env.ID, m.Env.ID)
}

// answeredBy reports whether frame is the answer to m. A large frame is not scanned as a whole when its id comes before its
// result: the receiver does that, and if the answer is malformed it fails the same request.
func answeredBy(frame []byte, m Message) bool {
	const large = 1 << 20
	if len(frame) >= large {
		end, mine := 0, false
		_ = jsonrpc.Spans(frame, func(s jsonrpc.Span) bool { // the scan below says what is wrong
			if s.Key == "id" {
				end, mine = s.End, bytes.Equal(frame[s.Start:s.End], m.Env.ID)
			}
			return s.Key == "jsonrpc"
		})
		next := bytes.TrimLeft(frame[end:], " \t\r\n,")
		if mine && (bytes.HasPrefix(next, []byte(`"result"`)) || bytes.HasPrefix(next, []byte(`"error"`))) {
			return true
		}
	}
	env, err := jsonrpc.Scan(frame)
	return err == nil && answers(env, m)
}

// handleAccepted reads what came for a message that has no answer. There should be nothing; a message is delivered.
func (t *streamable) handleAccepted(x *exchange, resp *http.Response) {
	timer := time.AfterFunc(errorBodyGrace, x.cancel)
	defer timer.Stop()
	if mediaType(resp) == "text/event-stream" {
		return // of no use, and it might never end
	}
	body, _ := readBody(resp.Body, resp.ContentLength, min(t.max, maxErrorBody))
	if len(bytes.TrimSpace(body)) == 0 {
		return
	}
	if _, err := jsonrpc.Scan(body); err == nil {
		t.in.Frame(body)
		return
	}
	t.journalBody(x, resp, body)
}

// answer delivers a body that is not a stream.
func (t *streamable) answer(x *exchange, m Message, resp *http.Response) error {
	body, err := readBody(resp.Body, resp.ContentLength, t.max)
	if err != nil {
		if cause := x.caller.Err(); cause != nil {
			return cause
		}
		var e *failure.Error
		if errors.Is(err, errTooLarge) {
			e = frameTooLarge(max(resp.ContentLength, int64(len(body))+1), t.max)
		} else {
			e = &failure.Error{
				Kind: failure.ChannelClosed, Err: err, Message: fmt.Sprintf("the connection ended after %d bytes of the answer", len(body)),
				Next: "look at the server's own log, then try again",
			}
		}
		e.Status, e.URL = resp.StatusCode, mask.URL(t.url.String())
		head, tail := edges(body)
		t.in.Broken(head, tail, e)
		return e
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return t.noAnswer(resp, fmt.Sprintf("the server accepted the request (%s) and did not answer it", resp.Status), nil)
	}
	answered, null, err := t.frames(m, body)
	switch {
	case answered:
		return nil
	case null != nil:
		return &HTTPError{Status: resp.StatusCode, Method: http.MethodPost, URL: mask.URL(t.url.String()), Header: resp.Header, Body: null[:min(len(null), maxErrorBody)]}
	case err == nil:
		return t.noAnswer(resp, "the server answered with another message than the answer to this request", body)
	case mediaType(resp) != "application/json":
		e := t.noAnswer(resp, fmt.Sprintf("the server answered with %q instead of JSON", resp.Header.Get("Content-Type")), body)
		e.Next = "check that the URL is an MCP endpoint (many servers listen at /mcp)"
		return e
	default:
		return t.noAnswer(resp, "the answer is not a JSON-RPC message: "+err.Error(), body)
	}
}

// frames delivers the message in a body, or the messages of a batch, and says whether the answer to m was among them.
// An error response with a null id, which can only be about m, is returned instead.
func (t *streamable) frames(m Message, body []byte) (answered bool, null []byte, err error) {
	if answeredBy(body, m) {
		t.in.Frame(body)
		return true, nil, nil
	}
	batch := [][]byte{body}
	if b := bytes.TrimSpace(body); b[0] == '[' {
		var all [][]byte
		if jsonrpc.Elements(b, func(v []byte) bool { all = append(all, v); return true }) == nil {
			batch = all
		}
	}
	for _, frame := range batch {
		env, e := jsonrpc.Scan(frame)
		if e == nil && env.Kind == jsonrpc.ErrorResponse && (env.ID == nil || string(env.ID) == "null") {
			null = frame
			continue
		}
		answered = answered || e == nil && answers(env, m)
		if e != nil {
			err = e
		}
		t.in.Frame(frame)
	}
	return answered, null, err
}

// noAnswer is the error of a request whose body brought no answer. The beginning of body is shown with it; nil for none.
func (t *streamable) noAnswer(resp *http.Response, message string, body []byte) *failure.Error {
	head, _ := edges(body)
	return &failure.Error{
		Kind: failure.Protocol, Status: resp.StatusCode, URL: mask.URL(t.url.String()), Message: message,
		Detail: text.Clip(strings.ToValidUTF8(string(head), "\uFFFD"), 400), Next: "see what was exchanged", Remedy: failure.SeeTraffic,
	}
}

// edges returns the beginning and the end of a broken frame, 4 KiB each, which do not overlap. They are copies, so that what is large can go.
func edges(b []byte) (head, tail []byte) {
	const n = 4 << 10
	head = bytes.Clone(b[:min(n, len(b))])
	if len(b) > n {
		tail = bytes.Clone(b[len(b)-min(n, len(b)-n):])
	}
	return head, tail
}

// Close aborts what runs, tells the server that the session is over, and closes the connections.
func (t *streamable) Close() error {
	if t.httpClient == nil || !t.shutdown() {
		return nil
	}
	if t.SessionID() != "" {
		ctx, cancel := context.WithTimeout(context.Background(), deleteGrace)
		defer cancel()
		x := &exchange{caller: ctx}
		x.Context = context.WithValue(ctx, exchangeKey{}, x)
		if req, err := http.NewRequestWithContext(x, http.MethodDelete, t.url.String(), nil); err == nil {
			t.header(req.Header, "application/json", nil)
			if resp, err := t.do(x, req); err == nil {
				body, _ := readBody(resp.Body, resp.ContentLength, 4<<10) // so that the connection is free
				_ = resp.Body.Close()
				if resp.StatusCode >= http.StatusBadRequest && resp.StatusCode != http.StatusMethodNotAllowed { // it may say why
					t.journalBody(x, resp, x.hide(req, body))
				}
			}
		}
	}
	t.closeConnections()
	return nil
}
