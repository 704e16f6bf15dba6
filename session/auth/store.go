package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
)

// Key says what credentials are for: they are never shown to another issuer or resource.
type Key struct {
	Resource string `json:"resource"` // canonical URI of the server (RFC 8707)
	Issuer   string `json:"issuer"`   // of the authorization server, compared byte by byte
}

// InputsOf is the resource of secrets that come from people, not from a login: what the inputs of a server were given, each under its name as the issuer.
func InputsOf(scope string) string { return inputs + scope }

const inputs = "input:"

// EveryInput is the resource of all such secrets.
const EveryInput = inputs

// Of reports whether what is kept under k is meant by a resource, which is "" for every login.
func (k Key) Of(resource string) bool {
	switch resource {
	case "":
		return !strings.HasPrefix(k.Resource, inputs)
	case EveryInput:
		return strings.HasPrefix(k.Resource, inputs)
	}
	return k.Resource == resource
}

// Credentials are what one issuer gave for one resource.
type Credentials struct {
	Key
	Client Client `json:"client"`
	Token  Token  `json:"token"`
	// Audience is what requests named as resource; it is Resource, or a parent of it that the server calls its own.
	Audience string `json:"audience,omitempty"`
	// What refreshing and revoking needs, as discovered.
	TokenURL  string `json:"tokenUrl,omitempty"`
	RevokeURL string `json:"revokeUrl,omitempty"`
}

// Client is how an issuer knows us.
type Client struct {
	ID       string    `json:"id"`
	Secret   string    `json:"secret,omitempty"`
	Expires  time.Time `json:"expires,omitzero"` // of the secret; zero for never
	Method   string    `json:"method,omitempty"` // token_endpoint_auth_method
	Redirect string    `json:"redirect,omitempty"`
	Origin   string    `json:"origin,omitempty"` // Configured, Document or Registered
}

// String is for logs and errors: it has no secret.
func (c Client) String() string { return "client " + c.ID }

// Origins of a Client.
const (
	Configured = "configured" // pre-registered, in the configuration
	Document   = "document"   // client-id metadata document
	Registered = "registered" // by RFC 7591
)

// Token is an answer of the token endpoint (RFC 6749 section 5.1).
type Token struct {
	Access   string    `json:"access,omitempty"`
	Refresh  string    `json:"refresh,omitempty"`
	ID       string    `json:"id,omitempty"`   // of a login at an identity provider, which is shown to no server: there is no Access, and Expires is its
	Type     string    `json:"type,omitempty"` // "Bearer" or "DPoP"
	Scopes   []string  `json:"scopes,omitempty"`
	Obtained time.Time `json:"obtained,omitzero"`
	Expires  time.Time `json:"expires,omitzero"` // zero if the server did not say
	Proof    []byte    `json:"proof,omitempty"`  // the private key that the token is bound to (RFC 9449), PKCS #8; nil for none
}

// String is for logs and errors: it has no secret.
func (t Token) String() string { return t.Type + " " + mask.Hidden }

// Store keeps credentials. Safe for concurrent use, also by several processes.
type Store interface {
	// Find returns what is kept for a resource, the newest first; "" for every login. With an error comes what could be read, and only
	// the Key of what could not.
	Find(ctx context.Context, resource string) ([]Credentials, error)
	// Put keeps c in the place of what its key had.
	Put(ctx context.Context, c Credentials) error
	// Delete forgets what a key had; that there was nothing is fine.
	Delete(ctx context.Context, k Key) error
	// Where says where credentials are kept, for people: "the keychain", "~/.config/mcphud/credentials.json" …
	Where() string
}

// Locker is a Store that several processes share. Lock keeps out the others who renew what a key has: a refresh token may be good once, and whoever
// comes second must find what the first one got. It waits for a bounded time; an error
// keeps nobody out, and is no reason not to renew. unlock must be called.
type Locker interface {
	Lock(ctx context.Context, k Key) (unlock func(), err error)
}

// ErrLocked says that there is no keychain, or that it is locked.
var ErrLocked = errors.New("the keychain cannot be used")

// memory is the Store of NewMemory.
type memory struct {
	mu  sync.Mutex
	all []Credentials // the newest first, one of each key
}

// NewMemory is a Store that ends with the program.
func NewMemory() Store { return &memory{} }

func (m *memory) Find(_ context.Context, resource string) (found []Credentials, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.all {
		if c.Of(resource) {
			found = append(found, c)
		}
	}
	return found, nil
}

// Put replaces under one lock: that a key has nothing for a moment would look like a logout.
func (m *memory) Put(_ context.Context, c Credentials) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(c.Key)
	m.all = slices.Insert(m.all, 0, c)
	return nil
}

func (m *memory) Delete(_ context.Context, k Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(k)
	return nil
}

// drop removes what a key has; the caller holds mu.
func (m *memory) drop(k Key) {
	m.all = slices.DeleteFunc(m.all, func(c Credentials) bool { return c.Key == k })
}

func (m *memory) Where() string { return "memory, until the program ends" }
