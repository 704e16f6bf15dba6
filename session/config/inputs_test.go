package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What was given for an input stands where it is referred to, once: a value that looks like a reference stays as it is.
func TestFill(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), ".vscode", "mcp.json"), `{
  "inputs": [{"id": "key", "type": "promptString", "password": true}, {"id": "host", "type": "promptString"}],
  "servers": {"a": {"url": "https://${input:host}/mcp", "headers": {"Authorization": "Bearer ${input:key}", "X": "${env:TRICK}"}}}
}`)
	s, err := Load(Options{Files: []string{f}, LookupEnv: env("TRICK=${input:key}")})
	if err != nil || len(s.Servers) != 1 || s.Servers[0].Problem != nil {
		t.Fatal(err, s.Servers)
	}
	a := s.Servers[0]
	names := func(s Server) (all []string) {
		for _, in := range s.Inputs {
			all = append(all, in.Name)
		}
		return all
	}
	if got := names(a); !slices.Equal(got, []string{"host", "key"}) || !a.Inputs[1].Secret {
		t.Fatalf("inputs %v", a.Inputs)
	}
	half := a.Fill(setup.Values{"host": {"example.com"}})
	if got := names(half); !slices.Equal(got, []string{"key"}) || half.URL != "https://example.com/mcp" {
		t.Errorf("half: %v, %s", got, half.URL)
	}
	all := half.Fill(setup.Values{"host": {"example.com"}, "key": {"s3cret-${input:host}"}})
	if len(all.Inputs) > 0 || all.Problem != nil || all.Headers["Authorization"] != "Bearer s3cret-${input:host}" || all.Headers["X"] != "${input:key}" {
		t.Errorf("%+v", all)
	}
	if m := all.Masked(); strings.Contains(m.Headers["Authorization"], "s3cret") {
		t.Errorf("masked: %v", m.Headers)
	}
	assert.Equalf(t, a.Fingerprint(), all.Fingerprint(), "a value given made it another server")
	if bad := a.Fill(setup.Values{"host": {"x y"}, "key": {"k"}}); bad.Problem == nil {
		t.Error("a URL with a blank passed")
	}
	assert.Equalf(t, a.URL, "https://${input:host}/mcp", "Fill changed the entry itself")
}

// Goose asks its keychain for keys; they are variables here, or are asked for.
func TestFillKeysOfGoose(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), "goose", "config.yaml"), "extensions:\n  a: {type: stdio, cmd: x, env_keys: [SET, UNSET]}\n")
	s, err := Load(Options{Files: []string{f}, LookupEnv: env("SET=1234")})
	if err != nil || len(s.Servers) != 1 {
		t.Fatal(err)
	}
	a := s.Servers[0]
	if len(a.Inputs) != 1 || a.Inputs[0].Name != "UNSET" || !a.Inputs[0].Secret || a.Env["SET"] != "1234" {
		t.Fatalf("%+v", a)
	}
	if a = a.Fill(setup.Values{"UNSET": {"5678"}}); a.Env["UNSET"] != "5678" || len(a.Inputs) > 0 {
		t.Errorf("%+v", a)
	}
}

// Literal gives what is written, in whatever dialect.
func TestLiteral(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".env"), "A=1")
	f := write(t, filepath.Join(dir, ".vscode", "mcp.json"), `{"inputs": [{"id": "i", "type": "promptString"}],
"servers": {"a": {"command": "${env:UNSET}", "args": ["${input:i}"], "cwd": "sub", "envFile": "${workspaceFolder}/.env", "env": {"T": "${env:T}"}}}}`)
	s, err := Load(Options{Files: []string{f}, Cwd: dir, Literal: true, LookupEnv: env("T=secret")})
	if err != nil || len(s.Servers) != 1 {
		t.Fatal(err)
	}
	a := s.Servers[0]
	if a.Problem != nil || a.Command != "${env:UNSET}" || a.Cwd != "sub" || a.EnvFile != "${workspaceFolder}/.env" || a.Env["T"] != "${env:T}" || len(a.Env) != 1 || len(a.Inputs) != 1 {
		t.Errorf("%+v, problem %v", a, a.Problem)
	}
}

// A preset of an input in a file of the project is shown before it is trusted, is part of what is trusted, and is not masked.
func TestPresetsOfInputsAreShownAndPinned(t *testing.T) {
	of := func(inputs string) Server {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".vscode", "mcp.json"), `{"inputs": [`+inputs+`, {"id": "other", "type": "promptString", "default": "unused"}], "servers": {"a": {"command": "npx", "args": ["-y", "${input:k}", "x"]}}}`)
		s, err := Load(Options{Cwd: dir, LookupEnv: env()})
		if err != nil || len(s.Servers) != 1 {
			t.Fatal(err, s.Servers)
		}
		return s.Servers[0]
	}
	input := func(preset string) string {
		return `{"id": "k", "type": "promptString", "password": true` + preset + `}`
	}
	none, good, evil := of(input("")), of(input(`, "default": "--call=tame"`)), of(input(`, "default": "--call=evil"`))
	if good.Fingerprint() == evil.Fingerprint() || none.Fingerprint() == good.Fingerprint() {
		t.Error("another preset is trusted too")
	}
	if got := fmt.Sprint(Describe(evil)); !strings.Contains(got, `{unless told k=--call=evil}`) || strings.Contains(got, "unused") {
		t.Error(got)
	}
	assert.NotContains(t, fmt.Sprint(Describe(none)), "unless told")
	filled := evil.Fill(setup.Values{"k": {"--call=evil"}})
	assert.Contains(t, fmt.Sprint(Describe(filled)), "npx -y --call=evil x")
	assert.Equalf(t, filled.Fingerprint(), evil.Fingerprint(), "filling it in made it another server")
	assert.NotContains(t, fmt.Sprint(Describe(evil.Fill(setup.Values{"k": {"hunter2"}}))), "hunter2")
}
