package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A login that somebody makes while a router runs serves the callers of that router.
func TestRouterUsesTheLoginOfItsUser(t *testing.T) {
	srv := authtest.Start(t, authtest.Knobs{})
	run := sameHome(t)
	runtimeDir(t)
	router := run("router", "--port", "0", "--routes", "routing.json")
	require.NoError(t, os.WriteFile(filepath.Join(router.Dir, "routing.json"), fmt.Appendf(nil, `{"routes":{"docs":{"url":%q,"oauth":{}}}}`, srv.URL), 0o600))
	var log faketest.Buffer
	router.Stderr = &log
	require.NoError(t, router.Start())
	t.Cleanup(func() {
		_ = router.Process.Signal(os.Interrupt)
		_ = router.Wait() // the code says it
		if code := router.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the router ended with %d: %s", code, log.String())
		}
	})
	require.Eventually(t, "the router", func() bool { return strings.Contains(log.String(), "listening on ") })
	_, rest, _ := strings.Cut(log.String(), "listening on ")
	docs := strings.Fields(rest)[0] + "/mcps/docs/mcp"
	call := []string{"tools", "call", "echo", "text=hi", "--url", docs}

	before := mcphud(t, call...)
	if before.code != 10 || !strings.Contains(before.stderr, "Agent 'docs' needs a login") || !strings.Contains(before.stderr, "whoever runs the router has to log in there") {
		t.Errorf("before the login: %+v", before)
	}
	if !strings.Contains(log.String(), "agent needs a login") {
		t.Errorf("the log does not say so: %s", log.String())
	}
	x := startLogin(t, run("auth", "login", "--no-browser", "--url", srv.URL))
	if x.page == "" {
		t.Fatalf("no URL: %+v", x.end())
	}
	if status, body := follow(t, x.page); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if o := x.end(); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if out := mcphud(t, call...).ok(t); !strings.Contains(out, "hi") {
		t.Errorf("after the login: %s", out)
	}
	for _, secret := range srv.Issuer.Secrets() {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has a secret: %s", log.String())
		}
	}
}
