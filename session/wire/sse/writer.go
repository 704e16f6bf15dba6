package sse

import (
	"errors"
	"net/http"
	"time"
)

// Heartbeat is how long a stream is silent before a comment shows the client, and what is between, that it is open.
const Heartbeat = 15 * time.Second

// Parts of a stream that carries messages. Data between Head and Tail must be one line: a line feed would end the field, and two the
// event.
const (
	Head    = "event: message\ndata: "
	Tail    = "\n\n"
	Comment = ":\n\n"
)

// Writer writes a stream to an HTTP response, each write under a deadline: a client that does not read must not hold anybody
// for ever. It is not safe for concurrent use.
type Writer struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration // of each write
	multi   bool          // HTTP/2, where a deadline that passes ends the stream, whoever is slow
	begun   bool          // status and headers were sent
}

// NewWriter makes a Writer of the response to r. timeout bounds each write.
func NewWriter(w http.ResponseWriter, r *http.Request, timeout time.Duration) *Writer {
	return &Writer{w: w, rc: http.NewResponseController(w), timeout: timeout, multi: r.ProtoMajor > 1}
}

// Begun reports whether the response is an event stream already.
func (w *Writer) Begun() bool { return w.begun }

// SetDeadline starts the time that the next write may take. Writers without deadlines, such as those of tests, have none.
func (w *Writer) SetDeadline() { _ = w.rc.SetWriteDeadline(time.Now().Add(w.timeout)) }

// Begin sends status 200 and the headers of an event stream, once.
func (w *Writer) Begin() {
	if w.begun {
		return
	}
	w.begun = true
	h := w.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // for nginx
	w.SetDeadline()
	w.w.WriteHeader(http.StatusOK)
}

// Event writes a message, whose frame is one line.
func (w *Writer) Event(frame []byte) error {
	return w.Send(append(append([]byte(Head), frame...), Tail...))
}

// Comment writes a [Comment].
func (w *Writer) Comment() error { return w.Send([]byte(Comment)) }

// Send writes a piece of the stream and flushes it.
func (w *Writer) Send(p []byte) error {
	w.Begin()
	w.SetDeadline()
	if _, err := w.w.Write(p); err != nil {
		return err
	}
	return w.Flush()
}

// Flush sends what was written, or the headers alone.
func (w *Writer) Flush() error {
	if err := w.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	// A deadline that is over ends an HTTP/2 stream even while nobody writes; between two writes there is none.
	if w.multi {
		_ = w.rc.SetWriteDeadline(time.Time{})
	}
	return nil
}
