// Package toolset makes one list of the tools of several servers.
//
// A [Bridge] watches the servers of a session.Manager and keeps their tools in a [Registry], under names that say whose they are
// (mcp__SERVER__TOOL, or as a [Naming] has them). CallTool resolves such a name, connects the server through a [Pool] if need be, and makes the
// call. A name that fits several servers is an InvalidToolName error, never a guess.
//
// The Manager owns the connections, and outlives the bridge; the pool closes those that are idle for too long, least recently used first.
// What is safe to call from several goroutines is all of it.
package toolset

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Bridge makes the servers of a Manager one set of tools: it discovers them when a server connects, keeps them in a
// Registry under names that are unique across servers, and routes calls by those names, connecting on demand.
//
//	b := toolset.NewBridge(manager, config.Settings{})
//	defer b.Close()
//	err := b.ConnectAll(ctx, names, nil)
//	…
//	reply, err := b.CallTool(ctx, "mcp__files__read_file", args, session.CallOptions{})
type Bridge struct {
	m        *session.Manager
	pool     *Pool
	registry *Registry
	set      config.Settings

	// Guarded by mu: what the registry holds of each session, so that a list that did not change is not registered again.
	mu      sync.Mutex
	seen    map[*session.Session]uint64 // revision of the tool list that is registered
	clashes map[string][]string         // server -> full names that another server has

	stop func()
	done chan struct{}
}

// ServerStatus is one line of GetStatus.
type ServerStatus struct {
	State     session.State `json:"state"`
	Connected bool          `json:"connected"`
	Enabled   bool          `json:"enabled"`
	ToolCount int           `json:"tool_count"` // registered; they stay when the pool closes an idle connection
	LatencyMs float64       `json:"latency_ms"` // of the last health check, or of the handshake; 0 while not connected
	Requests  uint64        `json:"requests"`   // over all connections
	Failed    uint64        `json:"failed"`     // of them
	Error     string        `json:"error,omitempty"`
	Reason    string        `json:"reason,omitempty"` // why, in a line; "" where it did not fail
	// Clashes are tools that are not registered, because another server's tool has the same full name.
	Clashes []string `json:"clashes,omitempty"`
}

// NewBridge works on m's servers until Close. The settings' zero values stand for their defaults.
func NewBridge(m *session.Manager, set config.Settings) *Bridge {
	ctx, stop := context.WithCancel(context.Background())
	b := &Bridge{
		m: m, pool: NewPool(m, set.Pool), registry: NewRegistry(), set: set,
		seen: map[*session.Session]uint64{}, clashes: map[string][]string{}, done: make(chan struct{}),
	}
	b.registry.OnChange(m.NotifyChange) // who shows the manager's servers shows the tools as well
	changed, cancel := m.Follow()
	b.stop = func() { stop(); cancel() }
	go b.follow(ctx, changed)
	return b
}

// Close ends the bridge and its pool, and returns when nothing of them runs. The connections are the Manager's, and stay. Calls that are
// under way go on.
func (b *Bridge) Close() {
	b.stop()
	<-b.done
	b.pool.Close()
}

// Registry is the tools of all servers, and local ones.
func (b *Bridge) Registry() *Registry { return b.registry }

// Pool is what the bridge takes its connections from.
func (b *Bridge) Pool() *Pool { return b.pool }

// OnToolsChanged calls f after every change of the set of tools, without locks held. f must be quick.
func (b *Bridge) OnToolsChanged(f func()) { b.registry.OnChange(f) }

// RegisterServer adds a server, without connecting it.
func (b *Bridge) RegisterServer(s config.Server) error {
	_, err := b.m.Register(s)
	return err
}

// Connect connects a server and, unless auto_discover is off, registers its tools.
func (b *Bridge) Connect(ctx context.Context, name string) error {
	return b.connect(ctx, name, func(error) {})
}

// connect is Connect. The server is in use until seen, which gets the outcome, has returned.
func (b *Bridge) connect(ctx context.Context, name string, seen func(error)) error {
	s, release, err := b.pool.Get(ctx, name)
	if err == nil {
		defer release()
		if isOn(b.set.AutoDiscover) {
			_, err = b.discover(ctx, s)
		}
	}
	seen(err)
	return err
}

// slowStart is how long a server that connects counts as one of those that start.
const slowStart = 15 * time.Second

// isOn is a setting whose default is true.
func isOn(v *bool) bool { return v == nil || *v }

// ConnectAll connects these servers, several at a time and never more than the pool may have, and returns the first failure.
// seen gets the outcome of each while it is in use, from several goroutines; nil for nobody. A server that fails keeps no other from connecting, unless
// continue_on_error is off: then the first failure ends the rest, which fail as interrupted.
func (b *Bridge) ConnectAll(ctx context.Context, names []string, seen func(name string, err error)) (first error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	slots := make(chan struct{}, b.pool.room(8)) // starting many children at once makes all of them slow
	bound := b.pool.limit.MaxConnections > 0
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			slots <- struct{}{}
			leave := sync.OnceFunc(func() { <-slots })
			defer leave()
			if !bound { // one that does not come must not keep the others
				defer time.AfterFunc(slowStart, leave).Stop()
			}
			_ = b.connect(ctx, name, func(err error) {
				mu.Lock()
				if err != nil && first == nil {
					first = err
					if !isOn(b.set.ContinueOnError) {
						cancel()
					}
				}
				mu.Unlock()
				if seen != nil {
					seen(name, err)
				}
			})
		})
	}
	wg.Wait()
	return first
}

// Disconnect closes a server's connection and takes its tools out of the registry.
func (b *Bridge) Disconnect(name string) error {
	s, ok := b.m.Server(name)
	if !ok {
		return session.UnknownServer(name)
	}
	err := s.Disconnect()
	b.drop(s)
	return err
}

// UnregisterServer disconnects a server and forgets it.
func (b *Bridge) UnregisterServer(name string) error {
	if err := b.Disconnect(name); failure.KindOf(err) == failure.ServerNotFound {
		return err
	}
	return b.m.Unregister(name) // says again what went wrong while closing
}

// drop takes the tools of a server out of the registry.
func (b *Bridge) drop(s *session.Session) {
	b.mu.Lock()
	delete(b.seen, s)
	delete(b.clashes, s.Name())
	b.mu.Unlock()
	b.registry.UnregisterServer(s.Name())
}

// RefreshTools asks the server for its tools again, whatever is cached.
func (b *Bridge) RefreshTools(ctx context.Context, name string) error {
	s, release, err := b.pool.Get(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	l, err := s.Refresh(ctx, offer.Tools)
	if err == nil {
		b.register(s, l)
	}
	return err
}

// follow registers what changes behind the bridge's back: servers that somebody else connects, reconnects, and lists
// that were loaded again because the server said that they changed.
func (b *Bridge) follow(ctx context.Context, changed <-chan struct{}) {
	defer close(b.done)
	var wg sync.WaitGroup
	defer wg.Wait()
	type state struct{ rev, conn uint64 }
	last := map[*session.Session]state{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		now := map[*session.Session]state{}
		for _, s := range b.m.Servers() {
			was, rev := last[s], s.Rev()
			now[s] = was
			if was.rev == rev {
				continue
			}
			st := s.Status()
			now[s] = state{rev, was.conn}
			if st.State != session.Connected {
				continue
			}
			if l := s.Listing(offer.Tools); l.Loaded {
				b.register(s, l)
			}
			if was.conn == st.Conn || !isOn(b.set.AutoDiscover) {
				continue
			}
			// Once per connection: if it fails, the listing says why.
			now[s] = state{rev, st.Conn}
			wg.Go(func() { _, _ = b.discover(ctx, s) })
		}
		last = now
	}
}

// discover registers the server's tools and returns them. The list comes from the session's cache while that holds.
func (b *Bridge) discover(ctx context.Context, s *session.Session) (offer.Listing, error) {
	if b.set.Timeouts.Discovery > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.set.Timeouts.Discovery)
		defer cancel()
	}
	if !s.Supports(offer.Tools.Method()) {
		b.drop(s) // of an earlier connection, if anything
		return offer.Listing{Kind: offer.Tools, Loaded: true}, nil
	}
	load := s.List
	if l := s.Listing(offer.Tools); b.set.CacheTTL > 0 && l.Loaded && time.Since(l.At) > b.set.CacheTTL {
		load = s.Refresh
	}
	l, err := load(ctx, offer.Tools)
	if err == nil {
		b.register(s, l)
	}
	return l, err
}

// register puts the tools of a listing into the registry, unless they are there.
func (b *Bridge) register(s *session.Session, l offer.Listing) {
	var tools []RegisteredTool
	for _, it := range l.Items {
		if it.Name == "" {
			continue // flagged where the list is shown; nothing could call it
		}
		ref := ToolRef{s.Name(), it.Name}
		tools = append(tools, RegisteredTool{
			Name: FullName(ref.Server, ref.Tool), Source: MCP, Server: ref.Server, Tool: ref.Tool, Item: it,
			Run: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
				r, err := b.call(ctx, ref, args, session.CallOptions{})
				return r.Result, err
			},
		})
	}
	b.mu.Lock()
	rev, known := b.seen[s]
	// A list may arrive late: after a newer one, or after Disconnect has taken the tools out.
	if known && rev >= l.Rev || s.Status().State != session.Connected {
		b.mu.Unlock()
		return
	}
	b.seen[s] = l.Rev
	b.clashes[s.Name()] = b.registry.replace(s.Name(), tools)
	b.mu.Unlock()
	b.registry.notify() // without locks: whoever listens may ask for the status
}

// GetAllTools is every server's tools under their full names, in order of discovery.
func (b *Bridge) GetAllTools() []RegisteredTool { return b.registry.ListBySource(MCP) }

// CallTool calls a tool by its full name, in either spelling, connecting its server if need be. A name that no listed
// tool has is an InvalidToolName error, and nothing is sent.
func (b *Bridge) CallTool(ctx context.Context, fullName string, args json.RawMessage, o session.CallOptions) (rpc.Reply, error) {
	var servers []string
	for _, s := range b.m.Servers() {
		servers = append(servers, s.Name())
	}
	ref, err := ResolveName(fullName, servers, func(r ToolRef) (yes, known bool) {
		s, ok := b.m.Server(r.Server)
		if !ok {
			return false, true
		}
		l := s.Listing(offer.Tools)
		return hasTool(l, r.Tool), l.Loaded
	})
	if err != nil {
		return rpc.Reply{}, err
	}
	return b.call(ctx, ref, args, o)
}

func hasTool(l offer.Listing, name string) bool {
	return slices.ContainsFunc(l.Items, func(it offer.Item) bool { return it.Name == name })
}

func (b *Bridge) call(ctx context.Context, ref ToolRef, args json.RawMessage, o session.CallOptions) (rpc.Reply, error) {
	s, release, err := b.pool.Get(ctx, ref.Server)
	if err != nil {
		return rpc.Reply{}, err
	}
	defer release()
	l, err := b.discover(ctx, s)
	if err != nil {
		return rpc.Reply{}, err
	}
	if !hasTool(l, ref.Tool) {
		e := invalidName(ref.Tool, "is not among the server's tools", "list the tools to see their names").(*failure.Error)
		e.Server = ref.Server
		return rpc.Reply{}, e
	}
	return s.CallTool(ctx, ref.Tool, args, o)
}

// GetStatus is the state of every registered server by name.
func (b *Bridge) GetStatus() map[string]ServerStatus {
	out := map[string]ServerStatus{}
	for _, s := range b.m.Servers() {
		out[s.Name()] = b.status(s)
	}
	return out
}

// Status is the state of one server; false if there is none of this name.
func (b *Bridge) Status(name string) (ServerStatus, bool) {
	s, ok := b.m.Server(name)
	if !ok {
		return ServerStatus{}, false
	}
	return b.status(s), true
}

func (b *Bridge) status(s *session.Session) ServerStatus {
	st, use := s.Status(), s.Use()
	v := ServerStatus{
		Requests: use.Calls, Failed: use.Failed,
		State: st.State, Connected: st.State == session.Connected, Enabled: !s.Config().Disabled,
		ToolCount: len(b.registry.ListByServer(s.Name())), LatencyMs: float64(st.Latency.Microseconds()) / 1000,
	}
	if st.Err != nil {
		v.Error, v.Reason = st.Err.Error(), failure.Why(st.Err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v.Clashes = slices.Clone(b.clashes[s.Name()])
	return v
}
