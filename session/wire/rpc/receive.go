package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Frame takes one frame from the transport: journals it, and hands it to whoever waits for it.
func (m *Mux) Frame(frame []byte) {
	if first := bytes.TrimLeft(frame, " \t\r\n"); len(first) > 0 && first[0] == '[' && jsonrpc.Valid(first) == nil {
		// A batch, which 2025-03-26 allows servers to send.
		n := 0
		_ = jsonrpc.Elements(first, func([]byte) bool { n++; return true })
		m.tap.Append(journal.Entry{Dir: journal.In, Kind: journal.State, Note: fmt.Sprintf("batch of %d", n)}, nil)
		_ = jsonrpc.Elements(first, func(one []byte) bool {
			m.frame(bytes.Clone(one), 0, nil)
			return true
		})
		return
	}
	m.frame(frame, 0, nil)
}

// stream is a mux that takes what arrives on the stream of the answer to one request. Over HTTP this tells which call a server's
// question or notification is about; over a pipe all frames come the same way, and only progress tokens tell.
type stream struct {
	*Mux
	id  uint64 // of the request, 0 for one that the mux does not know
	tag any    // of such a request; nil for none
}

// Of is the receiver of the stream that answers a request.
func (m *Mux) Of(id []byte) transport.Receiver {
	n, _ := parseID(id)
	return stream{Mux: m, id: n}
}

// CausedBy is the receiver of what comes of a request that was made past the mux; tag is that of the request.
func (m *Mux) CausedBy(tag any) transport.Receiver { return stream{Mux: m, tag: tag} }

// Frame takes one frame of the stream.
func (s stream) Frame(frame []byte) { s.frame(frame, s.id, s.tag) }

// frame takes one frame; of is the request on whose stream it came, 0 if it came on none, and tag that of a request that the mux
// does not know.
func (m *Mux) frame(frame []byte, of uint64, tag any) {
	env, err := jsonrpc.Scan(frame)
	m.mu.Lock()
	m.frames++
	m.mu.Unlock()
	if err != nil {
		m.handleMalformed(env, frame, err)
		return
	}
	switch env.Kind {
	case jsonrpc.Response:
		m.response(env, frame, journal.Response)
	case jsonrpc.ErrorResponse:
		m.response(env, frame, journal.ErrorResponse)
	case jsonrpc.Notification:
		m.notification(env, frame, of)
	case jsonrpc.Request:
		m.request(env, frame, of, tag)
	}
}

// handleMalformed journals what is not a message. The request that it was meant to answer fails at once rather than by timeout.
func (m *Mux) handleMalformed(env jsonrpc.Envelope, frame []byte, err error) {
	note := err.Error()
	var syntax *jsonrpc.SyntaxError
	if first := bytes.TrimLeft(frame, " \t"); errors.As(err, &syntax) && (len(first) == 0 || first[0] != '{') {
		// The commonest mistake of servers over stdio: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
		note = "not JSON: servers must write their logs to stderr"
	}
	seq := m.tap.Append(journal.Entry{Dir: journal.In, Kind: journal.Bad, ID: string(env.ID), Note: note}, frame)
	if i := bytes.LastIndex(frame, []byte(`{"jsonrpc"`)); i > 0 {
		defer m.salvageAnswer(frame[i:])
	}
	if request := env.Method != "" && env.ID != nil && strings.IndexByte("\"-0123456789", env.ID[0]) >= 0; request && syntax == nil {
		m.decline(env.ID, requestError(env, err))
	}
	if id, ok := parseID(env.ID); ok && env.Method == "" {
		m.fail(id, &failure.Error{
			Kind: failure.Protocol, Message: "the server's answer is malformed: " + err.Error(), Err: err,
			Detail: text.Clip(strings.ToValidUTF8(string(frame), "\uFFFD"), 200), Next: "see entry " + strconv.FormatUint(seq, 10) + " of the journal", Remedy: failure.SeeTraffic,
		})
	}
}

// salvageAnswer delivers an answer that stands at the end of a malformed line: half a frame, or a log line without an end, spoils
// the frame after it. Only what a request waits for is taken, since logs may quote any frame.
func (m *Mux) salvageAnswer(rest []byte) {
	env, err := jsonrpc.Scan(rest)
	if err != nil || env.Kind == jsonrpc.Request || env.Kind == jsonrpc.Notification {
		return
	}
	id, ok := parseID(env.ID)
	m.mu.Lock()
	_, waits := m.pending[id]
	m.mu.Unlock()
	if ok && waits {
		m.frame(bytes.Clone(rest), 0, nil)
	}
}

// parseID reads an id of ours. Ids are compared as bytes: 7.0 or "7" answer nothing.
func parseID(raw []byte) (uint64, bool) {
	id, err := strconv.ParseUint(string(raw), 10, 64)
	return id, err == nil && (raw[0] != '0' && raw[0] != '+')
}

// response delivers an answer; one that nobody waits for is journalled with the reason.
func (m *Mux) response(env jsonrpc.Envelope, frame []byte, kind journal.Kind) {
	id, ok := parseID(env.ID)
	if ok && m.deliverAnswer(id, answer{env: env, frame: frame}, kind) {
		return
	}
	note := "ignored: no request has this id"
	if env.ID == nil || env.ID[0] == 'n' {
		note = "an error without an id"
	}
	if ok {
		m.mu.Lock()
		switch why := m.ended[id]; why {
		case "":
		case "answered":
			note = "ignored: a duplicate answer"
		default:
			note = "ignored: a late answer, the request was " + why
		}
		m.mu.Unlock()
	}
	m.tap.Append(journal.Entry{Dir: journal.In, Kind: kind, ID: string(env.ID), Note: note}, frame)
}

// deliverAnswer delivers the answer to a pending request; false if there is none.
func (m *Mux) deliverAnswer(id uint64, a answer, kind journal.Kind) bool {
	m.mu.Lock()
	p := m.takePending(id, "answered")
	m.mu.Unlock()
	if p == nil {
		return false
	}
	a.seq = m.tap.Append(journal.Entry{
		Dir: journal.In, Kind: kind, ID: strconv.FormatUint(id, 10), Method: p.spec.Method, Tool: p.spec.Target,
	}, a.frame)
	p.done <- a
	return true
}

// notification hands a notification to the request that it is about, to those that listen, and to OnNotify, one after the other, in
// the order in which frames arrive. of is the request on whose stream it came, 0 for none.
func (m *Mux) notification(env jsonrpc.Envelope, frame []byte, of uint64) {
	e := journal.Entry{Dir: journal.In, Kind: journal.Notification, Method: env.Method}
	var owner *pending
	switch env.Method {
	case "notifications/progress":
		if owner = m.handleProgress(env.Params); owner == nil {
			e.Note = m.lateProgress(env.Params)
		} else {
			e.Tool = owner.spec.Target
		}
	case "notifications/cancelled":
		m.stopServing(env.Params)
	}
	m.tap.Append(e, frame)
	m.mu.Lock()
	own := owner
	if own == nil {
		own = m.pending[of]
	}
	m.mu.Unlock()
	if own != nil && own.spec.OnOwn != nil && own.spec.OnOwn(frame) {
		return
	}
	m.mu.Lock()
	var listeners []func([]byte)
	for id, p := range m.pending {
		// Only progress says which request it belongs to; a listening stream gets only its own.
		if p.spec.OnNotification != nil && (owner == nil || owner == p) && (of == 0 || of == id || p.spec.Method != string(mcp.MethodSubscriptionsListen)) {
			listeners = append(listeners, p.spec.OnNotification)
		}
	}
	m.mu.Unlock()
	for _, f := range listeners {
		f(frame)
	}
	if m.OnNotify != nil {
		m.OnNotify(env, frame)
	}
}

// lateProgress says why nobody waits for a progress notification: tokens are the ids of their requests.
func (m *Mux) lateProgress(params []byte) string {
	if id, ok := parseID(jsonrpc.Get(params, "progressToken")); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch why := m.ended[id]; why {
		case "":
		case "failed":
			return "late: the request failed"
		default:
			return "late: the request was " + why
		}
	}
	return "no pending request has this progress token"
}

// handleProgress counts a progress notification for the request with its token.
func (m *Mux) handleProgress(params []byte) *pending {
	var token []byte
	var g Progress
	w := jsonrpc.Walk(params)
	w.Object(func(key string) {
		switch key {
		case "progressToken":
			token = w.Raw()
		case "progress":
			g.Progress, _ = strconv.ParseFloat(string(w.Raw()), 64)
		case "total":
			var err error
			g.Total, err = strconv.ParseFloat(string(w.Raw()), 64)
			g.HasTotal = err == nil
		case "message":
			g.Message, _ = w.Str()
		}
	})
	m.mu.Lock()
	p := m.tokens[string(token)]
	if p != nil {
		g.Count = p.progress.Count + 1
		p.progress = g
	}
	m.mu.Unlock()
	if p != nil {
		p.patience.Again()
		select {
		case p.woken <- struct{}{}:
		default: // the caller has not looked at the one before; it will see this one
		}
		m.notifyChange()
	}
	return p
}

// idAtEnd finds the id of a response whose id comes after its result, in the last bytes of the frame.
var idAtEnd = regexp.MustCompile(`"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// Broken takes a frame that could not be delivered. The request that it answers fails now, with the reason; the
// connection goes on.
func (m *Mux) Broken(head, tail []byte, err error) {
	var id []byte
	// The members before the huge one are complete; the rest is cut off, which is the error ignored here.
	_ = jsonrpc.Members(head, func(key string, value []byte) bool {
		if key == "id" {
			id = value
		}
		return id == nil
	})
	if id == nil {
		if found := idAtEnd.FindSubmatch(tail); found != nil {
			id = found[1]
		}
	}
	n, ok := parseID(id)
	m.mu.Lock()
	m.frames++
	if _, waits := m.pending[n]; !ok || !waits {
		ok = false
		if len(m.pending) == 1 { // whose else could it be
			for n = range m.pending {
				ok = true
			}
		}
	}
	m.mu.Unlock()
	m.tap.Append(journal.Entry{Dir: journal.In, Kind: journal.Bad, ID: string(id), Note: errorText(err)}, head)
	if ok {
		m.fail(n, err)
	}
}

// errorText is an error with what to do about it, for the journal.
func errorText(err error) string {
	var e *failure.Error
	if errors.As(err, &e) && e.Next != "" {
		return e.Message + "; " + e.Next
	}
	return err.Error()
}

// Lost ends every request: the connection is gone.
func (m *Mux) Lost(err error) {
	var e *failure.Error
	if !errors.As(err, &e) {
		e = &failure.Error{Kind: failure.ChannelClosed, Message: err.Error(), Next: "reconnect", Err: err}
	}
	if m.end(e, false) && m.OnLost != nil {
		// The transport waits for us before it can be closed, so whoever closes it must be someone else.
		go m.OnLost(e)
	}
}
