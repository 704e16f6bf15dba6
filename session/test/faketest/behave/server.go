package behave

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
)

// conn is one client's connection as a handler sees it. write sends one frame, given in parts so that a rendered answer
// is not copied; it is safe for concurrent use. raw sends bytes as they are. crash drops everything.
type conn struct {
	write func(parts ...string)
	raw   func(s string)
	crash func()
}

// server is the state behind one connection (stdio) or one URL (HTTP).
type server struct {
	mode  Mode
	tools string // the rendered tools array, where the mode has a fixed one
	big   string // the rendered text of Big

	pids  func() string // JSON of the process ids, for tool "pids"
	reach func([]byte) string

	mu        sync.Mutex
	lists     int                           // tools/list answered
	cancels   map[string]context.CancelFunc // running calls by request id
	cancelled []string                      // request ids that the client cancelled
	methods   []string                      // every method that arrived, in order
}

// newServer renders what the mode needs.
func newServer(mode Mode) *server {
	s := &server{mode: mode, cancels: map[string]context.CancelFunc{}, pids: func() string { return "{}" }, reach: func([]byte) string { return "nothing is reached" }}
	switch mode {
	case ManyTools:
		s.tools = renderManyTools()
	case Big:
		s.big = string(renderText(bigBytes))
	}
	return s
}

// handle answers one frame. Calls run on goroutines of their own, counted in wg, until they are done or ctx ends.
func (s *server) handle(ctx context.Context, c conn, frame []byte, wg *sync.WaitGroup) {
	var r request
	if err := json.Unmarshal(frame, &r); err != nil {
		c.write(failure([]byte("null"), -32700, "Parse error", ""))
		return
	}
	s.mu.Lock()
	s.methods = append(s.methods, r.Method)
	s.mu.Unlock()
	if r.Method == "notifications/cancelled" {
		s.cancel(string(r.Params.RequestID))
		return
	}
	if len(r.ID) == 0 || r.Method == "" {
		return // a notification, or an answer to a request of ours
	}
	if r.Method == "tools/call" {
		ctx, stop := context.WithCancel(ctx)
		s.mu.Lock()
		s.cancels[string(r.ID)] = stop
		s.mu.Unlock()
		wg.Go(func() {
			defer s.finished(string(r.ID), stop)
			s.call(ctx, c, r)
		})
		return
	}
	s.answer(c, r, s.reply(r))
}

// cancel ends the running call with the given request id and remembers it.
func (s *server) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = append(s.cancelled, id)
	if stop := s.cancels[id]; stop != nil {
		stop()
	}
}

func (s *server) finished(id string, stop context.CancelFunc) {
	stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cancels, id)
}

// answer sends a reply the way the mode does.
func (s *server) answer(c conn, r request, frame string) {
	handshake := r.Method == "initialize" || r.Method == "server/discover"
	switch {
	case frame == "":
	case s.mode == Noise:
		c.raw("[info] handling " + r.Method + "\n\n{not json}\n[1,2,3]\n\"text\"\n{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}\n{\"hello\":\"world\"}\n")
		c.write(frame)
	case s.mode == WrongID && !handshake:
		c.write(strings.Replace(frame, `"id":`+string(r.ID), `"id":"foreign"`, 1))
	case s.mode == Duplicate && !handshake:
		c.write(frame)
		c.write(frame)
	case s.mode == HalfFrame && r.Method == "tools/list":
		c.raw(frame[:len(frame)/2])
	case s.mode == HalfFrameExit && r.Method == "tools/list":
		c.raw(frame[:len(frame)/2])
		c.crash()
	default:
		c.write(frame)
	}
}

// reply returns the frame that answers any request but tools/call; "" for none.
func (s *server) reply(r request) string {
	switch r.Method {
	case "server/discover":
		if s.mode == Modern {
			return result(r.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+s.capabilities()+
				`,"serverInfo":`+s.info()+`,"instructions":`+quote(s.instructions())+`,"ttlMs":60000,"cacheScope":"private"}`)
		}
	case "initialize":
		if s.mode == Modern {
			return failure(r.ID, -32022, "Unsupported protocol version", `{"supported":["2026-07-28"],"requested":`+quote(r.Params.ProtocolVersion)+`}`)
		}
		return result(r.ID, `{"protocolVersion":`+quote(legacyVersion(r.Params.ProtocolVersion))+`,"capabilities":`+s.capabilities()+
			`,"serverInfo":`+s.info()+`,"instructions":`+quote(s.instructions())+`}`)
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		if s.mode != Modern && s.mode != Liar {
			return result(r.ID, "{}")
		}
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		if frame := s.list(r); frame != "" {
			return frame
		}
	case "resources/read", "prompts/get", "completion/complete":
		if frame := s.get(r); frame != "" {
			return frame
		}
	}
	return failure(r.ID, -32601, "Method not found", `{"method":`+quote(r.Method)+`}`)
}

// legacyVersion is the revision to agree on: the client's where it is a legacy one, else the newest legacy one.
func legacyVersion(asked string) string {
	switch asked {
	case "2024-11-05", "2025-03-26", "2025-06-18":
		return asked
	}
	return "2025-11-25"
}

func (s *server) capabilities() string {
	switch s.mode {
	case Bare:
		return "{}"
	case Modern:
		return `{"tools":{"listChanged":true},"resources":{},"prompts":{},"completions":{}}`
	}
	return `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"completions":{}}`
}

func (s *server) info() string {
	if s.mode == HostileText {
		return `{"name":` + quote(payloads()) + `,"title":` + quote(payloads()) + `,"version":` + quote(payloads()) + `}`
	}
	return `{"name":"fakemcp","title":` + quote("Fake server, mode "+string(s.mode)) + `,"version":"1.0.0"}`
}

func (s *server) instructions() string {
	if s.mode == HostileText {
		return payloads()
	}
	return "Serves tests. Mode " + string(s.mode) + "."
}
