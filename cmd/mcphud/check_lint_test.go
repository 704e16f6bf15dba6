package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// linted is the report of the section lint on a server, and what it says of clients.
func linted(t *testing.T, s config.Server, args ...string) (o outcome, r check.Report, f map[string]lint.ClientFigures) {
	t.Helper()
	args = append([]string{"check", "lint", "--format", "json"}, args...)
	for k, v := range s.Env {
		args = append(args, "-e", k+"="+v)
	}
	o = mcphud(t, target(s, args...)...)
	if err := json.Unmarshal([]byte(o.out), &r); err != nil {
		t.Fatalf("%v: %s %s", err, o.out, o.stderr)
	}
	f = map[string]lint.ClientFigures{}
	for _, sec := range r.Sections {
		if sec.Name == "lint" {
			var all []lint.ClientFigures
			require.NoError(t, json.Unmarshal(sec.Figures, &all))
			for _, c := range all {
				f[c.Client] = c
			}
		}
	}
	return o, r, f
}

// agentOver is our own agent over stdio, as this program has it.
func agentOver(t *testing.T, profile string) config.Server {
	t.Helper()
	c := command(t)
	env := map[string]string{}
	for _, kv := range c.Env[len(os.Environ()):] {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return config.Server{Name: profile, Command: c.Path, Env: env, Args: []string{"agent", "--stdio", "--ephemeral", "--profile", profile}}
}

// Our own agent has no error, and no warning but on the two tools whose schemas are what they are for: form_gallery has every keyword there
// is, and json_schema_2020_12_tool is what the conformance suite asks for.
func TestCheckLintOwnAgent(t *testing.T) {
	t.Parallel()
	for profile, excused := range map[string][]string{"demo": nil, "everything": {"json_schema_2020_12_tool"}} {
		_, r, f := linted(t, agentOver(t, profile), "--fail-on", "never")
		if r.Server.Tools < 10 || len(f) != len(lint.Clients()) {
			t.Fatalf("%s: %+v %v", profile, r.Server, f)
		}
		for _, x := range r.Findings {
			if x.Severity == check.Error && !slices.Contains(excused, x.Place.Name) || x.Severity == check.Warning && x.Place.Name != "form_gallery" && !slices.Contains(excused, x.Place.Name) {
				t.Errorf("%s: %s %s %s: %s", profile, x.Severity, x.ID, x.Place, x.Message)
			}
		}
		if profile == "demo" {
			for _, c := range []string{"anthropic", "claude-code", "claude-desktop", "bedrock", "cursor", "vscode", "windsurf", "typescript-sdk", "python-sdk", "go-sdk"} {
				if f[c].Lost > 0 {
					t.Errorf("%+v", f[c])
				}
			}
		}
	}
}

// What a mode refuses that a developer chooses is told where the client is named, and decides about the exit code.
func TestCheckLintClients(t *testing.T) {
	t.Parallel()
	s := agentOver(t, "demo")
	o, r, f := linted(t, s, "--client", "openai-strict")
	if o.code != cli.ExitAssertion || len(f) != 1 || f["openai-strict"].Lost != r.Server.Tools || r.Counts.Error == 0 {
		t.Errorf("exit %d: %+v %+v %s", o.code, f, r.Counts, o.stderr)
	}
	for _, x := range r.Findings {
		if x.ID == "lint/strict-open" && !slices.Equal(x.Clients, []string{"openai-strict"}) {
			t.Errorf("%+v", x)
		}
	}
	long := strings.Repeat("a_server_with_a_long_name_", 3)
	if o, r, _ := linted(t, s, "--client", "cursor,claude-code", "--known-as", long); o.code != cli.ExitAssertion || !slices.ContainsFunc(r.Findings, func(x check.Finding) bool {
		return x.ID == "lint/name-too-long" && strings.Contains(x.Message, "mcp__"+long[:20])
	}) {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
	mcphud(t, target(s, "check", "lint", "--client", "curser")...).exits(t, cli.ExitFailure, "cursor")
}

// The servers that everybody knows have no error, and what is told of them was looked at one by one.
func TestPeerCheckLint(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		s    config.Server
		want []string // rules that find something
	}{
		{peertest.Everything(t), []string{"lint/argument-description", "lint/format-openai", "lint/parameter-description"}},
		{peertest.Filesystem(t, t.TempDir()), []string{"lint/parameter-description"}},
		{peertest.Memory(t), []string{"lint/parameter-description"}},
	} {
		o, r, f := linted(t, p.s)
		if o.code != 0 || r.Counts.Error > 0 || r.Server.Tools == 0 || f["anthropic"].Tools != r.Server.Tools || f["anthropic"].Lost > 0 {
			t.Errorf("%s: exit %d, %+v, %s", p.s.Name, o.code, r.Findings, o.stderr)
		}
		for _, x := range r.Findings {
			if !slices.Contains(p.want, x.ID) {
				t.Errorf("%s: %s %s: %s", p.s.Name, x.ID, x.Place, x.Message)
			}
		}
	}
	o := mcphud(t, target(peertest.Everything(t), "check", "lint", "--format", "text")...)
	assert.Contains(t, o.out, "Claude Code", "lint/format-openai")
}
