package conform

import (
	"net/http"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Bounds of what is kept of the frames.
const (
	maxLine  = 600    // bytes of a frame, as evidence
	maxLines = 20_000 // frames that are kept as evidence
	maxSame  = 500    // findings of one rule in all that the server sent
)

// log is everything that was said, on all connections: it is checked while it grows, and the beginning of it, up to maxLines, is evidence.
// Connections add to it from their own goroutines until they are closed, and replies to a server even a little longer: mu is over all of it.
type log struct {
	mu       sync.Mutex
	seq      uint64            // number of the newest entry; the first is 1
	over     bool              // finish was called: what comes is not checked any more
	lines    map[uint64]string // entries as evidence shows them, masked, by their numbers
	asked    map[uint64]uint64 // the frame to the server that came before one from it, by their numbers
	last     map[uint64]uint64 // the newest frame to the server, by connection
	checker  *live.Checker
	findings []live.Finding  // of servers, by observed rules, at most maxSame of each
	body     []byte          // of the entry that is checked
	noise    map[uint64]bool // findings about lines that are not messages, by the numbers of their entries
	count    map[string]int  // findings by rule, also those past maxSame
	times    map[string]int  // the same by faultOf, of those of which one is kept
	spoken   map[string]bool // revisions in which rules were tried; only the run writes and reads it
}

func newLog() *log {
	l := &log{lines: map[uint64]string{}, asked: map[uint64]uint64{}, last: map[uint64]uint64{}, noise: map[uint64]bool{}, count: map[string]int{}, times: map[string]int{}, spoken: map[string]bool{}}
	l.checker = live.NewChecker(func(f live.Finding) {
		if f.By != rules.Server || !isObserved(f.Rule) {
			return
		}
		l.count[f.Rule.ID]++
		if l.count[f.Rule.ID] <= maxSame || l.times[faultOf(f)] > 0 {
			l.times[faultOf(f)]++
		}
		if l.count[f.Rule.ID] <= maxSame {
			l.findings = append(l.findings, f)
			if f.Rule.ID == "message-shape" && check.NoMessage(l.body) {
				l.noise[f.Seq] = true
			}
		}
	})
	return l
}

// faultOf is what findings of one fault have in common: a server makes the same one in each answer of a method.
func faultOf(f live.Finding) string { return f.Rule.ID + " " + f.Revision + " " + f.Method }

// isObserved reports whether a rule of live.yaml belongs to the section: servers break it, and no trial is about the same, nor do trials break it
// on purpose. Those that are named here are one or the other.
func isObserved(r *rules.Rule) bool {
	switch r.ID {
	case "http-origin", "unknown-tool-result", "unknown-tool-code", "discover", "ping-result", "deprecated", "answer-late", "method-unknown", "session-modern", "token-reused", "capability-empty":
		return false
	}
	return r.By == rules.Server || r.By == rules.Sender
}

// add checks an entry and keeps what evidence needs of it. It returns the entry's number, 0 once the log is over.
func (l *log) add(e journal.Entry, body []byte) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return 0 // a reply that was still on its way; the findings are being reported
	}
	l.seq++
	e.Seq, e.Server, e.Size = l.seq, "server", len(body) // one name for all connections: the checker tells servers apart by it
	if len(l.lines) < maxLines {
		l.lines[e.Seq] = line(e.Dir, body)
		if l.asked[e.Seq] = l.last[e.Conn]; e.Dir == journal.Out && e.Kind != journal.HTTP {
			l.last[e.Conn] = e.Seq
		}
	}
	if l.body = nil; live.Wants(&e) {
		l.body = body
	}
	l.checker.Add(&e, l.body)
	return e.Seq
}

// line is a frame as evidence shows it: with an arrow for its direction, masked, and cut at maxLine bytes. Four times as many are looked at,
// so that what is masked at the cut was whole.
func line(d journal.Dir, body []byte) string {
	arrow := "> "
	if d == journal.In {
		arrow = "< "
	}
	s := mask.Text(strings.ToValidUTF8(string(body[:min(len(body), 4*maxLine)]), "\uFFFD"))
	return arrow + text.Clip(s, maxLine)
}

// frame adds a message of either side, unless the connection is unchecked.
func (l *log) frame(c *conn, d journal.Dir, frame []byte) {
	if c.unchecked.Load() {
		return
	}
	env, err := jsonrpc.Scan(frame)
	e := journal.Entry{Conn: c.number, Dir: d, Method: env.Method, ID: string(env.ID)}
	switch {
	case err != nil:
		e.Kind = journal.Bad
	case env.Kind == jsonrpc.Request:
		e.Kind = journal.Request
		e.Tool = jsonrpc.GetString(env.Params, "name")
	case env.Kind == jsonrpc.Notification:
		e.Kind = journal.Notification
	case env.Kind == jsonrpc.ErrorResponse:
		e.Kind = journal.ErrorResponse
	default:
		e.Kind = journal.Response
	}
	l.add(e, frame)
}

// head adds the head of an HTTP request, or of the answer to the one with the number peer. first is the request or status line, env the message
// that the request has, secret the names of headers to mask beside those that always are. It returns the number, 0 where nothing was added.
func (l *log) head(c *conn, d journal.Dir, first string, h http.Header, env jsonrpc.Envelope, peer uint64, secret ...string) uint64 {
	if c.unchecked.Load() {
		return 0
	}
	e := journal.Entry{Conn: c.number, Dir: d, Kind: journal.HTTP, Method: env.Method, ID: string(env.ID), Peer: peer}
	return l.add(e, mask.Head(first, h, secret...))
}

// finish tells that nothing more will come: some rules are about what is still open by then.
func (l *log) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.checker.Finish()
}

// around is the line with a number, and before it what it may answer: the newest message that was sent on the connection. The caller holds mu.
func (l *log) around(seq uint64) string {
	return strings.TrimSpace(l.lines[l.asked[seq]] + "\n" + l.lines[seq])
}
