package diagnosis

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestAVariableThatStderrAsksFor(t *testing.T) {
	for line, want := range map[string]string{
		"Error: NOTION_TOKEN environment variable is required. Create one at https://x": "NOTION_TOKEN",
		"Missing required environment variable: FIRECRAWL_API_KEY":                      "FIRECRAWL_API_KEY",
		"Please set the OPENAI_API_KEY environment variable":                            "OPENAI_API_KEY",
		"BRAVE_API_KEY is not set":                                                      "BRAVE_API_KEY",
		"KeyError: 'TOKEN'":                                                             "TOKEN",
		"fatal: environment variable HOMEASSISTANT must be set":                         "HOMEASSISTANT",
		"Either FIRECRAWL_API_KEY or FIRECRAWL_API_URL must be provided":                "FIRECRAWL_API_KEY",
		"code: 'MODULE_NOT_FOUND' is required":                                          "",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'; it is required":       "",
		"GITHUB_TOKEN is fine":                                                          "",
		"listening on HTTP_PORT":                                                        "",
		"the JSON file is missing":                                                      "",
		strings.Repeat("A", 70) + "_B is required":                                      "",
	} {
		cause := Of([]string{"starting", line, "bye"}, nil)
		remedy, got := cause.Remedy, cause.Object
		if got != want || (remedy == failure.SetVariable) != (want != "") {
			t.Errorf("%s: %q %q, want %q", line, remedy, got, want)
		}
	}
}

// What the child has is not missing, whatever else the line that wants it names. Where nothing else is, it can be given another value.
func TestAVariableThatIsSet(t *testing.T) {
	const slack, upstash = "Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables", "Missing required credentials. Provide --email, or set UPSTASH_EMAIL and UPSTASH_API_KEY"
	for _, c := range []struct{ said, set, want, why string }{ // with why it is set, and not missing
		{slack, "", "SLACK_BOT_TOKEN", ""},
		{slack, "SLACK_BOT_TOKEN", "SLACK_TEAM_ID", ""},
		{slack, "SLACK_TEAM_ID", "SLACK_BOT_TOKEN", ""},
		{slack, "SLACK_BOT_TOKEN SLACK_TEAM_ID", "SLACK_BOT_TOKEN", slack},
		{upstash, "UPSTASH_EMAIL", "UPSTASH_API_KEY", ""},
		{"KeyError: 'TOKEN'", "TOKEN", "TOKEN", "KeyError: 'TOKEN'"},
		{"A_TOKEN is required\nModuleNotFoundError: No module named 'x'", "A_TOKEN", "", "the Python module x is missing"},
		{"No access token was provided.\nSet X_TOKEN or Y_TOKEN.", "X_TOKEN", "Y_TOKEN", ""},
		{"A_TOKEN is required\nError: B_TOKEN is not set", "A_TOKEN", "B_TOKEN", ""},
	} {
		r := Explain(strings.Split(c.said, "\n"), func(name string) bool { return slices.Contains(strings.Fields(c.set), name) })
		if r.Object != c.want || (r.Remedy == failure.SetVariable) != (c.want != "") || c.why != "" && r.Why() != c.why || c.why == "" && r.What != "the variable "+c.want+" is missing" {
			t.Errorf("%q with %q: %q %q, want %q", c.said, c.set, r.Object, r.Why(), c.want)
		}
	}
}

// Where a failure says what lay below it, that is the reason; and what is painted, or empty, is none.
func TestTheReasonBelowAFailure(t *testing.T) {
	for said, want := range map[string]string{
		"Fatal error in main(): TypeError: fetch failed\n    at node:internal/deps/undici:1:1\n  [cause]: Error: Client network socket disconnected\n      at x.js:1:1": "[cause]: Error: Client network socket disconnected",
		"Error: cannot start the server\n\nCaused by:\n    0: reading the settings\n    1: unexpected end of the stream\nbye":                                           "1: unexpected end of the stream",
		"Error: cannot start the server\nCaused by: the licence ended\nbye":                                                                                             "Caused by: the licence ended",
		"\x1b[31m\x1b[0m\n\x1b[1mError:\x1b[0m the licence ended\n\x1b[2K":                                                                                              "Error: the licence ended",
		"\n\nError: the licence ended\n": "Error: the licence ended",
		"the cause: nobody knows\nbye":   "",
		"WARN cannot reach the cache\nCaused by: connection timed out\nError: config.toml: unexpected end of file\nbye":      "Error: config.toml: unexpected end of file",
		"Error: config.toml: unexpected end of file\nWARN cannot reach the cache\nCaused by: connection timed out\nbye":      "Error: config.toml: unexpected end of file",
		"Cannot reach the cache\nCaused by: connection timed out\nstarting\nError: config.toml: unexpected end of file\nbye": "Caused by: connection timed out",
	} {
		r := Explain(strings.Split(said, "\n"), nil)
		if r.Why() != want || want != "" && !slices.Contains(r.Shown, r.Line) && !strings.Contains(strings.Join(r.Shown, "\n"), r.Line) {
			t.Errorf("%q: %q, want %q; shown %q", said, r.Why(), want, r.Shown)
		}
		for _, l := range r.Shown {
			if strings.TrimSpace(l) == "" || strings.Contains(l, "\x1b") {
				t.Errorf("%q: %q is shown", said, r.Shown)
			}
		}
	}
}

func TestAnIncompleteCacheOfNpx(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here", ".npm", "_npx", "5b2dd62b9d0bddd4")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	gone := strings.Replace(dir, "5b2d", "0000", 1)
	for name, c := range map[string]struct {
		lines string
		want  string
	}{
		"CommonJS":       {"Error: Cannot find module 'ajv'\nRequire stack:\n- " + dir + "/node_modules/x/index.js\n  code: 'MODULE_NOT_FOUND',", dir},
		"module":         {"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from " + dir + "/node_modules/x/index.js", dir},
		"URL":            {"code: 'ERR_MODULE_NOT_FOUND', url: 'file://" + dir + "/node_modules/zod'", dir},
		"another error":  {"TypeError: x is not a function\n at " + dir + "/node_modules/x/index.js:1:1", ""},
		"not there":      {"Cannot find module 'ajv'\n- " + gone + "/node_modules/x", ""},
		"with dots":      {"Cannot find module 'ajv'\n- " + filepath.Dir(dir) + "/../_npx/5b2dd62b9d0bddd4/x", ""},
		"no npx":         {"Cannot find module 'ajv'\n- /srv/app/index.js", ""},
		"relative":       {"Cannot find module 'ajv'\n- _npx/5b2dd62b9d0bddd4/x", ""},
		"not its folder": {"Cannot find module 'ajv'\n- " + filepath.Dir(dir) + "/..", ""},
	} {
		cause := Of(strings.Split(c.lines, "\n"), nil)
		remedy, got := cause.Remedy, cause.Object
		if got != c.want || (remedy == failure.RemoveCache) != (c.want != "") {
			t.Errorf("%s: %q %q, want %q", name, remedy, got, c.want)
		}
	}
}

func TestInstalls(t *testing.T) {
	for command, want := range map[string]bool{
		"npx -y x": true, "/usr/bin/uvx x": true, `C:/nodejs/npx.CMD x`: true, "cmd /c npx x": true,
		"node server.js": false, "sleep 40": false,
	} {
		words := strings.Fields(command)
		assert.Equalf(t, Installs(words[0], words[1:]), want, "%s", command)
	}
	if !Installs("sh", []string{"-c", "exec npx -y x"}) {
		t.Error("npx in a shell's command line is not seen")
	}
}
