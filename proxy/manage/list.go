package manage

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
)

// Sources of servers.
const (
	fromFile   = "file"
	registered = "registered"
)

// listed is a server in the response of ListMcpServers, without the values of variables and headers.
type listed struct {
	Name     string            `json:"name"`
	Source   string            `json:"source"`
	Status   session.State     `json:"status"`
	Enabled  bool              `json:"enabled"`
	Shadowed bool              `json:"shadowed,omitempty"` // a server of the routes file has its name, and takes precedence
	Upstream string            `json:"upstream"`           // "hostPort", "url" or "command"
	HostPort int               `json:"hostPort,omitempty"`
	URL      string            `json:"url,omitempty"`
	CA       string            `json:"ca,omitempty"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	Sandbox  *confine.Rules    `json:"sandbox,omitempty"`
	Session  routes.Mode       `json:"session,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Tools    *int              `json:"tool_count,omitempty"` // at the time of ConnectMcpServer
	Error    json.RawMessage   `json:"error,omitempty"`
}

func listedOf(r *routes.Route, source string) listed {
	l := listed{
		Name: r.Name, Source: source, Status: session.Disconnected, Enabled: !r.Disabled, Upstream: r.Kind(), HostPort: r.HostPort, CA: r.CA,
		Command: r.Command, Args: mask.Args(r.Args), Cwd: r.Cwd, Sandbox: r.Sandbox, Env: hidden(r.Env), Headers: hidden(r.Headers),
	}
	if r.URL != nil {
		l.URL = mask.URL(r.Address())
	}
	if r.Command != "" {
		l.Session = r.Session
	}
	return l
}

// hidden returns the names of m with masked values.
func hidden[T any](m map[string]T) map[string]string {
	out := make(map[string]string, len(m))
	for k := range m {
		out[k] = mask.Hidden
	}
	return out
}

// list implements ListMcpServers: all servers, sorted by name.
func (s *Server) list(ctx context.Context, body []byte) ([]byte, error) {
	if name, err := optionalName(body); err != nil || name != "" {
		if err == nil {
			err = usageError(http.StatusBadRequest, "ListMcpServers takes no name")
		}
		return nil, err
	}
	all := []listed{}
	table := s.o.Router.Routes().Routes
	gone := unreachable(ctx, table)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, v := range s.known {
		served := table[name]
		l := listedOf(v.route, registered)
		l.Status = v.state
		switch {
		case served != nil && served != v.route:
			l.Status, l.Shadowed = session.Disconnected, true
		case v.err != nil:
			l.Error = v.err.JSON()
		case v.state == session.Connected:
			l.Tools = &v.tools
			s.health(&l, gone[served])
		}
		all = append(all, l)
	}
	for name, r := range table {
		if v := s.known[name]; v != nil && v.route == r {
			continue
		}
		l := listedOf(r, fromFile)
		if l.Enabled {
			if s.o.Router.Answered(name) {
				l.Status = session.Connected
			}
			s.health(&l, gone[r])
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.Name+" "+a.Source, b.Name+" "+b.Source) })
	return encode(map[string]any{"servers": all})
}

// health sets the status of a served server that is unhealthy, or wants a login. gone is why it cannot be reached, nil if it can.
func (s *Server) health(l *listed, gone error) {
	if s.o.Router.NeedsLogin(l.Name) {
		l.Status = session.NeedsLogin
		l.Error = failureOf(failure.OAuth, l.Name, "the server wants a login; StartMcpOAuth starts one").JSON()
		return
	}
	why := s.o.Router.Unhealthy(l.Name)
	if why == "" && gone != nil {
		why = gone.Error()
	}
	if why != "" {
		l.Status = session.Failed
		l.Error = failureOf(failure.Transport, l.Name, "%s", mask.Text(why)).JSON()
	}
}

// encode returns v as one line of JSON, without escaping HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
