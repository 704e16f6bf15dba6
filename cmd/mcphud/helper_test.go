package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// The headers helper of a file that is named runs for a command. That of a file which only lies there does not, as long as nobody has
// trusted it.
func TestHeadersHelperNeedsTrust(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("scripts are for a shell of Unix")
	}
	mcp := behave.Handler(behave.Good, behave.Fault{JSON: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Ticket") != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	run := sameHome(t)
	list := run("tools", "list", "--server", "notes")
	dir := list.Dir
	ran := filepath.Join(dir, "ran")
	for name, text := range map[string]string{
		"ticket":    "#!/bin/sh\n: > '" + ran + "'\necho '{\"X-Ticket\":\"" + secret + "\"}'\n",
		".mcp.json": `{"mcpServers":{"notes":{"type":"http","url":"` + srv.URL + `","headersHelper":"./ticket --for notes"}}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	if o := finish(t, list); o.code == cli.ExitOK || !strings.Contains(o.stderr, "trust") {
		t.Errorf("untrusted: exit %d, %s%s", o.code, o.out, o.stderr)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("the helper of an untrusted file ran")
	}
	journal := filepath.Join(dir, "journal")
	o := finish(t, run("tools", "list", "--server", "notes", "--config", ".mcp.json", "--journal", journal))
	if !strings.Contains(o.ok(t), `"echo"`) {
		t.Error(o.out)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error("the helper did not run")
	}
	if j := contents(journal); strings.Contains(j, secret) || !strings.Contains(j, "X-Ticket: ***") {
		t.Errorf("the journal: %s", j)
	}
}
