package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config/setup"
)

// Transports a Server can name.
const (
	Stdio = "stdio" // a child process, frames on its stdin and stdout
	HTTP  = "http"  // Streamable HTTP
	SSE   = "sse"   // HTTP+SSE of protocol revision 2024-11-05
	WS    = "ws"    // WebSocket, which is not in the specification: experimental
	Auto  = "auto"  // a URL: WebSocket by its scheme, else Streamable HTTP first, then HTTP+SSE by the specification's rule
)

// URLTransports lists the transports to a URL, the default first.
func URLTransports() []string { return []string{Auto, HTTP, SSE, WS} }

// schemes are how the URL of a server can begin: the scheme of where its requests go, "" for a Unix socket, and the transport where none is named.
var schemes = map[string]struct{ requests, transport string }{
	"http": {"http", Auto}, "https": {"https", Auto}, "ws": {"http", WS}, "wss": {"https", WS}, "unix": {"", Auto}, "http+unix": {"", Auto},
}

// IsURL reports whether a text begins like the URL of a server.
func IsURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	_, known := schemes[scheme]
	return ok && known
}

// TransportOf is the transport to a URL where none is named.
func TransportOf(url string) string {
	scheme, _, ok := strings.Cut(url, "://")
	if s, known := schemes[scheme]; ok && known {
		return s.transport
	}
	return Auto
}

// TransportName is a transport for people, which says where it is experimental.
func TransportName(transport string) string {
	if transport == WS {
		return WS + " (experimental)"
	}
	return transport
}

// What a zero field of Server stands for.
const (
	DefaultTimeout        = 30 * time.Second // of a request without progress
	DefaultMaxTimeout     = 5 * time.Minute  // of a request in all
	DefaultConnectTimeout = 15 * time.Second // over HTTP
	DefaultStartTimeout   = 2 * time.Minute  // over stdio: a package runner may have to download the server first
	DefaultMaxFrame       = 64 << 20         // bytes
)

// ConnectLimit is how long connecting may take: ConnectTimeout, or the default of the transport.
func (s Server) ConnectLimit() time.Duration {
	switch {
	case s.ConnectTimeout > 0:
		return s.ConnectTimeout
	case s.Command != "":
		return DefaultStartTimeout
	}
	return DefaultConnectTimeout
}

// Server is one MCP server as its user configured it, variables expanded. It is a value, whose copies share maps and slices: whoever
// changes one of these clones it first. It has secrets in it (Env, Headers, OAuth, the URL), as its JSON has: Masked is for showing it.
type Server struct {
	// Name is unique within a Set.
	Name string `json:"name"`
	// Given is the name in the file where that differs from Name, because an
	// earlier file has a different server of the same name.
	Given string `json:"given,omitempty"`
	// Unnamed says that nobody chose Name: it was made from the command or URL, and what the server calls itself is better.
	Unnamed bool `json:"-"`

	Transport string            `json:"transport"`         // Stdio, HTTP, SSE, WS or Auto
	Command   string            `json:"command,omitempty"` // "" for a server that is only reached by its URL; no shell is involved
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`     // added to the inherited environment
	EnvFile   string            `json:"envFile,omitempty"` // only with Options.Literal: else its variables are in Env
	Cwd       string            `json:"cwd,omitempty"`     // "" = the working folder
	// Sandbox shuts the process of Command in; nil lets it do all that the user may.
	Sandbox *confine.Rules `json:"sandbox,omitempty"`
	URL     string         `json:"url,omitempty"`
	// Launch says that Command is started and serves the URL by itself, over HTTP or SSE. Without it a URL is served already.
	Launch  bool              `json:"launch,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// HeadersHelper is a program with its arguments that prints further headers, as an object of strings in JSON.
	HeadersHelper []string `json:"headersHelper,omitempty"`
	OAuth         *OAuth   `json:"oauth,omitempty"`
	CA            string   `json:"ca,omitempty"` // file by which an https URL's host is trusted, see certs.Trust; "" = the system
	// Proxy is what requests go through: NoProxy for none, "" for what the environment says.
	Proxy string `json:"proxy,omitempty"`
	// ClientCert and ClientKey are files (PEM) by which the server knows who connects; "" for none. The key can be in the file
	// of the certificate.
	ClientCert string `json:"clientCert,omitempty"`
	ClientKey  string `json:"clientKey,omitempty"`
	// Insecure takes any certificate of the URL's host.
	Insecure bool `json:"insecure,omitempty"`

	Protocol string   `json:"protocol,omitempty"` // "" or "auto", or a protocol revision such as 2025-11-25
	Roots    []string `json:"roots,omitempty"`    // directories or file:// URIs
	Disabled bool     `json:"disabled,omitempty"`
	// NoReconnect turns automatic reconnection off for this server.
	NoReconnect bool `json:"noReconnect,omitempty"`

	Source Source   `json:"source"`
	Also   []Source `json:"also,omitempty"` // other places that describe this very server

	Timeout        time.Duration `json:"timeout,omitempty"`        // of a request, restarted by progress; 0 = DefaultTimeout
	MaxTimeout     time.Duration `json:"maxTimeout,omitempty"`     // of a request, whatever its progress; 0 = DefaultMaxTimeout
	ConnectTimeout time.Duration `json:"connectTimeout,omitempty"` // 0 = the default of the transport, see ConnectLimit
	MaxFrame       int64         `json:"maxFrame,omitempty"`       // bytes; 0 = DefaultMaxFrame

	// Problem is why this entry cannot be started: a variable that is not set,
	// a missing command … The entry is listed and flagged, never dropped.
	Problem error `json:"-"`

	// Inputs are what the entry has to be told before it can start; see Fill. Where there are any, its values are not complete.
	Inputs []setup.Input `json:"-"`

	// path leads to the entry in its file: members, and indices of lists.
	path []string
	// written pins the entry as its file has it, before expansion; see Fingerprint.
	written string
	// secrets are values of variables named like secrets that were expanded
	// into some field, wherever it is; Masked hides them.
	secrets []string
	// token is that of a login, in Env; "" for none. See WithToken.
	token string
	// variables are the names of those that were expanded into some field.
	variables []string
	// origin is how the parts are shown that were made from what a publisher wrote; nil for none.
	origin *origin
	// pending is the entry that Fill completes; nil where nothing is missing.
	pending *pending
}

// Source says where an entry was found.
type Source struct {
	File    string `json:"file,omitempty"`    // absolute path; "" for a target named on the command line
	Line    int    `json:"line,omitempty"`    // of the entry's name, 1-based; 0 if unknown
	Dialect string `json:"dialect,omitempty"` // a Dialect's name
	// Project marks a file of the working folder: its entries need trust before anything starts them.
	Project bool `json:"project,omitempty"`
	// Published is who published the description that the entry was made from; nil for an entry that was written here.
	Published *Published `json:"published,omitempty"`
}

// String is "file:line", or "command line".
func (s Source) String() string {
	switch {
	case s.File == "":
		return "command line"
	case s.Line == 0:
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}
