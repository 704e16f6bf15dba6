package live

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// checkHead reads the head of an HTTP request or response, and checks it where the message is known.
func (ck *Checker) checkHead(f *frame) {
	c := f.c
	switch {
	// Of HTTP+SSE alone (2024-11-05/basic/transports#http-with-sse), as routers and sessions note it.
	case f.Note == "endpoint", strings.HasPrefix(f.Note, "event endpoint"):
		if c.sse { // the stream of another client, or of the same one once more
			c.mixClients()
		}
		c.sse = true
		return
	case !f.whole || strings.HasPrefix(f.Note, "event ") || strings.HasPrefix(f.Note, "body of "):
		return
	}
	head, ok := parseHead(f.body)
	if request := f.Dir == journal.Out; !ok && !(request && head.cut) || (head.status > 0) == request {
		return // the body of an HTTP error: routers did not always say so
	}
	f.head = head
	c.http = true
	// The handshake may be before the recording, or another connection: a router records a request without a session id as one of its own.
	if v := knownRevision(f.head.fields["mcp-protocol-version"]); v != "" && c.rev == "" {
		c.rev = v
	}
	if f.Dir == journal.In {
		ck.checkStatus(f)
		return
	}
	p := &post{seq: f.Seq, head: f.head}
	if len(c.posts) >= maxPosts {
		clear(c.posts)
		c.lostPosts = true
	}
	c.posts[f.Seq] = p
	switch {
	case p.head.verb != "POST": // it carries no message
		ck.checkPost(f, p, message{rev: c.rev, modern: c.rev == revModern})
	case strings.Contains(p.head.target, "://"): // a session's own: the message came before
		i := slices.IndexFunc(c.awaitingHead, func(m message) bool { return m.method == f.Method && m.id == f.ID })
		if i < 0 {
			// An answer has no method of its own.
			i = slices.IndexFunc(c.awaitingHead, func(m message) bool {
				return m.kind >= journal.Response && m.kind <= journal.ErrorResponse && m.id == f.ID
			})
		}
		if i < 0 {
			return
		}
		m := c.awaitingHead[i]
		c.awaitingHead = slices.Delete(c.awaitingHead, i, i+1)
		ck.checkPost(f, p, m)
	default: // of a router: the message follows
		c.pendingHead = p
	}
}

// checkPost checks an HTTP request whose message is known; f is the entry of either.
func (ck *Checker) checkPost(f *frame, p *post, m message) {
	p.message, p.known = m, true
	e := *f.Entry
	e.Seq, e.Kind, e.Method = p.seq, journal.HTTP, m.method
	g := frame{Entry: &e, c: f.c, ck: ck, rev: m.rev, modern: m.modern, post: p, head: p.head, whole: true}
	if !p.head.cut {
		ck.run(&g, onPost)
	}
}

// takeAnswered takes the HTTP request that a response answers which names none. It is nil where several wait: which of them it is nobody knows then,
// nor which of them wait on.
func (c *conn) takeAnswered() (of *post) {
	for _, p := range c.posts {
		p.unclear = p.unclear || len(c.posts) > 1
		of = p
	}
	if of == nil {
		return nil
	}
	delete(c.posts, of.seq)
	if of.unclear || c.lostPosts {
		return nil
	}
	return of
}

// checkStatus checks the head of an HTTP response with the request that it answers.
func (ck *Checker) checkStatus(f *frame) {
	c := f.c
	p := c.posts[f.Peer]
	delete(c.posts, f.Peer)
	if f.Peer == 0 {
		p = c.takeAnswered()
	}
	f.rev = c.revisionOf(f.Dir)
	f.modern = f.rev == revModern
	if p == nil {
		return
	}
	f.post = p
	if p.known {
		f.rev, f.modern = p.rev, p.modern
		f.Method = p.method
		if q := c.sides[journal.Out].pending[p.id]; q != nil && p.kind == journal.Request {
			q.status = f.head.status // for checkErrorStatus, once the answer comes
		}
	}
	ck.run(f, onStatus)
	_, session := p.head.fields["mcp-session-id"]
	switch {
	// Both by 2025-11-25/basic/transports#session-management: the server ends a session so, and gives an id only there.
	case f.head.status == 404 && session:
		c.sessionExpired = true
	case p.method == "initialize" && f.head.status == 200:
		_, c.session = f.head.fields["mcp-session-id"]
	}
}
