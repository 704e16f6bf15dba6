package tap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"mime"
	"net/http"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// seed makes the hashes of session ids, which are secrets, differ from process to process.
var seed = maphash.MakeSeed()

// Exchange records one HTTP request and its response. Its methods copy their arguments, must not be called concurrently, and
// do nothing on a nil Exchange. While nobody is watching, an exchange costs at most two copies of 4 KiB.
type Exchange struct {
	p        *Producer
	server   string
	conn     uint64
	id       string  // of the request
	served   *served // what the router did for it, once it is over; nil for nothing to tell
	trace    string  // id of the trace that it belongs to, "" if there is none
	status   int
	kind     bodyKind
	buf      []byte // what was written and is not a record yet
	size     int    // of it, with what was left out
	written  bool   // whether there was a body
	lineEnds int    // line ends at the end of buf
	asked    bool   // Request was called
	apart    bool   // the answer comes in another exchange
}

// bodyKind is the kind of a response's body.
type bodyKind uint8

const (
	other bodyKind = iota
	message
	events
)

// Exchange begins an exchange with an agent. Those of the same session get the same journal.Entry.Conn; "" is not a session. The
// result is nil for a nil Producer.
func (p *Producer) Exchange(agent, session string) *Exchange {
	if p == nil {
		return nil
	}
	x := &Exchange{p: p, server: agent}
	if session == "" {
		x.conn = uint64(p.conns.Add(1) &^ (1 << 31))
	} else {
		x.conn = uint64(uint32(maphash.String(seed, session)) | 1<<31)
	}
	return x
}

func (x *Exchange) entry(d journal.Dir, k journal.Kind) journal.Entry {
	return journal.Entry{Server: x.server, Conn: x.conn, Dir: d, Kind: k, Trace: x.trace}
}

// Request records the client's request: the head of r, and body. id is the id of the message in body as on the wire, nil if
// it is not a request.
func (x *Exchange) Request(r *http.Request, id, body []byte) {
	if x == nil {
		return
	}
	x.id, x.asked = string(id), true
	if x.p.Watched() {
		x.p.Append(x.entry(journal.Out, journal.HTTP), mask.Head(r.Method+" "+r.URL.RequestURI()+" "+r.Proto, r.Header))
	}
	if len(body) > 0 {
		x.p.push(record{entry: x.entry(journal.Out, 0), answer: x.id}, body)
	}
}

// Response records the head of the response.
func (x *Exchange) Response(status int, h http.Header) {
	if x == nil {
		return
	}
	x.status = status
	if x.p.Watched() {
		x.p.Append(x.entry(journal.In, journal.HTTP), mask.Head(statusLine(status), h))
	}
	ct := h.Get("Content-Type")
	if ct != "application/json" && ct != "text/event-stream" { // the common spellings need no parsing
		if t, _, err := mime.ParseMediaType(ct); err == nil {
			ct = t
		}
	}
	switch ct {
	case "application/json":
		x.kind = message
	case "text/event-stream":
		x.kind = events
	}
}

// statusLine is a status as it is recorded: "404 Not Found".
func statusLine(status int) string { return fmt.Sprintf("%d %s", status, http.StatusText(status)) }

// Body records the next bytes of the response's body.
func (x *Exchange) Body(b []byte) {
	if x == nil || len(b) == 0 {
		return
	}
	x.written = true
	if x.kind != events {
		x.keep(b)
		return
	}
	for len(b) > 0 {
		n, ends := x.eventEnd(b)
		x.keep(b[:n])
		if ends {
			x.flush()
		}
		b = b[n:]
	}
}

// eventEnd finds the end of the event that b continues: an empty line, with any of the three line ends, of which a stream
// uses one.
func (x *Exchange) eventEnd(b []byte) (n int, ends bool) {
	for n < len(b) {
		switch b[n] {
		case '\n':
			x.lineEnds++
		case '\r':
			if n+1 < len(b) && b[n+1] == '\n' || n+1 == len(b) {
				break // the line feed counts; a CR at the end of a chunk may precede one
			}
			x.lineEnds++
		default:
			x.lineEnds = 0
			k := bytes.IndexAny(b[n:], "\r\n")
			if k < 0 {
				return len(b), false
			}
			n += k
			continue
		}
		n++
		if x.lineEnds == 2 {
			x.lineEnds = 0
			return n, true
		}
	}
	return n, false
}

// keep collects b, up to what is kept of a body.
func (x *Exchange) keep(b []byte) {
	most := MaxBody
	if !x.p.Watched() {
		most = idleBody
	}
	x.size += len(b)
	if room := most - len(x.buf); room > 0 {
		x.buf = append(x.buf, b[:min(len(b), room)]...)
	}
}

// flush makes a record of what was collected.
func (x *Exchange) flush() {
	if x.size == 0 {
		return
	}
	rec := record{entry: x.entry(journal.In, 0), sse: x.kind == events, answer: x.id, size: x.size}
	if x.status >= http.StatusBadRequest {
		rec.failed = statusLine(x.status)
	}
	switch {
	case x.kind == other && rec.failed != "":
		rec.entry.Kind, rec.entry.Note = journal.HTTP, refusal+rec.failed
	case x.kind == other:
		rec.entry.Kind, rec.entry.Note = journal.Bad, "not JSON-RPC"
	}
	if x.served != nil {
		rec.spans, x.served = x.served, nil
	}
	x.p.push(rec, x.buf)
	x.buf, x.size = x.buf[:0], 0
}

// Close ends the exchange. err is why it ended early, nil if it did not. A request that has no response is marked as failed.
func (x *Exchange) Close(err error) {
	if x == nil {
		return
	}
	x.flush()
	if x.served != nil { // there was no body
		e := x.entry(journal.None, 0)
		e.ID = x.id
		x.p.push(record{entry: e, spans: x.served}, nil)
	}
	why := ""
	switch {
	case errors.Is(err, context.Canceled) && (!x.written || x.kind == events):
		why = "client disconnected"
	case err != nil && !errors.Is(err, context.Canceled):
		why = err.Error()
	case x.status >= 400:
		why = statusLine(x.status)
	case !x.written && x.id != "" && !x.apart:
		why = "empty response"
	default:
		return
	}
	e := x.entry(journal.Out, journal.State)
	e.Note = why
	if x.id != "" {
		e.ID, e.Status = x.id, journal.Failed
	}
	x.p.Append(e, nil)
}
