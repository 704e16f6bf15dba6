package mock

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A call is a request of the client, or a notification.
type call struct {
	seq    uint64 // of the request
	answer uint64 // of the answer, 0 if there is none
}

// A group is the calls of one method about one tool, prompt or resource.
type group struct{ method, target string }

// recording is the index of one server's entries.
type recording struct {
	j       *journal.Journal
	seed    maphash.Seed
	calls   []call // oldest first
	groups  map[group]*variants
	during  map[uint64][]uint64 // by request: what the server sent while it ran, and what the client answered to that
	after   map[uint64][]uint64 // by request or notification: what the server sent of itself afterwards
	lists   map[string][]listing
	hellos  map[string]uint64 // the last answers to initialize and server/discover
	methods map[string]bool   // that were answered with a result
	answers int               // to calls, reads and prompts
}

// variants are the calls of a group by their arguments, once somebody asked for one.
type variants struct {
	calls []int32 // into recording.calls
	once  sync.Once
	exact map[uint64][]int32
	first []int32 // the first answered call of each variant, for comparison
}

// maxVariants is with how many recorded calls an unknown one is compared.
const maxVariants = 512

// lists are the methods whose answers are pages, with the member that has the items.
var lists = map[string]string{
	string(mcp.MethodToolsList): "tools", string(mcp.MethodPromptsList): "prompts", string(mcp.MethodResourcesList): "resources",
	string(mcp.MethodResourcesTemplatesList): "resourceTemplates",
}

// counted are the methods whose answers a person would call recorded calls.
var counted = []string{string(mcp.MethodToolsCall), string(mcp.MethodPromptsGet), string(mcp.MethodResourcesRead)}

// scanner is the state of one pass over the journal.
type scanner struct {
	*recording
	conns map[uint64]*conn
	index map[uint64]int    // of calls that run, by the Seq of the request
	asks  map[uint64]uint64 // by question of the server: the request that it is a part of
	pages map[string]*pager
	keep  func(*journal.Entry) bool
}

// asks reports whether an entry is a request of the client.
func asks(e *journal.Entry) bool { return e.Kind == journal.Request && e.Dir == journal.Out }

// conn is one connection of the recorded client.
type conn struct {
	running []uint64 // requests that run, the newest last
	last    uint64   // newest message of the client
}

// record indexes what a journal has of a server.
func record(j *journal.Journal, name string, keep func(*journal.Entry) bool) *recording {
	r := &recording{
		j: j, seed: maphash.MakeSeed(), groups: map[group]*variants{}, during: map[uint64][]uint64{}, after: map[uint64][]uint64{},
		lists: map[string][]listing{}, hellos: map[string]uint64{}, methods: map[string]bool{},
	}
	s := &scanner{recording: r, conns: map[uint64]*conn{}, index: map[uint64]int{}, asks: map[uint64]uint64{}, pages: map[string]*pager{}}
	s.keep = func(e *journal.Entry) bool {
		return keep == nil || e.Method == string(mcp.MethodInitialize) || e.Method == string(mcp.MethodServerDiscover) || lists[e.Method] != "" || keep(e)
	}
	hop := "" // what several hops saw of one call is one call
	j.Each(0, func(e *journal.Entry) bool {
		found := e.Server == name && asks(e) && (keep == nil || keep(e))
		if found {
			hop = e.Hop
		}
		return !found
	})
	j.Each(0, func(e *journal.Entry) bool {
		if e.Server == name && e.Hop == hop && e.Kind <= journal.Notification {
			s.entry(e)
		}
		return true
	})
	for _, p := range s.pages {
		p.end(r)
	}
	return r
}

func (s *scanner) entry(e *journal.Entry) {
	c := s.conns[e.Conn]
	if c == nil {
		c = &conn{}
		s.conns[e.Conn] = c
	}
	switch {
	case asks(e):
		if s.keep(e) {
			s.request(c, e)
		}
	case e.Dir == journal.Out && e.Kind == journal.Notification:
		s.addNotification(c, e)
	case e.Dir == journal.Out: // the client's answer to a question
		if root := s.asks[e.Peer]; root != 0 {
			s.during[root] = append(s.during[root], e.Seq)
		}
	case e.Kind == journal.Response || e.Kind == journal.ErrorResponse:
		s.answer(c, e)
	default:
		s.sent(c, e)
	}
}

func (s *scanner) add(e *journal.Entry) {
	g := group{e.Method, e.Tool}
	if strings.HasPrefix(e.Method, "tasks/") { // which may have the id there, and may not: see target
		g.target = ""
	}
	v := s.groups[g]
	if v == nil {
		v = &variants{}
		s.groups[g] = v
	}
	v.calls = append(v.calls, int32(len(s.calls)))
	s.calls = append(s.calls, call{seq: e.Seq})
}

func (s *scanner) request(c *conn, e *journal.Entry) {
	s.index[e.Seq] = len(s.calls)
	s.add(e)
	c.last = e.Seq
	if e.Method != string(mcp.MethodSubscriptionsListen) && e.Method != string(mcp.MethodPing) {
		c.running = append(c.running, e.Seq)
	}
}

// addNotification is a notification of the client.
func (s *scanner) addNotification(c *conn, e *journal.Entry) {
	if e.Method == string(mcp.MethodNotificationCancelled) {
		c.over(e.Root)
		return
	}
	if e.Method != string(mcp.MethodNotificationProgress) {
		s.add(e)
		c.last = e.Seq
	}
}

func (c *conn) over(seq uint64) {
	if i := slices.Index(c.running, seq); i >= 0 {
		c.running = slices.Delete(c.running, i, i+1)
	}
}

func (s *scanner) answer(c *conn, e *journal.Entry) {
	i, ok := s.index[e.Peer]
	if !ok { // to a request that is not in the journal
		return
	}
	delete(s.index, e.Peer)
	c.over(e.Peer)
	if e.Mark&journal.Late != 0 { // the client had gone on
		return
	}
	s.calls[i].answer = e.Seq
	switch {
	case e.Kind == journal.Response && (e.Method == string(mcp.MethodInitialize) || e.Method == string(mcp.MethodServerDiscover)):
		s.hellos[e.Method] = e.Seq
	case lists[e.Method] != "":
		s.page(e)
	case slices.Contains(counted, e.Method):
		s.answers++
	}
	if e.Kind == journal.Response {
		s.methods[e.Method] = true
	}
}

// sent is what the server sends of itself: a part of the request that it belongs to, or that was made last and still runs, else something
// that follows what the client said last.
func (s *scanner) sent(c *conn, e *journal.Entry) {
	switch {
	case e.Method == string(mcp.MethodPing), e.Method == string(mcp.MethodNotificationCancelled), e.Method == string(mcp.MethodNotificationSubscriptionsAcknowledged):
		return
	case e.Kind == journal.Notification && e.Root != 0:
		to := s.after // the answer can overtake it
		if _, runs := s.index[e.Root]; runs {
			to = s.during
		}
		to[e.Root] = append(to[e.Root], e.Seq)
	case len(c.running) > 0:
		root := c.running[len(c.running)-1]
		s.during[root] = append(s.during[root], e.Seq)
		s.asks[e.Seq] = root
	case c.last != 0:
		s.after[c.last] = append(s.after[c.last], e.Seq)
	}
}

// callsOf are the calls of a group, oldest first.
func (r *recording) callsOf(g group) []int32 {
	if v := r.groups[g]; v != nil {
		return v.calls
	}
	return nil
}

// envelope is the frame of an entry. What cannot be read has no members.
func (r *recording) envelope(seq uint64) jsonrpc.Envelope {
	body, err := r.j.Body(seq)
	if err != nil {
		return jsonrpc.Envelope{}
	}
	env, err := jsonrpc.Scan(body)
	if err != nil {
		return jsonrpc.Envelope{}
	}
	return env
}

// time is when an entry was recorded.
func (r *recording) time(seq uint64) time.Time {
	e, _ := r.j.Get(seq)
	return e.Time
}
