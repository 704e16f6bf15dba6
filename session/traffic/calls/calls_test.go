package calls

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

const documented = `# Finds the repository.
note: as in the manual
server: github # of the team

tool: search_repos
arguments:
  query: mcp # what we make
  limit: 12345678901234567890
  ratio: 1.0
  exact: true
  nothing: null
  list: [1, two, "3"]
  nested:
    - a: 1
      b: 2
    - {}
  text: |
    first
      second
secrets: [/api_key]
meta:
  com.example/tenant: acme
timeout: 30s
# Not known here:
owner: ada
expect:
  - .isError | not
`

func parseOne(path string, text []byte) (Call, []config.Warning, error) {
	f, warnings, err := parse(path, text)
	if err != nil {
		return Call{}, warnings, err
	}
	return f.Calls[0], warnings, nil
}

func TestRead(t *testing.T) {
	c, warnings, err := parseOne("/p/.mcphud/calls/find.yaml", []byte(documented))
	require.NoError(t, err)
	if c.Name != "find" || c.Server.Name != "github" || c.Method != ToolsCall || c.Target != "search_repos" || c.Timeout != 30*time.Second || c.Note != "as in the manual" {
		t.Errorf("%+v", c)
	}
	want := `{"query":"mcp","limit":12345678901234567890,"ratio":1.0,"exact":true,"nothing":null,"list":[1,"two","3"],"nested":[{"a":1,"b":2},{}],"text":"first\n  second\n"}`
	if string(c.Arguments) != want || string(c.Meta) != `{"com.example/tenant":"acme"}` || len(c.Expect.Queries) != 1 || c.Expect.Queries[0].Line != 27 || c.Expect.Queries[0].Col != 5 || len(c.Secrets) != 1 {
		t.Errorf("%s %s %v", c.Arguments, c.Meta, c.Expect.Queries)
	}
	if len(warnings) != 1 || warnings[0].Line != 25 || !strings.Contains(warnings[0].Message, "owner") {
		t.Errorf("%v", warnings)
	}
}

// What is wrong is said with its place; what is hostile ends.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                 "is empty",
		"- a\n":                                            "not a mapping",
		"note: x\n":                                        "needs one of tool, prompt and resource",
		"tool: a\nprompt: b\n":                             "needs one of",
		"tool: a\nserver: x\nurl: http://x/\n":             "more than one of server",
		"tool: a\narguments: [1]\n":                        ":2:1: arguments must be a mapping",
		"tool: 12\n":                                       ":1:1: tool must be a text",
		"tool: a\ncommand: node\n":                         ":2:1: command must be a list",
		"tool: a\ntimeout: soon\n":                         ":2:1: timeout must be a time",
		"tool: a\ntimeout: -3s\n":                          ":2:1: timeout must be a time",
		"tool: a\nsecrets: [api_key]\n":                    ":2:1: secrets must be a list of JSON pointers",
		"tool: a\ntool: b\n":                               ":2:1: \"tool\" is there twice",
		"tool: a\narguments:\n  x: [1\n":                   "is not valid YAML",
		"tool: a\narguments:\n  x: .inf\n":                 ":3:6: .inf is not",
		"tool: &a x\narguments:\n  y: *a\n":                "anchors, aliases and tags",
		"tool: a\narguments: !!binary aGk=\n":              "anchors, aliases and tags",
		"tool: a\narguments:\n  <<: {a: 1}\n":              "",
		"tool: \xff\n":                                     ":1:7: is not UTF-8",
		"tool: a\narguments:\n  ? [a]\n  : 1\n":            "",
		"tool: a\narguments: " + strings.Repeat("[", 5000): "nests more than",
		"a: &a [x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\ntool: x\n": "anchors",
		strings.Repeat("x: 1\n", 20_000):                          "is larger",
	} {
		_, _, err := parse("/p/x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "/p/x.yaml") {
			t.Errorf("%.60q: %v; want %q", text, err, want)
		}
	}
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.yaml")
	f, err := os.Create(huge)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(100<<20))
	require.NoError(t, f.Close())
	if _, _, err := Read(huge); err == nil {
		t.Error("100 MB were read")
	}
	if _, _, err := Read(dir); err == nil {
		t.Error("a folder was read")
	}
	for _, name := range []string{"", "..", "../x", "a/b", `a\b`, ".x", "-x", "a b", "é", "a\x00", strings.Repeat("a", 101)} {
		if _, err := Path(dir, name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

// A call that is written over keeps what people wrote, and every byte of what did not change.
func TestWriteKeepsComments(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".mcphud", "calls", "find.yaml")
	c, _, err := parseOne(file, []byte(documented))
	require.NoError(t, err)
	check := func(want string) {
		t.Helper()
		require.NoError(t, Write(c))
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(documented), 0o644))
	check(documented)
	c.Target, c.Timeout = "search_code", 0
	check(strings.Replace(strings.Replace(documented, "search_repos", "search_code", 1), "timeout: 30s\n", "", 1))
	c.Arguments, c.Note, c.Expect, c.Timeout = json.RawMessage(`{"query":"yes","n":{"deep":[{"x":"a: b"}]}}`), "", expect.Expectations{}, 90*time.Second
	check(`# Finds the repository.
note: as in the manual
server: github # of the team

tool: search_code
arguments:
  query: "yes"
  "n":
    deep:
      - x: "a: b"
secrets: [/api_key]
meta:
  com.example/tenant: acme
# Not known here:
owner: ada
expect:
  - .isError | not
timeout: 1m30s
`)
	require.NoError(t, os.WriteFile(file, []byte("{tool: x, note: y}\n"), 0o644))
	assert.ErrorContains(t, Write(c), "braces")
}

// Whatever a call holds is the same after it was written and read.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"", " ", "a", "yes", "null", "1", "1.0", "0x1f", "a: b", "# no", "- x", "é😀", "two\nlines", "end\n", "end\n\n", " lead\nx", "trail \nx", "tab\there", "\u0000\u0007", "'q\"", "{a}", "[b", "&a", "*a", "!t", "%d", "@x", "`", "a #b", "=", "<<", "\u2028\u0085\ufeff", "\r\n", "--- x", "---\nx", "a\n---\nb", "...", "1e3", "12:30", "2020-01-01", "~", "|", ">", "?", ":", "a:", "\\n", "x\n\n\ny"}
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(8); {
		case n < 4 || depth > 4:
			return words[r.IntN(len(words))]
		case n == 4:
			return json.Number([]string{"0", "-1", "1.50", "1e400", "12345678901234567890", "-0.0", "1E+5"}[r.IntN(7)])
		case n == 5:
			return []any{true, false, nil}[r.IntN(3)]
		case n == 6:
			out := []any{}
			for range r.IntN(5) {
				out = append(out, value(depth+1))
			}
			return out
		}
		return object(r, words, func() any { return value(depth + 1) })
	}
	file := filepath.Join(t.TempDir(), "x.yaml")
	for range 3000 {
		args, err := json.Marshal(object(r, words, func() any { return value(0) }))
		require.NoError(t, err)
		c := Call{Name: "x", File: file, Method: "tools/call", Target: words[1+r.IntN(len(words)-1)], Arguments: args, Note: "n"}
		text, err := rewrite(c, nil)
		if err != nil || len(text) > maxFile {
			continue
		}
		got, warnings, err := parseOne(file, text)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v %v\n%s\n%s", err, warnings, args, text)
		}
		if string(args) == "{}" {
			continue
		}
		var a, b bytes.Buffer
		if json.Compact(&a, args) != nil || json.Compact(&b, got.Arguments) != nil || !same(a.Bytes(), b.Bytes()) || got.Target != c.Target {
			t.Fatalf("%q\n%s\nbecame\n%s\nby\n%s", got.Target, args, got.Arguments, text)
		}
		again, err := rewrite(got, text)
		if err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%v: written again:\n%s\nwant\n%s", err, again, text)
		}
	}
}

func same(a, b []byte) bool {
	decode := func(raw []byte) string {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return "?"
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	return decode(a) == decode(b)
}

func object(r *rand.Rand, words []string, value func() any) map[string]any {
	out := map[string]any{}
	for range r.IntN(4) {
		out[words[r.IntN(len(words))]] = value()
	}
	return out
}

func TestDir(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "repo", "a", "b")
	for _, d := range []string{deep, filepath.Join(root, "repo", ".git"), filepath.Join(root, Folder)} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	assert.Equalf(t, Dir(deep), filepath.Join(deep, Folder), "beyond the repository")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "repo", Folder), 0o755))
	assert.Equal(t, Dir(deep), filepath.Join(root, "repo", Folder))
	for _, f := range []string{"b.yaml", "a.yaml", ".x.yaml", "note.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "repo", Folder, f), nil, 0o644))
	}
	if names, err := Names(filepath.Join(root, "repo", Folder)); err != nil || strings.Join(names, " ") != "a b" {
		t.Error(names, err)
	}
	if names, err := Names(filepath.Join(root, "nix")); err != nil || names != nil {
		t.Error(names, err)
	}
}

// A server that a file describes is one of a project: it starts only where it is trusted.
func TestConfigNeedsTrust(t *testing.T) {
	trust := config.OpenTrust(t.TempDir())
	for _, c := range []Call{{File: "/p/x.yaml", Server: Server{Unnamed: true, Command: "rm", Args: []string{"-rf"}}}, {File: "/p/x.yaml", Server: Server{Unnamed: true, URL: "http://x/"}}} {
		s, ok := c.Config()
		if !ok || trust.Trusted(s) {
			t.Errorf("%+v is trusted", s)
		}
		if err := trust.Trust(s); err != nil || !trust.Trusted(s) {
			t.Error(err)
		}
	}
	if s, _ := (Call{File: "/p/y.yaml", Server: Server{Unnamed: true, Command: "rm", Args: []string{"-rf"}}}).Config(); !trust.Trusted(s) {
		t.Error("the same command in another file of the folder is not trusted")
	}
	for _, c := range []Call{{File: "/q/x.yaml", Server: Server{Unnamed: true, Command: "rm", Args: []string{"-rf"}}}, {File: "/p/x.yaml", Server: Server{Unnamed: true, Command: "rm", Args: []string{"-rf", "/"}}}} {
		if s, _ := c.Config(); trust.Trusted(s) {
			t.Errorf("%+v is trusted", s)
		}
	}
	if _, ok := (Call{Server: Server{Name: "x"}}).Config(); ok {
		t.Error("a name is a server")
	}
}
