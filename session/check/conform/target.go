package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// target is the server that is tried, and how it is reached: what all connections to it share.
type target struct {
	sub     *check.Subject
	cfg     config.Server
	kind    string        // of transport, as configurations call it
	pinned  string        // the only revision to try, "" for all
	timeout time.Duration // for an answer
	leave   time.Duration // for a process to leave by itself
	others  time.Duration // for what it started to leave after it
	stays   atomic.Bool   // a process had to be ended by force: those that follow are not waited for
	leaves  atomic.Bool   // a process left something behind: what those that follow leave is not waited for
	log     *log
	http    *poster       // nil but over Streamable HTTP
	conns   atomic.Uint64 // connections so far: the newest one's number
}

func newTarget(sub *check.Subject, wait, leave time.Duration) (*target, error) {
	t := &target{sub: sub, cfg: sub.Session.Config(), kind: sub.Transport, timeout: wait, leave: leave, others: leave, log: newLog()}
	t.pinned = protocol(t.cfg)
	if t.kind == config.HTTP {
		p, err := newPoster(t.cfg, sub.Session.Authorizer())
		if err != nil {
			return nil, err
		}
		t.http = p
	}
	return t, nil
}

func (t *target) close() {
	if t.http != nil {
		t.http.close()
	}
}

// connection is one that was not opened yet. The caller closes it.
func (t *target) connection(revision string) *conn {
	return &conn{t: t, revision: revision, number: t.conns.Add(1)}
}

// conn is one connection below the session layer: a process over stdio, a session over HTTP. One goroutine has it, but for exchange over HTTP
// with frames that were made before.
type conn struct {
	t             *target
	number        uint64                     // that the log tells connections apart by
	revision      string                     // that is spoken, or asked for
	handshakeDone bool                       // initialize was answered, or there is none
	session       string                     // over HTTP, "" for none
	given         given                      // sessions that the server opened, also by a request whose answer was not looked into
	pipe          *pipe                      // nil over HTTP, and before the first message
	ids           int                        // requests so far
	leave         time.Duration              // for the process to exit by itself when its input ends; 0 is hardly any
	begun         []string                   // the handshake, as evidence
	offered       json.RawMessage            // capabilities of the server
	unchecked     atomic.Bool                // what is said is wrong on purpose: nobody checks the answers
	enough        func(frames [][]byte) bool // of a stream; nil where its first response is. Set by the rule that the connection belongs to
}

// silence is a request that was not answered in time. It is not a violation, and nothing more may be tried on the connection: a late answer would be
// taken for another's.
type silence struct{ method string }

func (s *silence) Error() string { return s.method + " was not answered in time" }

// isModern reports whether requests say by themselves what the client is.
func (c *conn) isModern() bool { return c.revision >= modern }

// open makes the handshake of the revision, or server/discover where it has none. The revision is then what the server answered.
func (c *conn) open(ctx context.Context) error {
	if c.isModern() {
		_, err := c.discover(ctx)
		return err
	}
	a, err := c.initialize(ctx, c.revision)
	if err != nil {
		return err
	}
	if a.result() == nil {
		return fmt.Errorf("initialize was refused: %s", a.summary())
	}
	return c.sendInitialized(ctx)
}

// initialize asks for a revision, and takes what the server answers: its revision, its capabilities, its session. A refusal is not an error.
func (c *conn) initialize(ctx context.Context, revision string) (answer, error) {
	frame := c.initializeRequest(revision)
	a, err := c.exchange(ctx, frame)
	c.recordHandshake(frame, a)
	if err != nil {
		return a, err
	}
	if v := jsonrpc.GetString(a.result(), "protocolVersion"); v != "" {
		c.handshakeDone, c.revision = true, v
		c.offered = jsonrpc.Get(a.result(), "capabilities")
		c.session = a.header.Get("Mcp-Session-Id")
	}
	return a, nil
}

// initializeRequest returns the first message of a connection with a handshake.
func (c *conn) initializeRequest(revision string) []byte {
	return jsonrpc.NewRequest(c.id(), "initialize", fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"mcphud","version":"1"}}`, revision))
}

// sendInitialized ends the handshake.
func (c *conn) sendInitialized(ctx context.Context) error {
	frame := jsonrpc.NewNotification("notifications/initialized", nil)
	_, err := c.deliver(ctx, frame)
	c.recordHandshake(frame, answer{})
	return err
}

// recordHandshake keeps a part of the handshake for evidence.
func (c *conn) recordHandshake(frame []byte, a answer) {
	c.begun = append(c.begun, line(journal.Out, frame))
	if a.frame != nil {
		c.begun = append(c.begun, line(journal.In, a.frame))
	}
}

// discover sends server/discover, and reports whether the server answers it as one of the modern era. Any other answer is not an error.
func (c *conn) discover(ctx context.Context) (bool, error) {
	c.handshakeDone = true
	frame := c.request("server/discover", nil)
	a, err := c.exchange(ctx, frame)
	c.recordHandshake(frame, a)
	if err != nil {
		return false, err
	}
	return c.takeDiscovery(a), nil
}

// takeDiscovery keeps the result of server/discover, and reports whether the answer has one.
func (c *conn) takeDiscovery(a answer) bool {
	c.offered = jsonrpc.Get(a.result(), "capabilities")
	return a.result() != nil && jsonrpc.Get(a.result(), "supportedVersions") != nil
}

// discoverOrInitialize is discover for a server whose era is not known. One that says nothing for a while may still be starting, or not answer what
// it does not know: then initialize follows, and what it answers first says which.
func (c *conn) discoverOrInitialize(ctx context.Context) (bool, error) {
	if c.t.sub.Era == session.Modern || c.t.http != nil {
		return c.discover(ctx)
	}
	short, cancel := context.WithTimeout(ctx, min(c.t.timeout, 3*time.Second))
	ok, err := c.discover(short)
	cancel()
	var silent *silence
	if !errors.As(err, &silent) || c.pipe == nil {
		return ok, err
	}
	a, err := c.exchange(ctx, c.initializeRequest(rev2511))
	return err == nil && c.takeDiscovery(a), err
}

// id is one that was not used before.
func (c *conn) id() []byte {
	c.ids++
	return strconv.AppendInt(nil, int64(c.ids), 10)
}

// metaOf is what the modern era wants of a request, as the members of _meta without braces; capabilities is JSON.
func metaOf(version, capabilities string) string {
	return fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"mcphud","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s`, version, capabilities)
}

// request is a good request of the revision, with an id that was not used before. params is an object or nil. In the modern era _meta is added
// to it, of which what params has stays.
func (c *conn) request(method string, params []byte) []byte {
	if !c.isModern() {
		return jsonrpc.NewRequest(c.id(), method, params)
	}
	if params == nil {
		params = []byte("{}")
	}
	meta := "{" + metaOf(c.revision, "{}") + "}"
	var changes []jsonrpc.Change
	_ = jsonrpc.Members([]byte(meta), func(key string, value []byte) bool { // it is valid
		changes = append(changes, jsonrpc.Default(value, "_meta", key))
		return true
	})
	if jsonrpc.Get(params, "_meta") == nil {
		changes = []jsonrpc.Change{jsonrpc.Set([]byte(meta), "_meta")}
	}
	with, err := jsonrpc.Update(params, changes...)
	if err != nil { // not an object: what is wrong on purpose stays so
		with = params
	}
	return jsonrpc.NewRequest(c.id(), method, with)
}

// call makes a good request and waits for the answer, as exchange does. params is JSON, "" for none.
func (c *conn) call(ctx context.Context, method, params string) (answer, error) {
	var raw []byte
	if params != "" {
		raw = []byte(params)
	}
	return c.exchange(ctx, c.request(method, raw))
}

// exchange sends a frame and waits for whatever answers it: over a pipe the first response, whatever its id, so that nothing may be on its way there.
// The first message is given the time to start as well. The error is a silence where nothing came in time.
func (c *conn) exchange(ctx context.Context, frame []byte, change ...func(*http.Request)) (answer, error) {
	env, _ := jsonrpc.Scan(frame) // it may be wrong on purpose
	patience := c.t.timeout
	if c.t.http == nil && (env.Method == "initialize" || env.Method == "server/discover" && c.pipe == nil) {
		patience = max(patience, c.t.cfg.ConnectLimit()) // the server may be starting
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.t.http != nil {
		a, err := c.post(ctx, frame, env, change...)
		return a, c.timeoutAsSilence(ctx, err, env.Method)
	}
	if err := c.dial(ctx); err != nil {
		return answer{}, err
	}
	before := c.pipe.framesSoFar()
	if err := c.pipe.write(ctx, frame, env); err != nil {
		return answer{}, c.timeoutAsSilence(ctx, err, env.Method)
	}
	a, err := c.pipe.response(ctx, before, nil)
	return a, c.timeoutAsSilence(ctx, err, env.Method)
}

// timeoutAsSilence turns the end of an exchange's timeout into a silence, and leaves other errors as they are. ctx is that with the timeout.
func (c *conn) timeoutAsSilence(ctx context.Context, err error, method string) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		if method == "" {
			method = "the message"
		}
		return &silence{method}
	}
	return err
}

// deliver sends a frame that may have no answer, and returns what the server said to it until it has answered a request that followed.
// Over HTTP it is the answer to the POST.
func (c *conn) deliver(ctx context.Context, frame []byte, change ...func(*http.Request)) (answer, error) {
	if c.t.http != nil {
		return c.exchange(ctx, frame, change...)
	}
	ctx, cancel := context.WithTimeout(ctx, c.t.timeout)
	defer cancel()
	if err := c.dial(ctx); err != nil {
		return answer{}, err
	}
	before := c.pipe.framesSoFar()
	env, _ := jsonrpc.Scan(frame)
	if err := c.pipe.write(ctx, frame, env); err != nil {
		return answer{}, c.timeoutAsSilence(ctx, err, env.Method)
	}
	if !c.handshakeDone {
		return answer{}, nil // nothing can follow yet
	}
	fence := c.harmlessRequest()
	sent, _ := jsonrpc.Scan(fence)
	if err := c.pipe.write(ctx, fence, sent); err != nil {
		return answer{}, c.timeoutAsSilence(ctx, err, sent.Method)
	}
	if _, err := c.pipe.response(ctx, before, func(e jsonrpc.Envelope) bool { return jsonrpc.SameID(e.ID, sent.ID) }); err != nil {
		return answer{}, c.timeoutAsSilence(ctx, err, sent.Method)
	}
	late, cancelLate := context.WithTimeout(ctx, settle)
	defer cancelLate()
	a, err := c.pipe.response(late, before, func(e jsonrpc.Envelope) bool { return !jsonrpc.SameID(e.ID, sent.ID) })
	if err != nil && late.Err() != nil && c.lostErr() == nil {
		return answer{}, nil
	}
	return a, err
}

// settle is how long an answer may come after that to a later request: servers that answer from several threads do not keep the order.
const settle = 300 * time.Millisecond

// harmlessRequest returns a request that every server of the revision answers: ping, or server/discover.
func (c *conn) harmlessRequest() []byte {
	if c.isModern() {
		return c.request("server/discover", nil)
	}
	return c.request("ping", nil)
}

// lostErr is why the connection has ended by itself, nil while it has not.
func (c *conn) lostErr() error {
	if c.pipe == nil {
		return nil
	}
	return c.pipe.lostErr()
}

// dial opens the pipe with the first message. The error says too that it was open and ended.
func (c *conn) dial(ctx context.Context) error {
	if c.pipe != nil {
		return c.pipe.lostErr()
	}
	p := newPipe(c)
	cfg, err := c.t.sub.Session.Authorizer().Given(ctx, c.t.cfg)
	if err != nil {
		return err
	}
	tr, err := transport.New(c.t.kind, cfg, transport.Tap{}, transport.Options{
		Auth: c.t.authorizer(), Exited: func(e transport.Exit) {
			p.exit = e
			c.t.stays.CompareAndSwap(false, e.Forced != "")
			c.t.leaves.CompareAndSwap(false, e.Left > 0)
		}, GracePeriod: c.leaveGrace(),
	})
	if err == nil {
		err = c.begin(ctx, p, tr)
	}
	if err != nil {
		return failure.Wrap(err, c.t.sub.Server, "connecting")
	}
	return nil
}

// begin starts a transport that delivers to p. Both are in place before it does: a server may ask something at once, and is answered.
func (c *conn) begin(ctx context.Context, p *pipe, tr transport.Transport) error {
	c.pipe, p.tr = p, tr
	err := tr.Start(ctx, p)
	if err != nil {
		c.pipe = nil // the next message tries again
	}
	return err
}

// hardly is the time for what is not waited for any more.
const hardly = time.Millisecond

// leaveGrace is how long the process has to exit by itself. One that is ended by force leaves its locks and files as they are, and the next one,
// which finds them, does not do what it does for clients that keep to the specification: so each has its time, until one did not leave.
// One that leaves, and leaves something behind, keeps its time: only what it leaves behind is not waited for again.
func (c *conn) leaveGrace() transport.GracePeriod {
	g := transport.GracePeriod{Input: c.leave, Others: c.t.others}
	if c.leave == 0 && !c.t.stays.Load() {
		g.Input = c.t.leave
	}
	if c.leave == 0 && c.t.leaves.Load() {
		g.Others = hardly
	}
	return g
}

// authorizer is that of the session, nil for none: a nil pointer in the interface would not be.
func (t *target) authorizer() transport.Authorizer {
	if a := t.sub.Session.Authorizer(); a != nil {
		return a
	}
	return nil
}

// close ends the connection. Over HTTP the sessions that it opened are ended as well, in one second for all of them: a server that does not answer
// keeps them. It may be called again.
func (c *conn) close() {
	if c.pipe != nil {
		_ = c.pipe.tr.Close() // nothing of it is needed any more
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, c.session = range c.given.take() {
		_, _ = c.bodiless(ctx, http.MethodDelete, nil) // a server may have ended it already
	}
	c.session = ""
}

// given are session ids of a server, at most maxEvents.
type given struct {
	mu  sync.Mutex
	ids []string
}

// add keeps an id; "" is none.
func (g *given) add(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id != "" && len(g.ids) < maxEvents && !slices.Contains(g.ids, id) {
		g.ids = append(g.ids, id)
	}
}

// take returns the ids, and keeps them no longer.
func (g *given) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	ids := g.ids
	g.ids = nil
	return ids
}
