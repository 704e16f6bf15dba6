// Package authtest has what a login needs, for tests: a protected MCP server, an authorization server, and a person with a
// browser. They do everything right, unless one of the Knobs says otherwise.
package authtest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// Knobs are the ways to misbehave. The zero value does everything right. Functions edit what is sent, just before it is; they
// are called from several goroutines.
type Knobs struct {
	// Challenges are the WWW-Authenticate headers of a refusal, instead of the right one. "{metadata}" stands for the URL of the
	// protected-resource metadata. An empty list sends none.
	Challenges []string
	// Resource edits the protected-resource metadata: another resource, other authorization servers …
	Resource func(doc map[string]any)
	// Scopes are those that tools need: scopes separated by blanks, by tool. Without them a call is refused with
	// insufficient_scope.
	Scopes map[string]string
	// Insatiable refuses those calls whatever the scopes of the token.
	Insatiable bool
	// Unauthorized refuses every token.
	Unauthorized bool

	// Metadata edits the metadata of the authorization server: another issuer, javascript: endpoints, no PKCE …
	Metadata func(doc map[string]any)
	// Back edits what the browser brings back: iss missing, wrong, twice; a foreign state; an error instead of a code …
	Back func(q url.Values)
	// Token edits what the token endpoint grants: another type, fewer scopes, no refresh_token …
	Token func(doc map[string]any)
	// Registration edits what a registered client is answered: a secret that ends, another method …
	Registration func(doc map[string]any)
	// Refuse answers with an OAuth error code, by endpoint: "/register", "/token", "/authorize" (in the browser), "/revoke".
	Refuse map[string]string
	// Life is how long access tokens are good; 0 for an hour.
	Life time.Duration
	// JWT makes access tokens that are JWTs, with an empty signature.
	JWT bool
	// Other judges token requests of other grants than codes and refresh tokens: it returns an OAuth error code, or "" to grant
	// what they ask for. Who asks is not checked otherwise.
	Other func(r *http.Request) (refused string)
	// Identity makes it an identity provider, whose clients get ID tokens with these claims after the function has edited them, and
	// exchange them for ID-JAGs.
	Identity func(claims map[string]any)
	// DPoP binds tokens to the keys of their clients (RFC 9449), and takes none that is not. NonceToken and NonceServer are
	// the nonces that the token endpoint and the server then want; "" for none.
	DPoP                    bool
	NonceToken, NonceServer string
	// API makes it an authorization server of a web API, which knows nothing of resources and refuses who names one.
	API bool
	// Clock is how far the Date header of the authorization server is off.
	Clock time.Duration

	// Serve answers in the place of what a path has, at both servers, for what no other knob can do: redirects, 50 MB, HTML.
	Serve map[string]http.HandlerFunc
	// Mode is the MCP server behind the login; "" for behave.Good.
	Mode behave.Mode
}

// dial is a set of knobs that tests turn while servers look at it.
type dial struct {
	mu    sync.Mutex
	knobs Knobs
}

// Set turns knobs.
func (d *dial) Set(turn func(k *Knobs)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	turn(&d.knobs)
}

func (d *dial) get() Knobs {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.knobs
}

// Start runs a protected MCP server and its authorization server on loopback, each on a port of its own, until the test ends.
func Start(t testing.TB, k Knobs) *Server {
	return server(t, NewIssuer(t, k), k, loopback(t))
}

// NewIssuer runs another authorization server on loopback.
func NewIssuer(t testing.TB, k Knobs) *Issuer { return issuer(k, loopback(t)) }

// Memory is both servers in memory, at https://mcp.example.com/mcp and https://login.example.com: what their HTTP reaches. They
// are public, and can run in virtual time.
func Memory(t testing.TB, k Knobs) *Server {
	n := newNetwork(t)
	s := server(t, issuer(k, n.host("login.example.com")), k, n.host("mcp.example.com"))
	s.HTTP, s.Issuer.HTTP = n.client, n.client
	return s
}

// Beside is another authorization server in the same memory.
func (s *Server) Beside(host string, k Knobs) *Issuer {
	i := issuer(k, s.HTTP.(*client).network.host(host))
	i.HTTP = s.HTTP
	return i
}

// place runs a handler and says what its URL is, without a path.
type place func(h http.Handler) (base string)

func loopback(t testing.TB) place {
	return func(h http.Handler) string {
		srv := httptest.NewServer(h)
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
		})
		return srv.URL
	}
}
