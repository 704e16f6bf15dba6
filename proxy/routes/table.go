// Package routes reads routing.json, reports what is wrong with it by line, and follows the file while it changes,
// keeping the last valid configuration in force.
//
//	w, err := routes.Watch(routes.Options{Path: "routing.json", Must: true, Changed: apply})
//	defer w.Close()
//	table := w.Current() // a snapshot, which nobody changes
//
// Routes come from one file, from a folder of files, and from keys of a bucket beside either. Each of them is a piece, which is good or not by
// itself: what is wrong with one leaves the others, and its own last valid state, in force. merge makes one Table of them, in an order that
// does not depend on when they came. A router compares routes by Equal, and keeps what is set up for those that did not change.
//
// Not everybody who may write a piece may say everything in it. A file in a folder that other users may write to, and a key, only say where an agent
// is: see Table.foreign. Problems are shown to people and logged, so they quote no value that may be a secret.
//
// parse.go and decode.go read texts, merged.go what concerns the endpoint of all agents; file.go, folder.go and keys.go are where texts come from;
// replicas.go makes one route of several; watch.go follows them.
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
	Name      string     // by which clients ask for it; see config.ValidName
	HostPort  int        // a port of 127.0.0.1, where the endpoint is /mcp; 0 for none
	URL       *url.URL   // http or https; nil for none
	Socket    string     // the Unix socket that requests to URL go into, "" for the network
	URLs      []*url.URL // of replicas that serve it together, URL is the first; nil where there are not several
	Transport Transport  // of a URL
	CA        string     // file by which an https URL's host is trusted, see certs.Trust; "" for what the system trusts
	Network
	Command string // a program, which speaks over stdio; "" for none
	Args    []string
	Env     map[string]string // beside what a child always gets
	Cwd     string            // absolute once it was loaded; "" for that of the router
	Sandbox *confine.Rules    // of a command; nil for none
	Session Mode              // of a command

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

// Endpoint is where the agent answers HTTP, the first of several; nil for one with a command, and where nobody is registered. It may have a
// password in it: see Address.
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

// Server is the agent as a client has it in its configuration, for the session that the router has with it. Of replicas it is the first; limits, faults
// and the sandbox are not in it: the router applies them itself.
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

// Table is a routing.json, or several of them in one: an immutable snapshot. Load and Watch make paths in it absolute, by the folder of their file;
// Parse leaves them as they are.
type Table struct {
	Port       int               // 0 where the file does not say
	Tokens     string            // the file of tokens, "" for none
	SessionKey string            // the file of keys that seal session ids, "" for ids that the router keeps
	Cluster    string            // the NATS server that the router shares with others, "" for none
	WebSocket  bool              // whether clients may use WebSockets
	SSE        bool              // whether clients may use HTTP+SSE of 2024-11-05
	Routes     map[string]*Route // by name; never nil
	// Lines are where settings of the whole table (port, tokens, sessionKey, cluster, websocket, sse, prefix), routes.NAME.ca and
	// routes.NAME.clientCert are in the file, those that are; 1-based. A table of several files has none.
	Lines    map[string]int
	Merged   Merged    // the endpoint of all agents
	Warnings []Problem // of what is in the file and means nothing
}

// With is the table with further routes, where it has none of their names: what is written in a file goes before what is registered at run time.
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
