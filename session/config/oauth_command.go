package config

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
)

// TokenReference is what the token of a login stands for in the environment of a command.
const TokenReference = "${oauth.token}"

// NeedsToken reports whether s is a command that is started with the token of a login in its environment.
func (s Server) NeedsToken() bool {
	return s.isCommand() && s.OAuth.complete() && len(s.TokenVariables()) > 0
}

// isCommand reports whether s speaks over its input and output: what serves a URL is sent a token in each request.
func (s Server) isCommand() bool { return s.Command != "" && s.URL == "" && !s.Launch }

// complete reports whether the block says where a login is without a server that could be asked.
func (a *OAuth) complete() bool {
	return a != nil && (a.MetadataURL != "" || a.TokenURL != "" && (a.AuthURL != "" || a.ByMachine()))
}

// TokenVariables are the variables that have the token in them: those that name it, else one that is called after the server, as
// SLACK_TOKEN for slack, unless the environment sets that itself.
func (s Server) TokenVariables() (names []string) {
	for _, k := range sortedKeys(s.Env) {
		if strings.Contains(s.Env[k], TokenReference) {
			names = append(names, k)
		}
	}
	if len(names) > 0 {
		return names
	}
	name := strings.ToUpper(notInNames.ReplaceAllString(s.givenName(), "_")) + "_TOKEN"
	if name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	if _, set := s.Env[name]; set {
		return nil
	}
	return []string{name}
}

// notInNames matches what cannot be in the name of a variable.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// WithToken is s with the token in its environment.
func (s Server) WithToken(token string) Server {
	names := s.TokenVariables()
	s.Env = maps.Clone(s.Env)
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	for _, k := range names {
		if _, set := s.Env[k]; set {
			s.Env[k] = strings.ReplaceAll(s.Env[k], TokenReference, token)
		} else {
			s.Env[k] = token
		}
	}
	s.secrets, s.token = append(slices.Clone(s.secrets), token), token
	return s
}

// HideToken replaces the token that s was started with in what it writes.
func (s Server) HideToken(line []byte) []byte {
	if s.token == "" {
		return line
	}
	return bytes.ReplaceAll(line, []byte(s.token), []byte(mask.Hidden))
}

// CheckToken reports a TokenReference that nothing can stand for: where, and why.
func (s Server) CheckToken() error {
	if field, why := s.misplacedToken(); field != "" {
		return fmt.Errorf("%s: %s", field, why)
	}
	return nil
}

// misplacedToken is the first field with a TokenReference that nothing can stand for, and why; "" for none.
func (s Server) misplacedToken() (field, why string) {
	for _, k := range sortedKeys(s.Env) {
		if !strings.Contains(s.Env[k], TokenReference) {
			continue
		}
		switch field = "env." + k; {
		case !s.isCommand():
			return field, TokenReference + " is for a command: a server at a url is sent the token in its requests; leave it out"
		case s.OAuth == nil:
			return field, TokenReference + " needs an oauth block that says where to log in; write one with auth_url and token_url"
		case !s.OAuth.complete():
			return field, TokenReference + " needs auth_url and token_url, or metadata_url, in the oauth block: a command cannot be asked where its login is"
		}
	}
	type text struct{ field, value string }
	all := []text{{"command", s.Command}, {"cwd", s.Cwd}, {"url", s.URL}}
	for i, a := range s.Args {
		all = append(all, text{index("args", i), a})
	}
	for i, a := range s.HeadersHelper {
		all = append(all, text{index("headersHelper", i), a})
	}
	for _, k := range sortedKeys(s.Headers) {
		all = append(all, text{"headers." + k, s.Headers[k]})
	}
	for _, t := range all {
		if strings.Contains(t.value, TokenReference) {
			return t.field, TokenReference + " is given in env only: every user of this machine can read the arguments of a process"
		}
	}
	return "", ""
}

// checkCommandLogin judges the oauth block of a command.
func (e *entry) checkCommandLogin() {
	if field, why := e.misplacedToken(); field != "" {
		e.problem(field, "%s", why)
		return
	}
	a := e.OAuth
	if a == nil || !e.isCommand() {
		return
	}
	switch at := e.at["oauth"]; {
	case a.Grant == GrantEnterprise:
		e.problem("oauth.grant", "%s is for a server at a url, which the token names", a.Grant)
	case a.DPoP:
		e.problem("oauth.dpop", "a command has no key that its token could be bound to; leave it out")
	case !a.complete():
		e.doc.warnAt(at[0], at[1], "server %q: oauth has no effect: it says nothing of where a command's login is; write auth_url and token_url, or metadata_url", clip(e.Name))
	case len(e.TokenVariables()) == 0:
		e.doc.warnAt(at[0], at[1], "server %q: oauth has no effect: no variable in env is %s", clip(e.Name), TokenReference)
	}
}
