package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// levels are those of log messages, the least severe first (2025-11-25/server/utilities/logging#log-levels).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// has reports whether capabilities declare something: it is there, and is not null or false.
func has(caps []byte, path string) bool {
	v := caps
	for _, p := range strings.Split(path, ".") {
		v = jsonrpc.Get(v, p)
	}
	return v != nil && string(v) != "null" && string(v) != "false"
}

func (f *frame) toServer() bool { return f.Dir == journal.Out }
func (f *frame) isLegacy() bool { return !f.modern && f.rev != revModern }

// checkEarly blames what came first. HTTP is left out: each initialize without a session id begins a session there, so that what came before may
// be of another one (2025-11-25/basic/transports#session-management).
func checkEarly(f *frame) string {
	first := f.c.beforeInitialize
	if f.Method != "initialize" || first == nil || f.c.overHTTP() {
		return ""
	}
	f.at, f.about = first.seq, first.method
	return fmt.Sprintf("initialize came later, in frame %d", f.Seq)
}

// checkTwice leaves HTTP out for the same reason.
func checkTwice(f *frame) string {
	if f.Method != "initialize" || !f.c.initialized || f.c.sessionExpired || f.c.overHTTP() {
		return ""
	}
	return fmt.Sprintf("the session began with frame %d", f.c.initializeSeq)
}

// checkNotInitialized reports one request for each handshake.
func checkNotInitialized(f *frame) string {
	c := f.c
	if !f.toServer() || !c.initialized || c.ready || f.Method == "ping" || f.Method == "initialize" || f.modern || !c.first(fmt.Sprint("initialized", c.initializeSeq)) {
		return ""
	}
	return fmt.Sprintf("%s, and frame %d is initialize", text.Clip(f.Method, 60), c.initializeSeq)
}

// checkImpatient judges only while initialize waits for its answer: after an error, or once it was cancelled, the client may do something else.
func checkImpatient(f *frame) string {
	c := f.c
	if c.initializeSeq == 0 || c.initialized || f.modern {
		return ""
	}
	if q := c.sides[journal.Out].pending; len(q) == 0 || f.Method == "ping" || f.Method == "initialize" {
		return ""
	}
	for _, q := range c.sides[journal.Out].pending {
		if q.seq == c.initializeSeq && f.toServer() && f.Method != "notifications/cancelled" && !q.cancelled {
			return text.Clip(f.Method, 60) + " before the answer to initialize"
		}
	}
	return ""
}

// checkForward is silent where no handshake was recorded. Of requests only ping may come before (2025-11-25/basic/lifecycle#initialization).
func checkForward(f *frame) string {
	c := f.c
	if f.toServer() || !c.initialized && c.initializeSeq == 0 || c.ready || f.modern || f.Method == "ping" {
		return ""
	}
	return text.Clip(f.Method, 60) + " before notifications/initialized"
}

// checkVersion reports one for each member and connection: the modern era repeats the version in each request.
func checkVersion(f *frame) string {
	v, at := "", ""
	switch {
	case f.Kind == journal.Request && f.Method == "initialize":
		v, at = stringAt(f.env.Params, "protocolVersion"), "/params/protocolVersion"
	case f.Kind == journal.Request:
		v, at = stringAt(f.env.Params, "_meta", metaVersion), "/params/_meta/io.modelcontextprotocol~1protocolVersion"
	case f.Method == "initialize":
		v, at = stringAt(f.env.Result, "protocolVersion"), "/result/protocolVersion"
	}
	if v == "" || knownRevision(v) != "" || !f.c.first(at) {
		return ""
	}
	return at + ": " + quote(v)
}

// whereDefined is where a method is defined: in this revision for this direction, for the other, in another revision.
func (f *frame) whereDefined() (here, across, elsewhere bool) {
	for _, rev := range rules.Revisions() {
		doc := f.ck.defs.document(rev)
		for d, methods := range doc.methods {
			if methods[f.Method] == "" {
				continue
			}
			switch {
			case rev != f.rev:
				elsewhere = elsewhere || journal.Dir(d) == f.Dir
			case journal.Dir(d) == f.Dir:
				here = true
			default:
				across = true
			}
		}
	}
	return here, across, elsewhere
}

// checkOtherEra lets a client fall back to initialize as long as the server has not answered in the modern era.
func checkOtherEra(f *frame) string {
	if f.rev == "" || f.Method == "initialize" && !f.c.modern {
		return ""
	}
	if f.c.documentOf(f).methods[f.Dir][f.Method] != "" {
		return ""
	}
	here, across, elsewhere := f.whereDefined()
	if here || across || !elsewhere || f.isTaskMethod() {
		return ""
	}
	return fmt.Sprintf("%s is not a method of %s", text.Clip(f.Method, 60), f.rev)
}

// documentOf returns the schema of the frame's revision; one without methods for an unknown one.
func (c *conn) documentOf(f *frame) *document {
	if doc := f.ck.defs.document(f.rev); doc != nil {
		return doc
	}
	return &document{}
}

// isTaskMethod reports whether a method belongs to the extension that has tasks since they left the core of the protocol.
func (f *frame) isTaskMethod() bool {
	return f.rev == revModern && (strings.HasPrefix(f.Method, "tasks/") || f.Method == "notifications/tasks" || f.Method == "notifications/tasks/status")
}

func checkDirection(f *frame) string {
	if f.rev == "" || f.c.documentOf(f).methods[f.Dir] == nil || f.c.documentOf(f).methods[f.Dir][f.Method] != "" {
		return ""
	}
	if here, across, _ := f.whereDefined(); here || !across {
		return ""
	}
	return text.Clip(f.Method, 60) + " is a method of the other side"
}

// checkUnknownMethod is silent once the server declares any extension: which methods that has no schema here says.
func checkUnknownMethod(f *frame) string {
	if f.rev == "" || f.isTaskMethod() || f.c.documentOf(f).methods[f.Dir][f.Method] != "" {
		return ""
	}
	here, across, elsewhere := f.whereDefined()
	if caps := f.c.caps[journal.In]; here || across || elsewhere || caps == nil || has(caps, "extensions") || !f.c.first("method "+f.Method) {
		return ""
	}
	return text.Clip(f.Method, 60)
}

// serverCapability is the capability of the server that a request uses, "" if none. Completions have one since 2025-03-26, and tasks are judged
// where they are in the core.
func serverCapability(method, revision string) string {
	switch method {
	case "tools/list", "tools/call":
		return "tools"
	case "resources/list", "resources/read", "resources/templates/list":
		return "resources"
	case "resources/subscribe", "resources/unsubscribe":
		return "resources.subscribe"
	case "prompts/list", "prompts/get":
		return "prompts"
	case "completion/complete":
		if revision >= rev2503 {
			return "completions"
		}
	case "logging/setLevel":
		return "logging"
	case "tasks/list":
		if revision == rev2511 {
			return "tasks.list"
		}
	case "tasks/get", "tasks/result":
		if revision == rev2511 {
			return "tasks"
		}
	}
	return ""
}

func checkServerCapability(f *frame) string {
	if !f.toServer() || f.c.caps[journal.In] == nil || f.rev == "" {
		return ""
	}
	if n := serverCapability(f.Method, f.rev); n != "" && !has(f.c.caps[journal.In], n) {
		return fmt.Sprintf("%s needs the capability %s", f.Method, n)
	}
	return ""
}

func checkNotImplemented(f *frame) string {
	if f.req == nil || f.toServer() || string(jsonrpc.Get(f.env.Error, "code")) != "-32601" || f.c.caps[journal.In] == nil {
		return ""
	}
	switch f.Method {
	case "tools/call", "prompts/get", "resources/read", "tasks/get", "tasks/result":
		return "" // what is named may want to be asked in another way
	case "resources/templates/list":
		return "" // no capability says that there are templates
	}
	if n := serverCapability(f.Method, f.rev); n != "" && has(f.c.caps[journal.In], n) {
		return fmt.Sprintf("/error/code: -32601 for %s, with the capability %s", f.Method, n)
	}
	return ""
}

// checkListChanged is about both sides: the roots are those of the client.
func checkListChanged(f *frame) string {
	kind, ok := strings.CutSuffix(strings.TrimPrefix(f.Method, "notifications/"), "/list_changed")
	caps := f.c.caps[f.Dir]
	switch {
	case !ok || caps == nil:
		return ""
	case !has(caps, kind+".listChanged"):
		return fmt.Sprintf("%s without the capability %s.listChanged", f.Method, kind)
	}
	return ""
}

// checkLogging reports the first message of a connection.
func checkLogging(f *frame) string {
	if f.toServer() || f.Method != "notifications/message" || f.c.caps[journal.In] == nil || has(f.c.caps[journal.In], "logging") || !f.c.first("logging") {
		return ""
	}
	return "notifications/message without the capability logging"
}

// checkLevel takes what the client set with logging/setLevel; in the modern era each request has its own
// (2026-07-28/server/utilities/logging#per-request-log-level). Which of those that run a message is for is not known, so that the least counts.
func checkLevel(f *frame) string {
	if f.toServer() || f.Method != "notifications/message" {
		return ""
	}
	least := f.c.level
	if f.rev == revModern {
		if !f.knowsRequests() {
			return ""
		}
		least = len(levels)
		for _, q := range f.c.sides[journal.Out].pending {
			if i := slices.Index(levels, q.level); i >= 0 {
				least = min(least, i)
			}
		}
		if least == len(levels) {
			return "" // nobody asked: another rule
		}
	}
	level := stringAt(f.env.Params, "level")
	if i := slices.Index(levels, level); i < 0 || i >= least {
		return ""
	}
	return fmt.Sprintf("/params/level: %s, where %s is the least", level, levels[least])
}

// knowsRequests reports whether all requests are known that a message of the server's may belong to.
func (f *frame) knowsRequests() bool { return f.c.begun && !f.c.sides[journal.Out].lost }

func checkUninvitedLog(f *frame) string {
	if f.toServer() || f.Method != "notifications/message" || f.rev != revModern || !f.knowsRequests() {
		return ""
	}
	for _, q := range f.c.sides[journal.Out].pending {
		if q.level != "" {
			return ""
		}
	}
	return "no request that runs has " + metaLevel
}

// clientCapability is the capability of the client that a server's request uses, "" if none.
func clientCapability(method string, params []byte) (need string) {
	switch method {
	case "sampling/createMessage":
		if jsonrpc.Get(params, "tools") != nil {
			return "sampling.tools"
		}
		return "sampling"
	case "elicitation/create":
		if stringAt(params, "mode") == "url" {
			return "elicitation.url"
		}
		return "elicitation" // empty, it stands for forms alone (2025-11-25/client/elicitation#capabilities)
	case "roots/list":
		return "roots"
	}
	return ""
}

// checkClientCapability is for requests of servers; what they ask for in results checkRoundsCapability judges.
func checkClientCapability(f *frame) string {
	if f.toServer() || f.c.caps[journal.Out] == nil || f.rev == revModern {
		return ""
	}
	if n := clientCapability(f.Method, f.env.Params); n != "" && !has(f.c.caps[journal.Out], n) {
		return fmt.Sprintf("%s needs the capability %s", f.Method, n)
	}
	return ""
}

// checkUpdate is silent where no handshake was recorded: the client may have subscribed before.
func checkUpdate(f *frame) string {
	if f.Method != "notifications/resources/updated" || f.rev == revModern || f.c.initializeSeq == 0 {
		return ""
	}
	if len(f.c.subscribed.set) > 0 { // what is updated may be a part of it
		return ""
	}
	return "/params/uri: " + quote(stringAt(f.env.Params, "uri"))
}

func checkCancelInitialize(f *frame) string {
	id := idOf(f.env.Params, "requestId")
	if q := f.c.sides[f.Dir].pending[id]; f.Method == "notifications/cancelled" && q != nil && q.method == "initialize" {
		return fmt.Sprintf("/params/requestId: %s is initialize", text.Clip(id, 40))
	}
	return ""
}

// checkCancelUnknown accepts a request that was answered: the two may cross (2025-11-25/basic/utilities/cancellation#timing-considerations).
// What servers of the modern era cancel is for checkServerCancels.
func checkCancelUnknown(f *frame) string {
	id := idOf(f.env.Params, "requestId")
	if f.Method != "notifications/cancelled" || id == "" || !f.c.begun || !f.c.sides[f.Dir].ids.lacks(hashString(id)) || f.rev == revModern && !f.toServer() {
		return ""
	}
	return "/params/requestId: " + text.Clip(id, 40)
}

// checkServerCancels allows what ends a stream of subscriptions/listen (2026-07-28/basic/patterns/cancellation#behavior-requirements).
func checkServerCancels(f *frame) string {
	id := idOf(f.env.Params, "requestId")
	if f.toServer() || f.Method != "notifications/cancelled" || f.c.listens[id] != nil || f.c.lostListens || !f.c.begun {
		return ""
	}
	return "/params/requestId: " + text.Clip(id, 40)
}

func checkPing(f *frame) string {
	if f.req == nil || f.Method != "ping" || !f.whole {
		return ""
	}
	odd := ""
	_ = jsonrpc.Members(f.env.Result, func(key string, _ []byte) bool { // it is valid
		if key != "_meta" {
			odd = "/result/" + text.Clip(key, 60)
		}
		return odd == ""
	})
	return odd
}

func checkToken(f *frame) string {
	token := idOf(f.env.Params, "progressToken")
	if f.Method != "notifications/progress" || token == "" || len(token) > maxToken {
		return ""
	}
	s := &f.c.sides[opposite(f.Dir)]
	if s.tokens[token] != nil || !s.doneTokens.lacks(hashString(token)) || !s.freeTokens.lacks(hashString(token)) || s.lost || !f.c.begun {
		return ""
	}
	return "/params/progressToken: " + text.Clip(token, 60)
}

func checkAfter(f *frame) string {
	token := idOf(f.env.Params, "progressToken")
	s := &f.c.sides[opposite(f.Dir)]
	if f.Method != "notifications/progress" || token == "" || s.tokens[token] != nil || !s.doneTokens.has(hashString(token)) || !s.freeTokens.lacks(hashString(token)) || s.lost {
		return ""
	}
	return fmt.Sprintf("/params/progressToken: %s, of request %d", text.Clip(token, 60), s.doneTokens.set[hashString(token)])
}

// checkIncrease: the same value again is wrong, too (2025-11-25/basic/utilities/progress#progress-flow).
func checkIncrease(f *frame) string {
	t := f.c.sides[opposite(f.Dir)].tokens[idOf(f.env.Params, "progressToken")]
	raw := jsonrpc.Get(f.env.Params, "progress")
	if v, ok := parseNumber(raw); f.Method == "notifications/progress" && t != nil && t.started && ok && v <= t.value {
		return fmt.Sprintf("/params/progress: %s after %g", text.Clip(string(raw), 40), t.value)
	}
	return ""
}

func checkTokenReused(f *frame) string {
	if f.req.token == "" || f.c.sides[f.Dir].tokens[f.req.token] == nil {
		return ""
	}
	return "/params/_meta/progressToken: " + text.Clip(f.req.token, 60)
}

func checkCursorLoop(f *frame) string {
	raw := jsonrpc.Get(f.env.Result, "nextCursor")
	if f.req == nil || !f.req.paged || raw == nil {
		return ""
	}
	if w := f.c.sides[opposite(f.Dir)].pagings[f.Method]; w != nil && w.follow(f.req.cursor, hash(raw)) {
		return "/result/nextCursor: " + text.Clip(string(raw), 60)
	}
	return ""
}

// checkCursor does not judge the first list of a method, nor HTTP in the modern era:
// without sessions, another connection may have got the cursor (2026-07-28/basic#statelessness). Before, cursors are of one session
// (2025-11-25/server/utilities/pagination#implementation-guidelines).
func checkCursor(f *frame) string {
	q := f.req
	if !q.paged || q.cursor == 0 {
		return ""
	}
	w := f.c.sides[f.Dir].pagings[f.Method]
	if w == nil || !w.given.lacks(q.cursor) || !f.c.begun || f.c.http && q.modern {
		return ""
	}
	return "/params/cursor: " + text.Clip(string(jsonrpc.Get(f.env.Params, "cursor")), 60)
}

func checkRoots(f *frame) string {
	if f.req == nil || f.Method != "roots/list" {
		return ""
	}
	evidence, n := "", 0
	_ = jsonrpc.Elements(jsonrpc.Get(f.env.Result, "roots"), func(root []byte) bool { // what else it may be the schema says
		if uri := stringAt(root, "uri"); uri != "" && !strings.HasPrefix(uri, "file://") {
			evidence = fmt.Sprintf("/result/roots/%d/uri: %s", n, quote(uri))
		}
		n++
		return evidence == ""
	})
	return evidence
}

// checkDeprecated names each feature once for a server and revision: HTTP+SSE (2025-03-26/basic/transports#backwards-compatibility),
// includeContext (2025-11-25/client/sampling#capabilities), logging, roots and sampling (2026-07-28/deprecated#deprecated).
func checkDeprecated(f *frame) string {
	var used []string
	note := func(on bool, what string) {
		if on && f.c.server.first("deprecated "+f.rev+what) {
			used = append(used, what)
		}
	}
	modern := f.rev == revModern
	switch {
	case f.Kind == journal.Response:
		note(f.c.sse && f.Method == "initialize", "HTTP+SSE transport")
	case f.Method == "sampling/createMessage" && f.rev == rev2511:
		context := stringAt(f.env.Params, "includeContext")
		note(context == "thisServer" || context == "allServers", "includeContext "+context)
	case f.Kind == journal.Request && modern:
		note(f.req.level != "", "logging")
		for _, name := range []string{"roots", "sampling"} {
			note(has(f.req.caps, name), name)
		}
	case f.Kind == journal.Notification && modern:
		note(f.Method == "notifications/message", "logging")
	}
	return strings.Join(used, ", ")
}
