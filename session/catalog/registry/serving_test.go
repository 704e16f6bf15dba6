package registry

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
)

// A package that serves a URL by itself is started with a command line, and contacted at what its URL says with what was given.
func TestServingPackages(t *testing.T) {
	port := `{"type":"named","name":"--port","description":"p","format":"number","default":"3000"}`
	for name, c := range map[string]struct{ more, kind, url, given, argv, want string }{
		"a flag":                     {`"packageArguments":[` + port + `]`, "streamable-http", "http://localhost:{--port}/mcp", "port=4000", "npx -y x@1 --port 4000", "http://localhost:4000/mcp"},
		"its name, with the default": {`"packageArguments":[` + port + `]`, "sse", "http://127.0.0.1:{port}/sse", "", "npx -y x@1 --port 3000", "http://127.0.0.1:3000/sse"},
		"a hint":                     {`"packageArguments":[{"type":"positional","valueHint":"where","default":"5000"}]`, "streamable-http", "http://0.0.0.0:{where}", "", "npx -y x@1 5000", "http://127.0.0.1:5000"},
		"a variable":                 {`"environmentVariables":[{"name":"PORT","value":"6000"}]`, "streamable-http", "http://[::1]:{PORT}/mcp", "", "npx -y x@1", "http://[::1]:6000/mcp"},
		"in a value":                 {`"packageArguments":[{"type":"named","name":"--listen","value":":{p}","variables":{"p":{"isRequired":true,"format":"number"}}}]`, "streamable-http", "http://localhost:{p}/mcp", "p=7000", "npx -y x@1 --listen :7000", "http://localhost:7000/mcp"},
		"constant":                   {`"packageArguments":[]`, "streamable-http", "http://localhost:8080/mcp", "", "npx -y x@1", "http://localhost:8080/mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			d := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","transport":{"type":"`+c.kind+`","url":"`+c.url+`"},`+c.more+`}]`)
			way := d.Candidates(has("npx"))[0]
			given := map[string]string{}
			if c.given != "" {
				setup.Pair(given, c.given)
			}
			values, err := setup.Read(way.Inputs, given)
			if err != nil || way.Refused != nil {
				t.Fatal(err, way.Refused)
			}
			s, err := way.Server(values)
			require.NoError(t, err)
			transport := config.HTTP
			if c.kind == "sse" {
				transport = config.SSE
			}
			if got := strings.Join(append([]string{s.Command}, s.Args...), " "); got != c.argv || s.URL != c.want || s.Transport != transport || !s.Launch {
				t.Errorf("%s, %s, %s, %v", got, s.URL, s.Transport, s.Launch)
			}
			stays, err := way.Server(values)
			if err != nil || stays.Fingerprint() != s.Fingerprint() {
				t.Error("the same needs trust again")
			}
		})
	}
	d := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","transport":{"type":"streamable-http","url":"http://{host}/mcp"},"packageArguments":[{"type":"named","name":"host","description":"h","isRequired":true}]}]`)
	for given, ok := range map[string]bool{"localhost:1": true, "example.com": false, "localhost:1@example.com": false, "10.0.0.1:80": false} {
		values, err := setup.Read(d.Candidates(has("npx"))[0].Inputs, map[string]string{"host": given})
		require.NoError(t, err)
		if s, err := d.Candidates(has("npx"))[0].Server(values); (err == nil) != ok {
			t.Errorf("%s: %q, %v", given, s.URL, err)
		}
	}
}
