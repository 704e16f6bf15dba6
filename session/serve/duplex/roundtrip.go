package duplex

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// RoundTrip serves a request by a handler in this process. The body of the answer is passed on as it is written, and has to be
// closed; the request's context ends the handler, and the body. panicked gets what the handler panicked with, on its goroutine.
func RoundTrip(h http.Handler, r *http.Request, panicked func(any)) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: pw, head: make(chan struct{})}
	go func() {
		defer func() {
			v := recover()
			if v == nil {
				w.WriteHeader(http.StatusOK)
				_ = pw.Close()
				return
			}
			if v != http.ErrAbortHandler { // by which a handler says that its answer ends early
				panicked(v)
			}
			w.abort(errors.New("answer ended early"))
		}()
		defer func() { _ = r.Body.Close() }()
		defer context.AfterFunc(r.Context(), func() { _ = pr.CloseWithError(context.Cause(r.Context())) })() // never fails
		h.ServeHTTP(w, r)
	}()
	select {
	case <-w.head:
	case <-r.Context().Done():
		_ = pr.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	if w.err != nil {
		return nil, w.err
	}
	size := int64(-1)
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		size = n
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: pr, ContentLength: size, Request: r,
	}, nil
}

// pipeWriter is an http.ResponseWriter whose body goes through a pipe.
type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	head   chan struct{} // closed when sent, status and err are set
	sent   http.Header
	status int
	err    error
}

// Header is what WriteHeader sends.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader sends the head, once.
func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.sent, w.status = w.header.Clone(), status
		close(w.head)
	})
}

// Write waits until it is read.
func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush sends the head; what is written is never held back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *pipeWriter) abort(err error) {
	w.once.Do(func() {
		w.err = errors.Join(err, io.ErrUnexpectedEOF)
		close(w.head)
	})
	_ = w.body.CloseWithError(io.ErrUnexpectedEOF)
}
