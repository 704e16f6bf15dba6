package live

import (
	"bytes"
	"slices"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// The members of _meta that the modern era defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLevel        = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// known is a revision that the specification has, "" for any other.
func known(revision string) string {
	if slices.Contains(rules.Revisions(), revision) {
		return revision
	}
	return ""
}

// message checks a frame, and learns from it.
func (ck *Checker) message(f *frame) {
	f.env = jsonrpc.Envelope{ID: []byte(f.ID), Method: f.Method}
	if f.whole {
		env, err := jsonrpc.Scan(f.body)
		if f.whole = err == nil; f.whole { // else only its beginning was recorded
			f.env = env
		}
	}
	if !f.whole {
		ck.Unchecked++
	}
	switch f.Kind {
	case journal.Request:
		ck.request(f)
	case journal.Notification:
		ck.notification(f)
	default:
		ck.answer(f)
	}
	if f.Dir == journal.Out {
		ck.sent(f)
	}
}

// request checks a request.
func (ck *Checker) request(f *frame) {
	c := f.c
	meta := jsonrpc.Get(f.env.Params, "_meta")
	q := &request{
		seq: f.Seq, id: f.ID, method: f.Method, target: f.Tool, rev: c.spoken(f.Dir),
		token: tokenOf(meta),
		paged: paged(f.Method),
		task:  jsonrpc.Get(f.env.Params, "task") != nil,
	}
	if raw := jsonrpc.Get(f.env.Params, "cursor"); q.paged && raw != nil {
		q.cursor = hash(raw)
	}
	if f.Method == "logging/setLevel" {
		q.wanted = slices.Index(levels, text(f.env.Params, "level"))
	}
	version := text(meta, metaVersion)
	switch {
	case f.Method == "initialize":
		q.rev = known(text(f.env.Params, "protocolVersion"))
	case version != "":
		q.rev, q.modern = known(version), version >= revModern
		if level := text(meta, metaLevel); slices.Contains(levels, level) {
			q.level = level
		}
		q.caps = c.same(jsonrpc.Get(meta, metaCapabilities))
		q.bare = q.modern && jsonrpc.Get(meta, metaCapabilities) == nil
	case f.Dir == journal.Out && !c.settled && f.whole && (c.modern || c.rev == revModern || f.Method == "server/discover" || f.Method == "subscriptions/listen"):
		q.rev, q.modern, q.bare = revModern, true, true
		q.caps = c.same(jsonrpc.Get(meta, metaCapabilities))
	}
	f.req, f.rev, f.modern = q, q.rev, q.modern
	ck.run(f, onRequest)
	c.sides[f.Dir].start(q)
	if f.Dir == journal.Out && !c.settled && q.modern {
		c.rev = q.rev
	}
	switch {
	case f.Dir == journal.In:
	case f.Method == "initialize":
		c.asked, c.early, c.gone, c.session, c.rev = f.Seq, nil, false, false, q.rev
		c.caps[journal.Out] = small(jsonrpc.Get(f.env.Params, "capabilities"))
	case f.Method == "subscriptions/listen":
		if len(c.listens) < maxRecent {
			c.listens[f.ID] = &listen{}
		}
	case c.asked == 0 && !q.modern && f.Method != "ping" && len(c.early) == 0:
		c.early = append(c.early, f.Seq)
	case f.Method == "resources/subscribe":
		c.uris.add(hash(jsonrpc.Get(f.env.Params, "uri")), f.Seq)
	}
}

// tokenOf is the progress token in a request's _meta, "" if there is none that is short enough to be remembered.
func tokenOf(meta []byte) string {
	raw := jsonrpc.Get(meta, "progressToken")
	if len(raw) > maxToken {
		return ""
	}
	return jsonrpc.IDKey(string(raw))
}

const maxToken = 256

// paged is whether a list comes in pages.
func paged(method string) bool {
	switch method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list":
		return true
	}
	return false
}

// same is a copy of a client's capabilities, which most requests repeat.
func (c *conn) same(raw []byte) []byte {
	if len(raw) > maxKept {
		return nil
	}
	if c.latest == nil || !bytes.Equal(c.latest, raw) {
		c.latest = bytes.Clone(raw)
	}
	return c.latest
}

// small is a copy of what is small enough to be remembered.
func small(raw []byte) []byte {
	if len(raw) > maxCaps {
		return nil
	}
	return bytes.Clone(raw)
}

// notification checks a notification.
func (ck *Checker) notification(f *frame) {
	c := f.c
	f.rev = c.spoken(f.Dir)
	f.modern = f.rev == revModern
	ck.run(f, onNotification)
	switch f.Method {
	case "notifications/tools/list_changed":
		ck.unlearn(c.server)
	case "notifications/initialized":
		c.ready = c.ready || f.Dir == journal.Out
	case "notifications/cancelled":
		if q := c.sides[f.Dir].pending[idOf(f.env.Params, "requestId")]; q != nil {
			q.cancelled = true
		}
	case "notifications/progress":
		raw := jsonrpc.Get(f.env.Params, "progress")
		if t := c.sides[other(f.Dir)].tokens[idOf(f.env.Params, "progressToken")]; t != nil {
			if v, ok := float(raw); ok {
				t.value, t.any = v, true
			}
		}
	case "notifications/subscriptions/acknowledged":
		if l := c.listens[idOf(f.env.Params, "_meta", metaSubscription)]; l != nil {
			l.acked = true
		}
	}
}

// answer checks a result or an error.
func (ck *Checker) answer(f *frame) {
	c := f.c
	side := &c.sides[other(f.Dir)]
	q := side.pending[f.ID]
	f.req, f.rev = q, c.spoken(f.Dir)
	if q != nil {
		f.rev, f.modern, f.Method = q.rev, q.modern, q.method
		f.Tool = q.target
	}
	failed := f.Kind == journal.ErrorResponse
	switch {
	case q == nil:
	case q.method == "initialize" && !failed:
		if v := known(text(f.env.Result, "protocolVersion")); v != "" {
			f.rev = v
		}
	case q.modern && failed && !c.modern && !c.server.modern && !modernError(f.env.Error):
		f.rev, f.modern = "", false // the answer of a server of the other era
	}
	on := onResult
	if failed {
		on = onError
	}
	ck.run(f, on)
	if q == nil {
		return
	}
	side.finish(q)
	if failed || f.Dir == journal.Out {
		return
	}
	result := f.env.Result
	switch q.method {
	case "initialize":
		c.settled, c.modern, c.ready, c.rev = true, false, false, f.rev
		c.caps[journal.In] = small(jsonrpc.Get(result, "capabilities"))
		c.server.caps = c.caps[journal.In]
	case "server/discover":
		c.caps[journal.In] = small(jsonrpc.Get(result, "capabilities"))
		c.server.caps = c.caps[journal.In]
	case "tools/list":
		ck.learn(c, q, result, f.whole)
	case "logging/setLevel":
		c.level = q.wanted
	}
	if q.modern && !c.settled {
		c.modern, c.server.modern = true, true
	}
	if raw := jsonrpc.Get(result, "requestState"); raw != nil {
		c.server.states.add(hash(raw), hashString(q.id))
	}
	if w := side.walks[q.method]; q.paged && w != nil {
		if next := jsonrpc.Get(result, "nextCursor"); next != nil {
			w.given.add(hash(next), f.Seq)
		}
	}
}

// modernError reports whether an error is one that only the modern era has.
func modernError(raw []byte) bool {
	switch string(jsonrpc.Get(raw, "code")) {
	case "-32020", "-32021", "-32022":
		return true
	}
	return false
}

// sent remembers a message to the server for the HTTP request that carries it, or gives it to the one that came before.
func (ck *Checker) sent(f *frame) {
	c := f.c
	if !c.http && c.loose == nil && len(c.fresh) > 0 {
		c.fresh = c.fresh[:0] // not over HTTP: nothing carries it
	}
	m := message{kind: f.Kind, method: f.env.Method, id: f.ID, rev: f.rev, modern: f.modern}
	if f.req != nil && f.Kind == journal.Request {
		m.bare = f.req.bare
	}
	switch m.method {
	case "tools/call", "resources/read", "prompts/get":
		if len(f.env.Params) <= 4*maxKept {
			m.params = bytes.Clone(f.env.Params)
		}
	}
	if p := c.loose; p != nil {
		c.loose = nil
		ck.posted(f, p, m)
		return
	}
	if len(c.fresh) >= maxFresh {
		c.fresh = append(c.fresh[:0], c.fresh[1:]...)
	}
	c.fresh = append(c.fresh, m)
}

// maxFresh is how many messages wait for the HTTP request that carries them.
const maxFresh = 64
