package front

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/ingress"
)

// writer writes one response, an event stream or a JSON body, each write under a deadline: a client that does not read
// must not hold anybody for ever.
type writer struct {
	http.ResponseWriter
	rc       *http.ResponseController
	deadline time.Duration
	begun    bool
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooled = 64 << 10 // larger buffers are left to the garbage collector

func newWriter(w http.ResponseWriter, deadline time.Duration) *writer {
	return &writer{ResponseWriter: w, rc: http.NewResponseController(w), deadline: deadline}
}

// begin sends the head of an event stream.
func (w *writer) begin() error {
	w.begun = true
	h := w.Header()
	h.Set("Content-Type", ingress.TypeSSE)
	h.Set("Cache-Control", "no-cache, no-transform")
	w.limit()
	w.WriteHeader(http.StatusOK)
	return w.rc.Flush()
}

func (w *writer) limit() {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.deadline)) // not every ResponseWriter has deadlines; a test's has none
}

// whole is the response that consists of the answer alone.
func (w *writer) whole(a *answer, sse bool) {
	w.limit()
	ingress.SetRetryAfter(w.Header(), a.retry)
	if a.session != "" {
		w.Header().Set(ingress.HeaderSession, a.session)
	}
	switch {
	case a.frame != nil:
		ingress.WriteJSON(w.ResponseWriter, a.status, a.frame)
	case sse: // cancelled: a stream that ends without a result
		w.Header().Set("Content-Type", ingress.TypeSSE)
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// batch writes events, and the delay after which the client shall come back if there is one.
func (w *writer) batch(st *stream, b batch) error {
	if b.begin {
		if b.session != "" {
			w.Header().Set(ingress.HeaderSession, b.session)
		}
		w.begun = true
		h := w.Header()
		h.Set("Content-Type", ingress.TypeSSE)
		h.Set("Cache-Control", "no-cache, no-transform")
	}
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	for _, e := range b.events {
		if st.session != nil {
			buf.WriteString("id: ")
			buf.Write(strconv.AppendInt(buf.AvailableBuffer(), st.id, 10))
			buf.WriteByte('-')
			buf.Write(strconv.AppendInt(buf.AvailableBuffer(), e.seq, 10))
			buf.WriteByte('\n')
		}
		if e.data != nil {
			buf.WriteString("event: message\n")
		}
		buf.WriteString("data: ")
		buf.Write(e.data)
		buf.WriteString("\n\n")
	}
	if b.retry > 0 {
		buf.WriteString("retry: ")
		buf.Write(strconv.AppendInt(buf.AvailableBuffer(), b.retry.Milliseconds(), 10))
		buf.WriteString("\n\n")
	}
	err := w.out(buf.Bytes())
	if buf.Cap() <= maxPooled {
		buffers.Put(buf)
	}
	return err
}

// comment tells a silent client, and what stands between, that the stream lives.
func (w *writer) comment() error { return w.out([]byte(":\n\n")) }

func (w *writer) out(p []byte) error {
	w.limit()
	if _, err := w.Write(p); err != nil {
		return err
	}
	return w.rc.Flush()
}
