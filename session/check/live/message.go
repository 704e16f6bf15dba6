package live

import (
	"bytes"
	"slices"
	"strings"

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

// knownRevision is a revision that the specification has, "" for any other.
func knownRevision(revision string) string {
	if slices.Contains(rules.Revisions(), revision) {
		return revision
	}
	return ""
}

// checkMessage checks a JSON-RPC message by the rules for it, which see the connection as it was before, and updates the state of its connection.
func (ck *Checker) checkMessage(f *frame) {
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
	f.completeNames()
	c := f.c
	if f.Kind == journal.Request && f.Dir == journal.Out {
		// Over HTTP, initialize may begin another session on the same connection.
		c.begun = c.begun || f.Method == "initialize" && !(c.overHTTP() && c.hasMessages) || f.Method == "server/discover" && !c.hasMessages
	}
	c.hasMessages = c.hasMessages || f.Dir == journal.Out || f.Kind != journal.Notification
	switch f.Kind {
	case journal.Request:
		ck.checkRequest(f)
	case journal.Notification:
		ck.checkNotification(f)
	default:
		ck.checkAnswer(f)
	}
	if f.Dir == journal.Out {
		ck.matchHead(f)
	}
}

// completeNames replaces names of which the journal has only the beginning, see [journal.Entry], by whole ones. An id that is too long to be kept becomes a
// shorter one that no other has. Where the frame was cut off, or a name is too long, there is none.
func (f *frame) completeNames() {
	if max(len(f.ID), len(f.Tool)) < maxName {
		return
	}
	own := *f.Entry
	f.Entry = &own
	own.ID = keyOf(string(f.env.ID))
	if !f.whole && len(own.ID) >= maxName {
		own.ID = ""
	}
	if f.Method == "tools/call" && len(own.Tool) >= maxName {
		own.Tool = stringAt(f.env.Params, "name")
		if len(own.Tool) > maxKept {
			own.Tool = "" // learnTools leaves such a tool out
		}
	}
}

// maxName is where a name may be clipped, in bytes.
const maxName = 500

// checkRequest checks a request, and keeps it as pending until its answer or the end of the connection.
func (ck *Checker) checkRequest(f *frame) {
	c := f.c
	meta := jsonrpc.Get(f.env.Params, "_meta")
	q := &request{
		seq: f.Seq, id: f.ID, method: f.Method, target: f.Tool, rev: c.revisionOf(f.Dir),
		token: tokenOf(meta),
		paged: isPaged(f.Method),
		task:  jsonrpc.Get(f.env.Params, "task") != nil,
	}
	if raw := jsonrpc.Get(f.env.Params, "cursor"); q.paged && raw != nil {
		q.cursor = hash(raw)
	}
	if f.Method == "logging/setLevel" {
		q.logLevel = slices.Index(levels, stringAt(f.env.Params, "level"))
	}
	version := stringAt(meta, metaVersion)
	switch {
	case f.Method == "initialize":
		q.rev = knownRevision(stringAt(f.env.Params, "protocolVersion")) // what it asks for; nothing is agreed on yet
	// A later revision is of the modern era, too, but its rules are not known.
	case version != "":
		q.rev, q.modern = knownRevision(version), version >= revModern
		if level := stringAt(meta, metaLevel); slices.Contains(levels, level) {
			q.level = level
		}
		q.caps = c.sameCaps(jsonrpc.Get(meta, metaCapabilities))
		q.withoutMeta = q.modern && jsonrpc.Get(meta, metaCapabilities) == nil
	// Without the _meta that the era demands: it was spoken before on this connection, or no other era has the method.
	case f.Dir == journal.Out && !c.initialized && f.whole && (c.modern || c.rev == revModern || f.Method == "server/discover" || f.Method == "subscriptions/listen"):
		q.rev, q.modern, q.withoutMeta = revModern, true, true
		q.caps = c.sameCaps(jsonrpc.Get(meta, metaCapabilities))
	}
	f.req, f.rev, f.modern = q, q.rev, q.modern
	ck.run(f, onRequest)
	c.sides[f.Dir].start(q)
	if f.Dir == journal.Out && !c.initialized && q.modern {
		c.rev = q.rev // only asked for, see revisionOf
	}
	switch {
	case f.Dir == journal.In:
	case f.Method == "initialize":
		c.initializeSeq, c.beforeInitialize, c.sessionExpired, c.session, c.rev = f.Seq, nil, false, false, q.rev
		c.caps[journal.Out] = cloneSmall(jsonrpc.Get(f.env.Params, "capabilities"))
	case f.Method == "subscriptions/listen":
		if c.lostListens = c.lostListens || len(c.listens) >= maxRecent; !c.lostListens {
			c.listens[f.ID] = &listen{}
		}
	case c.initializeSeq == 0 && !q.modern && f.Method != "ping" && c.beforeInitialize == nil:
		c.beforeInitialize = q // ping, and what asks for the era, may come before
	case f.Method == "resources/subscribe":
		c.subscribed.add(hash(jsonrpc.Get(f.env.Params, "uri")), f.Seq) // whatever the answer is
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

const maxToken = 256 // bytes of a progress token, as it was written

// isPaged reports whether a method lists in pages (cursor and nextCursor).
func isPaged(method string) bool {
	switch method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list":
		return true
	}
	return false
}

// sameCaps returns a copy of a client's capabilities, the same one as long as requests repeat them; nil of more than maxKept bytes.
func (c *conn) sameCaps(raw []byte) []byte {
	if len(raw) > maxKept {
		return nil
	}
	if c.latestCaps == nil || !bytes.Equal(c.latestCaps, raw) {
		c.latestCaps = bytes.Clone(raw)
	}
	return c.latestCaps
}

// cloneSmall returns a copy of at most maxCaps bytes, nil of anything larger.
func cloneSmall(raw []byte) []byte {
	if len(raw) > maxCaps {
		return nil
	}
	return bytes.Clone(raw)
}

// checkNotification checks a notification, and notes what it changes: handshake, lists, subscriptions.
func (ck *Checker) checkNotification(f *frame) {
	c := f.c
	f.rev = c.revisionOf(f.Dir)
	f.modern = f.rev == revModern
	ck.run(f, onNotification)
	switch f.Method {
	case "notifications/tools/list_changed":
		ck.forgetTools(c.server)
	case "notifications/initialized":
		c.ready = c.ready || f.Dir == journal.Out
	case "notifications/cancelled":
		if q := c.sides[f.Dir].pending[idOf(f.env.Params, "requestId")]; q != nil { // each side cancels its own
			q.cancelled = true
			c.sides[f.Dir].free(q.token)
		}
	case "notifications/tasks", "notifications/tasks/status":
		c.sides[opposite(f.Dir)].endTask(taskOf(f.env.Params))
	case "notifications/progress":
		raw := jsonrpc.Get(f.env.Params, "progress")
		if t := c.sides[opposite(f.Dir)].tokens[idOf(f.env.Params, "progressToken")]; t != nil { // who asked gave the token
			if v, ok := parseNumber(raw); ok {
				t.value, t.started = v, true
			}
		}
	case "notifications/subscriptions/acknowledged":
		if l := c.listens[idOf(f.env.Params, "_meta", metaSubscription)]; l != nil {
			l.acked = true
		}
	}
}

// checkAnswer checks a result or an error with the request that it answers, and learns capabilities and tools from it.
func (ck *Checker) checkAnswer(f *frame) {
	c := f.c
	side := &c.sides[opposite(f.Dir)]
	q := side.pending[f.ID]
	f.req, f.rev = q, c.revisionOf(f.Dir)
	if q != nil {
		f.rev, f.modern, f.Method = q.rev, q.modern, q.method
		f.Tool = q.target
	}
	failed := f.Kind == journal.ErrorResponse
	switch {
	case q == nil:
	case q.method == "initialize" && !failed:
		if v := knownRevision(stringAt(f.env.Result, "protocolVersion")); v != "" {
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
	switch {
	case strings.HasPrefix(q.method, "tasks/"):
		side.finish(q, 0)
		side.endTask(taskOf(f.env.Result))
	case q.task || q.modern && stringAt(f.env.Result, "resultType") == "task":
		id, status := taskOf(f.env.Result)
		side.finish(q, id)
		side.endTask(id, status)
	default:
		side.finish(q, 0)
	}
	if failed || f.Dir == journal.Out { // nothing is learned from what a client answers
		return
	}
	result := f.env.Result
	switch q.method {
	case "initialize":
		c.initialized, c.modern, c.ready, c.rev = true, false, false, f.rev // whatever era was tried before
		c.caps[journal.In] = cloneSmall(jsonrpc.Get(result, "capabilities"))
		c.server.caps = c.caps[journal.In]
	case "server/discover":
		c.caps[journal.In] = cloneSmall(jsonrpc.Get(result, "capabilities"))
		c.server.caps = c.caps[journal.In]
	case "tools/list":
		ck.learnTools(c, q, result, f.whole)
	case "logging/setLevel":
		c.level = q.logLevel
	}
	if q.modern && !c.initialized {
		c.modern, c.server.modern = true, true
	}
	if raw := jsonrpc.Get(result, "requestState"); raw != nil {
		c.server.states.add(hash(raw), hashString(q.id)) // the id for checkRetryID
	}
	if w := side.pagings[q.method]; q.paged && w != nil {
		if next := jsonrpc.Get(result, "nextCursor"); next != nil {
			w.given.add(hash(next), f.Seq)
		}
	}
}

// modernError reports whether an error is one that only the modern era has (2026-07-28/basic#error-codes): who sends it speaks that era.
func modernError(raw []byte) bool {
	switch string(jsonrpc.Get(raw, "code")) {
	case "-32020", "-32021", "-32022":
		return true
	}
	return false
}

// matchHead joins a message to the server with the head of the HTTP request that carries it, which a session records after the message, a router
// before it.
func (ck *Checker) matchHead(f *frame) {
	c := f.c
	if !c.http && c.pendingHead == nil && len(c.awaitingHead) > 0 {
		c.awaitingHead = c.awaitingHead[:0] // not over HTTP: nothing carries it
	}
	m := message{kind: f.Kind, method: f.env.Method, id: f.ID, rev: f.rev, modern: f.modern}
	if f.req != nil && f.Kind == journal.Request {
		m.withoutMeta = f.req.withoutMeta
	}
	switch m.method {
	case "tools/call", "resources/read", "prompts/get":
		if len(f.env.Params) <= 4*maxKept {
			m.params = bytes.Clone(f.env.Params)
		}
	}
	if p := c.pendingHead; p != nil {
		c.pendingHead = nil
		ck.checkPost(f, p, m)
		return
	}
	if len(c.awaitingHead) >= maxAwaitingHead {
		c.awaitingHead = append(c.awaitingHead[:0], c.awaitingHead[1:]...)
	}
	c.awaitingHead = append(c.awaitingHead, m)
}

// maxAwaitingHead is how many messages wait for the HTTP request that carries them.
const maxAwaitingHead = 64
