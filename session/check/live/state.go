package live

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Bounds on what is remembered. Beyond maxConns and maxRecent the oldest is forgotten, beyond maxServers and maxPosts all are; beyond the
// others what is new is not kept. No rule takes what was forgotten, or not kept, for something that was not there.
const (
	maxConns   = 4_096    // connections
	maxServers = 1_024    // servers
	maxPending = 16_384   // requests without an answer, per direction of a connection
	maxRecent  = 8_192    // ids, tokens and cursors that were used, likewise
	maxTools   = 10_000   // tools of a server
	maxSchemas = 8 << 20  // bytes of schemas of a server's tools
	maxAll     = 32 << 20 // bytes of schemas of all servers' tools
	maxCaps    = 64 << 10 // bytes of the capabilities of a connection
	maxKept    = 4 << 10  // bytes of anything that is kept for each request
	maxSaid    = 1_000    // what is reported once
	maxPosts   = 256      // HTTP requests without a response, per connection
	maxHead    = 64 << 10 // bytes of an HTTP head
	maxFields  = 100      // fields of it that a rule looks at
)

// seed makes hashes differ from process to process: none is kept in a file. Two texts of one hash count as the same.
var seed = maphash.MakeSeed()

func hash(b []byte) uint64                   { return maphash.Bytes(seed, b) }
func hashString(s string) uint64             { return maphash.String(seed, s) }
func unquote(raw []byte) string              { s, _ := jsonrpc.String(raw); return s } // "" for what is not a string
func stringAt(b []byte, at ...string) string { return unquote(jsonrpc.Get(b, at...)) }

// idOf is an id or a progress token in b, as a key.
func idOf(b []byte, at ...string) string { return keyOf(string(jsonrpc.Get(b, at...))) }

// keyOf is an id as a key: of bounded size, and in one spelling.
func keyOf(id string) string {
	if id = jsonrpc.IDKey(id); len(id) < maxName {
		return id
	}
	return fmt.Sprintf("%s…%x", strings.ToValidUTF8(id[:maxName], ""), hashString(id))
}

// recent remembers the newest maxRecent of many values, by their hashes. To add one again does not make it newer.
type recent struct {
	set  map[uint64]uint64 // what was added with each
	ring []uint64          // in the order in which they came; full, the oldest is at next
	next int
}

func (r *recent) has(h uint64) bool { _, ok := r.set[h]; return ok }

// lacks reports whether a value was certainly not added: where some may be forgotten, nobody knows.
func (r *recent) lacks(h uint64) bool { return len(r.ring) < maxRecent && !r.has(h) }

func (r *recent) add(h, value uint64) {
	if r.set == nil {
		r.set = map[uint64]uint64{}
	}
	if _, ok := r.set[h]; ok {
		r.set[h] = value
		return
	}
	if len(r.ring) < maxRecent {
		r.ring = append(r.ring, h)
	} else {
		delete(r.set, r.ring[r.next])
		r.ring[r.next] = h
		r.next = (r.next + 1) % maxRecent
	}
	r.set[h] = value
}

// server is what is known of a server over all its connections.
type server struct {
	checked  map[uint64]string // what is wrong with arguments and results that came before, by their hash
	modern   bool              // it answered in the modern era
	caps     []byte            // its capabilities, as of the newest handshake or discovery
	tools    map[string]*tool  // by name
	bytes    int               // of the schemas in tools
	complete bool              // tools are all that there are
	listedOn uint64            // connection on which they were listed
	allPages bool              // the pages so far are all that there are
	states   recent            // request states that it gave, with the hash of the id of the request
	highest  uint64            // newest connection
	reported map[string]bool   // deprecated features that were noted
}

// conn is what is known of one connection.
type conn struct {
	key              connKey
	server           *server
	used             uint64             // Seq of the newest entry
	rev              string             // as negotiated, or as the headers say; "" if unknown
	initializeSeq    uint64             // Seq of the newest initialize, 0 for none: the recording begins later, or the era has none
	begun            bool               // the recording has its beginning: what is not in it was not said
	hasMessages      bool               // it has messages that are not the server's notifications
	initialized      bool               // it was answered with a result
	ready            bool               // notifications/initialized was sent
	modern           bool               // a request was answered in the modern era
	http             bool               // it has heads of HTTP requests
	session          bool               // the server gave a session id
	sessionExpired   bool               // a request of this session was answered with 404
	level            int                // of logging/setLevel, -1 for none
	caps             [3][]byte          // capabilities by the direction of who has them: Out is the client; nil if unknown: then a missing one is not reported
	sides            [3]side            // by direction of requests
	latestCaps       []byte             // clientCapabilities of the newest request of the modern era
	beforeInitialize *request           // the first request before initialize, which alone is blamed; nil for none
	subscribed       recent             // that the client asked to subscribe to; it does not shrink
	listens          map[string]*listen // by the id of their request, also those that are over
	lostListens      bool               // there were more of them
	posts            map[uint64]*post   // by the Seq of their head
	lostPosts        bool               // more were without a response than are kept
	pendingHead      *post              // a head whose message follows
	awaitingHead     []message          // messages to the server of which the head did not come yet
	reported         map[string]bool    // what is reported once
	sse              bool               // the transport is HTTP+SSE
}

type connKey struct {
	server string
	hop    string // who recorded it, see journal.Entry
	conn   uint64
}

// side has the requests of one connection that go in one direction.
type side struct {
	pending    map[string]*request // by id
	lost       bool                // there were more requests, or tokens, than are kept
	mixed      bool                // of several clients, which may use the same ids: none is kept
	ids        recent              // used, with the Seq of the newest request that has it
	tokens     map[string]*token   // in use
	doneTokens recent              // progress tokens whose request was answered
	freeTokens recent              // those of cancelled requests and of tasks that are over: a report may have crossed with the end
	tasks      map[uint64]string   // progress tokens of tasks that are not known to be over, by the hash of the task's id
	pagings    map[string]*paging  // by method
}

// request is a request that is pending, or was just answered.
type request struct {
	seq         uint64
	id          string
	method      string
	target      string // tool, prompt or resource, as the journal has it
	rev         string // of the request itself, which in the modern era may be another one for each; "" if unknown
	modern      bool
	level       string // io.modelcontextprotocol/logLevel
	caps        []byte // io.modelcontextprotocol/clientCapabilities
	token       string // its progress token, "" for none, or one longer than maxToken
	cursor      uint64 // hash of the cursor as it was written, 0 for none: the first page
	paged       bool   // its method lists in pages
	task        bool   // it asks for a task, as 2025-11-25 has them
	cancelled   bool   // by who sent it
	done        bool   // its connection ended, or nobody waits any more
	status      int    // of the HTTP response, 0 if unknown
	logLevel    int    // level of logging/setLevel
	withoutMeta bool   // without the _meta that the era demands
}

// token is a progress token in use.
type token struct {
	value   float64 // of the newest notification
	started bool    // there was one
}

// paging is what is known of the pages of a list.
type paging struct {
	given  recent // hashes of the cursors that the server gave
	places recent // of these and of those that were sent: where their pages are, see follow
	passes uint64
}

// follow notes that a page names the next one, by the hashes of the cursors of both, 0 for the first page. It reports whether that page was before it
// in the same pass over the list: the cursors lead in a loop. Each first page begins a pass, and several may go on at once: a page belongs to the
// pass that named it last.
func (w *paging) follow(page, next uint64) (loops bool) {
	const pass = 32 // bits of the place in it
	at, known := w.places.set[page]
	if page == 0 || !known {
		w.passes++
		at = w.passes << pass
		if page != 0 {
			w.places.add(page, at)
		}
	}
	before, known := w.places.set[next]
	if next == page || known && before>>pass == at>>pass && before <= at {
		return true
	}
	w.places.add(next, at+1)
	return false
}

// listen is a stream of subscriptions/listen; acked is whether it was acknowledged.
type listen struct {
	acked bool
}

// message is what one HTTP request carries.
type message struct {
	kind                journal.Kind
	method, id          string
	params              []byte // of the methods whose parameters headers repeat, nil of others
	rev                 string
	modern, withoutMeta bool
}

// post is an HTTP request, of any method, with the message in it once that is known.
type post struct {
	seq  uint64
	head head
	message
	known   bool // the message is
	unclear bool // its response cannot be told from that of another
}

func newConn(k connKey, s *server) *conn {
	return &conn{key: k, server: s, level: -1, listens: map[string]*listen{}, posts: map[uint64]*post{}, reported: map[string]bool{}}
}

// overHTTP reports whether the transport is one of HTTP, as far as is known.
func (c *conn) overHTTP() bool { return c.http || c.sse }

// revisionOf is the revision by which one side's messages are judged. That of the other era, which a client only asked for, is not that of a
// server until it has answered in it.
func (c *conn) revisionOf(by journal.Dir) string {
	if by == journal.In && c.rev == revModern && !c.modern && !c.server.modern {
		return ""
	}
	return c.rev
}

// first reports whether something is reported for the first time; never once maxSaid are.
func (c *conn) first(what string) bool {
	if c.reported[what] || len(c.reported) >= maxSaid {
		return false
	}
	c.reported[what] = true
	return true
}

// first reports whether something is reported for the first time; never once maxSaid are.
func (s *server) first(what string) bool {
	if s.reported[what] || len(s.reported) >= maxSaid {
		return false
	}
	if s.reported == nil {
		s.reported = map[string]bool{}
	}
	s.reported[what] = true
	return true
}

// start makes a request pending.
func (s *side) start(q *request) {
	if s.pending == nil {
		s.pending, s.tokens, s.pagings = map[string]*request{}, map[string]*token{}, map[string]*paging{}
	}
	if s.lost = s.lost || q.id == "" || s.mixed || len(s.pending) >= maxPending || len(s.tokens) >= maxPending; q.id == "" || s.mixed {
		return
	}
	if len(s.pending) < maxPending {
		s.pending[q.id] = q
	}
	s.ids.add(hashString(q.id), q.seq)
	if q.token != "" && len(s.tokens) < maxPending {
		s.tokens[q.token] = &token{}
	}
	if !q.paged {
		return
	}
	if s.pagings[q.method] == nil {
		s.pagings[q.method] = &paging{}
	}
}

// mixClients tells that several clients speak on the connection, as one that a proxy records: which answer is for which of them nobody knows.
func (c *conn) mixClients() {
	c.begun, c.hasMessages, c.ready = false, true, true
	for d := range c.sides {
		c.sides[d] = side{mixed: true, lost: true}
	}
}

// finish drops a request that was answered, and its progress token. That of a task is valid for longer, until the task ends
// (2025-11-25/basic/utilities/progress#behavior-requirements). task is the hash of the task's id, 0 where the answer makes none.
func (s *side) finish(q *request, task uint64) {
	delete(s.pending, q.id)
	switch {
	case q.token == "" || s.tokens[q.token] == nil:
	case task == 0:
		delete(s.tokens, q.token)
		s.doneTokens.add(hashString(q.token), q.seq)
	case len(s.tasks) >= maxPending:
		s.lost = true
		s.free(q.token)
	default:
		if s.tasks == nil {
			s.tasks = map[uint64]string{}
		}
		s.tasks[task] = q.token
	}
}

// free ends a progress token that reports may still come for: nobody says whether these are late.
func (s *side) free(token string) {
	if s.tokens[token] != nil {
		delete(s.tokens, token)
		s.freeTokens.add(hashString(token), 0)
	}
}

// endTask frees the progress token of a task that is over.
func (s *side) endTask(id uint64, status string) {
	switch status {
	case "completed", "failed", "cancelled":
		s.free(s.tasks[id])
		delete(s.tasks, id)
	}
}

// taskOf is the hash of the id of the task that a result makes or tells about, 0 for none, and what it says of its state. The result of the task
// itself says that it is over (2025-11-25/basic/utilities/tasks#related-task-metadata).
func taskOf(of []byte) (id uint64, status string) {
	if inner := jsonrpc.Get(of, "task"); inner != nil {
		of = inner
	}
	if raw := jsonrpc.Get(of, "taskId"); raw != nil {
		return hash(raw), stringAt(of, "status")
	}
	if raw := jsonrpc.Get(of, "_meta", "io.modelcontextprotocol/related-task", "taskId"); raw != nil {
		return hash(raw), "completed"
	}
	return 0, ""
}

// head is the first line and the fields of an HTTP message.
type head struct {
	verb, target string            // of a request
	status       int               // of a response
	fields       map[string]string // by name in lower case
	cut          bool              // not all of it was read: no field is known to be missing
}

// parseHead reads the head of a request (POST /mcp HTTP/1.1), or of a response as a session (HTTP/1.1 200 OK) or a router (200 OK) records it. ok is
// false for anything else, such as the text "404 page not found".
func parseHead(b []byte) (h head, ok bool) {
	h.cut = len(b) > maxHead
	first, rest, _ := strings.Cut(string(b[:min(len(b), maxHead)]), "\n")
	words := strings.Fields(first)
	switch {
	case len(words) < 1:
		return h, false
	case strings.HasPrefix(words[0], "HTTP/"):
		h.status = number(append(words, "")[1])
	case number(words[0]) > 0:
		if said := strings.Join(words[1:], " "); said == "" || said == http.StatusText(number(words[0])) {
			h.status = number(words[0])
		}
	case len(words) > 1:
		h.verb, h.target = strings.Clone(words[0]), cloneText(words[1])
	}
	h.fields = map[string]string{}
	for line := range strings.SplitSeq(rest, "\n") {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || !isUsedHeader(name) {
			continue
		}
		if len(h.fields) >= maxFields {
			h.cut = true
			break
		}
		if old, twice := h.fields[name]; twice {
			value = old + ", " + value // one list (RFC 9110, section 5.3)
		}
		h.fields[name] = cloneText(value)
	}
	return h, h.verb != "" || h.status > 0
}

// cloneText copies a part of a larger text, so that this is not kept; beyond maxKept bytes it ends in "…", like a text that a recorder cut.
func cloneText(s string) string {
	if len(s) > maxKept {
		return strings.ToValidUTF8(s[:maxKept], "") + "…"
	}
	return strings.Clone(s)
}

// isUsedHeader reports whether a rule looks at a field of an HTTP head.
func isUsedHeader(name string) bool {
	switch name {
	case "accept", "content-type", "content-length", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "origin", "host", "www-authenticate":
		return true
	}
	return strings.HasPrefix(name, "mcp-param-")
}

// parseNumber parses a JSON number of at most 400 bytes; ok is false if raw is not one.
func parseNumber(raw []byte) (float64, bool) {
	if len(raw) == 0 || len(raw) > 400 || raw[0] != '-' && raw[0]-'0' > 9 {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil
}

// number is a decimal number of at most four digits, 0 for any other text.
func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 999 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
