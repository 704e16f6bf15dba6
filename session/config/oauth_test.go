package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// loadOne reads a file that has one server.
func loadOne(t *testing.T, file, content string, vars ...string) (Server, []Warning) {
	t.Helper()
	f := write(t, filepath.Join(t.TempDir(), filepath.FromSlash(file)), content)
	s, err := Load(Options{Files: []string{f}, Home: "/home/me", LookupEnv: env(vars...)})
	if err != nil || len(s.Servers) != 1 {
		t.Fatal(err, s.Servers, s.Warnings)
	}
	return s.Servers[0], s.Warnings
}

// Each program's block for logins is one and the same thing.
func TestC4_LoginsOfEveryDialect(t *testing.T) {
	for file, c := range map[string]struct {
		text string
		want OAuth
	}{
		"mcp.yaml": {`servers: {s: {transport: {type: http, url: https://h/mcp}, oauth: {auth_url: https://a/authorize, token_url: https://a/token,
  client_id: me, client_secret: "${SECRET}", scopes: [read, write], redirect_uri: "http://localhost:8080/oauth/callback"}}}`, OAuth{
			AuthURL: "https://a/authorize", TokenURL: "https://a/token", ClientID: "me", ClientSecret: "hunter2", Scopes: []string{"read", "write"},
			RedirectURI: "http://localhost:8080/oauth/callback",
		}},
		".mcp.json": {`{"mcpServers":{"s":{"type":"http","url":"https://h/mcp","oauth":{"clientId":"me","clientSecret":"${SECRET}","callbackPort":8080,
  "scopes":"read write","authServerMetadataUrl":"https://a/.well-known/openid-configuration"}}}}`, OAuth{
			ClientID: "me", ClientSecret: "hunter2", RedirectURI: "http://localhost:8080/callback", Scopes: []string{"read", "write"},
			MetadataURL: "https://a/.well-known/openid-configuration",
		}},
		".cursor/mcp.json": {`{"mcpServers":{"s":{"url":"https://h/mcp","auth":{"CLIENT_ID":"me","CLIENT_SECRET":"${env:SECRET}","scopes":["read","write"]}}}}`, OAuth{
			ClientID: "me", ClientSecret: "hunter2", Scopes: []string{"read", "write"},
		}},
		"inspector.json": {`{"mcpServers":{"s":{"type":"http","url":"https://h/mcp","oauth":{"clientId":"me","clientSecret":"hunter2","scopes":"read",
  "authorizationUrl":"https://a/authorize","tokenUrl":"https://a/token","authorizationParams":{"login_hint":"me@h"},"enterpriseManaged":true}}}}`, OAuth{
			AuthURL: "https://a/authorize", TokenURL: "https://a/token", ClientID: "me", ClientSecret: "hunter2", Scopes: []string{"read"},
			Params: map[string]string{"login_hint": "me@h"}, Grant: GrantEnterprise,
		}},
	} {
		s, warnings := loadOne(t, file, c.text, "SECRET=hunter2")
		if s.Problem != nil || len(warnings) > 0 || s.OAuth == nil || !reflect.DeepEqual(*s.OAuth, c.want) {
			t.Errorf("%s: %+v, %v, %v", file, s.OAuth, s.Problem, warnings)
		}
		if got := asEntry(t, s) + fmt.Sprint(s.Masked().OAuth, Describe(s)); strings.Contains(got, "hunter2") {
			t.Errorf("%s: the secret is shown: %s", file, got)
		}
	}
}

// What has no effect is said, with its line.
func TestC4_LoginsWithoutEffect(t *testing.T) {
	_, warnings := loadOne(t, "mcp.yaml", "servers:\n  s:\n    command: x\n    headersHelper: y\n    oauth: {client_id: a, colour: red, clientId: b}\n")
	all := fmt.Sprint(warnings)
	for _, want := range []string{":5:27: server \"s\": unknown key \"colour\" of oauth is ignored", ":5:40: server \"s\": oauth has both client_id and clientId", ":5:12: server \"s\": oauth has no effect: it says nothing of where", ":4:20: server \"s\": headersHelper has no effect on a command"} {
		assert.Contains(t, all, want)
	}
	for port, want := range map[string]string{"70000": "is not a port", `"x"`: "is not a port", "3000": ""} {
		s, _ := loadOne(t, ".mcp.json", `{"mcpServers":{"s":{"url":"https://h/","oauth":{"callbackPort":`+port+`}}}}`)
		if got := fmt.Sprint(s.Problem); want == "" && s.Problem != nil || !strings.Contains(got, want) {
			t.Errorf("callbackPort %s: %s", port, got)
		}
	}
}

// A helper is split into words first, expanded then, and found beside its file; it is part of what is trusted, and shown in full.
func TestHeadersHelper(t *testing.T) {
	load := func(helper string) Server {
		s, _ := loadOne(t, ".mcp.json", `{"mcpServers":{"s":{"url":"https://h/mcp","headersHelper":`+helper+`}}}`, "ARG=two words; rm x", "TOKEN=hunter2-hunter2")
		return s
	}
	s := load(`"./bin/get 'a b' ${ARG} --token ${TOKEN}"`)
	path := filepath.Join(filepath.Dir(s.Source.File), "bin", "get")
	if want := []string{path, "a b", "two words; rm x", "--token", "hunter2-hunter2"}; s.Problem != nil || !reflect.DeepEqual(s.HeadersHelper, want) {
		t.Errorf("%q, %v", s.HeadersHelper, s.Problem)
	}
	assert.Contains(t, fmt.Sprint(Describe(s)), `{runs `+path+` "a b" "two words; rm x" --token ***} {to get headers}`, "{is given ARG, TOKEN}")
	if got := asEntry(t, s); !strings.Contains(got, "bin/get") || strings.Contains(got, "hunter2") {
		t.Errorf("as an entry: %s", got)
	}
	if got := load(`["~/bin/get", "-x"]`).HeadersHelper; got[0] != filepath.Join("/home/me", "bin", "get") || got[1] != "-x" {
		t.Errorf("%q", got)
	}
	if a, b, c := load(`"get a"`), load(`"get b"`), load(`"get a"`); a.Fingerprint() == b.Fingerprint() || a.Fingerprint() != c.Fingerprint() {
		t.Error("another helper needs no other trust")
	}
	for helper, want := range map[string]string{
		`"vault read x | jq ."`: "is written for a shell", `"get 'open"`: "a quote or backslash is left open", `"get ${NOT_THERE}"`: "NOT_THERE is not set",
		`["get", "$(date)"]`: "is written for a shell", `"get \u0000"`: "NUL", `[""]`: "names no program", `{}`: "write a string",
	} {
		if s := load(helper); s.Problem == nil || !strings.Contains(s.Problem.Error(), want) {
			t.Errorf("%s: %v", helper, s.Problem)
		}
	}
}

// asEntry is a server as another program's file, as it is shown.
func asEntry(t *testing.T, s Server) string {
	t.Helper()
	b, _, err := Encode("mcpServers", s.Masked())
	require.NoError(t, err)
	return string(b)
}

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
	assert.ErrorContains(t, s.CheckToken(), "needs an oauth block")
}
