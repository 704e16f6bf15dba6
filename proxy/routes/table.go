// Package routes reads routing.json, reports what is wrong with it by line, and follows the file while it changes,
// keeping the last valid configuration in force.
package routes

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/fault"
)

// DefaultTimeout is how long an agent may take until its answer begins where its route does not say.
const DefaultTimeout = 30 * time.Second

// Mode is how many processes serve a route with a command.
type Mode string

// Transport is how the server at a URL is spoken to.
type Transport string

// The transports.
const (
	Auto Transport = "auto" // HTTP, and SSE with a server that refuses it as the specification has it
	HTTP Transport = "http" // Streamable HTTP
	SSE  Transport = "sse"  // HTTP+SSE of 2024-11-05
)

// The modes.
const (
	PerSession Mode = "per-session" // a process for each session
	Shared     Mode = "shared"      // one for all
)

// Route is one agent and how it is reached: exactly one of HostPort, URL and Command is given, or none as long as a Registered
// one has no registration. It is not modified once it is part of a Table.
type Route struct {
	Name      string
	HostPort  int // a port of 127.0.0.1, where the endpoint is /mcp
	URL       *url.URL
	Socket    string     // the Unix socket that requests to URL go into, "" for the network
	URLs      []*url.URL // of replicas that serve it together, URL is the first; nil where there are not several
	Transport Transport  // of a URL
	CA        string     // file by which an https URL's host is trusted, see certs.Trust; "" for what the system trusts
	Network
	Command string
	Args    []string
	Env     map[string]string // beside what a child always gets
	Cwd     string
	Sandbox *confine.Rules // of a command; nil for none
	Session Mode           // of a command

	Registered bool // its upstreams are those of the other routes of its name
	Shared     bool // whether registrations in a bucket add upstreams to it
	Disabled   bool
	Headers    http.Header   // sent with each request, the only source of Cookie, and of Authorization without OAuth
	OAuth      *config.OAuth // how to log in, at a URL or for the token of a command; nil for not at all
	Timeout    time.Duration // until the answer begins, and between two parts of an answer that is not an event stream
	Stream     bool          // whether GET is forwarded
	Methods    []string      // that may be called; nil for all
	Tools      []string      // that may be called; nil for all
	WaitReady  time.Duration // how long to wait for an agent that does not listen yet
	RateLimit  int           // requests a minute, 0 for no limit
	Fault      fault.Plan    // what goes wrong on purpose
	Include    []string      // patterns of names that the endpoint of all agents has of it; nil for all
	Exclude    []string      // and of names that it has not
}

// Network is how the agent at a URL is reached, beside its CA.
type Network struct {
	Proxy                 string // URL of a proxy, "none", or "" for that of the environment
	ClientCert, ClientKey string // files (PEM); the key "" where the certificate's file has it
	Insecure              bool   // whether its certificate is not checked
}

// files are the paths of a route.
func (r *Route) files() []*string { return []*string{&r.CA, &r.ClientCert, &r.ClientKey} }

// Endpoint is where the agent answers HTTP, the first of several; nil for one with a command, and where nobody is registered.
func (r *Route) Endpoint() *url.URL {
	if r.HostPort > 0 {
		return &url.URL{Scheme: "http", Host: "127.0.0.1:" + itoa(r.HostPort), Path: "/mcp"}
	}
	return r.URL
}

// Kind is the key of the route's upstream: "hostPort", "url", "urls", "command" or "registered".
func (r *Route) Kind() string {
	switch {
	case r.Registered:
		return "registered"
	case r.HostPort != 0:
		return "hostPort"
	case r.Command != "":
		return "command"
	case len(r.URLs) > 0:
		return "urls"
	}
	return "url"
}

// Address is the route's endpoint as its owner wrote it, with what is secret in it; "" where there is none.
func (r *Route) Address() string {
	switch u := r.Endpoint(); {
	case u == nil:
		return ""
	case r.Socket != "":
		return "unix://" + r.Socket + ":" + u.RequestURI()
	default:
		return u.String()
	}
}

// Server is the agent as a client has it in its configuration.
func (r *Route) Server() config.Server {
	s := config.Server{Name: r.Name, Transport: config.HTTP, URL: r.Address(), CA: r.CA, OAuth: r.OAuth, Headers: map[string]string{}}
	s.Proxy, s.ClientCert, s.ClientKey, s.Insecure = r.Proxy, r.ClientCert, r.ClientKey, r.Insecure
	for name, v := range r.Headers {
		s.Headers[name] = v[0]
	}
	if r.Command != "" {
		s.Transport, s.Command, s.Args, s.Env, s.Cwd = config.Stdio, r.Command, r.Args, r.Env, r.Cwd
	}
	return s
}

// Equal reports whether nothing about the route differs, so that what was set up for one serves for the other.
func (r *Route) Equal(o *Route) bool { return reflect.DeepEqual(r, o) }

// Table is a routing.json: an immutable snapshot.
type Table struct {
	Port       int    // 0 where the file does not say
	Tokens     string // the file of tokens, "" for none; relative to the file's folder
	SessionKey string // the file of keys that seal session ids, "" for ids that the router keeps; relative likewise
	Cluster    string // the NATS server that the router shares with others, "" for none
	WebSocket  bool   // whether clients may use WebSockets
	SSE        bool   // whether clients may use HTTP+SSE of 2024-11-05
	Routes     map[string]*Route
	Lines      map[string]int // where port, tokens, sessionKey and routes.NAME.ca are in the file, those that are; 1-based
	Merged     Merged         // the endpoint of all agents
	Warnings   []Problem      // of what is in the file and means nothing
}

// With is the table with further routes, where it has none of their names.
func (t *Table) With(more map[string]*Route) *Table {
	if len(more) == 0 {
		return t
	}
	n := *t
	n.Routes = maps.Clone(more)
	maps.Copy(n.Routes, t.Routes)
	return &n
}

// Names are the names of all routes, sorted.
func (t *Table) Names() []string {
	names := make([]string, 0, len(t.Routes))
	for n := range t.Routes {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
