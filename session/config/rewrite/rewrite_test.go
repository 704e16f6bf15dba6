package rewrite

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func open(t *testing.T, name, text string) *Doc {
	t.Helper()
	d, err := Parse(name, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return d
}

var github = Object{{"command", "npx"}, {"args", []string{"-y", "server"}}, {"env", Object{{"TOKEN", "${TOKEN}"}}}}

// What an entry looks like that is added, in every way to write a file; taking it away restores the file.
func TestAddAndDelete(t *testing.T) {
	for _, c := range []struct{ name, path, before, after string }{
		{"a.json", "mcpServers", `{}`, "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"server\"],\n      \"env\": {\n        \"TOKEN\": \"${TOKEN}\"\n      }\n    }\n  }\n}"},
		{"a.json", "mcpServers", "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"a\"} // first\n\t}\n}\n", "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"a\"}, // first\n\t\t\"x\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"server\"],\n\t\t\t\"env\": {\n\t\t\t\t\"TOKEN\": \"${TOKEN}\"\n\t\t\t}\n\t\t}\n\t}\n}\n"},
		{"a.json", "mcpServers", `{"mcpServers":{"a":{"command":"a"}},"z":1}`, `{"mcpServers":{"a":{"command":"a"},"x":{"command":"npx","args":["-y","server"],"env":{"TOKEN":"${TOKEN}"}}},"z":1}`},
		{"a.json", "mcpServers", "\xef\xbb\xbf{\r\n  \"mcpServers\": {\r\n    \"a\": {},\r\n  },\r\n}", "\xef\xbb\xbf{\r\n  \"mcpServers\": {\r\n    \"a\": {},\r\n    \"x\": {\r\n      \"command\": \"npx\",\r\n      \"args\": [\"-y\", \"server\"],\r\n      \"env\": {\r\n        \"TOKEN\": \"${TOKEN}\"\r\n      }\r\n    },\r\n  },\r\n}"},
		{"a.yaml", "servers", "# mine\nservers:\n  a: # one\n    command: a\n\n# others\nz: 1\n", "# mine\nservers:\n  a: # one\n    command: a\n  x:\n    command: npx\n    args: [-y, server]\n    env:\n      TOKEN: \"${TOKEN}\"\n\n# others\nz: 1\n"},
		{"a.yaml", "servers", "servers: {} # none\nz: 1", "servers: # none\n  x:\n    command: npx\n    args: [-y, server]\n    env:\n      TOKEN: \"${TOKEN}\"\nz: 1"},
		{"a.yaml", "servers", "servers:\n    a: {command: a}", "servers:\n    a: {command: a}\n    x:\n        command: npx\n        args: [-y, server]\n        env:\n            TOKEN: \"${TOKEN}\""},
		{"a.yaml", "servers", "{servers: {a: {command: a}}}\n", "{servers: {a: {command: a}, x: {command: npx, args: [-y, server], env: {TOKEN: \"${TOKEN}\"}}}}\n"},
		{"a.toml", "mcp_servers", "model = \"o\" # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n\n# others\n[z]\nk = 1\n", "model = \"o\" # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.x]\ncommand = \"npx\"\nargs = [\"-y\", \"server\"]\n\n[mcp_servers.x.env]\nTOKEN = \"${TOKEN}\"\n\n# others\n[z]\nk = 1\n"},
		{"a.toml", "mcp_servers", "model = \"o\"", "model = \"o\"\n\n[mcp_servers.x]\ncommand = \"npx\"\nargs = [\"-y\", \"server\"]\n\n[mcp_servers.x.env]\nTOKEN = \"${TOKEN}\""},
		{"a.toml", "mcp_servers", "mcp_servers = {a = {command = \"a\"}}\n", "mcp_servers = {a = {command = \"a\"}, x = {command = \"npx\", args = [\"-y\", \"server\"], env = {TOKEN = \"${TOKEN}\"}}}\n"},
	} {
		d := open(t, c.name, c.before)
		if err := d.Set([]string{c.path, "x"}, github); err != nil {
			t.Errorf("%q: %v", c.before, err)
			continue
		}
		assert.Equalf(t, string(d.Bytes()), c.after, "%s", c.name)
		if err := d.Delete([]string{c.path, "x"}); err != nil {
			t.Errorf("%q: %v", c.after, err)
		}
		if got := string(d.Bytes()); got != c.before && c.before != "{}" {
			t.Errorf("%s: deleting gives\n%q\nwant\n%q", c.name, got, c.before)
		}
	}
}

// A value that differs a little is changed where it differs.
func TestSetTouchesWhatDiffers(t *testing.T) {
	for _, c := range []struct {
		name, before string
		path         string
		value        any
		after        string
	}{
		{"a.json", `{"a": {"args": ["x", /* y */ "y"], "k": 1.0e5}}`, "a.args", []string{"tap", "--", "x", "y"}, `{"a": {"args": ["tap", "--", "x", /* y */ "y"], "k": 1.0e5}}`},
		{"a.json", `{"a": {"args": ["tap", "--", "x", /* y */ "y"]}}`, "a.args", []string{"x", "y"}, `{"a": {"args": ["x", /* y */ "y"]}}`},
		{"a.json", "{\n \"args\": [\n  \"x\", // one\n  \"y\" // two\n ]\n}", "args", []string{"x", "z"}, "{\n \"args\": [\n  \"x\", // one\n  \"z\" // two\n ]\n}"},
		{"a.json", "{\n \"args\": [\n  \"x\", // one\n  \"y\" // two\n ]\n}", "args", []string{"x"}, "{\n \"args\": [\n  \"x\" // one\n ]\n}"},
		{"a.json", "{\n \"args\": [\n  \"x\", // one\n  \"y\" // two\n ]\n}", "args", []string{"x", "y", "z"}, "{\n \"args\": [\n  \"x\", // one\n  \"y\", // two\n  \"z\"\n ]\n}"},
		{"a.json", `{"a":null}`, "a.b", true, `{"a":{"b":true}}`},
		{"a.yaml", "a:\n  env:\n    A: b # first\n    C: 'd'\n", "a.env", map[string]string{"C": "e", "A": "b"}, "a:\n  env:\n    A: b # first\n    C: e\n"},
		{"a.yaml", "a:\n  command: x # run\n", "a.command", "y z", "a:\n  command: \"y z\" # run\n"},
		{"a.yaml", "a:\n  text: |\n    one\n    two\n  b: 1\n", "a.text", "three", "a:\n  text: three\n  b: 1\n"},
		{"a.yaml", "l:\n- name: x\n  k: 1\n# end\nm: 2\n", "l.-", Object{{"name", "z"}, {"k", 2}}, "l:\n- name: x\n  k: 1\n- name: z\n  k: 2\n# end\nm: 2\n"},
		{"a.yaml", "base: &b {command: x}\na:\n  <<: *b\n  k: 1\n", "a.command", "run", "base: &b {command: x}\na:\n  <<: *b\n  k: 1\n  command: run\n"},
		{"a.yaml", "# nothing yet\n", "servers.x.command", "run", "# nothing yet\nservers:\n  x:\n    command: run\n"},
		{"a.yaml", "a:\n  é: 'ü' # ö\n  k: [ä, b]\n", "a.k", []string{"ä", "c"}, "a:\n  é: 'ü' # ö\n  k: [ä, c]\n"},
		{"a.toml", "[a]\nargs = [\n  \"x\", # one\n  \"y\",\n]\n[a.env]\nK = 'v'\n", "a.args", []string{"x", "z", "w"}, "[a]\nargs = [\n  \"x\", # one\n  \"z\",\n  \"w\",\n]\n[a.env]\nK = 'v'\n"},
		{"a.toml", "[a]\ncommand = 'x' # run\n[b]\n", "a.enabled", false, "[a]\ncommand = 'x' # run\nenabled = false\n[b]\n"},
		{"a.toml", "[a]\nenv = { A = \"b\" }\n", "a.env.C", "d", "[a]\nenv = { A = \"b\", C = \"d\" }\n"},
		{"a.toml", "[[l]]\nk = 1\n[[l]]\nk = 2\n", "l.1.k", 3, "[[l]]\nk = 1\n[[l]]\nk = 3\n"},
	} {
		d := open(t, c.name, c.before)
		if err := d.Set(strings.Split(c.path, "."), c.value); err != nil {
			t.Errorf("%q: %v", c.before, err)
		} else if got := string(d.Bytes()); got != c.after {
			t.Errorf("got\n%s\nwant\n%s", got, c.after)
		}
	}
}

// A change that would touch something else is refused, and the file is as it was.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, before string
		do           func(*Doc) error
	}{
		{"a.yaml", "a: &x {k: 1}\nb: *x\n", func(d *Doc) error { return d.Set([]string{"a", "k"}, 2) }},
		{"a.yaml", "a: &x {k: 1}\nb: *x\n", func(d *Doc) error { return d.Set([]string{"b", "k"}, 2) }},
		{"a.yaml", "a: &x {k: 1}\nb: *x\n", func(d *Doc) error { return d.Delete([]string{"a"}) }},
		{"a.yaml", "? a\n: 1\nb: 2\n", func(d *Doc) error { return d.Set([]string{"a"}, 2) }},
		{"a.json", `{"a": 1, "a": 2}`, func(d *Doc) error { return d.Delete([]string{"a"}) }},
		{"a.toml", "[l]\na.b = 1\n", func(d *Doc) error { return d.Set([]string{"l", "a", "c"}, 2) }},
	} {
		d := open(t, c.name, c.before)
		if err := c.do(d); !errors.Is(err, ErrLossy) {
			t.Errorf("%q: %v\n%s", c.before, err, d.Bytes())
		}
		if string(d.Bytes()) != c.before {
			t.Errorf("%q became %q", c.before, d.Bytes())
		}
	}
}

func TestRename(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"a.json", `{"s": {"a": 1 /* x */, "c": 2}}`, `{"s": {"b d": 1 /* x */, "c": 2}}`},
		{"a.yaml", "s:\n  \"a\" : 1 # x\n  c: 2\n", "s:\n  \"b d\" : 1 # x\n  c: 2\n"},
		{"a.toml", "[s.a] # x\nk = 1\n[s.a.env]\nK = 1\n[s]\na.z = 1\n", "[s.\"b d\"] # x\nk = 1\n[s.\"b d\".env]\nK = 1\n[s]\n\"b d\".z = 1\n"},
	} {
		d := open(t, c.name, c.before)
		if err := d.Rename([]string{"s", "a"}, "b d"); err != nil || string(d.Bytes()) != c.after {
			t.Errorf("%v: got\n%s\nwant\n%s", err, d.Bytes(), c.after)
		}
		if c.name == "a.toml" {
			continue
		}
		if err := d.Rename([]string{"s", "b d"}, "c"); err == nil {
			t.Errorf("two of a name: %s", d.Bytes())
		}
	}
}

// What cannot be told apart for certain is not changed at all: where things are once the ends of lines are mixed, and what an alias
// stands for where its anchor is there twice.
func TestUnclearFiles(t *testing.T) {
	for _, text := range []string{
		"  # c\r\naw: {a: 'x # y', \"b\": \"}\"}\nj: 'q'\nf: >-\n  fold\n",
		"g: &x {k: 1}\nin:\n  af: *x\n  g: &x {k: 1}\n",
	} {
		d, err := Parse("a.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q was read as %v", text, d.root.plain())
		}
	}
}

// A parser that is wrong about where something is ends a change, and not the program.
func TestAPanicIsARefusal(t *testing.T) {
	d := open(t, "a.json", `{"a": 1}`)
	d.root.to = 1000
	if err := d.Delete([]string{"a"}); !errors.Is(err, ErrLossy) || string(d.Bytes()) != `{"a": 1}` {
		t.Errorf("%v: %s", err, d.Bytes())
	}
}
