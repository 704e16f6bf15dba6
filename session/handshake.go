package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// The handshake is written here rather than left to mcp-go's client: which error means which era, one resend for
// -32022, a pipe shared by both attempts and exact server info are rules about raw answers, which that client has
// already decoded away. Versions, meta keys and headers are mcp-go's.

// How long a server may be silent before the other era is tried. A legacy server need not answer a request that comes before
// initialize.
const (
	pipePatience = 1500 * time.Millisecond // silence after server/discover on a pipe means a legacy server
	httpPatience = 5 * time.Second         // the same over HTTP
	lateAnswer   = 100 * time.Millisecond  // how long a refused initialize waits for the answer to server/discover
)

// errRestart says that the child exited on server/discover and deserves one more start, without it.
var errRestart = errors.New("the server exited when it was asked server/discover")

// pinnedVersion gives the pinned protocol version, "" for automatic.
func pinnedVersion(protocol string) (string, error) {
	if protocol == "" || protocol == "auto" {
		return "", nil
	}
	if !mcp.IsValidProtocolVersion(protocol) {
		return "", &failure.Error{
			Kind: failure.Usage, Stage: "connecting", Message: fmt.Sprintf("unknown protocol version %q", protocol),
			Next: "use auto or one of " + strings.Join(mcp.ValidProtocolVersions, ", "),
		}
	}
	return protocol, nil
}

// handshake finds out what the server speaks and introduces us. known is the era of an earlier connection, "" if there was
// none; pin a protocol version or "".
//
// The modern era has no handshake but server/discover, and legacy servers answer it with any error, with silence, or by exiting; so nothing but
// a result, or an error that only the modern era has, counts as a sign of it.
func (c *conn) handshake(ctx context.Context, pin string, known Era) error {
	switch {
	case c.traits.Legacy && mcp.IsModernProtocol(pin):
		return &failure.Error{Kind: failure.Usage, Stage: "connecting", Message: c.traits.Kind + " does not exist in protocol version " + pin, Next: "use Streamable HTTP", Remedy: failure.ChooseTransport}
	case c.traits.Legacy, pin == "" && known == Legacy, pin != "" && !mcp.IsModernProtocol(pin):
		return c.initialize(ctx, pin)
	case pin != "":
		return c.adopt(ctx, c.discover(ctx, pin), pin, false)
	}
	return c.detect(ctx)
}

// found is what came of server/discover.
type found struct {
	reply rpc.Reply
	err   error
}

// discover asks server/discover (2026-07-28), in a request of that version. It is never cancelled at the server: a
// legacy one expects initialize before anything else.
func (c *conn) discover(ctx context.Context, version string) found {
	s := &rpc.Request{Method: string(mcp.MethodServerDiscover), Hidden: true, NoCancel: true}
	c.modernize(s, version, nil)
	r, err := c.Call(ctx, s)
	c.noteAnswered(s.Method, err)
	return found{r, err}
}

// noteAnswered notes that the server answered a method of the handshake, if it did.
func (c *conn) noteAnswered(method string, err error) {
	if err == nil || failure.KindOf(err) == failure.RpcError {
		c.answered.Store(&method)
	}
}

// detect asks server/discover first, and falls back to initialize by the rules of both eras.
func (c *conn) detect(ctx context.Context) error {
	answered := make(chan found, 1)
	probe, stop := context.WithCancel(ctx)
	defer stop()
	go func() { answered <- c.discover(probe, mcp.LATEST_PROTOCOL_VERSION) }()
	patience := pipePatience
	if c.traits.HTTP != nil {
		patience = httpPatience
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case f := <-answered:
		return c.adopt(ctx, f, mcp.LATEST_PROTOCOL_VERSION, true)
	case <-ctx.Done():
		return failure.Wrap(ctx.Err(), "", "server/discover")
	case <-timer.C:
	}
	err := c.initialize(ctx, "")
	if failure.KindOf(err) == failure.RpcError {
		// It was only slow: a modern server refuses initialize, after its answer to what it was asked before. That
		// answer is read by then, but whoever waits for it may not have run yet.
		settle := time.NewTimer(lateAnswer)
		defer settle.Stop()
		select {
		case f := <-answered:
			if f.err == nil {
				return c.adopt(ctx, f, mcp.LATEST_PROTOCOL_VERSION, false)
			}
		case <-settle.C:
		case <-ctx.Done():
		}
	}
	return err
}

// adopt judges the answer to server/discover sent as version. If that was no sign of a modern server, it initializes where
// fallback allows.
func (c *conn) adopt(ctx context.Context, f found, version string, fallback bool) error {
	var e *failure.Error
	if f.err != nil && !errors.As(f.err, &e) {
		return failure.Wrap(f.err, "", "server/discover")
	}
	switch {
	case e == nil:
		// A server of both eras may answer discover and yet offer legacy versions only, as go-sdk's does over HTTP with
		// sessions.
		supported := jsonrpc.Get(f.reply.Result, "supportedVersions")
		if !fallback || offers(supported, version) {
			c.setModern(f.reply, version)
			return nil
		}
		if v := newestVersion(supported, version, true); v != "" {
			c.setModern(f.reply, v)
			return nil
		}
		return c.initialize(ctx, newestVersion(supported, version, false))
	case e.Code != nil && *e.Code == jsonrpc.CodeUnsupportedVersion:
		v := common(e.Data, version)
		if v == "" && offers(jsonrpc.Get(e.Data, "supported"), version) {
			v = version // refused and offered in one answer: worth another try
		}
		if v != "" {
			if again := c.discover(ctx, v); again.err == nil {
				c.setModern(again.reply, v)
				return nil
			} else if !errors.As(again.err, &e) {
				return failure.Wrap(again.err, "", "server/discover")
			}
		}
		c2 := *e
		c2.Next, c2.Remedy = "choose a version that both sides speak", failure.ChooseProtocol
		return failure.Wrap(&c2, "", "server/discover")
	case e.Code != nil && (*e.Code == jsonrpc.CodeHeaderMismatch || *e.Code == jsonrpc.CodeMissingCapability):
		return failure.Wrap(e, "", "server/discover")
	case e.Kind == failure.ChannelClosed && c.traits.Child != nil && fallback:
		if c.traits.Child.Ignored() {
			return failure.Wrap(e, "", "starting")
		}
		return fmt.Errorf("%w: %w", errRestart, e)
	case e.Kind == failure.ChannelClosed, e.Kind == failure.OAuth, e.Kind == failure.Interrupted, e.Kind == failure.Transport && e.Status == 0:
		return failure.Wrap(e, "", "server/discover")
	case !fallback:
		return failure.Wrap(e, "", "server/discover")
	}
	return c.initialize(ctx, "")
}

// common is the newest modern version among those that an UnsupportedProtocolVersion error offers, other than tried.
func common(data []byte, tried string) string {
	return newestVersion(jsonrpc.Get(data, "supported"), tried, true)
}

// newestVersion is the newest version of the modern or of the legacy era in a JSON array of versions, other than tried; "" if
// there is none.
func newestVersion(supported []byte, tried string, modern bool) string {
	for _, v := range mcp.ValidProtocolVersions {
		if v != tried && mcp.IsModernProtocol(v) == modern && offers(supported, v) {
			return v
		}
	}
	return ""
}

// offers reports whether a JSON array of versions holds one.
func offers(supported []byte, version string) bool {
	found := false
	_ = jsonrpc.Elements(supported, func(v []byte) bool { // anything else offers nothing
		s, _ := jsonrpc.String(v)
		found = s == version
		return !found
	})
	return found
}

// setModern takes the answer to server/discover, with which the handshake of the modern era is over.
func (c *conn) setModern(r rpc.Reply, version string) {
	c.era, c.version = Modern, version
	c.serverInfo = jsonrpc.Get(jsonrpc.Get(r.Result, "_meta"), mcp.MetaKeyServerInfo)
	if c.serverInfo == nil {
		c.serverInfo = jsonrpc.Get(r.Result, "serverInfo")
	}
	c.applyHandshake(r)
	c.SpeakModern()
}

// applyHandshake takes what both eras' handshakes have.
func (c *conn) applyHandshake(r rpc.Reply) {
	c.capabilities = jsonrpc.Get(r.Result, "capabilities")
	c.runsTasks = c.era == Legacy && jsonrpc.Get(c.capabilities, "tasks", "requests", "tools", "call") != nil
	c.instructions = jsonrpc.GetString(r.Result, "instructions")
	c.latency.Store(int64(r.Took))
	c.connectedAt = time.Now()
	if h := c.traits.HTTP; h != nil {
		h.SetVersion(c.version)
	}
}

// initialize makes the legacy handshake, asking for a version, "" for the latest. The server may choose an older one; see
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
func (c *conn) initialize(ctx context.Context, version string) error {
	const stage = "initialize"
	if version == "" {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	params := fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":%s,"clientInfo":%s}`, jsonrpc.Quote(version), c.caps, c.info)
	r, err := c.Call(ctx, &rpc.Request{Method: string(mcp.MethodInitialize), Params: params, Hidden: true, NoCancel: true})
	c.noteAnswered(stage, err)
	if err != nil {
		return failure.Wrap(err, "", stage)
	}
	got := jsonrpc.GetString(r.Result, "protocolVersion")
	if got == "" || mcp.IsModernProtocol(got) || !mcp.IsValidProtocolVersion(got) {
		what := fmt.Sprintf("the server answered initialize with protocol version %q, which does not exist there", text.Clip(got, 80))
		if got == "" {
			what = "the server answered initialize without a protocolVersion"
		}
		return &failure.Error{
			Kind: failure.Protocol, Stage: stage, Message: what,
			Next: "try another: " + strings.Join(mcp.LegacyProtocolVersions(), ", "), Remedy: failure.ChooseProtocol,
		}
	}
	c.era, c.version, c.serverInfo = Legacy, got, jsonrpc.Get(r.Result, "serverInfo")
	c.applyHandshake(r)
	if err := c.Notify(ctx, "notifications/initialized", nil, nil); err != nil {
		return failure.Wrap(err, "", "notifications/initialized")
	}
	return nil
}
