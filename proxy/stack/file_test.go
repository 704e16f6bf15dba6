package stack

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// source knows two settings of agents and one variable.
var source = Source{
	Lookup: func(n string) (string, bool) { return "s3cret", n == "TOKEN" },
	Agent: func(key, value string) (string, string, error) {
		switch key {
		case "profile", "root", "kb", "name", "rateLimit", "drainTimeout":
			if value == "wrong" {
				return "", "", errors.New("cannot be")
			}
			return map[string]string{"rateLimit": "rate-limit", "drainTimeout": "drain-timeout"}[key] + strings.TrimSuffix(strings.TrimSuffix(key, "rateLimit"), "drainTimeout"), "", nil
		}
		return "", `unknown key "` + key + `"`, nil
	},
}

const whole = `version: 1
agents:
  docs:
    port: 7123
    profile: demo
    root: data
    rateLimit: 5
    drainTimeout: 30s
    env: {AGENT_TOKEN: "${TOKEN}", A: "${B:-c}"}
    route: {timeout: 60s, tools: [search], stream: true}
  other:
servers:
  files:
    command: npx
    args: [-y, server, --key=hidden-value]
    env: {API_KEY: "${TOKEN}"}
    session: shared
  web: {command: ./web, port: 9000, cwd: sub}
  far: {url: "https://mcp.example/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
router:
  port: 8123
  tokens: tokens.json
  drainTimeout: 3s
  audit: audit.jsonl
  tlsCert: /etc/cert.pem
  tlsKey: key.pem
  cluster: nats://user:${TOKEN}@127.0.0.1:4222
  clusterCreds: router.creds
  routes:
    more: {hostPort: 9001}
`

func TestStackFile(t *testing.T) {
	f, err := source.Parse("/p/mcphud.stack.yaml", []byte(whole))
	if err != nil || len(f.Warnings) != 0 {
		t.Fatal(err, f)
	}
	a := f.Agents[0]
	if a.Name != "docs" || a.Port != 7123 || a.Env["AGENT_TOKEN"] != "s3cret" || a.Env["A"] != "c" || !slices.Contains(a.Flags, [2]string{"root", "/p/data"}) ||
		!slices.Contains(a.Flags, [2]string{"name", "docs"}) {
		t.Errorf("%+v", a)
	}
	dir := t.TempDir()
	p, err := f.Plan(t.Context(), Place{Dir: dir, State: "/state"})
	require.NoError(t, err)
	var names []string
	for _, s := range p.Specs {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"docs", "other", "web", "router"}) || !slices.Equal(p.Specs[3].After, names[:3]) {
		t.Errorf("processes %v, router after %v", names, p.Specs[3].After)
	}
	if s := p.Specs[0]; s.Port != 7123 || !s.Fixed || s.Dir != "/p" || !slices.Contains(s.Args, "--store=/state/docs.db") || !slices.Contains(s.Args, "--rate-limit=5") {
		t.Errorf("%+v", s)
	}
	if s := p.Specs[2]; s.Command != "./web" || s.Dir != "/p/sub" || s.URL != "http://127.0.0.1:9000/mcp" {
		t.Errorf("%+v", s)
	}
	s := p.Specs[3]
	if s.Port != 8123 || s.Cert != "/etc/cert.pem" || f.Router.Scheme() != "https" || p.Drain.Seconds() != 32 {
		t.Errorf("%+v, drain %s", s, p.Drain)
	}
	for _, arg := range []string{"--drain-timeout=3s", "--audit=/p/audit.jsonl", "--tls-cert=/etc/cert.pem", "--tls-key=/p/key.pem", "--cluster-creds=/p/router.creds"} {
		if !slices.Contains(s.Args, arg) {
			t.Errorf("no %s in %q", arg, s.Args)
		}
	}
	if s.Env["ROUTER_CLUSTER"] != "nats://user:s3cret@127.0.0.1:4222" || strings.Contains(strings.Join(s.Args, " "), "s3cret") {
		t.Errorf("the router has %q and %q", s.Args, s.Env)
	}
	path := filepath.Join(dir, "routing.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	table, err := routes.Load(path)
	if err != nil || len(table.Warnings) != 0 || table.Tokens != "/p/tokens.json" {
		t.Fatal(table, err)
	}
	if !slices.Equal(table.Names(), []string{"docs", "far", "files", "more", "other", "web"}) {
		t.Error(table.Names())
	}
	if r := table.Routes["docs"]; r.HostPort != 7123 || r.Headers.Get("Authorization") != "Bearer s3cret" || !r.Stream || r.Timeout.Seconds() != 60 || r.WaitReady.Seconds() != 5 {
		t.Errorf("%+v", r)
	}
	if r := table.Routes["files"]; r.Command != "npx" || r.Cwd != "/p" || r.Session != routes.Shared || r.Env["API_KEY"] != "s3cret" {
		t.Errorf("%+v", r)
	}
	if r := table.Routes["web"]; r.URL.String() != "http://127.0.0.1:9000/mcp" || r.Command != "" {
		t.Errorf("%+v", r)
	}

	assert.NoError(t, p.Listening("other", "http://127.0.0.1:45678/mcp"))
	if table, err = routes.Load(path); err != nil || table.Routes["other"].HostPort != 45678 {
		t.Errorf("after it came back on another port: %v %v", table, err)
	}
	// What could not be written is written the next time, also if nothing else changes.
	require.NoError(t, os.Rename(dir, dir+".away"))
	for range 2 {
		assert.ErrorContains(t, p.Listening("other", "http://127.0.0.1:45679/mcp"), "cannot route to other at its new port 45679")
	}
	require.NoError(t, os.Rename(dir+".away", dir))
	assert.NoError(t, p.Listening("other", "http://127.0.0.1:45679/mcp"))
	if table, err = routes.Load(path); err != nil || table.Routes["other"].HostPort != 45679 {
		t.Errorf("after the folder came back: %v %v", table, err)
	}
	about := strings.Join(f.Describe(), "\n")
	for _, want := range []string{"docs: mcphud agent", "--root=/p/data", "files: npx -y server", "far: contact https://mcp.example/mcp", "web: ./web; in /p/sub", "router: mcphud router"} {
		assert.Contains(t, about, want)
	}
	if strings.Contains(about, "s3cret") || strings.Contains(about, "hidden-value") || !f.Foreign() {
		t.Errorf("secrets in\n%s", about)
	}
}

func TestStackFileWarns(t *testing.T) {
	f, err := source.Parse("/p/x.yaml", []byte("agents:\n  a: {colour: red, shape: [1], host: ::1, route: {size: 1}}\nrooter: 1\nservers: {s: {url: http://127.0.0.1:1/, seesion: x}}\nrouter: {prot: 1}\n"))
	require.NoError(t, err)
	var got []string
	for _, w := range f.Warnings {
		got = append(got, w.String())
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{`x.yaml:2:7: agents.a: unknown key "colour"`, `"shape"`, "agents.a.host is ignored", `"size"`, `x.yaml:3:1: unknown key "rooter"`, `"seesion"`, `"prot" of router`} {
		assert.Contains(t, all, want)
	}
	if len(got) != 7 {
		t.Error(all)
	}
}

func TestStackFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                         "is empty; write",
		"agents: {}":                                               "neither agents nor servers",
		"agents: []":                                               "x.yaml:1:9: agents is a list",
		"version: 2\nagents: {a: {}}":                              "x.yaml:1:10: version is 2",
		"agents: {a: {port: 0}}":                                   "a port from 1 to 65535",
		"agents: {a: {port: x}}":                                   "a port from 1 to 65535",
		"agents: {a/b: {}}":                                        `"a/b" is not a valid name`,
		"agents: {router: {}}":                                     "the router's own name",
		"agents: {a: {}}\nservers: {a: {}}":                        "x.yaml:2:11: \"a\" is the name of an agent and of a server",
		"agents: {a: {profile: wrong}}":                            `agents.a.profile is "wrong": cannot be`,
		"agents: {a: {profile: [wrong]}}":                          "it must be a string",
		"agents: {a: {env: {A: \"${NO}\"}}}":                       "agents.a.env.A: environment variable NO is not set",
		"agents: {a: {route: {timeout: no}}}":                      "a.timeout is \"no\"; it must be a text",
		"servers: {s: {}}":                                         "neither command nor url",
		"servers: {s: {url: unix:///x, command: x}}":               "servers.s.url is a socket",
		"servers: {s: {url: ftp://x}}":                             "is not a valid http or https URL",
		"servers: {s: {command: x, session: mine}}":                "s.session is \"mine\"",
		"agents: {a: {}}\nrouter: {routes: {a: {hostPort: 1}}}":    "has the name of an agent",
		"agents: {b: {}}\nrouter: {routes: {a: {hostPort: true}}}": "router.routes.a.hostPort",
		"agents: {b: {}}\nrouter: {tlsCert: c.pem}":                "x.yaml:2:9: router.tlsCert needs router.tlsKey",
		"agents: {b: {}}\nrouter: {tlsKey: c.pem}":                 "router.tlsKey needs router.tlsCert",
		"agents: {b: {}}\nrouter: {audit: \"\"}":                   "router.audit is empty",
		"servers: {s: {url: \"http://x/\", ca: c.pem}}":            "s.ca applies only to a route with an https url",
		"servers: {s: {command: x, ca: c.pem}}":                    "s.ca applies only to a route with an https url",
		"agents: {":                                                "not valid YAML",
	} {
		_, err := source.Parse("/p/x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "/p/x.yaml") {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		}
	}
	if _, err := source.Load("/nowhere/at/all.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestRouterCanBeLeftOut(t *testing.T) {
	f, err := source.Parse("/p/x.yaml", []byte("agents: {a: {}}\nrouter: false\n"))
	if err != nil || f.Router != nil {
		t.Fatal(f, err)
	}
	p, err := f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
	if err != nil || len(p.Specs) != 1 || !slices.Contains(p.Specs[0].Args, "--ephemeral=true") || p.Specs[0].Port == 0 {
		t.Errorf("%+v %v", p, err)
	}
}

// Agents call each other through the router, wherever it is by the time that they start.
func TestR15_AgentsOfAStackKnowTheRouter(t *testing.T) {
	f, err := source.Parse("/p/x.yaml", []byte("agents: {a: {env: {ROUTER_PORT: \"1\"}}, b: {}}\nservers: {c: {command: x, port: 9}}\n"))
	require.NoError(t, err)
	p, err := f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
	require.NoError(t, err)
	port := strconv.Itoa(p.Specs[3].Port)
	for _, want := range []string{port, "4711"} {
		if got := p.Env("b"); got["ROUTER_HOST"] != "127.0.0.1" || got["ROUTER_PORT"] != want {
			t.Errorf("%v, want port %s", got, want)
		}
		p.Listening("router", "http://127.0.0.1:4711")
	}
	if p.Specs[0].Env["ROUTER_PORT"] != "1" { // which wins
		t.Errorf("%v", p.Specs[0].Env)
	}
	for _, name := range []string{"c", "router"} {
		if got := p.Env(name); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	if f, err = source.Parse("/p/x.yaml", []byte("agents: {a: {}}\nrouter: false\n")); err != nil {
		t.Fatal(err)
	}
	if p, err = f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true}); err != nil || p.Env("a") != nil {
		t.Errorf("without a router: %v %v", p.Env("a"), err)
	}
}

// What is to be trusted is this router, and not another one that an agent is given.
func TestR15_AgentsOfAStackKnowTheRoutersCertificate(t *testing.T) {
	f, err := source.Parse("/p/x.yaml", []byte("agents: {a: {}, b: {env: {ROUTER_HOST: \"https://r.example\"}}, c: {}}\nrouter: {tlsCert: c.pem, tlsKey: /k.pem}\n"))
	require.NoError(t, err)
	f.Agents[2].Flags = append(f.Agents[2].Flags, [2]string{"router-host", "https://r.example"})
	p, err := f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
	require.NoError(t, err)
	if got := p.Env("a"); got["ROUTER_HOST"] != "https://127.0.0.1" || got["ROUTER_CA"] != "/p/c.pem" || got["ROUTER_PORT"] == "" {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"b", "c"} {
		if got := p.Env(name); got["ROUTER_HOST"] != "127.0.0.1" || got["ROUTER_CA"] != "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPathsOfRoutes(t *testing.T) {
	const login = `servers: {s: {url: "https://x/", oauth: {grant: workload_identity, assertion_file: a.jwt, client_id: c_file}}}`
	f, err := source.Parse("/p/x.yaml", []byte(login))
	if err != nil || len(f.Warnings) > 0 {
		t.Fatal(err, f)
	}
	o, _ := newTable(f, t.TempDir()).routes()["s"].(map[string]any)["oauth"].(map[string]any)
	if o["assertion_file"] != "/p/a.jwt" || o["client_id"] != "c_file" {
		t.Errorf("oauth: %v", o)
	}
	f, err = source.Parse("/p/x.yaml", []byte("servers: {s: {url: \"https://x/\", ca: c.pem, timeout: 5s}}\n"+
		"router: {routes: {r: {url: \"https://x/\", ca: c.pem}, abs: {url: \"https://x/\", ca: /c.pem}, dir: {command: x, cwd: sub}}}\n"))
	if err != nil || len(f.Warnings) > 0 {
		t.Fatal(err, f)
	}
	all := newTable(f, t.TempDir()).routes()
	for name, want := range map[string][2]string{"s": {"ca", "/p/c.pem"}, "r": {"ca", "/p/c.pem"}, "abs": {"ca", "/c.pem"}, "dir": {"cwd", "/p/sub"}} {
		if r := all[name].(map[string]any); r[want[0]] != want[1] {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestTakenPorts(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	text, _ := json.Marshal(map[string]any{"agents": map[string]any{"a": map[string]any{"port": port}}})
	f, err := source.Parse("/p/x.json", text)
	require.NoError(t, err)
	_, err = f.Plan(t.Context(), Place{Dir: t.TempDir()})
	var taken *TakenError
	if !errors.As(err, &taken) || !errors.Is(err, syscall.EADDRINUSE) || taken.Port != port || !strings.Contains(err.Error(), "which is taken") {
		t.Error(err)
	}
	p := &ports{ctx: t.Context()}
	defer p.close()
	p.choose("b", 0, port)
	if p.err != nil || p.of["b"] == port || len(p.notes) != 1 || !strings.Contains(p.notes[0], "is taken") || !strings.Contains(p.notes[0], "; b uses ") {
		t.Errorf("%+v", p)
	}
	p.choose("c", p.of["b"], 0)
	if p.err == nil || !strings.Contains(p.err.Error(), "by b of the same stack") {
		t.Error(p.err)
	}
}

func TestBuiltin(t *testing.T) {
	p, err := Builtin().Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
	if err != nil || len(p.Specs) != 4 || p.Specs[3].Kind != Router {
		t.Fatal(p, err)
	}
	seen := map[int]bool{}
	for _, s := range p.Specs {
		if s.Port == 0 || seen[s.Port] || s.Fixed {
			t.Errorf("%+v", s)
		}
		seen[s.Port] = true
	}
	if Builtin().Foreign() {
		t.Error("the built-in stack runs foreign commands")
	}
}

// Whatever a file holds, reading it ends, and what it yields can be planned and described.
func FuzzStackFile(f *testing.F) {
	f.Add(whole)
	f.Add("agents: {a: &a {env: *a}}\nrouter: {routes: {x: {command: y, args: 1, env: [], cwd: {}}}}")
	f.Add("servers: {s: {port: 1, command: '', url: x, headers: {A: null}}}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := source.Parse("/p/x.yaml", []byte(text))
		if err != nil {
			return
		}
		file.Describe()
		table := newTable(file, "/p")
		for _, a := range file.Agents {
			table.ports[a.Name] = 7000
		}
		if _, err := routes.Parse([]byte(mustJSON(t, table.routes()))); err != nil {
			t.Errorf("the router cannot read its routes: %v", err)
		}
	})
}

// mustJSON is a routing.json with those routes.
func mustJSON(t *testing.T, table map[string]any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"routes": table})
	require.NoError(t, err)
	return string(b)
}

// Agents may have folders of tenants, which lie beside the file like all others.
func TestKnowledgeBasesOfTenants(t *testing.T) {
	f, err := source.Parse("/p/x.yaml", []byte("agents: {a: {kb: [./docs, acme=./acme, abs=/abs, \"./a=b\"]}, b: {kb: one=two}}\n"))
	if err != nil || len(f.Warnings) > 0 {
		t.Fatal(err, f)
	}
	var got []string
	for _, a := range f.Agents {
		for _, flag := range a.Flags {
			if flag[0] == "kb" {
				got = append(got, flag[1])
			}
		}
	}
	if want := []string{"/p/docs", "acme=/p/acme", "abs=/abs", "/p/a=b", "one=/p/two"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Parse reads the text of a stack file.
func (s Source) Parse(path string, text []byte) (*File, error) {
	tree, err := config.ParseTree(path, text)
	if err != nil {
		return nil, err
	}
	return s.parse(tree)
}
