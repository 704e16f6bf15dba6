package duplex

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// sessionKey is the name in the query of the URL for messages, as SDKs have it.
const sessionKey = "sessionId"

// Events serves a client of HTTP+SSE (specification 2024-11-05): it answers with an event stream whose first event names the URL to which the
// client posts its messages, which Message takes there, and serves it by what the handler has at path. It returns when the stream is over.
func (s *Server) Events(w http.ResponseWriter, r *http.Request, path, messages string) {
	if r.Method != http.MethodGet {
		ingress.MethodNotAllowed(w, "GET")
		return
	}
	l := s.open(w, r)
	if l == nil {
		return
	}
	defer s.leave(l)
	out := &eventStream{out: sse.NewWriter(w, r, s.o.Write), failed: make(chan struct{})}
	defer out.close()
	var err error
	if l.client, err = Connect(s.ending, "sse", path, requester{s, r}, out.event); err != nil {
		refuse(w, err)
		return
	}
	id := rand.Text()
	s.mu.Lock()
	s.events[id] = l
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.events, id)
		s.mu.Unlock()
	}()
	_ = out.send([]byte("event: endpoint\ndata: " + messages + "?" + sessionKey + "=" + id + sse.Tail)) // it is in failed
	beat := time.NewTicker(s.o.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			_ = out.send([]byte(sse.Comment))
		case <-out.failed: // the client does not read, or is gone
			return
		case <-r.Context().Done():
			return
		case <-l.stop:
			l.client.End(s.ending)
			return
		}
	}
}

// Message takes a message of a client with an event stream. What comes of it is said on that stream.
func (s *Server) Message(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		ingress.MethodNotAllowed(w, "POST")
		return
	}
	who, ok := s.o.Admit(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	l := s.events[r.URL.Query().Get(sessionKey)]
	s.mu.Unlock()
	if l == nil || l.who != who { // somebody else's is none
		w.Header().Set("Connection", "close") // the body is not read
		refuse(w, &jsonrpc.RequestError{
			Kind: jsonrpc.KindInvalidRequest, Message: "there is no event stream with this " + sessionKey + ": open one first", Status: http.StatusNotFound,
		})
		return
	}
	frame, err := ingress.Limits{Body: s.o.Limit, Time: s.o.Body}.Read(w, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		refuse(w, err)
		return
	}
	more := http.Header{}
	for _, name := range []string{"Traceparent", "Tracestate"} {
		if v := r.Header[name]; v != nil {
			more[name] = v
		}
	}
	// The client's next message may have to wait for the end of this one, which must not wait for what it causes.
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusAccepted)
	_ = http.NewResponseController(w).Flush()
	_ = l.client.Take(frame, more) // what fails is known to the stream
}

// eventStream is written by whoever has something for the client.
type eventStream struct {
	mu     sync.Mutex
	out    *sse.Writer
	closed bool
	failed chan struct{} // closed when nothing can be written any more
}

func (e *eventStream) event(frame []byte) error {
	return e.send(append(append([]byte(sse.Head), frame...), sse.Tail...))
}

func (e *eventStream) send(p []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return http.ErrServerClosed
	}
	err := e.out.Send(p)
	if err != nil {
		e.closed = true
		close(e.failed)
	}
	return err
}

// close keeps others from writing to a response that is over.
func (e *eventStream) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}
