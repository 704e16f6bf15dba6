package forward

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	bufferSize = 32 << 10
	pieceSize  = 128 << 10 // of what is longer
	maxAnswer  = 10 << 20  // of an answer that has to be understood
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// answer forwards the agent's answer. It closes the response body.
func (x *exchange) answer(res *http.Response) {
	defer func() { _ = res.Body.Close() }()
	if x.opens {
		defer x.unopened(res.Header.Get(ingress.HeaderSession))
	}
	if x.session != nil && x.out.session != "" && lost(res, x.id) {
		x.session.Forget()
		x.c.Refuse(ingress.NoSession(true))
		return
	}
	if s := res.StatusCode; s < 200 || s >= 300 && s < 400 {
		x.failed(fmt.Errorf("unexpected HTTP status %d: correct the route's URL", s))
		return
	}
	h := x.c.W.Header()
	if x.c.R.Method == http.MethodPost && x.c.Env.Kind != jsonrpc.Request && res.StatusCode < 300 {
		x.setVersion(h)
		x.c.Empty(http.StatusAccepted)
		return
	}
	sse := ingress.IsEvents(res.Header)
	copyReturned(h, res.Header)
	switch {
	case sse && x.unwrap:
		x.unwrapped(res)
	case sse:
		x.events(res)
	case (x.rewrite || x.opens) && res.StatusCode == http.StatusOK:
		x.introduced(res)
	default:
		x.setVersion(h)
		x.copy(res)
	}
}

func (x *exchange) setVersion(h http.Header) {
	if x.version != "" && len(h[headerVersion]) == 0 {
		h[headerVersion] = []string{x.version}
	}
}

// deadline bounds how long the client may take to read what is written next. Setting it anew for each of many writes would cost
// much of what they cost.
func (x *exchange) deadline() {
	now := time.Now()
	if now.Sub(x.bounded) < x.s.WriteTimeout/32 {
		return
	}
	x.bounded = now
	if x.rc == nil {
		x.rc = http.NewResponseController(x.c.W)
	}
	_ = x.rc.SetWriteDeadline(now.Add(x.s.WriteTimeout)) // not every ResponseWriter has deadlines; a test's has none
}

// rest removes the deadline while there is nothing to write: over HTTP/2 a deadline that passes ends the stream.
func (x *exchange) rest() {
	if x.c.R.ProtoMajor > 1 {
		_ = x.rc.SetWriteDeadline(time.Time{}) // as in deadline
		x.bounded = time.Time{}
	}
}

// copy passes a body on that is not an event stream. A short one is written in one piece; of a longer one each piece is written
// before the next is read, so that no size is too large.
func (x *exchange) copy(res *http.Response) {
	x.alive()
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	from := x.restoring(res.Body)
	n, err := x.fill(from, buf[:])
	length := res.ContentLength
	if from != res.Body {
		length = -1
	}
	h := x.c.W.Header()
	switch {
	case err == io.EOF && (length < 0 || length == int64(n)):
		h["Content-Length"] = []string{strconv.Itoa(n)}
		x.start(res.StatusCode)
		x.write(buf[:n])
		return
	case err != nil:
		x.broken(err)
		return
	case length >= 0:
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	x.start(res.StatusCode)
	piece := buf[:]
	for err == nil {
		if !x.write(piece[:n]) {
			return
		}
		if len(piece) < pieceSize {
			piece = make([]byte, pieceSize)
		}
		x.alive()
		x.rest()
		n, err = from.Read(piece)
	}
	if x.deadline(); n > 0 && !x.write(piece[:n]) {
		return
	}
	if err != io.EOF {
		x.broken(err)
	}
}

// fill reads until the buffer is full or the body ends; then the error is io.EOF. With each piece the agent has its time anew.
func (x *exchange) fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		if n += k; err == nil {
			x.alive()
		}
	}
	return n, err
}

func (x *exchange) start(status int) {
	x.c.Status = status
	x.deadline()
	x.c.W.WriteHeader(status)
}

// write writes to the client; false when it is gone.
func (x *exchange) write(p []byte) bool {
	x.deadline()
	n, err := x.c.W.Write(p)
	x.c.Sent += int64(n)
	if err != nil {
		x.gone()
	}
	return err == nil
}

// broken ends an answer that the agent did not end. The client must not take what it has for a whole answer, so that the
// connection is cut.
func (x *exchange) broken(err error) {
	if x.c.R.Context().Err() != nil {
		x.gone()
		return
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || x.c.Status != 0 || x.ctx.Err() == nil {
		x.c.Failure = &jsonrpc.RequestError{Kind: jsonrpc.KindUpstream, Message: "the agent's answer ended early", Err: err}
		if x.c.Status == 0 {
			x.c.Status = http.StatusBadGateway
		}
		panic(http.ErrAbortHandler)
	}
	x.failed(err) // silent before anything was passed on: there is a better answer than none
}

// introduced passes on the answer to initialize or server/discover.
func (x *exchange) introduced(res *http.Response) {
	x.alive()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		x.broken(err)
		return
	}
	if len(body) > maxAnswer {
		x.failed(fmt.Errorf("answer to %s is larger than %s", x.c.Env.Method, text.Bytes(maxAnswer)))
		return
	}
	body, err = x.introduce(body, res.Header)
	if err != nil {
		x.failed(err)
		return
	}
	h := x.c.W.Header()
	x.setVersion(h)
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.start(res.StatusCode)
	x.write(body)
}
