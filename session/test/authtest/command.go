package authtest

import (
	_ "embed"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Example is a configuration as it was published: its server slack is a command that wants a login.
//
//go:embed slack.yaml
var Example string

// Command is the server slack of Example, with an authorization server. Three things are put in the place of what Example has: the
// host of slack.com is the authorization server, the port of the redirect is a free one, and npx is a program of the test, the first
// in PATH.
type Command struct {
	*Issuer
	File   string            // the configuration
	Env    map[string]string // what it needs
	folder string
	t      testing.TB
}

// StartCommand runs the authorization server until the test ends. Nothing starts the command yet.
func StartCommand(t testing.TB, k Knobs) *Command {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("npx of the test is a shell script")
	}
	k.API = true
	c := &Command{Issuer: NewIssuer(t, k), folder: t.TempDir(), t: t}
	c.Client("slack-id", "zqclientzq", "client_secret_basic")
	c.File = filepath.Join(c.folder, "mcp.yaml")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_ = l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c.write("mcp.yaml", strings.NewReplacer("https://slack.com", c.URL, "localhost:8080", "localhost:"+port).Replace(Example), 0o600)
	script := `#!/bin/sh
cd '` + c.folder + `' || exit 9
printf '%s %s\n' "$SLACK_TOKEN" "$*" >> started
bad=$(cat bad 2>/dev/null)
if [ -n "$bad" ] && [ "$bad" = "$SLACK_TOKEN" ] || [ "$bad" = '*' ]; then
  echo "Error: An API error occurred: invalid_auth ($SLACK_TOKEN)" >&2
  exit 1
fi
exec '` + faketest.Binary(t) + `' good
`
	c.write("bin/npx", script, 0o700)
	c.Env = map[string]string{
		"SLACK_CLIENT_ID": "slack-id", "SLACK_CLIENT_SECRET": "zqclientzq", "GITHUB_TOKEN": "x", "API_TOKEN": "x",
		"PATH": filepath.Join(c.folder, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	return c
}

func (c *Command) write(name, content string, mode os.FileMode) {
	c.t.Helper()
	path := filepath.Join(c.folder, filepath.FromSlash(name))
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(c.t, os.WriteFile(path, []byte(content), mode))
}

// Config is the server in a configuration. It is read from the file, and finds npx.
func (c *Command) Config() config.Server {
	c.t.Helper()
	set, err := config.Load(config.Options{Files: []string{c.File}, LookupEnv: func(name string) (string, bool) { v, ok := c.Env[name]; return v, ok }})
	require.NoError(c.t, err)
	s, ok := set.Server("slack")
	if !ok || s.Problem != nil || len(set.Warnings) > 0 {
		c.t.Fatalf("%v %v", s.Problem, set.Warnings)
	}
	s.Env = map[string]string{"PATH": c.Env["PATH"]}
	return s
}

// Started are the values of SLACK_TOKEN that it was started with so far, each with its arguments.
func (c *Command) Started() (tokens, args []string) {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.folder, "started"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		token, with, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		tokens, args = append(tokens, token), append(args, with)
	}
	return tokens, args
}

// Refuse makes it end at once where it is started with this token, "*" for any, which it writes to stderr besides.
func (c *Command) Refuse(token string) { c.t.Helper(); c.write("bad", token, 0o600) }
