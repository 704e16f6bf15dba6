package live

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// MaxBody is the largest frame that is looked into. Of a larger one only what the journal says about it is used.
const MaxBody = 8 << 20

// Finding is one violation of a rule, by one side in one entry.
type Finding struct {
	Rule     *rules.Rule
	Seq      uint64 // of the entry to blame, which may be an earlier one than that which shows it
	Server   string
	Conn     uint64
	By       rules.Party // client or server
	Method   string      // that the entry is about, "" if none
	Revision string      // "" if unknown
	Evidence string      // short, what a peer sent is quoted in it: not safe for a terminal
}

// Section is the URL of the part of the specification that was violated, in the text of the finding's revision.
func (f Finding) Section() string { return f.Rule.Link(f.Revision) }

// Checker checks entries in the order of a journal. It is for one goroutine.
type Checker struct {
	conns     map[connKey]*conn  // at most maxConns
	servers   map[string]*server // by hop and name, at most maxServers
	defs      definitions
	schemas   int           // bytes of the schemas of all tools
	Frames    int           // messages that were checked
	Unchecked int           // of these, how many were not validated: too large, or no budget left
	report    func(Finding) // called while Add or Finish runs
}

// NewChecker returns one that calls report for each finding, in the order of the entries but for those that only later
// entries prove.
func NewChecker(report func(Finding)) *Checker {
	return &Checker{conns: map[connKey]*conn{}, servers: map[string]*server{}, report: report}
}

// frame is an entry that is being checked, with what is known about it.
type frame struct {
	*journal.Entry
	at     uint64 // Seq of the entry to blame
	about  string // method that this is about
	body   []byte // of the caller, who may use it again after Add; nil where it is not to be had
	env    jsonrpc.Envelope
	err    error // of reading the envelope
	whole  bool  // the body was read
	c      *conn
	ck     *Checker
	rev    string   // by which it is judged, "" if unknown: then only rules that all revisions have are checked
	modern bool     // it is judged by the modern era; true as well for a revision later than those that are known
	req    *request // the request, or that which is answered; nil for an answer to none
	post   *post    // for onPost and onStatus
	head   head     // for onStatus
}

// Wants is how many bytes of an entry's body Add needs: all, or none.
func Wants(e *journal.Entry) bool {
	switch e.Kind {
	case journal.Stderr, journal.State:
		return false
	}
	return e.Size <= MaxBody && e.Kind <= journal.HTTP
}

// Add checks the entry that follows. body is nil where it is not to be had; it is not kept.
func (ck *Checker) Add(e *journal.Entry, body []byte) {
	// Spans and the HTTP requests of a login are not messages of the protocol.
	if e.Kind > journal.State || e.Method == "login" || e.Kind == journal.Bad && e.Dir == journal.None { // a line that nobody could read
		return
	}
	if id := jsonrpc.IDKey(e.ID); id != e.ID { // the same id with escapes of its writer
		own := *e
		own.ID = id
		e = &own
	}
	c := ck.conn(e)
	f := frame{Entry: e, at: e.Seq, body: body, c: c, ck: ck, whole: len(body) > 0} // a file has less than Size where secrets were hidden
	switch e.Kind {
	case journal.Request, journal.Response, journal.ErrorResponse, journal.Notification:
		ck.Frames++
		ck.checkMessage(&f)
	case journal.Bad:
		ck.Frames++
		if f.whole {
			f.env, f.err = jsonrpc.Scan(body)
		}
		f.rev = c.revisionOf(e.Dir)
		ck.run(&f, onBad)
		if q := c.sides[opposite(e.Dir)].pending[e.ID]; q != nil {
			q.done = true // it was answered, after a fashion
		}
	case journal.HTTP:
		ck.checkHead(&f)
	case journal.State:
		switch {
		case e.Conn == 0 && e.Note == firstConnect:
			ck.restart(e.Server, e.Hop)
		case strings.HasPrefix(e.Note, batchOf):
			f.rev = c.rev
			ck.run(&f, onBad)
		case e.ID != "" && (e.Status == journal.Cancelled || e.Note == clientLeft):
			if q := c.sides[e.Dir].pending[e.ID]; q != nil { // nobody waits for the answer
				q.done = true
				c.sides[e.Dir].free(q.token)
			}
		}
	}
}

// clientLeft is what a router notes about a request whose client ended the exchange.
const clientLeft = "client disconnected"

// firstConnect is the note of a session about its first connection: in a file to which several runs were appended, another run.
const firstConnect = "Disconnected → Connecting"

// batchOf begins the note of a session about a batch whose messages follow.
const batchOf = "batch of "

// restart ends the connections of an earlier run.
func (ck *Checker) restart(server, hop string) {
	for k, c := range ck.conns {
		if k.server == server && k.hop == hop {
			ck.endConn(c)
			delete(ck.conns, k)
		}
	}
	if s := ck.servers[hop+"\x00"+server]; s != nil {
		s.highest = 0 // the new run counts its connections from the beginning
	}
}

// Finish ends all connections: what is not answered yet never will be. What it reported it does not report again.
func (ck *Checker) Finish() {
	for _, c := range ck.conns {
		ck.endConn(c)
	}
}

// run checks one entry by the rules of some kinds, in the order of live.yaml for each.
func (ck *Checker) run(f *frame, on when) {
	for bit, all := range byEvent() {
		if on&(1<<bit) == 0 {
			continue
		}
		for _, r := range all {
			if !r.In(f.rev) {
				continue
			}
			f.at, f.about = f.Seq, f.Method // the check before may have blamed another entry
			if evidence := r.check(f); evidence != "" {
				ck.report(Finding{
					Rule: r.Rule, Seq: f.at, Server: f.Server, Conn: f.Conn, By: blamedParty(r.By, f.Dir), Method: f.about, Revision: f.rev, Evidence: evidence,
				})
			}
		}
	}
}

// conn is the state of the entry's connection. The first entry of the next connection of a session ends that before it. A router has as many
// as its clients have sessions, and one for each request outside of a session: they end with the journal.
func (ck *Checker) conn(e *journal.Entry) *conn {
	k := connKey{e.Server, e.Hop, e.Conn}
	c := ck.conns[k]
	if c == nil {
		name := e.Hop + "\x00" + e.Server
		s := ck.servers[name]
		if s == nil {
			if len(ck.servers) >= maxServers {
				clear(ck.servers) // connections keep theirs
				ck.schemas = 0
			}
			s = &server{tools: map[string]*tool{}}
			ck.servers[name] = s
		}
		if len(ck.conns) >= maxConns {
			ck.dropOldest()
		}
		c = newConn(k, s)
		ck.conns[k] = c
		if e.Hop == "" && e.Conn > s.highest && s.highest > 0 { // a session has one connection at a time
			if old := ck.conns[connKey{e.Server, e.Hop, s.highest}]; old != nil {
				ck.endConn(old)
			}
		}
		s.highest = max(s.highest, e.Conn)
	}
	c.used = e.Seq
	return c
}

// dropOldest drops the half of the connections that was used least recently. What they left without an answer is not reported.
func (ck *Checker) dropOldest() {
	all := make([]uint64, 0, len(ck.conns))
	for _, c := range ck.conns {
		all = append(all, c.used)
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	for k, c := range ck.conns {
		if c.used <= middle {
			delete(ck.conns, k)
		}
	}
}

// endConn checks the requests that a connection left without an answer.
func (ck *Checker) endConn(c *conn) {
	for d := range c.sides {
		left := make([]*request, 0, len(c.sides[d].pending))
		for _, q := range c.sides[d].pending {
			if !q.done {
				left = append(left, q)
			}
		}
		slices.SortFunc(left, func(a, b *request) int { return int(a.seq) - int(b.seq) })
		for _, q := range left {
			e := journal.Entry{Seq: q.seq, Server: c.key.server, Conn: c.key.conn, Hop: c.key.hop, Dir: journal.Dir(d), Kind: journal.Request, Method: q.method, ID: q.id, Tool: q.target}
			f := frame{Entry: &e, c: c, ck: ck, rev: q.rev, modern: q.modern, req: q} // its own entry is not kept
			ck.run(&f, onEnd)
			q.done = true // it stays pending: a late answer belongs to it
		}
	}
}

// opposite returns the other direction; of none, none.
func opposite(d journal.Dir) journal.Dir {
	switch d {
	case journal.Out:
		return journal.In
	case journal.In:
		return journal.Out
	}
	return d
}
