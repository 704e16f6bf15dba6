package aggregate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
)

// Sole is a server that all callers share one session with: its process, what it remembers and its login are there for the next caller.
// It is connected to by its own configuration and not by way of the router, and the endpoint is that server as it is: names, lists and
// capabilities are its own. Options.Agents must have its name alone. Callers are of the modern era, which has no sessions of their own.
type Sole struct {
	Server  config.Server
	Session session.Options // ClientInfo, Capabilities and Serve are set here
	// Advise is what somebody can do about an error of the connection, for who makes the call; nil for nothing.
	Advise func(*failure.Error) string
}

// soleCapabilities is what the server may ask for: which caller can be asked is known only once one calls.
const soleCapabilities = `{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{},"context":{}}}`

// errSoleEra refuses clients of the legacy era, whose sessions are theirs alone.
var errSoleEra = jsonrpc.Errorf(jsonrpc.KindInvalidParams, "this session is shared, and speaks %s: a client that begins one of its own cannot join it", mcp.LATEST_PROTOCOL_VERSION)

// sole is the name of the one server, "" where there is none.
func (s *Server) sole() string {
	if s.o.Sole == nil {
		return ""
	}
	return s.o.Sole.Server.Name
}

// sessionOptions are those of a client's sessions with agents.
func (c *client) sessionOptions(caps []byte) session.Options {
	o := session.Options{
		Unrecorded: true, Pages: &c.s.pages, MaxList: maxList, Dial: c.dial, HealthInterval: -1, Retry: session.Retry{Max: -1},
	}
	if c.s.o.Sole != nil {
		o, caps = c.s.o.Sole.Session, []byte(soleCapabilities)
	}
	o.Capabilities, o.Serve = json.RawMessage(caps), c.ask
	o.ClientInfo = session.Implementation{Name: c.s.o.Name, Version: c.s.o.Version}
	return o
}

// Hold connects the sole server and keeps its session until release, though nobody calls.
func (s *Server) Hold(ctx context.Context) (sess *session.Session, release func(), err error) {
	c, err := s.acquireShared(Caller{}, 0, "")
	if err != nil {
		return nil, nil, err
	}
	if sess, err = c.connect(ctx, s.sole()); err != nil {
		c.release()
		return nil, nil, err
	}
	return sess, c.release, nil
}

// ended is an error once the process of the sole server is gone: another one would know nothing of what this one was told, and who
// calls would not notice.
func (c *client) ended(sess *session.Session) error {
	cfg := sess.Config()
	if c.s.o.Sole == nil || cfg.Command == "" {
		return nil
	}
	c.mu.Lock()
	was := c.delivered[sess.Name()].conn
	c.mu.Unlock()
	st := sess.Status()
	if was == 0 || st.State == session.Connected {
		return nil
	}
	e := &failure.Error{Kind: failure.ChannelClosed, Server: sess.Name(), Message: "the server's process ended, and what it knew with it"}
	var why *failure.Error
	if errors.As(st.Err, &why) {
		e.Reason, e.Detail = why.Reason, why.Detail
	}
	return e
}

// soleError is the error of a call that the sole server did not answer, without a word of routers and agents.
func (s *Server) soleError(err error) error {
	var e *failure.Error
	if s.o.Sole == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Kind {
	case failure.ChannelClosed, failure.Transport, failure.OAuth, failure.SpawnFailed, failure.ServerNotConnected, failure.Protocol:
	default:
		return err
	}
	said := e.What()
	if s.o.Sole.Advise != nil {
		if next := s.o.Sole.Advise(e); next != "" {
			said += "; " + next
		}
	}
	return &jsonrpc.RequestError{Kind: jsonrpc.KindUnreachable, Message: said, Status: http.StatusBadGateway} // without err, in whose place agentError would put its own words
}

// discoverSole answers server/discover as the sole server would.
func (x *exchange) discoverSole(ctx context.Context) ([]byte, error) {
	agent := x.s.sole()
	_, st, err := x.c.status(ctx, agent)
	if err != nil {
		return nil, agentError(agent, x.s.soleError(err))
	}
	caps, info := st.Capabilities, []byte(st.ServerInfo)
	if len(info) == 0 || info[0] != '{' {
		info = x.s.info()
	}
	if st.Era == session.Legacy { // whose tasks are others
		if caps, err = jsonrpc.Update(caps, jsonrpc.Delete("tasks")); err != nil {
			caps = nil
		}
	}
	if len(caps) == 0 || caps[0] != '{' {
		caps = []byte("{}")
	}
	advice := []byte(nil)
	if st.Instructions != "" {
		advice = append([]byte(`,"instructions":`), jsonrpc.Quote(st.Instructions)...)
	}
	return fmt.Appendf(nil, `{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"serverInfo":%s%s,"ttlMs":0,"cacheScope":"private","_meta":{%q:%s}}`,
		mcp.LATEST_PROTOCOL_VERSION, jsonrpc.OneLine(caps), jsonrpc.OneLine(info), advice, mcp.MetaKeyServerInfo, jsonrpc.OneLine(info)), nil
}

// listSole is a list of the sole server, page for page as the server has it.
func (x *exchange) listSole(ctx context.Context, kind offer.Kind) ([]byte, error) {
	agent := x.s.sole()
	if sess, _, err := x.c.status(ctx, agent); err == nil && !sess.Supports(kind.Method()) {
		return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method '%s' not found", kind.Method())
	}
	return x.call(ctx, agent, "")
}
