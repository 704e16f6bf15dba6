package config

import (
	"os"
	"path/filepath"
	"testing"
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
	if err := tr.Trust(base); err != nil {
		t.Fatal(err)
	}
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
	if err := tr.Trust(load("one")); err != nil {
		t.Fatal(err)
	}
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
	if err := tr.Trust(s); err != nil {
		t.Fatal(err)
	}
	path := tr.path(s)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files, want the one permission", len(entries))
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
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
