package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A name that the server does not have is answered with the nearest that it has.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tools", "call", "ad"}, "did you mean add? mcphud tools list"},
		{[]string{"tools", "show", "rescount"}, "did you mean reset_counter?"},
		{[]string{"prompts", "get", "gret"}, "did you mean greet? mcphud prompts list"},
		{[]string{"prompts", "get", "greet"}, "it needs name"},
		{[]string{"resources", "read", "demo://readm"}, "did you mean demo://readme? mcphud resources list"},
	} {
		o := mcphud(t, append(c.args, url)...)
		if e := o.errorLine(t); !strings.Contains(e.Message, c.want) || o.code == 0 {
			t.Errorf("%v: exit %d, %s", c.args, o.code, e.Message)
		}
	}
}

// A full name is answered with full names, which is what can be called without a target, and a server that failed is named once.
func TestFullNamesOfMistypedTools(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "", [2]string{"good", string(behave.Good)}, [2]string{"broken", string(behave.ExitAtOnce)})
	o := mcphud(t, "tools", "call", "mcp__good__ech", "--config", file)
	if e := o.errorLine(t); !strings.Contains(e.Message, "did you mean mcp__good__echo") || o.code != cli.ExitTool {
		t.Errorf("exit %d, %s", o.code, e.Message)
	}
	for name, want := range map[string]string{"mcp__goood__echo": "did you mean good? mcphud servers list", "mcp:goood:echo": "did you mean good? ", "mcp__zzzz__echo": "names no server of the configs; mcphud servers list"} {
		if o := mcphud(t, "tools", "call", name, "--config", file); o.code != cli.ExitTool || !strings.Contains(o.errorLine(t).Message, want) {
			t.Errorf("exit %d, %s", o.code, o.stderr)
		}
	}
	if o := mcphud(t, "tools", "list", "--all", "--config", file, "--format", "text"); !strings.Contains(o.out, "missing: broken: /etc/fakemcp.conf does not exist (starting: ") {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
}

// A plain URL names the server in every verb, wherever it stands, and a text that lacks only the scheme is recognised.
func TestURLIsATarget(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, args := range [][]string{
		{"info", url},
		{"ping", url},
		{"tools", "list", url},
		{"tools", "show", "add", url},
		{"tools", "call", url, "add", "a=1", "b=2"},
		{"tools", "call", "add", url, "a=1", "b=2"},
		{"tools", "call", "add", "a=1", "b=2", url},
		{"resources", "list", url},
		{"resources", "templates", url},
		{"resources", "read", "demo://readme", url},
		{"prompts", "list", url},
		{"prompts", "get", "greet", "name=x", url},
		{"complete", "greet", "name", "A", url},
		{"raw", "tools/list", "{}", url},
		{"raw", url, "tools/list"},
	} {
		mcphud(t, args...).exits(t, 0)
	}
	host := strings.TrimPrefix(url, "http://")
	for _, args := range [][]string{{host}, {"tools", "list", host}, {"ping", host}} {
		if o := mcphud(t, args...); o.code != 1 || !strings.Contains(o.errorLine(t).Message, "did you mean ") || !strings.Contains(o.stderr, url) {
			t.Errorf("%v: exit %d, %s", args, o.code, o.stderr)
		}
	}
	// The URL is what is to be read, not where.
	if o := mcphud(t, "resources", "read", url); o.code != 1 || !strings.Contains(o.errorLine(t).Message, "no server was named") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := mcphud(t, fake(t, behave.Good, "resources", "read", "https://example.com/")...); !strings.Contains(o.stderr, "example.com") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

func TestBareURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"localhost": "http://localhost", "localhost:9998/mcp": "http://localhost:9998/mcp", "127.0.0.1:3000": "http://127.0.0.1:3000",
		"[::1]:3000/mcp": "http://[::1]:3000/mcp", "mcp.example.com/mcp": "https://mcp.example.com/mcp", "box:8080": "http://box:8080",
		"server.js": "", "./server.js": "", "tools": "", "a=1": "", "a:=1": "", "key:=http://x/": "", "": "", "dir/server.js": "", "C:\\x": "",
	} {
		assert.Equalf(t, flags.BareURL(text), want, "%q", text)
	}
}

// What the schema lacks or does not know logs a warning, and is sent all the same.
func TestDoubtfulArgumentsAreSent(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	o := mcphud(t, "tools", "call", "add", "a=1", "c=3", url)
	for _, want := range []string{"mcphud: warning: argument b is required\n", "mcphud: warning: argument c is not in the tool's schema\n"} {
		assert.Contains(t, o.stderr, want)
	}
	if kind := o.errorLine(t).Kind; kind == "Usage" {
		t.Errorf("it was not sent: %s", o.stderr)
	}
	assert.Equalf(t, mcphud(t, "tools", "call", "add", "a=1", "b=2", url).stderr, "", "stderr")
}

// A name that begins with a dash can be given.
func TestNameThatLooksLikeAFlag(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, verb := range [][]string{{"tools", "call"}, {"tools", "show"}, {"prompts", "get"}} {
		o := mcphud(t, append(slices.Clone(verb), "--name=--nobody", url)...)
		o.exits(t, cli.ExitTool, "--nobody")
	}
	mcphud(t, "tools", "call", "--name=add", "a=1", "b=2", url).ok(t)
}

// A server that needs a capability which no command declares needs input that nobody can give.
func TestMissingCapabilityIsNeedsInput(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	o := mcphud(t, "tools", "call", "test_elicitation", "message=x", url)
	if e := o.errorLine(t); o.code != cli.ExitNeedsInput || e.Kind != "NeedsInput" || e.Code == nil || *e.Code != -32021 {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
