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

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/fault"
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

// Route is one agent and how it is reached: exactly one of HostPort, URL and Command is given. It is not modified once it
// is part of a Table.
type Route struct {
	Name      string
	HostPort  int // a port of 127.0.0.1, where the endpoint is /mcp
	URL       *url.URL
	Transport Transport // of a URL
	CA        string    // file by which an https URL's host is trusted, see certs.Trust; "" for what the system trusts
	Command   string
	Args      []string
	Env       map[string]string // beside what a child always gets
	Cwd       string
	Session   Mode // of a command

	Disabled  bool
	Headers   http.Header   // sent with each request, the only source of Cookie, and of Authorization without OAuth
	OAuth     *config.OAuth // how to log in at a URL; nil for not at all
	Timeout   time.Duration // until the answer begins, and between two parts of an answer that is not an event stream
	Stream    bool          // whether GET is forwarded
	Methods   []string      // that may be called; nil for all
	Tools     []string      // that may be called; nil for all
	WaitReady time.Duration // how long to wait for an agent that does not listen yet
	RateLimit int           // requests a minute, 0 for no limit
	Fault     fault.Plan    // what goes wrong on purpose
}

// Endpoint is where the agent answers HTTP; nil for one with a command.
func (r *Route) Endpoint() *url.URL {
	if r.HostPort > 0 {
		return &url.URL{Scheme: "http", Host: "127.0.0.1:" + itoa(r.HostPort), Path: "/mcp"}
	}
	return r.URL
}

// Kind is the key of the route's upstream: "hostPort", "url" or "command".
func (r *Route) Kind() string {
	switch {
	case r.HostPort != 0:
		return "hostPort"
	case r.Command != "":
		return "command"
	}
	return "url"
}

// Server is the agent at a URL as a client has it in its configuration.
func (r *Route) Server() config.Server {
	s := config.Server{Name: r.Name, Transport: config.HTTP, URL: r.URL.String(), CA: r.CA, OAuth: r.OAuth, Headers: map[string]string{}}
	for name, v := range r.Headers {
		s.Headers[name] = v[0]
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
	Routes     map[string]*Route
	Lines      map[string]int // where port, tokens, sessionKey and routes.NAME.ca are in the file, those that are; 1-based
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
