package journal

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// A key finds the request that an answer, a report of progress or a cancellation is about. dir is the request's: both sides number theirs,
// and may use the same ids.
type key struct {
	server string
	conn   uint64 // ids begin anew with each connection
	dir    Dir
	id     string // as jsonrpc.IDKey has it: a string in one spelling, whichever the sender chose; "" for none
	token  bool   // id is a progress token
}

// keyOf is the key of a request with the id of e, in a direction.
func keyOf(e *Entry, dir Dir) key {
	return key{server: e.Server, conn: e.Conn, dir: dir, id: jsonrpc.IDKey(e.ID)}
}

// An open request is one whose answer may come.
type open struct {
	seq   uint64
	token string // progress token as a key, "" if it has none
}

// links are what later entries are linked by; guarded by Journal.mu. Their keys are copies, so that no entry's body is held by them.
type links struct {
	pending map[key]open   // requests without an answer, by id and by token; as many as entries are kept
	heads   map[key]uint64 // HTTP entries whose request is not there yet
	recent  map[key]uint64 // requests that were answered, the newest of them
	ring    []key          // of recent, to forget the oldest
	next    int            // the place in ring that is used next, once that is full
}

const (
	maxRecent = 4096 // answered requests that a second answer, or late progress, is linked with
	maxHeads  = 1024 // HTTP entries that wait for their request
)

func newLinks() links {
	return links{pending: map[key]open{}, heads: map[key]uint64{}, recent: map[key]uint64{}}
}

// rememberAnswered remembers that the request with this key is over.
func (l *links) rememberAnswered(k key, seq uint64) {
	if len(l.ring) < maxRecent {
		l.ring = append(l.ring, k)
	} else {
		delete(l.recent, l.ring[l.next])
		l.ring[l.next] = k
		l.next = (l.next + 1) % maxRecent
	}
	l.recent[k] = seq
}

// find is the Seq of the request with this key, running or just answered; 0 if there is none.
func (l *links) find(k key) uint64 {
	if k.id == "" {
		return 0
	}
	if o, ok := l.pending[k]; ok {
		return o.seq
	}
	return l.recent[k]
}

func (d Dir) reverse() Dir {
	switch d {
	case Out:
		return In
	case In:
		return Out
	}
	return None
}

const (
	maxMeta = 512     // bytes kept of each string of an entry
	maxScan = 1 << 20 // bodies above this are not searched for names
)

// facts are what an entry's body says about its place among others.
type facts struct {
	token string // progress token as a key, of a request or of progress
	about string // raw id of the request that a cancellation is about
	peer  uint64 // Seq of the other half of an HTTP exchange, where the caller knows it
}

// prepare completes what can be known from the entry alone, outside the lock.
func prepare(e *Entry, body []byte) (f facts) {
	e.Method, e.ID, e.Tool, e.Note = clip(e.Method), clip(e.ID), clip(e.Tool), clip(e.Note)
	f.peer = e.Peer
	switch e.Kind {
	case Request:
		if e.Status == "" {
			e.Status = Pending
		}
		if e.Tool == "" {
			e.Tool = clip(target(e.Method, body))
		}
		if contains(body, `"progressToken"`) {
			f.token = clip(jsonrpc.IDKey(member(body, "params", "_meta", "progressToken")))
		}
	case Response:
		switch {
		case e.Status != "":
		case toolFailed(body):
			e.Status, e.Note = Failed, "isError"
		default:
			e.Status = OK
		}
	case ErrorResponse:
		if e.Status == "" {
			e.Status = Failed
		}
	case Notification:
		switch e.Method {
		case "notifications/progress":
			f.token = clip(jsonrpc.IDKey(member(body, "params", "progressToken")))
		case "notifications/cancelled":
			f.about = clip(member(body, "params", "requestId"))
		}
	}
	if e.Trace == "" {
		e.Trace = traceOf(e.Kind, body)
	}
	return f
}

// toolFailed reports whether an answer says isError: a tool's own failure, which the protocol sends as a result.
func toolFailed(body []byte) bool {
	return contains(body, `"isError"`) && member(body, "result", "isError") == "true"
}

// contains is whether a body that is not too large to be searched has these bytes.
func contains(body []byte, s string) bool {
	return len(body) <= maxScan && bytes.Contains(body, []byte(s))
}

// traceOf is the id of the trace that a message or an HTTP head belongs to (https://www.w3.org/TR/trace-context).
func traceOf(k Kind, body []byte) string {
	var parent string
	switch {
	case k == HTTP:
		_, rest, _ := bytes.Cut(body[:min(len(body), 64<<10)], []byte("\nTraceparent: "))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		parent = strings.TrimSpace(string(line))
	case (k == Request || k == Notification) && contains(body, `"traceparent"`):
		parent, _ = jsonrpc.String([]byte(member(body, "params", "_meta", "traceparent")))
	}
	const version, id = 3, 32 // 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
	if len(parent) < version+id+1 || parent[version-1] != '-' || parent[version+id] != '-' {
		return ""
	}
	trace := parent[version : version+id]
	if strings.Trim(trace, "0123456789abcdef") != "" || strings.Trim(trace, "0") == "" {
		return ""
	}
	return trace
}

// clip bounds a string.
func clip(s string) string { return text.Clip(s, maxMeta) }

// link connects e, which is about to be stored, with the request that it belongs to.
func (j *Journal) link(e *Entry, f facts) {
	switch {
	case e.Kind == Request:
		j.began(e, f)
	case e.Kind == Response || e.Kind == ErrorResponse:
		j.answer(e)
	case e.Kind == Notification && e.Method == "notifications/cancelled":
		j.end(e, f.about, Cancelled)
	case e.Kind == Notification && f.token != "":
		k := keyOf(e, e.Dir.reverse())
		k.id, k.token = f.token, true
		j.join(e, j.links.find(k))
	case e.Kind == State && e.ID != "" && e.Status != "":
		j.end(e, e.ID, e.Status)
	case e.Kind == HTTP:
		j.head(e, f)
	case e.ID != "":
		j.join(e, j.links.find(keyOf(e, Out)))
	case e.Peer != 0:
		j.join(e, e.Peer)
	}
}

// began takes in a request.
func (j *Journal) began(e *Entry, f facts) {
	e.Root = e.Seq
	if e.ID == "" {
		return
	}
	k := keyOf(e, e.Dir)
	if _, again := j.links.pending[k]; again {
		e.Mark |= Duplicate
	}
	if head := j.store.rec(j.links.heads[k]); head != nil {
		head.root = e.Seq
		b, i := j.store.at(j.links.heads[k])
		if e.Trace == "" {
			e.Trace = b.strs[b.recs[i].strs[strTrace]]
		}
	}
	delete(j.links.heads, k)
	k.server, k.id = strings.Clone(k.server), strings.Clone(k.id)
	j.links.pending[k] = open{seq: e.Seq, token: strings.Clone(f.token)}
	if f.token != "" {
		k.id, k.token = strings.Clone(f.token), true
		j.links.pending[k] = open{seq: e.Seq}
	}
}

// answer links an answer with its request.
func (j *Journal) answer(e *Entry) {
	k := keyOf(e, e.Dir.reverse())
	o, running := j.links.pending[k]
	q := j.store.rec(o.seq)
	if q == nil {
		first := j.links.recent[k]
		switch {
		case first != 0:
			e.Mark |= Duplicate
			j.join(e, first)
		case e.ID != "" && e.ID != "null" && j.store.base == 0:
			e.Mark |= Unasked
		}
		return
	}
	if running {
		j.forgetAnswered(k, o)
	}
	e.Peer, q.peer = o.seq, e.Seq
	j.join(e, o.seq)
	e.Took = e.Time.Sub(j.store.start) - time.Duration(q.mono)
	if q.status == statusOf(Pending) {
		q.status, q.took = statusOf(e.Status), int64(e.Took)
	} else {
		e.Mark |= Late
	}
}

// forgetAnswered forgets a request that was answered, but for what may still be said about it.
func (j *Journal) forgetAnswered(k key, o open) {
	delete(j.links.pending, k)
	j.links.rememberAnswered(k, o.seq)
	if o.token != "" {
		k.id, k.token = o.token, true
		delete(j.links.pending, k)
		j.links.rememberAnswered(k, o.seq)
	}
}

// join makes e a part of the exchange that root begins, or that the entry root is a part of.
func (j *Journal) join(e *Entry, root uint64) {
	b, i := j.store.at(root)
	if b == nil {
		return
	}
	r := &b.recs[i]
	if r.kind != Request {
		e.Root = r.root
		return
	}
	e.Root = root
	if e.Kind == Response || e.Kind == ErrorResponse {
		e.Method = b.strs[r.strs[strMethod]]
	}
	if e.Tool == "" || e.Kind != HTTP && e.Kind != Request {
		e.Tool = b.strs[r.strs[strTool]]
	}
	trace := b.strs[r.strs[strTrace]]
	switch {
	case e.Trace == "":
		e.Trace = trace
	case trace == "" && e.Kind == HTTP:
		before := b.strings
		r.strs[strTrace] = b.str(e.Trace)
		j.store.strings += b.strings - before
	}
}

// head links an HTTP entry with the request in its body, which may come only now, or with the other half of its exchange.
func (j *Journal) head(e *Entry, f facts) {
	if e.ID == "" {
		if f.peer != 0 {
			j.join(e, f.peer)
		}
		return
	}
	k := keyOf(e, Out)
	root := j.links.find(k)
	if root == 0 && e.Method == "" { // the answer to what the server asked
		root = j.links.find(keyOf(e, In))
	}
	switch {
	case root != 0:
		j.join(e, root)
	case e.Dir == Out && len(j.links.heads) < maxHeads:
		k.server, k.id = strings.Clone(k.server), strings.Clone(k.id)
		j.links.heads[k] = e.Seq
	}
}

// end marks the request id as over without an answer. It stays known, since an answer may still come.
func (j *Journal) end(e *Entry, id, status string) {
	k := keyOf(e, e.Dir)
	k.id = jsonrpc.IDKey(id)
	o := j.links.pending[k]
	q := j.store.rec(o.seq)
	if id == "" || q == nil {
		return
	}
	e.Peer = o.seq
	j.join(e, o.seq)
	if q.status == statusOf(Pending) {
		q.status, q.took = statusOf(status), int64(e.Time.Sub(j.store.start))-q.mono
	}
}

// forget removes what links would find of a record that is dropped.
func (j *Journal) forget(b *block, i int, seq uint64) {
	r := &b.recs[i]
	id := b.strs[r.strs[strID]]
	if r.kind != Request || id == "" {
		return
	}
	k := key{server: b.strs[r.strs[strServer]], conn: r.conn, dir: r.dir, id: jsonrpc.IDKey(id)}
	o := j.links.pending[k]
	if o.seq != seq {
		return
	}
	delete(j.links.pending, k)
	if o.token != "" {
		k.id, k.token = o.token, true
		delete(j.links.pending, k)
	}
}

// target returns what a request is about, for filters.
func target(method string, body []byte) string {
	name := ""
	switch method {
	case "tools/call", "prompts/get":
		name = "name"
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		name = "uri"
	default:
		return ""
	}
	raw := member(body, "params", name)
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(s)
}

// member returns the raw value at a path of object keys, "" if there is none.
func member(body []byte, path ...string) string {
	if len(body) > maxScan {
		return ""
	}
	return string(jsonrpc.Get(body, path...))
}
