package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPasted(t *testing.T) {
	o := Options{Cwd: t.TempDir(), LookupEnv: func(name string) (string, bool) { return "value of " + name, name == "HERE" }}
	for in, want := range map[string]string{
		`npx -y @modelcontextprotocol/server-everything stdio`: `server-everything stdio npx [-y @modelcontextprotocol/server-everything stdio]`,
		` $ node "my server.js" --x='a b' \` + "\n  --y":       `my server stdio node [my server.js --x=a b --y]`,
		`TOKEN=a=b X= npx -y foo`:                              `foo stdio npx [-y foo] TOKEN=a=b X=`,
		`mcphud -- node x.js`:                                  `x stdio node [x.js]`,
		`mcphud -e A=1 -e B=2 -- node x.js`:                    `x stdio node [x.js] A=1 B=2`,
		`mcphud https://host/mcp`:                              `host auto https://host/mcp`,
		`http://127.0.0.1:3001/mcp?k=v`:                        `127.0.0.1:3001 auto http://127.0.0.1:3001/mcp?k=v`,
		`echo $HOME; rm -rf ~`:                                 `echo stdio echo [$HOME; rm -rf ~]`,
		`{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "${HERE}"}}, "b": {"url": "https://h/mcp"}}}`: "a stdio x [y] K=value of HERE\nb auto https://h/mcp",
		`{"servers": {"a": {"type": "http", "url": "https://h/mcp"}}}`:                                                   "a http https://h/mcp",
		`{"a": {"command": "x"}, /* comment */ "b": {"command": "y"},}`:                                                  "a stdio x []\nb stdio y []",
		`"a": {"command": "x"},`:                              "a stdio x []",
		`{"command": "npx", "args": ["-y", "firecrawl-mcp"]}`: "firecrawl-mcp stdio npx [-y firecrawl-mcp]",
		`{"url": "https://h/mcp"}`:                            "h auto https://h/mcp",
	} {
		list, err := Pasted(in, o)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		var got []string
		for _, s := range list {
			line := s.Name + " " + s.Transport + " " + s.URL
			if s.Command != "" {
				line += s.Command + " [" + strings.Join(s.Args, " ") + "]"
			}
			for _, k := range sortedKeys(s.Env) {
				line += " " + k + "=" + s.Env[k]
			}
			got = append(got, line)
			if s.Source != (Source{}) || s.Problem != nil {
				t.Errorf("%s: %+v", in, s)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s\nis   %s\nwant %s", in, strings.Join(got, "\n"), want)
		}
	}
	for in, want := range map[string]string{
		``:                                     "nothing to start",
		`mcphud --`:                            "nothing to start",
		`node "x`:                              "left open",
		`ftp://host/x`:                         "not an HTTP URL",
		`https://user:pass word@host/x`:        "follow",
		`https://h/mcp --flag`:                 "1 words follow the URL",
		`--url x`:                              "not a command",
		`{"mcpServers": {"a": {"command": }}}`: "line 1, column ",
		`{"mcpServers": {}}`:                   "no servers",
		`{"a": 3}`:                             "write an object",
		`{"a": {"command": "x", "env": {"K": "${GONE}"}}}`: "GONE",
		`{`: "column",
	} {
		if list, err := Pasted(in, o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), o.Cwd) {
			t.Errorf("%s: %v, %+v; want %q", in, err, list, want)
		}
	}
}

func FuzzPasted(f *testing.F) {
	f.Add(`npx "a`)
	f.Add(`{"a": {"command": "x"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		list, err := Pasted(in, Options{Cwd: "/"})
		if err == nil && len(list) == 0 {
			t.Error("neither servers nor an error")
		}
		if _, err := json.Marshal(list); err != nil {
			t.Error(err)
		}
	})
}
