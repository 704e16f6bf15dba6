package calls

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A call that was made in a sandbox is made in it again; and a file that cannot say so does not name the server.
func TestX5b_SandboxIsKept(t *testing.T) {
	made := config.OfCommand("serve", "a")
	if c := (Call{Server: ServerOf(made)}).Saved("f.yaml", "f"); c.Server.Command != "serve" || len(c.Server.Args) != 1 {
		t.Errorf("%+v", c)
	}
	open := ServerOf(made)
	made.Sandbox = &confine.Rules{Read: []string{"/a"}, Network: true}
	kept := ServerOf(made)
	if again, ok := kept.Config(); !ok || again.Sandbox == nil || !again.Sandbox.Network || again.Sandbox.Read[0] != "/a" {
		t.Errorf("%+v, %v", again, ok)
	}
	assert.Equalf(t, kept.Identity(), open.Identity(), "it has two histories")
	if c := (Call{Server: kept}).Saved("f.yaml", "f"); c.Server.IsSet() {
		t.Errorf("%+v", c)
	}
}

// A file is trusted where it says what was called, and only there: the same words in a folder where they mean another program are not it.
func TestTrustOfACallThatWasMade(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	for _, dir := range []string{here, there} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "server.js"), nil, 0o600))
	}
	in := func(dir string, argv ...string) config.Server {
		s := config.OfCommand(argv[0], argv[1:]...)
		s.Cwd = dir
		return s
	}
	for name, c := range map[string]struct {
		text string
		made config.Server
		want bool
	}{
		"same":            {"command: [node, server.js]\n", in(here, "node", "server.js"), true},
		"another folder":  {"command: [node, server.js]\n", in(there, "node", "server.js"), false},
		"no file of it":   {"command: [npx, -y, thing]\n", in(there, "npx", "-y", "thing"), true},
		"other arguments": {"command: [node, server.js, --x]\n", in(here, "node", "server.js"), false},
		"url":             {"url: https://a.test/mcp\n", config.Server{URL: "https://a.test/mcp", Transport: config.Auto}, true},
		"another url":     {"url: https://a.test/mcp\n", config.Server{URL: "https://b.test/mcp", Transport: config.Auto}, false},
		"nothing known":   {"command: [node, server.js]\n", config.Server{}, false},
	} {
		file := filepath.Join(here, Folder, name+".yaml")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(c.text+"tool: x\n"), 0o600))
		trust := config.OpenTrust(t.TempDir())
		if err := Trust(trust, file, c.made); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f, _, err := Read(file)
		require.NoError(t, err)
		srv, _ := f.Calls[0].Config()
		if trust.Trusted(srv) != c.want {
			t.Errorf("%s: trusted is not %v", name, c.want)
		}
	}
}
