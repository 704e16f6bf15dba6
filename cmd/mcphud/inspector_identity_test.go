package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/inspector"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// The login at an identity provider is one of mcphud, and the Inspector's command line uses it by the client's file.
func TestInspectorUsesAnIdentityProvider(t *testing.T) {
	long(t, "TestInspectorUsesStoredLogins")
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{Other: func(r *http.Request) string {
		if r.PostForm.Get("assertion") == "" {
			return "invalid_grant"
		}
		return ""
	}})
	idp := authtest.NewIssuer(t, authtest.Knobs{Identity: func(map[string]any) {}})
	idp.Client("at-idp", "zqidpsecretzq", "client_secret_basic")
	run := sameHome(t)
	home := run().Dir
	for name, text := range map[string]string{
		"s.yaml":      "servers:\n  payroll:\n    url: " + srv.URL + "\n    oauth: {grant: enterprise_managed, client_id: mcphud, idp_issuer: " + idp.URL + ", idp_client_id: at-idp, idp_client_secret: zqidpsecretzq}\n",
		"mcp.json":    `{"mcpServers":{"payroll":{"type":"streamable-http","url":"` + srv.URL + `","oauth":{"clientId":"mcphud","enterpriseManaged":true}}}}`,
		"client.json": `{"enterpriseManagedAuth":{"idp":{"issuer":"` + idp.URL + `","clientId":"at-idp","clientSecret":"zqidpsecretzq"}}}`,
		"off.json":    `{"enterpriseManagedAuth":{"enabled":false,"idp":{"issuer":"` + idp.URL + `","clientId":"at-idp"}}}`,
		"bad.json":    `{"enterpriseManagedAuth":{"idp":{"issuer":"login","clientId":"at-idp"}}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	list := func(client string) outcome {
		return finish(t, run(verbinspect.Inspecting, "--config", "mcp.json", "--client-config", client, "--method", "tools/list"))
	}
	for client, says := range map[string]string{"off.json": "names no identity provider", "none.json": "names no identity provider", "bad.json": "idp.issuer"} {
		if o := list(client); o.code != inspector.ExitUsage || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: exit %d, %s", client, o.code, o.stderr)
		}
	}
	if o := list("client.json"); o.code != inspector.ExitAuth || !strings.Contains(lastLine(o), "identity provider "+idp.URL) {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	x := startLogin(t, run("auth", "login", "--no-browser", "--server", "payroll", "--config", "s.yaml"))
	if x.page == "" || !strings.HasPrefix(x.page, idp.URL+"/authorize?") {
		t.Fatalf("shown %q: %s", x.page, x.end().stderr)
	}
	follow(t, x.page)
	if out := x.end().ok(t); !strings.Contains(out, idp.URL) {
		t.Error(out)
	}
	if out := list("client.json").ok(t); !strings.Contains(out, `"tools"`) {
		t.Error(out)
	}
	if out := finish(t, run("auth", "status", "--server", "payroll", "--config", "s.yaml")).ok(t); !strings.Contains(out, idp.URL) || !strings.Contains(out, `"payroll"`) {
		t.Error(out)
	}
	finish(t, run("auth", "logout", "--server", "payroll", "--config", "s.yaml")).ok(t)
	if o := list("client.json"); o.code != inspector.ExitAuth || len(idp.Calls("/revoke")) != 1 {
		t.Errorf("exit %d after %d revocations, %s", o.code, len(idp.Calls("/revoke")), o.stderr)
	}
	s := startUIWith(t, nobody, verbinspect.Inspecting, "--config", filepath.Join(home, "mcp.json"), "--client-config", filepath.Join(home, "client.json"), "--callback-url", "http://127.0.0.1:"+anyPort(t)+"/back", "--method", "tools/list")
	follow(t, pageOn(t, s, 1))
	if code := s.exit(); code != 0 || !strings.Contains(s.written(), `"tools"`) {
		t.Errorf("exit %d: %s", code, s.written())
	}
}
