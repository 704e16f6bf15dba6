package manage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	maxDuration = time.Minute // of a session with a server, whatever its route's timeout
	maxParallel = 8           // servers that are listed at the same time
	maxTools    = 64 << 20    // bytes of definitions in one response
)

// introduction is a server's description of itself; unknown members are nil.
type introduction struct {
	version            string
	info, capabilities []byte
	tools              int
}

// handshake opens a session with a server, counts its tools and closes the session.
func (s *Server) handshake(ctx context.Context, route *routes.Route, rt http.RoundTripper) (met introduction, err error) {
	tools, st, err := s.toolsOf(ctx, route, rt)
	return introduction{st.Version, st.ServerInfo, st.Capabilities, len(tools)}, err
}

// answer is the response of ConnectMcpServer.
func (i introduction) answer(route *routes.Route) ([]byte, error) {
	return encode(struct {
		Name         string          `json:"name"`
		Status       session.State   `json:"status"`
		Version      string          `json:"protocolVersion"`
		Info         json.RawMessage `json:"serverInfo"`
		Capabilities json.RawMessage `json:"capabilities"`
		Tools        int             `json:"tool_count"`
	}{route.Name, session.Connected, i.version, i.info, i.capabilities, i.tools})
}

// toolsOf opens a session with a server, gets all its tools and closes the session.
func (s *Server) toolsOf(ctx context.Context, route *routes.Route, rt http.RoundTripper) (_ []offer.Item, st session.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	m := session.NewManager(session.Options{
		Unrecorded: true, MaxList: maxTools, Capabilities: []byte("{}"), HealthInterval: -1, Retry: session.Retry{Max: -1},
		ClientInfo: session.Implementation{Name: s.o.Name, Version: s.o.Version},
		Dial: func(cfg config.Server) (transport.Transport, bool) {
			return transport.NewHTTP(cfg, transport.Tap{Server: cfg.Name}, rt), true
		},
	})
	defer func() {
		if bad := m.Close(); bad != nil {
			s.o.Logger.Debug("session with a server ended", "agent", route.Name, "error", bad.Error())
		}
	}()
	wait := min(route.Timeout+route.WaitReady, maxDuration)
	cfg := config.Server{
		Name: route.Name, Transport: config.HTTP, URL: "http://127.0.0.1/mcp", NoReconnect: true,
		ConnectTimeout: wait, Timeout: wait, MaxTimeout: maxDuration,
	}
	if at := route.Address(); at != "" {
		cfg.URL = at
	}
	sess, err := m.Register(cfg)
	if err != nil {
		return nil, st, err
	}
	if err = sess.Connect(ctx); err != nil {
		return nil, st, err
	}
	st = sess.Status()
	if !sess.Supports(string(mcp.MethodToolsList)) {
		return nil, st, nil
	}
	l, err := sess.List(ctx, offer.Tools)
	return slices.DeleteFunc(slices.Clone(l.Items), func(t offer.Item) bool { return t.Name == "" }), st, err
}

// getTools implements GetMcpTools: the tools of one server, or of all in force.
func (s *Server) getTools(ctx context.Context, body []byte) ([]byte, error) {
	name, err := optionalName(body)
	if err != nil {
		return nil, err
	}
	table := s.o.Router.Routes()
	if name != "" {
		if err := s.available(table, name); err != nil {
			return nil, err
		}
		tools, err := s.servedTools(ctx, name)
		if err != nil {
			return nil, err
		}
		only := part{name, tools, nil}
		all := []part{only}
		if table.Merged.Bare() {
			all = s.allParts(ctx, table) // the names depend on the others' tools
		}
		return s.answer([]part{only}, s.names(all))
	}
	parts := s.allParts(ctx, table)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.answer(parts, s.names(parts))
}

// names are the names of tools in the aggregate.
func (s *Server) names(parts []part) map[toolset.ToolRef]string {
	var refs []toolset.ToolRef
	for _, p := range parts {
		for _, t := range p.tools {
			refs = append(refs, toolset.ToolRef{Server: p.server, Tool: t.Name})
		}
	}
	names := make(map[toolset.ToolRef]string, len(refs))
	for i, name := range s.o.ToolNames(refs) {
		names[refs[i]] = name
	}
	return names
}

// allParts are the tools of all servers in force.
func (s *Server) allParts(ctx context.Context, table *routes.Table) []part {
	parts := []part{}
	for _, n := range table.Names() {
		if !table.Routes[n].Disabled {
			parts = append(parts, part{server: n})
		}
	}
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			slots <- struct{}{}
			parts[i].tools, parts[i].err = s.servedTools(ctx, parts[i].server)
			<-slots
		})
	}
	wg.Wait()
	return parts
}

// available returns an error if a server is not in force.
func (s *Server) available(table *routes.Table, name string) error {
	if r := table.Routes[name]; r != nil {
		if r.Disabled {
			return failureOf(failure.ServerDisabled, name, "disabled in the routes file")
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[name] != nil {
		return failureOf(failure.ServerNotConnected, name, "registered, but not connected; call ConnectMcpServer first")
	}
	return notFound(name)
}

// part is the tools of one server.
type part struct {
	server string
	tools  []offer.Item
	err    error
}

// servedTools gets the tools of a server in force.
func (s *Server) servedTools(ctx context.Context, name string) ([]offer.Item, error) {
	route, rt, release, ok := s.o.Router.Acquire(name)
	if !ok {
		return nil, notFound(name)
	}
	defer release()
	tools, _, err := s.toolsOf(ctx, route, rt)
	if err != nil {
		return nil, explain(err, route, s.o.Router.Stderr(name))
	}
	return tools, nil
}

// answer is the response of GetMcpTools: tools with their definitions as sent, and the servers that failed.
func (s *Server) answer(parts []part, names map[toolset.ToolRef]string) ([]byte, error) {
	out := []byte(`{"tools":[`)
	var missing [][]byte
	for _, p := range parts {
		size := 0
		for _, t := range p.tools {
			size += len(t.Raw)
		}
		if p.err == nil && len(out)+size > maxTools {
			p.err = failureOf(failure.Protocol, p.server, "response would exceed %s with its tools", text.Bytes(maxTools))
			if len(parts) == 1 {
				return nil, p.err
			}
		}
		if p.err != nil {
			missing = append(missing, fmt.Appendf(nil, `{"server":%s,"error":%s}`, jsonrpc.Quote(p.server), refusalOf(p.err).e.JSON()))
			continue
		}
		for _, t := range p.tools {
			if out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			out = append(out, '{')
			if name := names[toolset.ToolRef{Server: p.server, Tool: t.Name}]; name != "" {
				out = fmt.Appendf(out, `"name":%s,`, jsonrpc.Quote(name))
			}
			out = fmt.Appendf(out, `"server":%s,"tool":%s,"definition":%s}`, jsonrpc.Quote(p.server), jsonrpc.Quote(t.Name), t.Raw)
		}
	}
	out = append(out, ']')
	if len(missing) > 0 {
		out = append(append(append(out, `,"missing":[`...), bytes.Join(missing, []byte(","))...), ']')
	}
	return append(out, '}'), nil
}
