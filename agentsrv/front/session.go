package front

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/idle"
)

// Session is one client of the legacy era: from initialize to DELETE, or until it was idle for too long. Over stdio it
// is the connection.
type Session struct {
	client
	id        string
	short     string // first 8 hex digits of the SHA-256 of id, for logs
	principal string
	tenant    string // that its token is for, "" if it says none
	srv       *Server
	ended     chan struct{} // closed by end

	// mux guards what follows; it is not client.mu, which is for what mcp-go reads and sets.
	mux     sync.Mutex
	over    bool                  // it has ended
	running map[string]*Exchange  // by jsonrpc.IDKey of the request's id; nil before the first, and once it has ended
	asks    map[string]chan reply // questions without an answer, by id; at most maxAsks. The channels have room for the answer
	lastAsk int64                 // the number of the latest question, which is its id
	streams streams

	own   messenger             // stdio's line; nil over HTTP, where messages go to streams. Set before anybody has the session
	entry *idle.Entry[*Session] // in the table of sessions; set by add
}

// newSession makes one for a caller. It is nobody's before add: an initialize that fails leaves none.
func newSession(srv *Server, caller kit.Identity) *Session {
	s := &Session{id: jsonrpc.UUID(), principal: caller.Principal, tenant: caller.Tenant, srv: srv, ended: make(chan struct{})}
	sum := sha256.Sum256([]byte(s.id))
	s.short = hex.EncodeToString(sum[:4])
	s.version = defaultVersion
	return s
}

// Name is a short name of the session for logs and metrics, which does not give its id away.
func (s *Session) Name() string { return s.short }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.ended }

// begin notes a request that runs, so that the client can cancel it.
func (s *Session) begin(x *Exchange) {
	s.mux.Lock()
	if s.running == nil {
		s.running = map[string]*Exchange{}
	}
	s.running[jsonrpc.IDKey(string(x.ID))] = x
	over := s.over
	s.mux.Unlock()
	if over {
		x.Cancel(errSessionEnded)
	}
}

// endCall ends what begin began.
func (s *Session) endCall(x *Exchange) {
	s.mux.Lock()
	if id := jsonrpc.IDKey(string(x.ID)); s.running[id] == x { // a client that uses an id twice at once can cancel the later one only
		delete(s.running, id)
	}
	s.mux.Unlock()
}

// cancelRequest takes notifications/cancelled; one about an unknown request is not an error, since it may have crossed
// with the answer.
func (s *Session) cancelRequest(params []byte) {
	var id []byte
	_ = jsonrpc.Members(params, func(key string, value []byte) bool { // params were scanned with the frame
		if key == "requestId" {
			id = value
		}
		return id == nil
	})
	s.mux.Lock()
	x := s.running[jsonrpc.IDKey(string(id))]
	s.mux.Unlock()
	if x != nil {
		x.Cancel(errCancelled)
	}
}

// endListening ends the requests that only listen, which would never end of themselves.
func (s *Session) endListening() {
	s.mux.Lock()
	running := slices.Collect(maps.Values(s.running))
	s.mux.Unlock()
	for _, x := range running {
		if x.Method == string(mcp.MethodSubscriptionsListen) {
			x.Cancel(errClosing)
		}
	}
}

// push sends a frame that belongs to no request: on the stream that the client opened with GET, or kept for that.
func (s *Session) push(frame []byte) error {
	if s.own != nil {
		return s.own.send(frame)
	}
	return s.generalStream().push(frame)
}

// end cancels what runs and closes every stream.
func (s *Session) end() {
	s.mux.Lock()
	if s.over {
		s.mux.Unlock()
		return
	}
	s.over = true
	running := s.running
	s.running = nil
	s.mux.Unlock()
	close(s.ended)
	for _, x := range running {
		x.Cancel(errSessionEnded)
	}
	s.closeStreams()
}
