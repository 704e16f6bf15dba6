package auth

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Status is what is known of the login at a server. It has no secrets; what it has of servers' words (scopes, ids, claims) is as they sent it.
type Status struct {
	Static    bool       // the configuration has an Authorization header, and nothing else is used
	Challenge *Challenge // what the server asks for and nothing has answered; nil for nothing
	LoggedIn  bool       // there is a token
	Issuer    string
	ClientID  string
	Origin    string // of ClientID: Configured, Document or Registered
	Method    string // how we prove that we are ClientID: "none", "client_secret_basic" …
	Type      string // of the token: "Bearer" or "DPoP"
	Scopes    []string
	Obtained  time.Time
	Expires   time.Time // zero if the server did not say
	Refresh   bool      // there is a refresh token
	Revocable bool      // the authorization server can be told to forget the token
	Where     string    // where credentials are kept
	Claims    *Claims   // of the access token; nil if it says nothing to us
	Flow      *Flow     // the last login; nil for none
}

// Wanted are the scopes that a later login has to name: those of a step-up, with what was granted. A first login is told by the
// server.
func (st Status) Wanted() []string {
	if !st.Challenge.StepUp() {
		return nil
	}
	return union(nil, slices.Concat(st.Scopes, st.Challenge.Scopes))
}

// Refused is what the server asks for and nothing has answered, without I/O; nil for nothing.
func (a *Authorizer) Refused() *Challenge {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open()
}

// open is the challenge that nothing has answered. One of scopes is open until a login, also where other requests are taken meanwhile.
// The caller holds mu.
func (a *Authorizer) open() *Challenge {
	if a.challenge != nil && a.challenge.Status == http.StatusUnauthorized && !a.unmet.Load() {
		return nil
	}
	return a.challenge
}

// Status is a snapshot. The store is read if it was not yet; what goes wrong at it looks like no login.
func (a *Authorizer) Status() Status {
	_, _ = a.credentials(context.Background()) // the next request reports it
	return a.Known()
}

// Known is Status without reading the store, and so without I/O.
func (a *Authorizer) Known() Status {
	a.mu.Lock()
	st := Status{Static: a.given, Challenge: a.open(), Where: a.opts.Store.Where(), Flow: a.flow}
	a.mu.Unlock()
	if c := a.creds.Load(); c != nil {
		st.LoggedIn, st.Issuer = c.Token.Access != "", c.Issuer
		st.ClientID, st.Origin, st.Method = c.Client.ID, c.Client.Origin, c.Client.Method
		st.Type, st.Scopes, st.Obtained, st.Expires = c.Token.Type, slices.Clone(c.Token.Scopes), c.Token.Obtained, c.Token.Expires
		st.Refresh, st.Revocable, st.Claims = c.Token.Refresh != "", c.RevokeURL != "", ParseClaims(c.Token.Access)
	}
	return st
}
