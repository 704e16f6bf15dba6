package fault

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxHeld is how much of an answer is held back to be halved; of a longer one half of that much is sent.
const maxHeld = 1 << 20

// cut handles a request and sends half of its answer: of the body, or of the first event that is written if the answer
// is a stream. Then the connection is closed, or, for TruncatedSSE, the stream ends as if that were all.
func cut(kind Kind, next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	asEvents := kind == TruncatedSSE && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	h := &half{ResponseWriter: w, status: http.StatusOK, header: http.Header{}, stop: cancel, asEvents: asEvents}
	next.ServeHTTP(h, r.WithContext(ctx))
	h.send()
	if kind == PartialJSON || !h.events() {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// half holds an answer back until it has enough of it, and sends half. What comes afterwards is refused.
type half struct {
	http.ResponseWriter
	header   http.Header
	status   int
	stop     context.CancelFunc
	asEvents bool
	held     bytes.Buffer
	sent     bool
}

// Header is not the real one, since what is sent has other headers.
func (h *half) Header() http.Header { return h.header }

// WriteHeader remembers the status.
func (h *half) WriteHeader(status int) { h.status = status }

func (h *half) stream() bool {
	return strings.HasPrefix(h.header.Get("Content-Type"), "text/event-stream")
}

// events reports whether the answer goes out as an event stream.
func (h *half) events() bool { return h.stream() || h.asEvents }

func (h *half) Write(p []byte) (int, error) {
	if h.sent {
		return 0, io.ErrClosedPipe
	}
	h.held.Write(p[:min(len(p), maxHeld-h.held.Len())])
	if h.held.Len() == maxHeld || h.stream() && bytes.Contains(h.held.Bytes(), []byte("data: {")) {
		h.send()
		h.stop() // nobody waits for the rest
	}
	return len(p), nil
}

// FlushError does nothing: half of an answer is not to be seen before its time.
func (h *half) FlushError() error { return nil }

// Unwrap is for http.ResponseController.
func (h *half) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// send writes the first half of what is held.
func (h *half) send() {
	if h.sent {
		return
	}
	h.sent = true
	out := h.ResponseWriter.Header()
	for k, v := range h.header {
		out[k] = v
	}
	b := h.held.Bytes()
	switch {
	case h.asEvents && !h.stream():
		b = append([]byte("event: message\ndata: "), b...)
		out.Set("Content-Type", "text/event-stream")
		out.Del("Content-Length")
	case !h.stream():
		out.Set("Content-Length", strconv.Itoa(len(b)))
	}
	h.ResponseWriter.WriteHeader(h.status)
	_, _ = h.ResponseWriter.Write(b[:len(b)/2])
	_ = http.NewResponseController(h.ResponseWriter).Flush()
}
