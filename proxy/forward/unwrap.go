package forward

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// maxHeld is how much of an event is kept before it is known what it is. An answer above that is passed on as it comes.
const maxHeld = 256 << 10

// livenessReader gives the agent its time anew with each piece of its answer.
type livenessReader struct {
	io.Reader
	x *exchange
}

// Read reads.
func (l livenessReader) Read(p []byte) (int, error) {
	l.x.alive()
	return l.Reader.Read(p)
}

// unwrapped answers a caller that reads no event streams with the one message that it waits for. While events come the caller
// waits; an agent that falls silent did not answer.
func (x *exchange) unwrapped(res *http.Response) {
	limit := int64(maxHeld)
	if x.opens || x.rewrite {
		limit = maxAnswer
	}
	r := sse.NewReader(x.restoring(livenessReader{res.Body, x}), limit, 0)
	if limit == maxHeld {
		r.Stream(func(head []byte) io.Writer {
			if !answers(head, x.c.Env.ID) {
				return io.Discard
			}
			return &eventWriter{x: x, status: res.StatusCode}
		})
	}
	for {
		e, err := r.Next()
		switch {
		case err != nil:
			x.unanswered(err)
			return
		case e.Streamed && x.c.Status != 0:
			return
		case e.Streamed:
			continue
		}
		env, err := jsonrpc.Scan(e.Data)
		if err != nil || env.Kind != jsonrpc.Response && env.Kind != jsonrpc.ErrorResponse || !jsonrpc.SameID(env.ID, x.c.Env.ID) {
			continue
		}
		body, _ := jsonrpc.Update(e.Data, jsonrpc.Replace(x.c.Env.ID, "id")) // was scanned
		if x.opens || x.rewrite {
			if body, err = x.introduce(body, res.Header); err != nil {
				x.failed(err)
				return
			}
		}
		x.plain(res.StatusCode, len(body))
		x.write(body)
		return
	}
}

// plain begins an answer of JSON; length is -1 where it is not known.
func (x *exchange) plain(status, length int) {
	h := x.c.W.Header()
	h["Content-Type"] = jsonType
	x.setVersion(h)
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}
	x.start(status)
}

// unanswered ends a call whose event stream ended before the answer did.
func (x *exchange) unanswered(err error) {
	switch {
	case x.c.R.Context().Err() != nil || x.c.Failure != nil: // who reads no more is noted already
		x.gone()
	case x.c.Status != 0:
		x.broken(err)
	default:
		x.failed(fmt.Errorf("event stream ended without the answer: %w", err))
	}
}

// eventWriter writes an answer to the client as it comes.
type eventWriter struct {
	x      *exchange
	status int
}

// Write begins the answer where it has not begun.
func (u *eventWriter) Write(p []byte) (int, error) {
	if u.x.c.Status == 0 {
		u.x.plain(u.status, -1)
	}
	if !u.x.write(p) {
		return 0, errLeft
	}
	return len(p), nil
}

// answers reports whether a message of which this is the beginning is the answer to a request. Its member that does not end
// there tells: nothing but a result, an error, or what a request is made of is that long. On the stream of one request there
// is no answer to another, so that an id that is yet to come will be the right one.
func answers(head, id []byte) bool {
	open, mine := 0, true
	_ = jsonrpc.Spans(head, func(s jsonrpc.Span) bool { // ends with an error, as it is cut off
		open = s.End
		switch s.Key {
		case "id":
			mine = mine && jsonrpc.SameID(head[s.Start:s.End], id)
		case "method", "params":
			mine = false
		}
		return true
	})
	rest := bytes.TrimLeft(head[open:], "{, \t\r\n")
	return mine && (bytes.HasPrefix(rest, []byte(`"result"`)) || bytes.HasPrefix(rest, []byte(`"error"`)))
}
