package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// exchange is one HTTP request with its response, as archives have them.
type exchange struct {
	server, method, url string
	start               time.Time
	wait, total         time.Duration // until the response began, and until it ended
	sent, got           http.Header
	body                []byte // of the request
	status              string // "200 OK", "" if nothing came back
	failed              string // why
	answer              []byte // body of the response
	frames              []HARFrame
	ended               *HAREnded
	entry               journal.Entry // what all of its entries share
	made                bool          // there was no HTTP
	again               bool          // the message was sent before
	reverse             bool          // the server sent it
}

// isMCP tells whether it is about MCP, among everything else that a browser fetched.
func (x *exchange) isMCP() bool {
	if x.made || isMessage(x.body) {
		return true
	}
	for _, h := range []http.Header{x.sent, x.got} {
		if h.Get("Mcp-Session-Id") != "" || h.Get("Mcp-Protocol-Version") != "" || h.Get("Mcp-Method") != "" {
			return true
		}
	}
	if u, err := url.Parse(x.url); err == nil && (strings.Contains(u.Path, "/.well-known/oauth-") || strings.Contains(u.Path, "/.well-known/openid-configuration")) {
		return true
	}
	return isMessage(x.answer) || mediaType(x.got) == "text/event-stream" && bytes.Contains(x.answer, []byte(`"jsonrpc"`))
}

// isMessage is whether a body is a message or a batch of them.
func isMessage(body []byte) bool {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		first := false
		_ = jsonrpc.Elements(body, func(one []byte) bool {
			first = jsonrpc.GetString(one, "jsonrpc") == "2.0"
			return false
		})
		return first
	}
	return len(body) > 0 && body[0] == '{' && jsonrpc.GetString(body, "jsonrpc") == "2.0"
}

func mediaType(h http.Header) string {
	t, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// writeExchange writes the entries of an exchange. They begin no earlier than those of the exchange before.
func (c *converter) writeExchange(x *exchange) {
	c.queue.flush(c, x.start)
	dir, back := journal.Out, journal.In
	if x.reverse {
		dir, back = back, dir
	}
	e := x.entry
	e.Server = x.server
	if e.Conn == 0 {
		e.Conn = c.conn(x.server + "\x00" + cmp.Or(x.sent.Get("Mcp-Session-Id"), x.got.Get("Mcp-Session-Id")))
	}
	e.Time, e.Dir = x.start, dir
	head := e
	if len(x.body) > 0 && isMessage(x.body) {
		if !x.again {
			c.queue.add(c, queued{e: e, body: x.body})
		}
		if env, err := jsonrpc.Scan(bytes.TrimSpace(x.body)); err == nil {
			head.Method, head.ID = env.Method, string(env.ID)
		}
	}
	if !x.made {
		x.writeHeads(c, head)
	}
	e.Dir = back
	x.response(c, e, head)
	if x.ended != nil {
		e = head
		e.Kind, e.Status, e.Note = journal.State, x.ended.Status, x.ended.Note
		e.Time = timeOr(x.ended.Time, x.start.Add(x.total))
		c.queue.add(c, queued{e: e})
	}
}

// writeHeads writes the heads of the HTTP request and response around the messages.
func (x *exchange) writeHeads(c *converter, e journal.Entry) {
	e.Kind, e.Note = journal.HTTP, x.method+" "+mask.URL(requestURI(x.url))
	out := new(uint64)
	c.queue.add(c, queued{e: e, seq: out, body: mask.Head(x.method+" "+x.url+" HTTP/1.1", x.sent)})
	if len(x.body) > 0 && !isMessage(x.body) {
		b := e
		b.Note = "body of " + x.method
		c.queue.add(c, queued{e: b, body: x.body})
	}
	e.Dir, e.Time, e.Took = journal.In, x.start.Add(x.wait), x.wait
	if x.status == "" {
		e.Status, e.Note = journal.Failed, cmp.Or(mask.Text(x.failed), "no response")
		c.queue.add(c, queued{e: e, peer: out})
		return
	}
	e.Note = x.status
	c.queue.add(c, queued{e: e, peer: out, body: mask.Head("HTTP/1.1 "+x.status, x.got)})
}

func requestURI(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.RequestURI()
	}
	return raw
}

// response writes the messages that came back.
func (x *exchange) response(c *converter, e, head journal.Entry) {
	n := 0
	add := func(frame []byte, last bool) {
		e := e
		e.Time = x.start.Add(x.wait)
		if last {
			e.Time = x.start.Add(x.total)
		}
		if n < len(x.frames) {
			e.Time = timeOr(x.frames[n].Time, e.Time)
			if x.frames[n].From == "client" {
				e.Dir = journal.Out
			}
		}
		n++
		c.queue.add(c, queued{e: e, body: frame})
	}
	switch {
	case len(bytes.TrimSpace(x.answer)) == 0:
	case mediaType(x.got) == "text/event-stream":
		r := sse.NewReader(bytes.NewReader(x.answer), maxLine, maxLine)
		for {
			ev, err := r.Next()
			if len(ev.Data) > 0 && err == nil {
				env, scanned := jsonrpc.Scan(ev.Data)
				add(ev.Data, scanned == nil && env.Kind != jsonrpc.Notification && env.Kind != jsonrpc.Request)
			}
			if errors.Is(err, io.EOF) || err != nil {
				return
			}
		}
	case isMessage(x.answer):
		add(x.answer, true)
	default:
		b := head
		b.Kind, b.Dir, b.Note, b.Time = journal.HTTP, e.Dir, "body of "+x.status, x.start.Add(x.total)
		c.queue.add(c, queued{e: b, body: x.answer})
	}
}

func timeOr(s string, t time.Time) time.Time {
	if parsed, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return parsed
	}
	return t
}

// statusLine is "200 OK", "" for no response.
func statusLine(code int, words string) string {
	if code <= 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, cmp.Or(words, http.StatusText(code))))
}

// milliseconds is a length of time; what is negative is not known.
func milliseconds(ms float64) time.Duration {
	const day = 24 * 60 * 60 * 1000
	if !(ms > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(ms, 365*day) * float64(time.Millisecond))
}

// hostOf is what a server is called that has no name.
func hostOf(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		return u.Host
	}
	return "server"
}
