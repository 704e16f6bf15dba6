package behave

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is how an HTTP server answers instead of well. The zero value is a well-behaved server.
type Fault struct {
	// Status answers every POST with this status code and Body.
	Status int
	// Header is added to what Status answers.
	Header http.Header
	// Body is what Status answers with.
	Body string
	// After is how many POSTs are answered well before Status begins: 2 lets a legacy client get through initialize.
	After int
	// Times is how many POSTs Status answers; 0 for all that follow.
	Times int
	// JSON answers with application/json instead of an event stream.
	JSON bool
	// Stateless gives no session id.
	Stateless bool
	// NoHeaders answers a POST never: not even a status line.
	NoHeaders bool
	// Stalled sends the headers of an event stream and then nothing.
	Stalled bool
	// Slow sends an event stream one byte at a time with this pause between.
	Slow time.Duration
	// HalfEvent ends the stream in the middle of an event.
	HalfEvent bool
	// HTML answers 200 with a page, as a captive portal does.
	HTML bool
	// Redirect answers 307 to the same URL for ever.
	Redirect bool
	// Endless sends one line that never ends, up to 128 MiB.
	Endless bool
}

// Handler serves a mode over Streamable HTTP on every path, and over HTTP+SSE
// on /sse and /message. Each Handler is one server with one session.
func Handler(mode Mode, fault Fault) http.Handler {
	h := &handler{server: newServer(mode), fault: fault, streams: map[string]*stream{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", h.streamable)
	mux.HandleFunc("/sse", h.sse)
	mux.HandleFunc("/message", h.message)
	return mux
}

type handler struct {
	server *server
	fault  Fault

	mu      sync.Mutex
	posts   int
	session int
	next    int
	streams map[string]*stream // open HTTP+SSE streams by session
}

// streamable answers the methods of Streamable HTTP.
func (h *handler) streamable(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	frame, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if h.faulty(w, r) {
		return
	}
	if !bytes.Contains(frame, []byte(`"id"`)) || !bytes.Contains(frame, []byte(`"method"`)) {
		h.server.handle(r.Context(), conn{write: func(...string) {}}, frame, &sync.WaitGroup{})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if bytes.Contains(frame, []byte(`"initialize"`)) && !h.fault.Stateless {
		h.mu.Lock()
		h.session++
		w.Header().Set("Mcp-Session-Id", "session-"+strconv.Itoa(h.session))
		h.mu.Unlock()
	}
	h.respond(w, r, frame)
}

// faulty answers the POST where the fault says so.
func (h *handler) faulty(w http.ResponseWriter, r *http.Request) bool {
	f := h.fault
	h.mu.Lock()
	h.posts++
	n := h.posts - f.After
	h.mu.Unlock()
	if n <= 0 || f.Times > 0 && n > f.Times {
		return false
	}
	switch {
	case f.NoHeaders:
		<-r.Context().Done()
	case f.Redirect:
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	case f.HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Sign in</title><h1>Welcome to the guest network</h1>")
	case f.Status != 0:
		for k, v := range f.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	default:
		return false
	}
	return true
}

// respond answers one request on the POST's own response.
func (h *handler) respond(w http.ResponseWriter, r *http.Request, frame []byte) {
	out := h.body(w, r)
	var mu sync.Mutex
	sent := false
	write := func(parts ...string) {
		mu.Lock()
		defer mu.Unlock()
		if h.fault.JSON && strings.HasPrefix(parts[0], `{"jsonrpc":"2.0","method"`) {
			return // a JSON response has no room for notifications
		}
		sent = true
		out(parts)
	}
	gone := make(chan struct{})
	var wg sync.WaitGroup
	h.server.handle(r.Context(), conn{
		write: write,
		raw:   func(s string) { write(s) },
		crash: func() { close(gone) },
	}, frame, &wg)
	wg.Wait()
	select {
	case <-gone:
		panic(http.ErrAbortHandler) // net/http's way to drop the connection
	default:
	}
	if !sent && h.fault.JSON {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// body returns what writes one frame to the response in the way of the fault.
func (h *handler) body(w http.ResponseWriter, r *http.Request) func(parts []string) {
	if h.fault.JSON {
		w.Header().Set("Content-Type", "application/json")
		return func(parts []string) {
			for _, p := range parts {
				_, _ = io.WriteString(w, p)
			}
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flush := func() { _ = http.NewResponseController(w).Flush() } // fails only for a client that is gone
	if h.fault.Stalled || h.fault.Endless {
		flush()
	}
	return func(parts []string) {
		switch f := h.fault; {
		case f.Stalled:
			<-r.Context().Done()
		case f.Endless:
			endless(r.Context(), w)
		case f.HalfEvent:
			all := "event: message\ndata: " + strings.Join(parts, "")
			_, _ = io.WriteString(w, all[:len(all)/2])
		case f.Slow > 0:
			slowly(r.Context(), "event: message\ndata: "+strings.Join(parts, "")+"\n\n", f.Slow, func(b string) {
				_, _ = io.WriteString(w, b)
				flush()
			})
		default:
			_, _ = io.WriteString(w, "event: message\ndata: ")
			for _, p := range parts {
				_, _ = io.WriteString(w, p)
			}
			_, _ = io.WriteString(w, "\n\n")
			flush()
		}
	}
}

// slowly writes s one byte at a time.
func slowly(ctx context.Context, s string, pause time.Duration, write func(string)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := range len(s) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			write(s[i : i+1])
		}
	}
}

// endless writes a line without an end until the client is gone.
func endless(ctx context.Context, w io.Writer) {
	chunk := strings.Repeat("x", 1<<20)
	_, _ = io.WriteString(w, "data: ")
	for range 128 {
		if _, err := io.WriteString(w, chunk); err != nil || ctx.Err() != nil {
			return
		}
	}
}

// stream is one open stream of HTTP+SSE: the session of that transport.
type stream struct {
	ctx    context.Context // ends with the client's GET
	frames chan string
	calls  sync.WaitGroup
}

// sse opens the stream of HTTP+SSE and announces where to POST.
func (h *handler) sse(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s := &stream{ctx: r.Context(), frames: make(chan string, 64)}
	h.mu.Lock()
	h.next++
	id := strconv.Itoa(h.next)
	h.streams[id] = s
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.streams, id)
		h.mu.Unlock()
		s.calls.Wait()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: endpoint\ndata: /message?session="+id+"\n\n")
	for {
		_ = http.NewResponseController(w).Flush() // fails only for a client that is gone
		select {
		case <-r.Context().Done():
			return
		case f := <-s.frames:
			_, _ = io.WriteString(w, "event: message\ndata: "+f+"\n\n")
		}
	}
}

// message takes a POST of HTTP+SSE and answers on the stream, which the call belongs to: the POST is over at once.
func (h *handler) message(w http.ResponseWriter, r *http.Request) {
	frame, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
	if err == nil && h.faulty(w, r) {
		return
	}
	h.mu.Lock()
	s := h.streams[r.URL.Query().Get("session")]
	if s != nil {
		s.calls.Add(1)
	}
	h.mu.Unlock()
	if err != nil || s == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	send := func(parts ...string) {
		select {
		case s.frames <- strings.Join(parts, ""):
		case <-s.ctx.Done():
		}
	}
	c := conn{write: send, raw: func(raw string) { send(raw) }, crash: func() {}}
	h.server.handle(s.ctx, c, frame, &s.calls)
	s.calls.Done()
	w.WriteHeader(http.StatusAccepted)
}
