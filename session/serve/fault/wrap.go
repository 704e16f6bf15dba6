package fault

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Wrap is next with faults in what is sent to its MCP endpoint, a path that ends in /mcp; other paths, such as /health,
// and calls of the spared tools are left alone.
func (i *Injector) Wrap(next http.Handler, spared ...string) http.Handler {
	return i.WrapNotify(next, func(Kind) {}, spared...)
}

// WrapNotify is Wrap that calls notify with each fault before it is injected; a delay first.
func (i *Injector) WrapNotify(next http.Handler, notify func(Kind), spared ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/mcp") {
			next.ServeHTTP(w, r)
			return
		}
		q := Peek(w, r)
		if q.Tool != "" && slices.Contains(spared, q.Tool) {
			next.ServeHTTP(w, r)
			return
		}
		kind, delay, span := i.decide(q.Method)
		if delay > 0 {
			if notify(Delay); !sleep(r, delay) {
				panic(http.ErrAbortHandler) // the client is gone
			}
		}
		if kind != "" {
			notify(kind)
		}
		inject(kind, span, q, next, w, r)
	})
}

// inject handles one request with one fault. Those that have nothing to work on, such as another id where there is none,
// leave the request alone.
func inject(kind Kind, span time.Duration, q Request, next http.Handler, w http.ResponseWriter, r *http.Request) {
	switch {
	case kind == Drop:
		panic(http.ErrAbortHandler)
	case kind == HTTP500:
		http.Error(w, "injected fault", http.StatusInternalServerError)
	case kind == JSONRPCError && q.ID != nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(jsonrpc.NewError(q.ID, jsonrpc.CodeInternal, "injected fault", []byte(`{"kind":"fault_injected"}`)))
	case kind == WrongID && q.ID != nil:
		replaceID(r, q)
		next.ServeHTTP(w, r)
	case (kind == PartialJSON || kind == TruncatedSSE) && q.ID != nil:
		cut(kind, next, w, r)
	case kind == SlowBody:
		next.ServeHTTP(&slow{ResponseWriter: w, r: r, pause: span / pieces}, r)
	default:
		next.ServeHTTP(w, r)
	}
}

// sleep waits, and is false if the client went away first.
func sleep(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// pieces is in how many pieces a slow body comes.
const pieces = 16

// slow writes each body, or event, in pieces with pauses.
type slow struct {
	http.ResponseWriter
	r     *http.Request
	pause time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	size := max(1, (len(p)+pieces-1)/pieces)
	done := 0
	for part := range slices.Chunk(p, size) {
		if !sleep(s.r, s.pause) {
			return done, io.ErrClosedPipe
		}
		n, err := s.ResponseWriter.Write(part)
		if done += n; err != nil {
			return done, err
		}
		_ = http.NewResponseController(s.ResponseWriter).Flush()
	}
	return done, nil
}

// Unwrap is for http.ResponseController.
func (s *slow) Unwrap() http.ResponseWriter { return s.ResponseWriter }
