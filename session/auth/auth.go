// Package auth is OAuth 2.1 as MCP wants it, the client's side: it turns a 401 or 403 into a token or a typed error.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
//
// An Authorizer belongs to one server: at a URL, which is sent the token in each request, or a command, which is started with it. What
// needs nobody (attaching a token, refreshing it, grants of machines) it does by itself, in the transport. What needs a person is a
// Login, which a surface starts after an error with failure.LogIn:
//
//	a := auth.New(server, auth.Options{Store: store})
//	transport.Options{Auth: a}                      // Authorize and Answered for each request
//	err := a.Login(ctx, person, auth.LoginOptions{}) // after a request that ended with failure.LogIn
//
// Nothing is guessed where it is about tokens. What a server, an authorization server or the configuration does against a rule is a
// *Violation that names the section; what an authorization server refuses is a *Refusal. Neither has a secret in it, nor has anything that
// is shown, journalled or returned as an error: tokens leave this package in requests, in the environment of a command, and in Store alone.
//
// A login is a Flow of steps (login.go finds the authorization server, code.go sends a browser, machine.go does without); renew.go gets new
// tokens, once for all who wait; fetch.go is the one way by which anything is sent, and decides what may be reached.
//
// Below it, browser is the person of a login, credstore keeps tokens between runs, and consent asks before tools are called.
package auth

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Options is what authorizers share. The zero value is usable: it keeps credentials in memory.
type Options struct {
	// Store keeps credentials; nil for memory.
	Store Store
	// Document is the https URL of the client-id metadata document; "" for none.
	Document string
	// HTTP sends requests to authorization servers; nil for the network.
	HTTP http.RoundTripper
	// Now is the time; nil for time.Now.
	Now func() time.Time

	helperTimeout time.Duration // for a headers helper to end; 0 for the usual
}

// Authorizer has the credentials for one server, and gets them. It implements transport.Authorizer. Safe for concurrent use.
//
// Requests read creds without a lock; a renewal replaces them only where nobody has logged in or out meanwhile. reading is held while the store
// is asked for them, mu for moments only.
type Authorizer struct {
	server config.Server
	url    *url.URL // of the server; nil for a command
	keptAs string   // the resource of its credentials; "" for none
	opts   Options
	people Store   // has logins at identity providers, also where what is got by them is not kept
	given  bool    // the configuration has an Authorization header, which is left alone
	helper *helper // nil for none

	creds  atomic.Pointer[Credentials] // in use; nil for none. Replaced as a whole, never changed in place
	fresh  atomic.Bool                 // the server has not yet taken the token in use
	kept   atomic.Bool                 // the store has, or had, the credentials in use
	risked atomic.Bool                 // a person sends secrets to a server whose certificate nobody checks
	unmet  atomic.Bool                 // the server has taken no token since challenge
	proof  atomic.Pointer[prover]      // of the key that the token in use is bound to
	nonce  atomic.Pointer[string]      // that the server wants in the next DPoP proof
	renewing

	badToken atomic.Pointer[string] // the token that a command was started with, and said is not good; nil for none
	wanted   atomic.Bool            // a command could not be started for want of a login

	reading sync.Mutex // held by who reads the store, which may wait for a keychain

	mu        sync.Mutex    // guards what follows
	tap       transport.Tap // of the connection that is made; see Journal
	loaded    bool          // the store was read, or its answer does not matter any more
	unread    error         // why the store could not be read; nil if it could
	challenge *Challenge    // the last refusal that no token has answered; nil for none
	flow      *Flow         // the last login, refresh or logout; nil for none
	running   bool          // one of these runs
	changed   func()        // by OnChange; nil for nobody
}

// change tells whoever shows the login.
func (a *Authorizer) change() {
	a.mu.Lock()
	tell := a.changed
	a.mu.Unlock()
	if tell != nil {
		tell()
	}
}

// use makes c the credentials in use and keeps them. That they cannot be kept is said, and no reason not to use them.
func (a *Authorizer) use(ctx context.Context, c *Credentials) error {
	a.creds.Store(c)
	return a.save(ctx, c)
}

// save keeps credentials that are in use now.
func (a *Authorizer) save(ctx context.Context, c *Credentials) error {
	a.fresh.Store(true)
	a.wanted.Store(false)
	a.ended.Store(nil)
	a.mu.Lock()
	a.loaded, a.challenge = true, nil
	a.mu.Unlock()
	err := a.opts.Store.Put(ctx, *c)
	a.kept.Store(err == nil)
	a.change()
	return err
}

// Challenge is a 401 or 403 of the server (RFC 6750 section 3, RFC 9728 section 5.1).
type Challenge struct {
	Status   int
	Scheme   string   // "Bearer", "DPoP"; "" if there was no WWW-Authenticate
	Error    string   // "invalid_token", "insufficient_scope" …
	Describe string   // error_description
	Scopes   []string // that the server names; nil for none
	Metadata string   // resource_metadata
	Header   string   // as sent, masked
}

// StepUp reports whether the server asks for more rights than the token has (RFC 6750 section 3.1); false for a nil c.
func (c *Challenge) StepUp() bool { return c != nil && c.Error == "insufficient_scope" }

// Person is whoever can open a URL, at a terminal or a screen. Package browser has one; a test has another.
type Person interface {
	// Confirm asks whether to go on with something that is not as it should be, and which only the user can judge. false ends the
	// login with what is wrong; an error ends it with that.
	Confirm(ctx context.Context, question string) (bool, error)
	// Expect makes ready for a browser that comes back. redirect is the URI that it has to come back to; "" for one of this
	// machine's own choice on loopback.
	Expect(ctx context.Context, redirect string) (Visit, error)
}

// Visit is one browser that is sent away and comes back.
type Visit interface {
	// Redirect is the URI that it comes back to.
	Redirect() string
	// Go shows the authorization URL, opens it where that is wanted, and returns the URL that the browser came back to. What is
	// not mine, such as a request of some web page, is refused, and the waiting goes on.
	Go(ctx context.Context, authorize *url.URL, mine func(callback *url.URL) bool) (*url.URL, error)
	// Close ends the waiting.
	Close() error
}
