package front

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"

	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// writer writes one response: an event stream or a JSON body.
type writer struct {
	*sse.Writer
	w http.ResponseWriter
}

// buffers are for events that are written together; very large ones are not put back.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooled = 64 << 10 // larger buffers are left to the garbage collector

// writeAnswer writes the answer as the entire response: JSON, a stream without events, or 204.
func (w *writer) writeAnswer(a *answer, events bool) {
	w.SetDeadline()
	ingress.SetRetryAfter(w.w.Header(), a.retry)
	if a.session != "" {
		w.w.Header().Set(ingress.HeaderSession, a.session)
	}
	switch {
	case a.frame != nil:
		ingress.WriteJSON(w.w, a.status, a.frame)
	case events: // cancelled: a stream that ends without a result
		w.Begin()
	default:
		w.w.WriteHeader(http.StatusNoContent)
	}
}

// writeEvents writes events, and after how long to come back where b.retry says so.
func (w *writer) writeEvents(st *stream, b eventBatch) error {
	if b.session != "" {
		w.w.Header().Set(ingress.HeaderSession, b.session)
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
		if e.data == nil { // an id to resume from
			buf.WriteString("data: ")
		} else {
			buf.WriteString(sse.Head)
			buf.Write(e.data)
		}
		buf.WriteString(sse.Tail)
	}
	if b.retry > 0 {
		buf.WriteString("retry: ")
		buf.Write(strconv.AppendInt(buf.AvailableBuffer(), b.retry.Milliseconds(), 10))
		buf.WriteString(sse.Tail)
	}
	err := w.Send(buf.Bytes())
	if buf.Cap() <= maxPooled {
		buffers.Put(buf)
	}
	return err
}
