package config

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// A dialect is in the manual as its own file describes it. With -update, a flag of package golden, the table is written.
func TestReadmeHasEveryDialect(t *testing.T) {
	const begin = "| dialect | files |\n|---|---|\n"
	before, rest, ok := strings.Cut(README, begin)
	_, after, end := strings.Cut(rest, "|\n\n")
	if !ok || !end {
		t.Fatal("README.md has no table of dialects")
	}
	var rows strings.Builder
	for _, d := range dialects {
		rows.WriteString("| `" + d.Name + "` | " + d.Files + " |\n")
	}
	text := before + begin + rows.String() + "\n" + after
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile("README.md", []byte(text), 0o600))
	} else if text != README {
		t.Errorf("README.md does not have these rows: go test ./session/config -run TestReadme -update\n%s", rows.String())
	}
	for field := range commonFields {
		if !strings.Contains(README, "`"+field+"`") {
			t.Errorf("README.md does not name %s", field)
		}
	}
}

// The schema of our files has every transport.
func TestSchemaHasEveryTransport(t *testing.T) {
	_, rest, _ := strings.Cut(string(Schema), `"description": "How to talk to it."`)
	kinds, _, ok := strings.Cut(rest, "]")
	for _, kind := range append(URLTransports(), Stdio) {
		if !ok || !strings.Contains(kinds, `"`+kind+`"`) {
			t.Errorf("mcphud.schema.json does not have %s where it says how to talk to a server", kind)
		}
	}
}

// The entries that the manual shows can be read, and have the transports that it says.
func TestReadmeEntries(t *testing.T) {
	_, rest, _ := strings.Cut(README, "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	s, err := Load(Options{Files: []string{write(t, t.TempDir()+"/mcphud.yaml", text)}, LookupEnv: env("REMOTE_TOKEN=x")})
	if err != nil || len(s.Warnings) > 0 || len(s.Servers) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	a, b := s.Servers[0], s.Servers[1]
	if a.Problem != nil || a.Transport != Stdio || b.Problem != nil || b.Transport != Auto || b.Headers["Authorization"] != "Bearer x" {
		t.Errorf("%+v\n%+v", a, b)
	}
}
