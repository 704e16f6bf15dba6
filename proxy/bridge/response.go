package bridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/serve/outbox"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// respond is a response with a body of one piece.
func respond(r *http.Request, status int, kind string, body []byte) *http.Response {
	return response(r, status, kind, int64(len(body)), io.NopCloser(bytes.NewReader(body)))
}

func response(r *http.Request, status int, kind string, size int64, body io.ReadCloser) *http.Response {
	h := http.Header{}
	if kind != "" {
		h["Content-Type"] = []string{kind}
	}
	if size >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, ContentLength: size, Body: body, Request: r,
	}
}

// refuse is an answer of the bridge itself.
func refuse(r *http.Request, id []byte, modern bool, err error) *http.Response {
	f := ingress.Refuse(id, modern, err)
	res := respond(r, f.Status, ingress.TypeJSON, f.Frame)
	ingress.SetRetryAfter(res.Header, f.RetryAfter)
	return res
}

// response is a response that consists of the message alone.
func (m message) response(r *http.Request) *http.Response {
	parts := make([]io.Reader, len(m.pieces))
	for i, p := range m.pieces {
		parts[i] = bytes.NewReader(p)
	}
	return response(r, m.status, ingress.TypeJSON, int64(m.size()), io.NopCloser(io.MultiReader(parts...)))
}

// stream is a response with the messages from first on, until the answer, as events. left is called when the reader
// closes it before.
func stream(q *queue, r *http.Request, first message, left func()) *http.Response {
	e := &events{ctx: r.Context(), q: q, left: left}
	if first.pieces != nil {
		e.add(first)
	}
	return response(r, http.StatusOK, ingress.TypeSSE, -1, e)
}

// events is the body of an event stream.
type events struct {
	ctx  context.Context
	q    *queue
	left func()
	rest [][]byte // of what is being read
	done bool     // rest ends with the answer
	over bool     // read to its end
}

var (
	eventHead = []byte(sse.Head)
	eventTail = []byte(sse.Tail)
	comment   = []byte(sse.Comment)
)

func (e *events) add(m message) {
	e.rest = append(e.rest, eventHead)
	for _, p := range m.pieces {
		e.rest = append(e.rest, jsonrpc.OneLine(p))
	}
	e.rest = append(e.rest, eventTail)
	e.done = m.final
}

// cutError is the end of a stream whose answer will not come.
type cutError struct{ error }

func (e cutError) Unwrap() []error { return []error{e.error, io.ErrUnexpectedEOF} }

// Read waits for the next message.
func (e *events) Read(p []byte) (n int, err error) {
	for len(e.rest) == 0 {
		if e.done || e.over {
			e.over = true
			return 0, io.EOF
		}
		m, err := e.q.Next(e.ctx, sse.Heartbeat)
		switch {
		case err == nil:
			e.add(m)
		case errors.Is(err, outbox.ErrQuiet):
			e.rest = append(e.rest, comment)
		case errors.Is(err, errReplaced):
			e.over = true
			return 0, io.EOF
		default:
			return 0, cutError{err}
		}
	}
	for n < len(p) && len(e.rest) > 0 {
		k := copy(p[n:], e.rest[0])
		n += k
		if e.rest[0] = e.rest[0][k:]; len(e.rest[0]) == 0 {
			e.rest = e.rest[1:]
		}
	}
	return n, nil
}

// Close ends the reading.
func (e *events) Close() error {
	if !e.over && !e.done && e.left != nil {
		e.left()
	}
	e.over = true
	return nil
}
