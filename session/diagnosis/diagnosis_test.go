package diagnosis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/failure"
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
		cause := Of([]string{"starting", line, "bye"})
		remedy, got := cause.Remedy, cause.Object
		if got != want || (remedy == failure.SetVariable) != (want != "") {
			t.Errorf("%s: %q %q, want %q", line, remedy, got, want)
		}
	}
}

func TestAnIncompleteCacheOfNpx(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here", ".npm", "_npx", "5b2dd62b9d0bddd4")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
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
		cause := Of(strings.Split(c.lines, "\n"))
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
		if got := Installs(words[0], words[1:]); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
	if !Installs("sh", []string{"-c", "exec npx -y x"}) {
		t.Error("npx in a shell's command line is not seen")
	}
}
