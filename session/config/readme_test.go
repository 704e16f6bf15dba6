package config

import (
	"strings"
	"testing"
)

// A dialect is in the manual as its own file describes it.
func TestReadmeHasEveryDialect(t *testing.T) {
	for _, d := range dialects {
		if row := "| `" + d.Name + "` | " + d.Files + " |\n"; !strings.Contains(README, row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
	for field := range commonFields {
		if !strings.Contains(README, "`"+field+"`") {
			t.Errorf("README.md does not name %s", field)
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
