package aggregate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// capabilities are what the merged server can do, whatever agents there are just now.
const capabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`

// greeting is how long an introduction waits for agents, to find out which versions they speak.
const greeting = 2 * time.Second

// oldest is the newest version of the legacy era that all agents speak that answer soon. Agents of the modern era set no
// limit: the sessions with them are made by their own rules.
func (c *client) oldest(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, min(greeting, c.s.o.Patience))
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	v := mcp.LATEST_LEGACY_PROTOCOL_VERSION
	for _, a := range c.agents() {
		wg.Go(func() {
			sess, err := c.connect(ctx, a)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if st := sess.Status(); st.Era == session.Legacy && st.Version < v { // versions are dates
				v = st.Version
			}
		})
	}
	wg.Wait()
	return v
}

func (s *Server) info() []byte {
	return fmt.Appendf(nil, `{"name":%s,"version":%s}`, jsonrpc.Quote(s.o.Name), jsonrpc.Quote(s.o.Version))
}

// initialize opens a session of the legacy era.
func (x *exchange) initialize(caller Caller) {
	caps := jsonrpc.Member(x.env.Params, "capabilities")
	if caps == nil || caps[0] != '{' {
		caps = []byte("{}")
	}
	c := x.s.clientWith(caller, ingress.Hops(x.r.Header), caps)
	c.id = newID()
	if err := x.s.add(c); err != nil {
		c.close()
		x.refuse(err)
		return
	}
	defer x.s.release(c)
	asked, _ := jsonrpc.String(jsonrpc.Member(x.env.Params, "protocolVersion"))
	c.version = c.oldest(x.r.Context())
	if mcp.IsValidProtocolVersion(asked) && asked < c.version {
		c.version = asked
	}
	x.w.Header().Set(headerSession, c.id)
	x.w.Header().Set(mcp.HeaderProtocolVersion, c.version)
	x.reply(http.StatusOK, jsonrpc.NewResult(x.env.ID, fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"serverInfo":%s}`, c.version, capabilities, x.s.info())))
}

// dispatch answers a request other than initialize.
func (x *exchange) dispatch(ctx context.Context) ([]byte, error) {
	method := mcp.MCPMethod(x.env.Method)
	switch method {
	case mcp.MethodToolsList:
		return x.lists(ctx, session.Tools)
	case mcp.MethodPromptsList:
		return x.lists(ctx, session.Prompts)
	case mcp.MethodResourcesList:
		return x.lists(ctx, session.Resources)
	case mcp.MethodResourcesTemplatesList:
		return x.lists(ctx, session.Templates)
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		kind := session.Tools
		if method == mcp.MethodPromptsGet {
			kind = session.Prompts
		}
		name, _ := jsonrpc.String(x.params.Name)
		agent, own, err := x.c.resolve(ctx, kind, name)
		if err != nil {
			return nil, err
		}
		return x.call(ctx, agent, own, "name")
	case mcp.MethodResourcesRead:
		uri, _ := jsonrpc.String(x.params.URI)
		agent, own, err := x.c.owner(ctx, uri)
		if err != nil {
			return nil, err
		}
		return x.call(ctx, agent, own, "uri")
	case mcp.MethodCompletionComplete:
		return x.complete(ctx)
	}
	if x.modern {
		switch method {
		case mcp.MethodServerDiscover:
			return x.discover(ctx), nil
		case mcp.MethodSubscriptionsListen:
			return x.subscribe(ctx)
		}
	} else if x.c.id != "" || method == mcp.MethodPing {
		switch method {
		case mcp.MethodPing:
			return []byte("{}"), nil
		case mcp.MethodSetLogLevel:
			return x.setLevel(ctx)
		case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
			uri, _ := jsonrpc.String(x.params.URI)
			if method == mcp.MethodResourcesUnsubscribe {
				return []byte("{}"), x.c.unwatch(ctx, uri)
			}
			return []byte("{}"), x.c.watch(ctx, uri)
		}
	}
	return nil, jsonrpc.Fail(jsonrpc.FailMethod, "Method '%.100s' not found", x.env.Method)
}

func (x *exchange) discover(ctx context.Context) []byte {
	oldest := x.c.oldest(ctx)
	versions := slices.DeleteFunc(slices.Clone(mcp.ValidProtocolVersions), func(v string) bool { return !mcp.IsModernProtocol(v) && v > oldest })
	list, err := json.Marshal(versions)
	if err != nil { // strings always marshal
		list = []byte("[]")
	}
	info := x.s.info()
	return fmt.Appendf(nil, `{"resultType":"complete","supportedVersions":%s,"capabilities":%s,"serverInfo":%s,"ttlMs":0,"cacheScope":"private","_meta":{%q:%s}}`,
		list, capabilities, info, mcp.MetaKeyServerInfo, info)
}

// call passes a request on to an agent, with the agent's own name where the merged one stands.
func (x *exchange) call(ctx context.Context, agent, own string, path ...string) ([]byte, error) {
	sess, err := x.c.connect(ctx, agent)
	if err != nil {
		return nil, failure(agent, err)
	}
	params := x.env.Params
	var edits []jsonrpc.Edit
	if start, end, ok := jsonrpc.Find(params, path...); ok {
		edits = append(edits, jsonrpc.Edit{Start: start, End: end, With: jsonrpc.Quote(own)})
	}
	token := []byte(nil)
	if start, end, ok := jsonrpc.Find(params, "_meta", "progressToken"); ok && x.params.Token != nil {
		x.c.mu.Lock()
		x.c.last++
		token = strconv.AppendInt([]byte(`"p-`), x.c.last, 10)
		x.c.mu.Unlock()
		token = append(token, '"')
		edits = append(edits, jsonrpc.Edit{Start: start, End: end, With: token})
	}
	slices.SortFunc(edits, func(a, b jsonrpc.Edit) int { return a.Start - b.Start })
	x.c.mu.Lock()
	x.agent = agent
	x.c.mu.Unlock()
	o := session.CallOptions{Timeout: x.s.o.Timeout}
	if token != nil {
		o.OnNotification = func(frame []byte) { x.progress(frame, token) }
	}
	r, err := sess.Call(ctx, x.env.Method, jsonrpc.Splice(params, edits...), o)
	var e *session.Error
	switch {
	case err == nil:
		return r.Result, nil
	case x.modern && errors.As(err, &e) && e.Kind == session.NeedsInput && e.Data != nil:
		return e.Data, nil // this client answers by asking again
	}
	return nil, failure(agent, err)
}

// progress passes on what an agent says about this call, with the client's own token.
func (x *exchange) progress(frame, token []byte) {
	start, end, ok := jsonrpc.Find(frame, "params", "progressToken")
	if !ok || string(frame[start:end]) != string(token) {
		return
	}
	if env, err := jsonrpc.Scan(frame); err != nil || env.Method != string(mcp.MethodNotificationProgress) {
		return
	}
	x.say(jsonrpc.Splice(frame, jsonrpc.Edit{Start: start, End: end, With: x.params.Token}))
}

func (x *exchange) complete(ctx context.Context) ([]byte, error) {
	ref := jsonrpc.Member(x.env.Params, "ref")
	if name, ok := jsonrpc.String(jsonrpc.Member(ref, "name")); ok {
		agent, own, err := x.c.resolve(ctx, session.Prompts, name)
		if err != nil {
			return nil, err
		}
		return x.call(ctx, agent, own, "ref", "name")
	}
	uri, ok := jsonrpc.String(jsonrpc.Member(ref, "uri"))
	if !ok {
		return nil, jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: ref names neither a prompt nor a resource").With("field", "ref")
	}
	agent, own, err := x.c.owner(ctx, uri)
	if err != nil {
		return nil, err
	}
	return x.call(ctx, agent, own, "ref", "uri")
}

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLevel tells all agents, those that are connected later too.
func (x *exchange) setLevel(ctx context.Context) ([]byte, error) {
	level, _ := jsonrpc.String(jsonrpc.Member(x.env.Params, "level"))
	if !slices.Contains(levels, level) {
		return nil, jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: level is none of the eight log levels").With("field", "level")
	}
	x.c.mu.Lock()
	x.c.level = level
	x.c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, x.s.o.Patience)
	defer cancel()
	var wg sync.WaitGroup
	for _, a := range x.c.agents() {
		wg.Go(func() { _, _ = x.c.connect(ctx, a) }) // who cannot be reached is told when it can
	}
	wg.Wait()
	return []byte("{}"), nil
}

// maxWatched bounds what one client can make us remember.
const maxWatched = 1000

// watch follows a resource.
func (c *client) watch(ctx context.Context, uri string) error {
	c.mu.Lock()
	w, have := c.watched[uri]
	if full := len(c.watched) >= maxWatched; have {
		w.n++
		c.watched[uri] = w
	} else if full {
		c.mu.Unlock()
		return jsonrpc.Fail(jsonrpc.FailQueueFull, "a client follows %d resources at most; unsubscribe from some", maxWatched)
	}
	c.mu.Unlock()
	if have {
		return nil
	}
	agent, own, err := c.owner(ctx, uri)
	if err != nil {
		return err
	}
	sess, err := c.connect(ctx, agent)
	if err != nil {
		return failure(agent, err)
	}
	c.mu.Lock() // before the agent knows, or its first word would be lost
	w = c.watched[uri]
	c.watched[uri] = watched{agent, own, w.n + 1}
	c.mu.Unlock()
	if err := sess.Subscribe(ctx, own); err != nil {
		c.mu.Lock()
		delete(c.watched, uri)
		c.mu.Unlock()
		return failure(agent, err)
	}
	return nil
}

func (c *client) unwatch(ctx context.Context, uri string) error {
	c.mu.Lock()
	w, have := c.watched[uri]
	if w.n--; w.n > 0 && c.id == "" { // of callers who share a session others still listen
		c.watched[uri] = w
		c.mu.Unlock()
		return nil
	}
	delete(c.watched, uri)
	c.mu.Unlock()
	if !have {
		return nil
	}
	sess, err := c.connect(ctx, w.agent)
	if err == nil {
		err = sess.Unsubscribe(ctx, w.uri)
	}
	if err != nil {
		return failure(w.agent, err)
	}
	return nil
}

// listener is a stream of subscriptions/listen.
type listener struct {
	id     []byte
	filter mcp.SubscriptionFilter
	uris   []string
	mail   *mailbox
}

func (l *listener) wants(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodNotificationToolsListChanged:
		return l.filter.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return l.filter.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return l.filter.ResourcesListChanged
	}
	return false
}

// put adds a notification, tagged with the subscription's id in place of the agent's own tag.
func (l *listener) put(frame []byte) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return
	}
	tag := fmt.Appendf(nil, `"_meta":{%q:%s}`, mcp.MetaKeySubscriptionID, l.id)
	params := []byte("{")
	_ = jsonrpc.Members(env.Params, func(key string, v []byte) bool { // was scanned
		if key != "_meta" {
			params = append(append(append(append(params, jsonrpc.Quote(key)...), ':'), v...), ',')
		}
		return true
	})
	l.mail.put(jsonrpc.NewNotification(env.Method, append(append(params, tag...), '}')))
}

// subscribe serves subscriptions/listen until the client closes the stream.
func (x *exchange) subscribe(ctx context.Context) ([]byte, error) {
	l := &listener{id: x.env.ID, mail: newMailbox()}
	wanted := jsonrpc.Member(x.env.Params, "notifications")
	if err := json.Unmarshal(wanted, &l.filter); err != nil {
		return nil, jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: notifications says nothing that can be listened to").With("field", "notifications")
	}
	granted := l.filter
	granted.ResourceSubscriptions = nil
	for _, uri := range l.filter.ResourceSubscriptions {
		if err := x.c.watch(ctx, uri); err != nil {
			x.s.log.Debug("resource not followed", "uri", uri, "err", err)
			continue
		}
		l.uris = append(l.uris, uri)
	}
	granted.ResourceSubscriptions = l.uris
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		for _, uri := range l.uris {
			_ = x.c.unwatch(ctx, uri) // nobody is left to be told
		}
	}()
	body, err := json.Marshal(map[string]any{"notifications": granted})
	if err != nil { // flags and strings always marshal
		return nil, err
	}
	l.put(jsonrpc.NewNotification(string(mcp.MethodNotificationSubscriptionsAcknowledged), body))
	// Agents tell of changes to those who are connected to them.
	var wg sync.WaitGroup
	wg.Go(func() { x.c.oldest(ctx) })
	defer wg.Wait()
	x.c.mu.Lock()
	x.c.listeners[l] = struct{}{}
	x.c.mu.Unlock()
	defer func() {
		x.c.mu.Lock()
		delete(x.c.listeners, l)
		x.c.mu.Unlock()
	}()
	x.pump(ctx, l.mail)
	return []byte(`{"resultType":"complete"}`), nil
}
