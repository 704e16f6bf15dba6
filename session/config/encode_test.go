package config_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/mcphud/mcphud/session/config"
)

// What two servers look like in every dialect, and what each cannot say.
func TestEncodeEveryDialect(t *testing.T) {
	servers := []config.Server{
		{
			Name: "files", Transport: config.Stdio, Command: "npx", Args: []string{"-y", "server", "${HOME}/a b"}, Cwd: "/srv",
			Env: map[string]string{"TOKEN": "${TOKEN}", "LEVEL": "${LEVEL:-info}", "PLAIN": "x"}, Timeout: 90 * time.Second, Roots: []string{"/srv"},
		},
		{
			Name: "reports", Transport: config.HTTP, URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer ${REPORTS_TOKEN}", "X-Team": "a"},
			OAuth: &config.OAuth{ClientID: "me", Scopes: []string{"read", "write"}}, Disabled: true,
		},
	}
	var b strings.Builder
	for _, dialect := range config.DialectNames() {
		file, lost, err := config.EncodeAll(dialect, servers)
		if err != nil {
			t.Fatal(dialect, err)
		}
		fmt.Fprintf(&b, "== %s\n%s", dialect, file)
		for _, l := range lost {
			fmt.Fprintf(&b, "lost: %s\n", l)
		}
	}
	golden.RequireEqual(t, b.String())
}

// What a dialect can say comes back from its file as it was.
func TestEncodeIsReadBack(t *testing.T) {
	for dialect, path := range map[string]string{
		"mcphud": "mcphud.yaml", "claude-code": ".mcp.json", "claude-desktop": "claude_desktop_config.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json", "windsurf": "mcp_config.json",
		"zed": ".zed/settings.json", "gemini": ".gemini/settings.json", "continue": ".continue/config.yaml", "codex": ".codex/config.toml", "opencode": "opencode.json",
		"cline": "cline_mcp_settings.json", "goose": "goose/config.yaml", "inspector": ".mcp-inspector/mcp.json", "mcpServers": "any.json",
	} {
		for _, s := range []config.Server{
			{Name: "a", Transport: config.Stdio, Command: "run it", Args: []string{"-x", "", "a\nb", "ü # {no}"}, Env: map[string]string{"A": "1", "B": "true", "C": " c: d"}},
			{Name: "b c", URL: "https://example.com/mcp?x=y", Transport: config.HTTP, Headers: map[string]string{"X-Team": "a: b"}},
		} {
			o := config.Options{Cwd: t.TempDir()}
			to, err := o.Destination(filepath.Join(o.Cwd, filepath.FromSlash(path)))
			if err != nil || to.Dialect != dialect {
				t.Fatal(to, err)
			}
			change, err := o.AddEntry(to, s)
			if err != nil {
				t.Fatal(dialect, err)
			}
			if _, err := change.Save(); err != nil {
				t.Fatal(err)
			}
			set, err := config.Load(config.Options{Files: []string{to.File}, Home: o.Cwd})
			if err != nil || len(set.Servers) != 1 {
				t.Fatalf("%s: %v, %+v\n%s", dialect, err, set, change.After)
			}
			got := set.Servers[0]
			same := got.Name == s.Name && got.Command == s.Command && got.URL == s.URL && fmt.Sprint(got.Args) == fmt.Sprint(s.Args) && len(got.Args) == len(s.Args)
			if !same || got.Problem != nil || len(s.Env) > 0 && !reflect.DeepEqual(got.Env, s.Env) || len(s.Headers) > 0 && !reflect.DeepEqual(got.Headers, s.Headers) {
				t.Errorf("%s: %+v (%v), not %+v, from\n%s", dialect, got, got.Problem, s, change.After)
			}
			if got.Transport != s.Transport && got.Transport != config.Auto {
				t.Errorf("%s: transport %s from\n%s", dialect, got.Transport, change.After)
			}
		}
	}
}
