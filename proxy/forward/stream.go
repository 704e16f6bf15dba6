package forward

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// events passes an event stream on, each read as soon as it comes. When the agent dies the stream ends.
func (x *exchange) events(res *http.Response) {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	var first []byte
	from := x.restoring(res.Body)
	if x.opens || x.rewrite {
		head, err := x.introducedEvent(res)
		if err != nil {
			x.failed(err)
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
	x.start(res.StatusCode)
	if len(first) > 0 && !x.write(first) {
		return
	}
	for {
		if err := x.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			x.gone()
			return
		}
		x.rest()
		n, err := from.Read(buf[:])
		if n > 0 && !x.write(buf[:n]) {
			return
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			x.cut(err)
			return
		}
	}
}

// cut notes why an event stream ended before its agent ended it.
func (x *exchange) cut(err error) {
	switch {
	case x.c.R.Context().Err() != nil:
		x.gone()
	case x.ctx.Err() == nil:
		x.c.Failure = &jsonrpc.RequestError{Kind: jsonrpc.KindUpstream, Message: "the agent's event stream ended early", Err: err}
	}
}

// introducedEvent reads the events up to the answer to initialize or server/discover and returns them, with the server
// renamed.
func (x *exchange) introducedEvent(res *http.Response) ([]byte, error) {
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

func dataLine(line []byte) ([]byte, bool) {
	if bytes.Equal(line, []byte("data")) {
		return nil, true
	}
	v, ok := bytes.CutPrefix(line, []byte("data:"))
	return bytes.TrimPrefix(v, []byte(" ")), ok
}
