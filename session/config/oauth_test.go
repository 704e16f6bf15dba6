package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
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
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
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
	if got := fmt.Sprint(Describe(s)); !strings.Contains(got, `{runs `+path+` "a b" "two words; rm x" --token ***} {to get headers}`) || !strings.Contains(got, "{is given ARG, TOKEN}") {
		t.Errorf("described as %s", got)
	}
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
