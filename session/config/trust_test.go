package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestTrustIsPinnedToTheContent(t *testing.T) {
	state := t.TempDir()
	base := Server{
		Name: "a", Transport: Stdio, Command: "sh", Args: []string{"-c", "true"}, Env: map[string]string{"A": "1"},
		Cwd: "/w", Headers: map[string]string{"H": "1"}, Source: Source{File: "/p/.mcp.json", Project: true},
	}
	tr := OpenTrust(state)
	if tr.Trusted(base) {
		t.Fatal("trusted before anybody said so")
	}
	require.NoError(t, tr.Trust(base))
	if !OpenTrust(state).Trusted(base) {
		t.Fatal("not trusted after Trust")
	}
	for what, change := range map[string]func(*Server){
		"command": func(s *Server) { s.Command = "bash" },
		"args":    func(s *Server) { s.Args = []string{"-c true"} },
		"env":     func(s *Server) { s.Env = map[string]string{"A": "1", "LD_PRELOAD": "x"} },
		"cwd":     func(s *Server) { s.Cwd = "/v" },
		"url":     func(s *Server) { s.URL = "http://h" },
		"headers": func(s *Server) { s.Headers = nil },
		"roots":   func(s *Server) { s.Roots = []string{"/"} },
		"file":    func(s *Server) { s.Source.File = "/q/.mcp.json" },
		"name":    func(s *Server) { s.Name = "b" },
	} {
		s := base
		change(&s)
		if tr.Trusted(s) {
			t.Errorf("still trusted with another %s", what)
		}
	}
	own := base
	own.Source.Project = false
	own.Command = "anything"
	if !tr.Trusted(own) {
		t.Error("the user's own file needs no trust")
	}
}

// A permission holds for the entry as written: a renewed token needs no new one.
func TestTrustSurvivesARenewedToken(t *testing.T) {
	cwd, state := t.TempDir(), t.TempDir()
	file := write(t, filepath.Join(cwd, ".mcp.json"), `{"mcpServers":{"a":{"command":"x","envFile":"e","env":{"T":"${T}"}}}}`)
	write(t, filepath.Join(cwd, "e"), "NODE_OPTIONS=--no-warnings")
	load := func(token string) Server {
		s, err := Load(Options{Cwd: cwd, LookupEnv: env("T=" + token)})
		if err != nil || len(s.Servers) != 1 || s.Servers[0].Env["T"] != token {
			t.Fatalf("%+v, %v", s.Servers, err)
		}
		return s.Servers[0]
	}
	tr := OpenTrust(state)
	require.NoError(t, tr.Trust(load("one")))
	if !tr.Trusted(load("two")) {
		t.Error("a new value of T lost the trust")
	}
	write(t, filepath.Join(cwd, "e"), "NODE_OPTIONS=--require ./evil.js")
	if tr.Trusted(load("two")) {
		t.Error("still trusted although the envFile changed")
	}
	write(t, filepath.Join(cwd, "e"), "NODE_OPTIONS=--no-warnings")
	write(t, file, `{"mcpServers":{"a":{"command":"y","envFile":"e","env":{"T":"${T}"}}}}`)
	if tr.Trusted(load("two")) {
		t.Error("still trusted although the command changed")
	}
}

func TestTrustFilesArePrivate(t *testing.T) {
	state := t.TempDir()
	s := Server{Name: "a", Command: "x", Source: Source{File: "/p", Project: true}}
	tr := OpenTrust(state)
	require.NoError(t, tr.Trust(s))
	path := tr.path(s)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files, want the one permission", len(entries))
	}
	require.NoError(t, os.Chmod(path, 0o666))
	if tr.Trusted(s) {
		t.Error("a permission that anyone can write counts")
	}
}

func TestTrustWithoutAHome(t *testing.T) {
	tr := OpenTrust(Options{}.StateDir())
	s := Server{Name: "a", Source: Source{Project: true}}
	if tr.Trusted(s) || tr.Trust(s) == nil {
		t.Error("trusted, or claimed to remember it, with nowhere to keep it")
	}
}

// npx takes the word behind an option that it does not know for the package to run, whatever the option is called. Nothing is
// masked in its command line before the package is certain; what is for the package itself is.
func TestRunnersHideNoPackage(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y --api-key evil good --token abcdef":         "npx -y --api-key evil good --token ***",
		"npx --token evil good":                             "npx --token evil good",
		"npx -p good --token evil":                          "npx -p good --token evil",
		"/usr/bin/npx -y --auth-token evil":                 "/usr/bin/npx -y --auth-token evil",
		"npx.cmd --secret evil good":                        "npx.cmd --secret evil good",
		"npm exec --api-key evil -- good":                   "npm exec --api-key evil -- good",
		"pnpm dlx --api-key evil good --api-key abcdef":     "pnpm dlx --api-key evil good --api-key ***",
		"npx -y good --api-key abcdef":                      "npx -y good --api-key ***",
		"npx good --api-key abcdef":                         "npx good --api-key ***",
		"server --api-key abcdef":                           "server --api-key ***",
		"npx -y @scope/good@1.0.0 --token abcdef --key ghi": "npx -y @scope/good@1.0.0 --token *** --key ***",
	} {
		argv := strings.Fields(line)
		for _, f := range Describe(Server{Name: "a", Command: argv[0], Args: argv[1:]}) {
			if f.Label == "runs" && f.Value != want {
				t.Errorf("%s\n shows %s\n  want %s", line, f.Value, want)
			}
		}
	}
}
