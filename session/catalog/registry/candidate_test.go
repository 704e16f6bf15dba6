package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func published(t *testing.T, file string) *Document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	d, err := Parse(b)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return d
}

func has(commands ...string) func(string) bool {
	return func(c string) bool { return slices.Contains(commands, c) }
}

// of is a way by its kind and number.
func of(t *testing.T, d *Document, kind string, number int, commands ...string) Candidate {
	t.Helper()
	for _, c := range d.Candidates(has(commands...)) {
		if c.Kind == kind && c.Number == number {
			return c
		}
	}
	t.Fatalf("%s has no %s %d", d.Name, kind, number)
	return Candidate{}
}

// What published descriptions make of values: the exact argv, the environment, the URL and the headers.
func TestPublishedCommands(t *testing.T) {
	for _, c := range []struct {
		file, kind string
		number     int
		given      map[string]string
		argv       string // words between |, or the URL
		env        map[string]string
	}{
		{"airtable.json", "npm", 1, map[string]string{"AIRTABLE_API_KEY": "pat1"}, "npx|-y|airtable-mcp-server@1.7.2", map[string]string{"AIRTABLE_API_KEY": "pat1"}},
		{"airtable.json", "oci", 2, map[string]string{"AIRTABLE_API_KEY": "pat1"}, "docker|run|-i|--rm|-e|AIRTABLE_API_KEY|docker.io/domdomegg/airtable-mcp-server:1.7.2", map[string]string{"AIRTABLE_API_KEY": "pat1"}},
		{"github.json", "oci", 1, map[string]string{"token": "ghp_1"}, "docker|run|-i|--rm|-e|GITHUB_PERSONAL_ACCESS_TOKEN|ghcr.io/github/github-mcp-server:0.20.1", map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_1"}},
		{"terraform.json", "oci", 1, nil, "docker|run|-i|--rm|-e|TFE_ADDRESS=https://app.terraform.io|-e|ENABLE_TF_OPERATIONS=false|docker.io/hashicorp/terraform-mcp-server:1.1.0", nil},
		{"terraform.json", "oci", 1, map[string]string{"token": "t0p", "enabled": "true"}, "docker|run|-i|--rm|-e|TFE_ADDRESS=https://app.terraform.io|-e|ENABLE_TF_OPERATIONS=true|-e|TFE_TOKEN|docker.io/hashicorp/terraform-mcp-server:1.1.0", map[string]string{"TFE_TOKEN": "t0p"}},
		{"brave.json", "npm", 1, map[string]string{"BRAVE_API_KEY": "a b"}, "npx|-y|@brave/brave-search-mcp-server@2.1.3", map[string]string{"BRAVE_API_KEY": "a b"}},
		{"time-nuget.json", "nuget", 1, nil, "dnx|TimeMcpServer@1.0.8|--yes", nil},
		{"time-pypi.json", "pypi", 1, nil, "uvx|time-mcp-pypi@1.0.6", nil},
		{"azure-devops.json", "remote", 1, nil, "https://mcp.dev.azure.com", nil},
		{"filesystem-2025-07.json", "npm", 1, map[string]string{"target_dir": `["/a b","/c"]`}, "npx|-y|@modelcontextprotocol/server-filesystem@1.0.2|/a b|/c", map[string]string{"LOG_LEVEL": "info"}},
		{
			"filesystem-2025-07.json", "oci", 2,
			map[string]string{"source_path": `["/a","/b"]`, "target_path": `["/project/a","/project/b"]`},
			"docker|run|-i|--rm|--mount|type=bind,src=/a,dst=/project/a|--mount|type=bind,src=/b,dst=/project/b|-e|LOG_LEVEL|docker.io/mcp/filesystem:1.0.2|/project",
			map[string]string{"LOG_LEVEL": "info"},
		},
		{
			"database-2025-07.json", "oci", 1,
			map[string]string{"db_type": "mysql", "database_name": "x; rm -rf ~", "DB_USERNAME": "u", "DB_PASSWORD": "p", "port": "3306"},
			"docker|run|-i|--rm|--network|host|-e|DB_TYPE=mysql|-e|DB_USERNAME|-e|DB_PASSWORD|-e|SSL_MODE|docker.io/example/database-manager-mcp:3.1.0|--host|localhost|--port|3306|x; rm -rf ~",
			map[string]string{"DB_USERNAME": "u", "DB_PASSWORD": "p", "SSL_MODE": "prefer"},
		},
		{"hybrid-2025-07.json", "npm", 1, map[string]string{"mode": "proxy"}, "npx|-y|@example/hybrid-mcp-server@1.5.0|--mode|proxy", nil},
		{"hybrid-2025-07.json", "remote", 1, map[string]string{"X-API-Key": "k"}, "https://mcp.anonymous.modelcontextprotocol.io/sse", map[string]string{"X-API-Key": "k", "X-Region": "us-east-1"}},
		{"tenant.json", "remote", 1, map[string]string{"tenant_id": "acme", "api_key": "k"}, "https://acme.api.example.com/mcp", map[string]string{"Authorization": "Bearer k"}},
		{"tenant.json", "remote", 2, map[string]string{"baseUrl": "https://h"}, "https://h/mcp", nil},
	} {
		d := published(t, c.file)
		way := of(t, d, c.kind, c.number, "npx", "uvx", "docker", "dnx")
		values, err := setup.Read(way.Inputs, c.given)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		s, err := way.Server(values)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		got := strings.Join(append([]string{s.Command}, s.Args...), "|")
		set := s.Env
		if way.Remote() {
			got, set = s.URL, s.Headers
		}
		if got != c.argv || !maps.Equal(set, c.env) {
			t.Errorf("%s %s %d:\n got %s %v\nwant %s %v", c.file, c.kind, c.number, got, set, c.argv, c.env)
		}
	}
}

// What is required is asked for, by the kind it has, and nothing starts without it.
func TestInputsOfPublished(t *testing.T) {
	way := of(t, published(t, "database-2025-07.json"), "oci", 1, "docker")
	_, err := setup.Read(way.Inputs, nil)
	var missing *setup.Missing
	if !errors.As(err, &missing) || err.Error() != "required and not given: DB_USERNAME, DB_PASSWORD, db_type, database_name" {
		t.Errorf("%v", err)
	}
	for _, i := range way.Inputs {
		switch i.Name {
		case "DB_PASSWORD":
			if !i.Secret {
				t.Error("the password is not a secret")
			}
		case "port":
			assert.Equalf(t, i.Kind, setup.Number, "the port is not a number")
		case "db_type":
			if !i.Repeated || len(i.Choices) != 4 {
				t.Errorf("%+v", i)
			}
		}
	}
	mount := of(t, published(t, "filesystem-2025-07.json"), "oci", 2, "docker")
	values, _ := setup.Read(mount.Inputs, map[string]string{"source_path": `["/a","/b","/c"]`, "target_path": `["/x","/y"]`})
	if _, err := mount.Server(values); err == nil {
		t.Error("three sources went to two targets")
	}
}

// What is on this machine decides the order; what is not is said with how to get it.
func TestOrder(t *testing.T) {
	order := func(file string, commands ...string) (out []string) {
		for _, c := range published(t, file).Candidates(has(commands...)) {
			out = append(out, fmt.Sprintf("%s%d%v%v", c.Kind, c.Number, c.Missing != "", c.Refused != nil))
		}
		return out
	}
	if got := order("airtable.json", "docker"); !slices.Equal(got, []string{"oci2falsefalse", "mcpb3falsefalse", "npm1truefalse"}) {
		t.Error(got)
	}
	if got := order("hybrid-2025-07.json", "npx"); !slices.Equal(got, []string{"remote2falsefalse", "npm1falsefalse", "remote1falsefalse"}) {
		t.Error(got)
	}
	c := of(t, published(t, "airtable.json"), "npm", 1)
	assert.Contains(t, c.Missing, "npx", "nodejs.org")
	podman := of(t, published(t, "airtable.json"), "oci", 2, "podman")
	s, err := podman.Server(setup.Values{"AIRTABLE_API_KEY": {"x"}})
	if err != nil || s.Command != "podman" {
		t.Error(s.Command, err)
	}
	if c := of(t, published(t, "airtable.json"), "mcpb", 3); c.Bundle == nil || c.Bundle.SHA256 == "" {
		t.Errorf("%+v", c)
	}
}

// Hundreds of entries from before there was a schema are read, and none leads to a command outside the table.
func TestSeed(t *testing.T) {
	b, err := os.ReadFile("testdata/seed-2025-05.json")
	require.NoError(t, err)
	var all []json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil || len(all) < 40 {
		t.Fatal(len(all), err)
	}
	ways := 0
	for _, raw := range all {
		d, err := Parse(raw)
		if err != nil {
			if !strings.Contains(err.Error(), "is not a server's name") {
				t.Errorf("%.80s: %v", raw, err)
			}
			continue
		}
		if d.Version != "0.0.1-seed" {
			t.Errorf("%s has the version %q", d.Name, d.Version)
		}
		for _, c := range d.Candidates(has("npx", "uvx", "docker")) {
			ways++
			values, _ := setup.Read(c.Inputs, nil)
			s, err := c.Server(values)
			if err == nil && s.URL == "" && !slices.Contains([]string{"npx", "uvx", "docker"}, s.Command) {
				t.Errorf("%s runs %s", d.Name, s.Command)
			}
		}
	}
	if ways < 40 {
		t.Errorf("only %d ways", ways)
	}
	if c := of(t, published(t, "circleci.json"), "", 1); c.Refused == nil {
		t.Error("a package without a kind can be run")
	}
}

// Another token needs no new trust, another version or argument does; a secret is masked.
func TestFingerprint(t *testing.T) {
	way := of(t, published(t, "airtable.json"), "npm", 1, "npx")
	a, _ := way.Server(setup.Values{"AIRTABLE_API_KEY": {"pat-hunter2"}})
	b, _ := way.Server(setup.Values{"AIRTABLE_API_KEY": {"pat-hunter3"}})
	assert.Equalf(t, a.Fingerprint(), b.Fingerprint(), "the token is part of what is trusted")
	d := published(t, "airtable.json")
	d.Packages[0].Version = "1.7.3"
	c, _ := d.Candidates(has("npx"))[0].Server(setup.Values{"AIRTABLE_API_KEY": {"pat-hunter2"}})
	if a.Fingerprint() == c.Fingerprint() {
		t.Error("another version is trusted too")
	}
	assert.NotContains(t, fmt.Sprint(a.Masked()), "hunter2")
}
