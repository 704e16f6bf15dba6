package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a configuration has for a login is shown without its secrets, wherever it stands: masked in lists and explanations.
func TestC4_SecretsOfLoginsStayHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"mcp.yaml": `servers:
  one:
    url: https://h/mcp
    oauth: {client_id: me, client_secret: ` + secret + `, private_key: ` + secret + `, assertion: ` + secret + `, id_token: ` + secret + `,
      idp_client_secret: ` + secret + `, auth_url: "https://a/?access_token=` + secret + `", scopes: [read], authorization_params: {login_token: ` + secret + `}}
  broken:
    url: https://h/2
    headersHelper: ["./get", "--token", "` + secret + `"]
    oauth: {grant: none, client_secret: ` + secret + `}
`,
		"claude.json": `{"mcpServers":{"two":{"url":"https://h/3","headersHelper":"get --api-key ` + secret + `","oauth":{"clientSecret":"` + secret + `"}},
  "three":{"url":"https://h/4","auth":{"CLIENT_SECRET":"` + secret + `"}}}}`,
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"servers", "list"}, {"config", "explain"}} {
			for _, format := range []string{"text", "json"} {
				o := mcphud(t, append(args, "--config", path, "--format", format)...)
				if strings.Contains(o.out+o.stderr, secret) {
					t.Errorf("%v as %s shows a secret: %s%s", args, format, o.out, o.stderr)
				}
				if args[0] == "servers" && !strings.Contains(o.out, "https://h/") {
					t.Errorf("%v as %s: %s%s", args, format, o.out, o.stderr)
				}
			}
		}
	}
	list := mcphud(t, "servers", "list", "--config", filepath.Join(dir, "mcp.yaml"), "--format", "json")
	for _, want := range []string{`"client_secret":"***"`, `"client_id":"me"`, "is not a grant"} {
		if !strings.Contains(strings.ReplaceAll(list.out, `": "`, `":"`), want) {
			t.Errorf("%s is missing in %s", want, list.out)
		}
	}
}
