package config

import (
	"fmt"
	"strings"
	"testing"
)

const commandLogin = `oauth: {auth_url: https://a/authorize, token_url: https://a/token, client_id: me}`

// A command's oauth block has its effect: no warning, the token where the entry wants it, and the question shows who is asked for it and where
// it goes.
func TestC4b_ACommandsLoginHasItsEffect(t *testing.T) {
	for env, want := range map[string]string{
		"{}":                    "SLACK_BOT_TOKEN",
		`{T: "${oauth.token}"}`: "T",
		`{A: "x ${oauth.token}", B: x, C: "${oauth.token}"}`: "A,C",
	} {
		s, warnings := loadOne(t, "mcp.yaml", "servers: {slack-bot: {command: npx, args: [-y, it], env: "+env+", "+commandLogin+"}}")
		if s.Problem != nil || len(warnings) > 0 || !s.NeedsToken() || strings.Join(s.TokenVariables(), ",") != want {
			t.Errorf("%s: %v %v, in %v", env, s.Problem, warnings, s.TokenVariables())
		}
		if got := fmt.Sprint(Describe(s)); !strings.Contains(got, "{signs in at https://a/authorize} {tokens from https://a/token} {gets token "+strings.ReplaceAll(want, ",", ", ")+"}") {
			t.Errorf("%s: described as %s", env, got)
		}
		given := s.WithToken("zqtokenzq")
		for _, name := range strings.Split(want, ",") {
			if !strings.HasSuffix(given.Env[name], "zqtokenzq") || strings.Contains(s.Env[name], "zq") {
				t.Errorf("%s: %v of %v", env, given.Env, s.Env)
			}
		}
		if b := given.Env["B"]; b != "" && b != "x" || strings.Contains(fmt.Sprint(given.Masked()), "zqtokenzq") {
			t.Errorf("%s: %v", env, given.Masked())
		}
		if got := string(given.HideToken([]byte("a zqtokenzq b"))); strings.Contains(got, "zq") || string(s.HideToken([]byte("as it is"))) != "as it is" {
			t.Errorf("%s", got)
		}
	}
	if s, _ := loadOne(t, "mcp.yaml", "servers: {1st: {command: x, "+commandLogin+"}}"); strings.Join(s.TokenVariables(), "") != "_1ST_TOKEN" {
		t.Errorf("%v", s.TokenVariables())
	}
}

// A token that nothing can stand for is a problem of the entry; a block without effect is a warning.
func TestC4b_TokensThatCannotBeGiven(t *testing.T) {
	const token = `"${oauth.token}"`
	for entry, want := range map[string]string{
		`command: x, env: {T: ` + token + `}`:                                                            "env.T: ${oauth.token} needs an oauth block",
		`command: x, env: {T: ` + token + `}, oauth: {client_id: me}`:                                    "env.T: ${oauth.token} needs auth_url and token_url, or metadata_url",
		`command: x, args: [--token, ` + token + `], ` + commandLogin:                                    "args[1]: ${oauth.token} is given in env only",
		`command: ` + token + `, ` + commandLogin:                                                        "command: ${oauth.token} is given in env only",
		`url: https://h/mcp, headers: {X: ` + token + `}, oauth: {}`:                                     "headers.X: ${oauth.token} is given in env only",
		`command: x, url: http://127.0.0.1:1/, launch: true, env: {T: ` + token + `}, oauth: {}`:         "env.T: ${oauth.token} is for a command",
		`command: x, oauth: {auth_url: https://a/, token_url: https://a/t, dpop: true}`:                  "oauth.dpop: a command has no key",
		`command: x, oauth: {token_url: https://a/t, grant: enterprise_managed, idp_issuer: https://i/}`: "oauth.grant: enterprise_managed is for a server at a url",
	} {
		s, _ := loadOne(t, "mcp.yaml", "servers: {s: {"+entry+"}}")
		if s.Problem == nil || !strings.Contains(s.Problem.Error(), want) {
			t.Errorf("%s: %v", entry, s.Problem)
		}
	}
	for entry, want := range map[string]string{
		`command: x, oauth: {client_id: me}`:                 "it says nothing of where a command's login is",
		`command: x, env: {S_TOKEN: mine}, ` + commandLogin:  "no variable in env is ${oauth.token}",
		`command: x, oauth: {auth_url: https://a/authorize}`: "it says nothing of where a command's login is",
	} {
		s, warnings := loadOne(t, "mcp.yaml", "servers: {s: {"+entry+"}}")
		if s.Problem != nil || s.NeedsToken() || !strings.Contains(fmt.Sprint(warnings), want) {
			t.Errorf("%s: %v %v", entry, s.Problem, warnings)
		}
	}
	s := Server{Name: "s", Command: "x", Env: map[string]string{"T": TokenReference}} // as -e of the command line adds it
	if err := s.CheckToken(); err == nil || !strings.Contains(err.Error(), "needs an oauth block") {
		t.Error(err)
	}
}
