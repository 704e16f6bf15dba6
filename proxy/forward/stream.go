// Seventh part of an exchange, where the answer is an event stream: it goes to the client event by event, or, for one that reads no
// event streams, the one answer that it leads to.

package forward

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// passEvents passes an event stream on, each read as soon as it comes. When the agent dies the stream ends; why is noted.
func (x *exchange) passEvents(res *http.Response) {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	var first []byte
	from := x.restoreID(res.Body)
	if x.opens || x.rewrite {
		head, err := x.readIntroduction(res)
		if err != nil {
			x.answerFailure(err)
			return
		}
		first = head
	}
	x.patient()
	x.setVersion(x.c.W.Header())
	x.rc = http.NewResponseController(x.c.W)
	_ = x.rc.EnableFullDuplex() // over HTTP/2 it is so anyway
	h := x.c.W.Header()
	h["Cache-Control"] = []string{"no-cache"}
	h["X-Accel-Buffering"] = []string{"no"}
	if x.c.R.ProtoMajor == 1 && h["Connection"] == nil {
		h["Connection"] = []string{"keep-alive"}
	}
	x.writeHeader(res.StatusCode)
	if len(first) > 0 && !x.write(first) {
		return
	}
	for {
		if err := x.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			x.recordGone()
			return
		}
		x.unboundWrite()
		n, err := from.Read(buf[:])
		if n > 0 && !x.write(buf[:n]) {
			return
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			switch {
			case x.c.R.Context().Err() != nil:
				x.recordGone()
			case x.ctx.Err() == nil:
				x.c.Failure = &jsonrpc.RequestError{Kind: jsonrpc.KindUpstream, Message: "the agent's event stream ended early", Err: err}
			}
			return
		}
	}
}

// readIntroduction reads the events up to the answer to initialize or server/discover and returns them, with the server
// renamed.
func (x *exchange) readIntroduction(res *http.Response) ([]byte, error) {
	var in, out []byte
	var line blankLine
	buf := make([]byte, 4<<10)
	for {
		for {
			end := line.end(in)
			if end < 0 {
				break
			}
			event := in[:end]
			in = in[end:]
			data, ok := eventData(event)
			if env, err := jsonrpc.Scan(data); !ok || err != nil || env.Kind != jsonrpc.Response && env.Kind != jsonrpc.ErrorResponse {
				out = append(out, event...)
				continue
			}
			changed, err := x.introduce(data, res.Header)
			if err != nil {
				return nil, err
			}
			return append(append(out, withData(event, changed)...), in...), nil
		}
		if len(in)+len(out) > maxAnswer {
			return nil, fmt.Errorf("answer to %s is larger than %s", x.c.Env.Method, text.Bytes(maxAnswer))
		}
		x.alive()
		n, err := res.Body.Read(buf)
		in = append(in, buf[:n]...)
		switch {
		case err == nil || n > 0:
		case x.ctx.Err() != nil: // it fell silent, or the client left
			return nil, err
		default:
			return append(out, in...), nil // the stream goes on to its end, which tells
		}
	}
}

// blankLine finds the end of an event in bytes that arrive in pieces, reading each byte once.
type blankLine struct {
	at, start int // where to look on, and where the line began
}

// end is the offset after the first blank line, -1 if there is none yet. It starts anew after one.
func (l *blankLine) end(b []byte) int {
	for i := l.at; i < len(b); i++ {
		if b[i] != '\n' && b[i] != '\r' {
			continue
		}
		blank := i == l.start
		if b[i] == '\r' {
			if i+1 == len(b) {
				l.at = i // the line feed may be yet to come
				return -1
			}
			if b[i+1] == '\n' {
				i++
			}
		}
		if blank {
			*l = blankLine{}
			return i + 1
		}
		l.start = i + 1
	}
	l.at = len(b)
	return -1
}

// eventData joins the data lines of an event; false if it has none.
func eventData(event []byte) (data []byte, ok bool) {
	eachLine(event, func(line []byte) {
		if v, is := dataLine(line); is {
			if ok {
				data = append(data, '\n')
			}
			data, ok = append(data, v...), true
		}
	})
	return data, ok
}

// withData is the event with other data; its other fields stay.
func withData(event, data []byte) (out []byte) {
	placed := false
	eachLine(event, func(line []byte) {
		if _, is := dataLine(line); !is {
			out = append(append(out, line...), '\n')
			return
		}
		if placed {
			return
		}
		placed = true
		for part := range bytes.SplitSeq(data, []byte("\n")) {
			out = append(append(append(out, "data: "...), part...), '\n')
		}
	})
	return out
}

// eachLine calls f for the lines of an event without their ends, which are LF, CR or both (HTML standard, "Server-sent events").
func eachLine(event []byte, f func(line []byte)) {
	for len(event) > 0 {
		i := bytes.IndexAny(event, "\r\n")
		if i < 0 {
			f(event)
			return
		}
		f(event[:i])
		if event[i] == '\r' && i+1 < len(event) && event[i+1] == '\n' {
			i++
		}
		event = event[i+1:]
	}
}

// dataLine is the value of a data line; false for other lines.
func dataLine(line []byte) ([]byte, bool) {
	if bytes.Equal(line, []byte("data")) {
		return nil, true
	}
	v, ok := bytes.CutPrefix(line, []byte("data:"))
	return bytes.TrimPrefix(v, []byte(" ")), ok
}

// maxHeld is how much of an event is kept before it is known what it is. An answer above that is passed on as it comes.
const maxHeld = 256 << 10

// passUnwrapped answers a caller that reads no event streams with the one message that it waits for. While events come the caller
// waits; an agent that falls silent did not answer.
func (x *exchange) passUnwrapped(res *http.Response) {
	limit := int64(maxHeld)
	if x.opens || x.rewrite {
		limit = maxAnswer
	}
	r := sse.NewReader(x.restoreID(livenessReader{res.Body, x}), limit, 0)
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
		case err != nil && (x.c.R.Context().Err() != nil || x.c.Failure != nil): // who reads no more is noted already
			x.recordGone()
			return
		case err != nil && x.c.Status != 0:
			x.abort(err)
			return
		case err != nil:
			x.answerFailure(fmt.Errorf("event stream ended without the answer: %w", err))
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
				x.answerFailure(err)
				return
			}
		}
		x.beginJSON(res.StatusCode, len(body))
		x.write(body)
		return
	}
}

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

// eventWriter writes an answer to the client as it comes.
type eventWriter struct {
	x      *exchange
	status int
}

// Write begins the answer where it has not begun.
func (u *eventWriter) Write(p []byte) (int, error) {
	if u.x.c.Status == 0 {
		u.x.beginJSON(u.status, -1)
	}
	if !u.x.write(p) {
		return 0, errLeft
	}
	return len(p), nil
}

// beginJSON begins an answer of JSON; length is -1 where it is not known.
func (x *exchange) beginJSON(status, length int) {
	h := x.c.W.Header()
	h["Content-Type"] = jsonType
	x.setVersion(h)
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}
	x.writeHeader(status)
}
