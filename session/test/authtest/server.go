package authtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// metadataPath is where the protected-resource metadata is.
const metadataPath = "/.well-known/oauth-protected-resource/mcp"

// Server is a protected MCP server. It takes tokens of its issuer that are for its URL.
type Server struct {
	URL    string // of the MCP endpoint
	Issuer *Issuer
	HTTP   http.RoundTripper // reaches both; nil for the network
	*dial

	calls   recorder
	proofs  proofs
	refused atomic.Int64
}

func server(_ testing.TB, i *Issuer, k Knobs, at place) *Server {
	s := &Server{Issuer: i, dial: &dial{knobs: k}}
	mode := k.Mode
	if mode == "" {
		mode = behave.Good
	}
	mcp := behave.Handler(mode, behave.Fault{JSON: true})
	mux := http.NewServeMux()
	mux.HandleFunc(metadataPath, s.metadata)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if s.admits(w, r) {
			mcp.ServeHTTP(w, r)
		}
	})
	url := at(s.calls.around(s.dial, mux)) + "/mcp"
	s.mu.Lock() // as requests take it, which may come from other programs
	defer s.mu.Unlock()
	s.URL = url
	return s
}

// Config is the server in a configuration.
func (s *Server) Config() config.Server {
	return config.Server{Name: "protected", Transport: config.HTTP, URL: s.URL}
}

// Calls are the requests so far to a path, "" for all.
func (s *Server) Calls(path string) []Call { return s.calls.of(path) }

// Refused is how many requests were answered with 401 or 403.
func (s *Server) Refused() int { return int(s.refused.Load()) }

// Move gives the server another authorization server. What the old one gave is not taken any more.
func (s *Server) Move(to *Issuer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Issuer = to
}

func (s *Server) issuer() *Issuer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Issuer
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{
		"resource": s.URL, "authorization_servers": []string{s.issuer().URL}, "scopes_supported": []string{"mcp:read"},
		"bearer_methods_supported": []string{"header"},
	}
	if edit := s.get().Resource; edit != nil {
		edit(doc)
	}
	reply(w, http.StatusOK, doc)
}

// admits checks the token of a request, and refuses it otherwise.
func (s *Server) admits(w http.ResponseWriter, r *http.Request) bool {
	k := s.get()
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme == "" {
		want := map[bool]string{false: "Bearer", true: "DPoP"}[k.DPoP]
		s.refuse(w, http.StatusUnauthorized, want+` resource_metadata="{metadata}"`)
		return false
	}
	g := s.issuer().valid(token, s.URL)
	if k.DPoP && g != nil {
		jkt, err := s.proofs.check(r, s.URL, token, k.NonceServer)
		if err != nil || jkt != g.jkt || scheme != "DPoP" {
			code := "invalid_dpop_proof"
			if errors.Is(err, errNonce) {
				code = errNonce.Error()
			}
			w.Header().Set("DPoP-Nonce", k.NonceServer)
			s.refuse(w, http.StatusUnauthorized, `DPoP error="`+code+`", resource_metadata="{metadata}"`)
			return false
		}
		scheme = "Bearer" // as good as one
	}
	if g == nil || scheme != "Bearer" || k.Unauthorized {
		s.refuse(w, http.StatusUnauthorized, `Bearer error="invalid_token", error_description="the token is not good", resource_metadata="{metadata}"`)
		return false
	}
	if len(k.Scopes) == 0 {
		return true
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct{ Params struct{ Name string } }
	_ = json.Unmarshal(body, &call) // what has no tool needs no scope
	need := strings.Fields(k.Scopes[call.Params.Name])
	lacks := slices.ContainsFunc(need, func(scope string) bool { return !slices.Contains(g.scopes, scope) })
	if len(need) > 0 && (lacks || k.Insatiable) {
		s.refuse(w, http.StatusForbidden, `Bearer error="insufficient_scope", scope="`+strings.Join(need, " ")+`", resource_metadata="{metadata}"`)
		return false
	}
	return true
}

func (s *Server) refuse(w http.ResponseWriter, status int, challenge string) {
	all := []string{challenge}
	if k := s.get(); k.Challenges != nil {
		all = k.Challenges
	}
	for _, c := range all {
		w.Header().Add("WWW-Authenticate", strings.ReplaceAll(c, "{metadata}", strings.TrimSuffix(s.URL, "/mcp")+metadataPath))
	}
	s.refused.Add(1)
	reply(w, status, map[string]any{"error": "refused"})
}
