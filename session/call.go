package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// CallOptions are what whoever makes a request chooses. The zero value is usable: the limits of the server's configuration, nobody who
// hears of progress, no task unless the tool demands one.
type CallOptions struct {
	Timeout    time.Duration // without progress, which begins it anew; 0: the server's configuration, or 30 s
	MaxTimeout time.Duration // whatever the progress; 0: the server's configuration, or 5 min
	// OnProgress gets the latest progress, on the goroutine of the caller of Call; values that come faster than it
	// returns are counted and skipped.
	OnProgress func(rpc.Progress)
	// OnNotification gets every notification that arrives while the request runs, except progress of other requests. It is
	// called on the goroutine that reads from the server, which waits for it.
	OnNotification func(frame []byte)
	// Task makes a tool call a task where the server lets its client choose that (2025-11-25). What became a task, in either era
	// and with or without Task, is waited for, and the reply is what it ended with.
	Task bool
	// OnTask gets the states of a call that became a task, on the goroutine of the caller; without it OnProgress does.
	OnTask func(tasks.Task)
	// Leave ends the waiting for a task once it is closed: the reply is what created the task. nil waits to the end.
	Leave <-chan struct{}
	// Exact sends the parameters with nothing added that the protocol does not ask for: no trace context. What SetMeta set goes with it all
	// the same.
	Exact bool
	// Meta is an object whose members are added to params._meta; nil for none. They win over those of SetMeta, and those that params have
	// there win over both.
	Meta json.RawMessage
	// Resume is the result that asked for input, and that an earlier request of this very call was answered with: what it asks is answered first,
	// and the call goes on with the answers. nil begins a call.
	Resume json.RawMessage

	Relay RelayOptions // of a request that is passed on; zero for one of the caller's own
	inner innerOptions // set by this package alone
}

// RelayOptions are what the router adds to a request that it passes on for a client of its own. The zero value adds nothing. They are apart
// from CallOptions so that nobody sets them by accident: headers and ownership are the session's affair for all other callers.
type RelayOptions struct {
	// Header has further headers of the request over HTTP, in the place of those of the same name that the session makes. With any of them
	// the reply is never that of an earlier call.
	Header http.Header
	// ParamHeaders says that Header has what the client sent as Mcp-Param-* (SEP-2243): none are made by the tool's schema.
	ParamHeaders bool
	// OnOwn gets the notifications that can only be about this request: its progress, and over HTTP what arrives on the stream
	// of its own answer. Those that it takes, by returning true, nobody else hears of. It is called like OnNotification.
	OnOwn func(frame []byte) bool
	Tag   any // what CausedBy tells Options.Serve of requests of the server that this one caused; nil for none
}

// innerOptions are what the session knows of a request that it makes for another one. Callers cannot set them: a hidden request is
// not recorded.
type innerOptions struct {
	frame       []byte // the whole request, to be sent as it is where it answers nothing; nil for one that is made of params
	hidden      bool   // about a task: neither counted nor recorded as a call of its own
	over        **conn // gets the connection over which the answer came; nil for nobody
	traceparent string // the trace context of the call that this request belongs to, sent even where others carry none; "" for none
}

// Call sends one request and returns the answer as it came. params is an object or nil. When ctx is cancelled the request
// is cancelled at the server. A JSON-RPC error is a *failure.Error of kind RpcError with code, message and data; a result that asks for input nobody
// can give is one of kind NeedsInput. A tool call that the server did not take for its headers is made once more, by what
// the server says of the tool now.
//
// What the server did because of a request that got no answer nobody knows. So none is sent twice for a lost connection, unless nothing of it
// went out. A session that the server has forgotten is made again and the request sent once more, for a server that says so did not take it;
// where it took a tool call before it forgot the session, the call is an error.
//
// The reply has the result as it was sent, also where it is a task's description: only CallTool waits for tasks.
func (s *Session) Call(ctx context.Context, method string, params json.RawMessage, o CallOptions) (r rpc.Reply, err error) {
	target, args := targetOf(method, params)
	defer s.record(time.Now(), method, target, args, o, &r, &err)
	if method == string(mcp.MethodToolsCall) {
		if s.opts.AllowTool != nil {
			// {"name":"allowed","name":"other"}: which one counts is up to the reader, so that AllowTool could be got around.
			if _, err := jsonrpc.Canonical(params); err != nil { // the server may see another name
				return rpc.Reply{}, &failure.Error{
					Kind: failure.Usage, Server: s.Title(), Stage: method, Message: "the parameters can be read in two ways: " + err.Error(), Next: "write each name once, in UTF-8", Err: err,
				}
			}
		}
		return s.callBySchema(ctx, jsonrpc.GetString(params, "name"), params, o)
	}
	return s.requestInRounds(ctx, method, "", params, nil, o)
}

// callBySchema makes a call of a tool once it may run, with the headers that the tool's schema asks for. Headers that are not what the server
// wants can come of a schema that is not known, or not any more: then the call is made once more.
func (s *Session) callBySchema(ctx context.Context, name string, params json.RawMessage, o CallOptions) (rpc.Reply, error) {
	leave, err := s.admit(ctx, name)
	if err != nil {
		return rpc.Reply{}, err
	}
	defer leave()
	schema, err := s.inputSchema(name)
	if err != nil {
		return rpc.Reply{}, err
	}
	if o.Relay.ParamHeaders {
		return s.requestInRounds(ctx, string(mcp.MethodToolsCall), name, params, nil, o)
	}
	r, err := s.requestInRounds(ctx, string(mcp.MethodToolsCall), name, params, schema, o)
	var e *failure.Error
	if !errors.As(err, &e) || e.Code == nil || *e.Code != jsonrpc.CodeHeaderMismatch {
		return r, err
	}
	if _, unlisted := s.List(ctx, offer.Tools); unlisted != nil {
		return r, err
	}
	now, barred := s.inputSchema(name)
	switch {
	case barred != nil:
		return rpc.Reply{}, barred
	case bytes.Equal(now, schema):
		return r, err
	}
	return s.requestInRounds(ctx, string(mcp.MethodToolsCall), name, params, now, o)
}

// admit waits until a call may run; leave is for when it is over.
func (s *Session) admit(ctx context.Context, tool string) (leave func(), err error) {
	stage := "tools/call " + text.Clip(tool, 100)
	if re := s.opts.AllowTool; re != nil && !re.MatchString(tool) {
		return nil, &failure.Error{
			Kind: failure.InvalidToolName, Server: s.Title(), Stage: stage, Message: "the tool is not allowed: its name does not match " + text.Clip(re.String(), 100),
			Next: "change allowed_tool_pattern",
		}
	}
	if s.opts.slots == nil {
		return func() {}, nil
	}
	select {
	case s.opts.slots <- struct{}{}:
		return func() { <-s.opts.slots }, nil
	case <-ctx.Done():
		return nil, failure.Wrap(context.Cause(ctx), s.Title(), stage)
	}
}

// inputSchema is the schema of a listed tool's arguments, nil if the tool is not known; an error if it must not be called.
func (s *Session) inputSchema(tool string) (json.RawMessage, error) {
	it, _ := s.itemNamed(offer.Tools, tool)
	if it.Barred != nil {
		return nil, &failure.Error{
			Kind: failure.Protocol, Server: s.Title(), Stage: "tools/call " + text.Clip(tool, 100), Message: "the call was not sent",
			Detail: it.Barred.Error(), Next: "report it to the server's author",
		}
	}
	return it.InputSchema, nil
}

// requestInRounds makes a request until the server answers it, and answers what the server asks in between. schema is the tool's input
// schema if there is one. It counts the request, and finds its metadata and trace context.
func (s *Session) requestInRounds(ctx context.Context, method, target string, params, schema json.RawMessage, o CallOptions) (r rpc.Reply, err error) {
	if target == "" {
		target = jsonrpc.GetString(params, "name")
		if target == "" {
			target = jsonrpc.GetString(params, "uri")
		}
	}
	stage := method
	if target != "" {
		stage += " " + text.Clip(target, 100)
	}
	meta, err := members(o.Meta, "the metadata")
	if err != nil {
		return rpc.Reply{}, failure.Wrap(err, s.Title(), stage)
	}
	meta = s.withMeta(meta)
	if !o.inner.hidden {
		s.use.countCall()
	}
	defer s.Hold()() // also while somebody thinks about what the server asks
	defer func() {
		if err != nil && !o.inner.hidden {
			s.use.countFailure()
		}
	}()
	if o.Relay.Tag != nil {
		ctx = rpc.WithTag(ctx, o.Relay.Tag)
	}
	traceparent := o.inner.traceparent
	if !o.Exact && !o.inner.hidden && s.opts.Tracing != TraceNone {
		traceparent = s.opts.traceparent()
	}
	rounds := rounds{cause: pending.Cause{Method: method, Target: target, Started: time.Now()}}
	var answers []rpc.Member // to what the server asked before it would answer
	if o.Resume != nil {
		if answers, err = s.answerInput(ctx, &rounds, o.Resume); err != nil {
			return r, failure.Wrap(unanswered(err, method, params, meta), s.Title(), stage)
		}
	}
	for rounds.n < maxRounds {
		r, err := s.roundTrip(ctx, method, target, params, answers, meta, schema, traceparent, o)
		if err != nil {
			if again, failed := s.visit(ctx, &rounds, err); again {
				answers = nil
				continue
			} else if failed != nil {
				err = failed
			}
			return r, failure.Wrap(err, s.Title(), stage)
		}
		if resultType(r.Result) != inputRequired {
			if rounds.n > 0 {
				r.Took = time.Since(rounds.cause.Started) // what was asked and answered is part of the call
			}
			return r, nil
		}
		if answers, err = s.answerInput(ctx, &rounds, r.Result); err != nil {
			return r, failure.Wrap(unanswered(err, method, params, meta), s.Title(), stage)
		}
	}
	return rpc.Reply{}, &failure.Error{
		Kind: failure.Protocol, Server: s.Title(), Stage: stage, Message: fmt.Sprintf("the server asked for input %d times in a row", maxRounds),
		Next: "see what was exchanged", Remedy: failure.SeeTraffic,
	}
}

// roundTrip makes one request over the connection that there is, completed for its era, and waits for the answer. A session that the server
// has forgotten is made again, once. answers are the members that go with a request that is made again after questions (inputResponses,
// requestState), and meta what is added to params._meta.
func (s *Session) roundTrip(ctx context.Context, method, target string, params []byte, answers, meta []rpc.Member, schema []byte, traceparent string, o CallOptions) (rpc.Reply, error) {
	for try := 1; ; try++ {
		c, err := s.acquire(ctx, method)
		if err != nil {
			return rpc.Reply{}, err
		}
		spec := &rpc.Request{
			Method: method, Target: target, Params: params, Members: answers, Meta: slices.Clip(meta), Timeout: s.timeout(o.Timeout, s.cfg.Timeout, config.DefaultTimeout),
			MaxTimeout: s.timeout(o.MaxTimeout, s.cfg.MaxTimeout, config.DefaultMaxTimeout), OnProgress: o.OnProgress, OnNotification: o.OnNotification,
			OnOwn: o.Relay.OnOwn, Tag: o.Relay.Tag, Hidden: o.inner.hidden, WantsProgress: o.OnProgress != nil || o.OnNotification != nil || wantsProgress(method),
		}
		if len(answers) == 0 {
			spec.Frame = o.inner.frame
		}
		c.completeForEra(spec, schema)
		for name, v := range o.Relay.Header {
			if spec.Header == nil {
				spec.Header = http.Header{}
			}
			spec.Header[name] = v
		}
		if traceparent != "" && (o.inner.traceparent != "" || s.opts.Tracing.isTraced(c)) {
			c.trace(spec, traceparent)
			s.opts.Traced()
		}
		if o.inner.over != nil {
			*o.inner.over = c
		}
		r, err := c.Call(ctx, spec)
		r.Traceparent, _ = jsonrpc.String(spec.MetaValue("traceparent"))
		// Sent again without a doubt: the server cannot have seen it.
		if !r.Sent && c.Ended() != nil && try < 3 {
			continue // the connection was lost before the request was sent
		}
		if transport.Refused(err) {
			s.handleLost(c, err)
		}
		if err == nil && c.era == Modern {
			err = checkResultType(r.Result)
		}
		if try > 1 || !errors.Is(err, transport.ErrSessionLost) {
			return r, err
		}
		if err := s.renew(ctx, c); err != nil {
			return r, err
		}
		if h := new(transport.HTTPError); method == string(mcp.MethodToolsCall) && errors.As(err, &h) && h.Method != http.MethodPost {
			return r, wasTaken(err)
		}
	}
}

// wasTaken is the error of a call whose answer was asked for again (by GET, see the transport) when the server had forgotten the session: it
// took the call before, and a second one could do again what the first has done.
func wasTaken(err error) error {
	var e *failure.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Next = "see what the call has done before you make it again"
	return &c
}

// renew replaces a connection whose session is gone.
func (s *Session) renew(ctx context.Context, old *conn) error {
	if s.current() != old {
		return s.Connect(ctx) // someone else is at it
	}
	return s.Reconnect(ctx)
}

// timeout is the limit of the call, or else that of the server's configuration, or else the usual one.
func (s *Session) timeout(chosen, configured, usual time.Duration) time.Duration {
	switch {
	case chosen > 0:
		return chosen
	case configured > 0:
		return configured
	}
	return usual
}

// wantsProgress lists the requests that a server may take its time for.
func wantsProgress(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodResourcesRead, mcp.MethodPromptsGet:
		return true
	}
	return false
}

// members lists the members of a JSON object, nil for none; what names the object in the error.
func members(obj []byte, what string) ([]rpc.Member, error) {
	if len(obj) == 0 {
		return nil, nil
	}
	var all []rpc.Member
	err := jsonrpc.Members(obj, func(name string, value []byte) bool {
		all = append(all, rpc.Member{Name: name, Value: value})
		return true
	})
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Message: what + " is not a JSON object: " + err.Error(), Next: "correct the JSON and send it again", Err: err}
	}
	return all, nil
}

// Received takes a message of the server's that came with the answer to a request made past the session, as if it had come on the
// session's own connection. tag is that of the request, as in RelayOptions.
func (s *Session) Received(frame []byte, tag any) {
	c := s.current()
	if c != nil {
		c.CausedBy(tag).Frame(frame)
	}
}

// CallTool calls a tool with args, an object or nil. A result with isError is not an error here: see IsError. With Options.ResultTTL
// the result may be that of an earlier call, which Reply.Cached says.
func (s *Session) CallTool(ctx context.Context, name string, args json.RawMessage, o CallOptions) (r rpc.Reply, err error) {
	defer s.record(time.Now(), string(mcp.MethodToolsCall), name, args, o, &r, &err)
	params := append([]byte(`{"name":`), jsonrpc.Quote(name)...)
	if len(args) > 0 {
		if err := jsonrpc.Valid(args); err != nil {
			return rpc.Reply{}, &failure.Error{Kind: failure.Usage, Server: s.Title(), Stage: "tools/call " + text.Clip(name, 100), Message: "the arguments are not JSON: " + err.Error(), Next: "correct them", Err: err}
		}
		params = append(append(params, `,"arguments":`...), args...)
	}
	task, err := s.asTask(ctx, name, o.Task)
	if err != nil {
		return rpc.Reply{}, err
	}
	key := "" // of a result that may be given again
	if task {
		params = append(params, `,"task":{}`...)
	} else {
		key = s.resultKey(name, args, o)
	}
	r, earlier := s.recall(key)
	if !earlier {
		if r, err = s.callBySchema(ctx, name, append(params, '}'), o); err != nil {
			return r, err
		}
		s.remember(key, name, args, o, r)
	}
	return s.settle(ctx, name, r, o)
}

// ReadResource reads a resource. That there is none is an error of kind NotFound.
func (s *Session) ReadResource(ctx context.Context, uri string, o CallOptions) (r rpc.Reply, err error) {
	defer s.record(time.Now(), string(mcp.MethodResourcesRead), uri, nil, o, &r, &err)
	params := fmt.Appendf(nil, `{"uri":%s}`, jsonrpc.Quote(uri))
	r, err = s.requestInRounds(ctx, string(mcp.MethodResourcesRead), uri, params, nil, o)
	var e *failure.Error
	if errors.As(err, &e) && e.Code != nil && (*e.Code == jsonrpc.CodeResourceNotFound || *e.Code == jsonrpc.CodeInvalidParams) {
		e.Kind = failure.NotFound
	}
	return r, err
}

// GetPrompt gets a prompt. That there is none, or that arguments are wrong, is an error of kind NotFound.
func (s *Session) GetPrompt(ctx context.Context, name string, args map[string]string, o CallOptions) (r rpc.Reply, err error) {
	params := append([]byte(`{"name":`), jsonrpc.Quote(name)...)
	var given json.RawMessage
	if len(args) > 0 {
		given = stringMap(args)
		params = append(append(params, `,"arguments":`...), given...)
	}
	defer s.record(time.Now(), string(mcp.MethodPromptsGet), name, given, o, &r, &err)
	r, err = s.requestInRounds(ctx, string(mcp.MethodPromptsGet), name, append(params, '}'), nil, o)
	var e *failure.Error
	if errors.As(err, &e) && e.Code != nil && *e.Code == jsonrpc.CodeInvalidParams {
		if _, ok := s.itemNamed(offer.Prompts, name); !ok {
			e.Kind = failure.NotFound
		}
	}
	return r, err
}

// Complete asks for completions. ref is the reference object of the protocol ({"type":"ref/prompt","name":…} or
// {"type":"ref/resource","uri":…}); known holds the arguments that have a value already, or nil.
func (s *Session) Complete(ctx context.Context, ref json.RawMessage, arg, value string, known map[string]string) (rpc.Reply, error) {
	params := fmt.Appendf(nil, `{"ref":%s,"argument":{"name":%s,"value":%s}`, ref, jsonrpc.Quote(arg), jsonrpc.Quote(value))
	if len(known) > 0 {
		params = fmt.Appendf(params, `,"context":{"arguments":%s}`, stringMap(known))
	}
	return s.Call(ctx, string(mcp.MethodCompletionComplete), append(params, '}'), CallOptions{})
}

// stringMap is an object of strings as JSON, with its members sorted.
func stringMap(m map[string]string) []byte {
	out, err := json.Marshal(m)
	if err != nil { // strings always marshal
		return []byte("{}")
	}
	return out
}

// itemNamed is the item of a loaded listing that has this name; ok is false if there is none.
func (s *Session) itemNamed(kind offer.Kind, name string) (it offer.Item, ok bool) {
	for _, it := range s.Listing(kind).Items {
		if it.Name == name {
			return it, true
		}
	}
	return offer.Item{}, false
}

// SetLevel chooses which log messages the server sends: debug, info, notice, warning, error, critical, alert or emergency.
// The modern era has no request for that; each later request carries the level. It is set again over each connection to come, unless the
// server refused it.
func (s *Session) SetLevel(ctx context.Context, level string) error {
	c, err := s.acquire(ctx, "logging/setLevel")
	if err != nil {
		return err
	}
	if c.era == Modern {
		s.link.setLevel(&level)
		c.logLevel.Store(&level)
		return nil
	}
	if _, err = s.Call(ctx, string(mcp.MethodSetLogLevel), levelParams(level), CallOptions{}); err == nil {
		s.link.setLevel(&level)
	}
	return err
}

// restoreLevel sets the level of SetLevel over a new connection of the legacy era, in which the server forgets it with the connection
// (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging).
func (s *Session) restoreLevel(c *conn) {
	level := s.link.snapshot().level
	if c.era == Modern || level == nil || !c.supports(string(mcp.MethodSetLogLevel)) {
		return
	}
	s.wg.Go(func() {
		spec := &rpc.Request{Method: string(mcp.MethodSetLogLevel), Params: levelParams(*level), Timeout: healthTimeout, Hidden: true}
		_, _ = c.Call(c.Context(), spec) // one that takes it no more logs as it likes; the journal has its answer
	})
}

// levelParams are the parameters of logging/setLevel.
func levelParams(level string) []byte {
	return fmt.Appendf(nil, `{"level":%s}`, jsonrpc.Quote(level))
}
