package stack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Replicas are processes of the same name, at ports of their own, behind one route.
func TestReplicas(t *testing.T) {
	f, err := source.Parse("/p/x.yaml", []byte(`{"agents": {"docs": {"replicas": 3, "profile": "demo", "env": {"AGENT_TOKEN": "${TOKEN}"}, "route": {"timeout": "60s"}}, "one": {"replicas": 1}}}`))
	if err != nil || len(f.Warnings) > 0 {
		t.Fatal(err, f.Warnings)
	}
	dir, state := t.TempDir(), t.TempDir()
	p, err := f.Plan(t.Context(), Place{Dir: dir, State: state, Free: true})
	require.NoError(t, err)
	var names, urls []string
	for _, s := range p.Specs[:3] {
		names = append(names, s.Name)
		urls = append(urls, fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port))
		args := strings.Join(s.Args, " ")
		if !strings.Contains(args, "--name=docs ") || !strings.Contains(args, filepath.Join(state, s.Name+".db")) || s.Fixed || s.Env["AGENT_TOKEN"] != "s3cret" {
			t.Errorf("%+v", s)
		}
	}
	if got := strings.Join(names, " "); got != "docs-1 docs-2 docs-3" || p.Specs[3].Name != "one" || !slices.Equal(p.Specs[4].After, append(names, "one")) {
		t.Errorf("%v", p.Specs)
	}
	written := func() (r struct {
		Routes map[string]struct {
			URLs     []string
			HostPort int
			Timeout  string
			Headers  map[string]string
		}
	},
	) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, "routing.json"))
		if err == nil {
			_, err = routes.Parse(text)
		}
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		require.NoError(t, err)
		return r
	}
	r := written()
	if docs := r.Routes["docs"]; len(r.Routes) != 2 || !slices.Equal(docs.URLs, urls) || docs.Timeout != "60s" || docs.Headers["Authorization"] != "Bearer s3cret" || r.Routes["one"].HostPort == 0 {
		t.Errorf("%+v, want %v", r, urls)
	}
	if err := p.Listening("docs-2", "http://127.0.0.1:4321/mcp"); err != nil || written().Routes["docs"].URLs[1] != "http://127.0.0.1:4321/mcp" {
		t.Errorf("%v, %+v", err, written())
	}
	if about := strings.Join(f.Describe(), "\n"); !strings.Contains(about, "docs-3: ") || strings.Contains(about, "s3cret") {
		t.Error(about)
	}
}

// A port is that of the first replica.
func TestPortsOfReplicas(t *testing.T) {
	port := nettest.FreePort(t)
	f, err := source.Parse("/p/x.yaml", fmt.Appendf(nil, `{"agents": {"docs": {"replicas": "2", "port": %d}}, "router": false}`, port))
	if err != nil || f.Agents[0].Port != port || f.Agents[1].Port != port+1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestReplicasThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		`{"agents": {"a": {"replicas": 0}}}`:                                               `agents.a.replicas is "0"; it must be a number of processes, from 1 to 64`,
		`{"agents": {"a": {"replicas": "many"}}}`:                                          `agents.a.replicas is "many"`,
		`{"agents": {"a": {"replicas": 65}}}`:                                              "from 1 to 64",
		`{"agents": {"a": {"replicas": 2, "store": "a.db"}}}`:                              "agents.a.store is a file, which only one process can have",
		`{"agents": {"a": {"replicas": 2, "port": 65535}}}`:                                "no room for 2 ports from 65535 on",
		`{"agents": {"a-2": {}, "a": {"replicas": 2}}}`:                                    `the replica "a-2" has the name of an agent or server`,
		`{"agents": {"a": {"replicas": 2}, "a-1": {}}}`:                                    `"a-1" is the name of`,
		`{"agents": {"a": {"replicas": 2}}, "servers": {"a": {"command": "x"}}}`:           `"a" is the name of`,
		`{"agents": {"a": {"replicas": 2}}, "router": {"routes": {"a": {"hostPort": 1}}}}`: "router.routes.a has the name",
		`{"agents": {"` + strings.Repeat("a", 63) + `": {"replicas": 2}}}`:                 "is not a valid name of a process",
	} {
		if _, err := settings.Parse("/p/x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if f, err := settings.Parse("/p/x.yaml", []byte(`{"agents": {"a": {"replicas": 2, "store": "postgres://h/d"}}}`)); err != nil || len(f.Agents) != 2 || f.Agents[1].Env["AGENT_STORE"] != "postgres://h/d" {
		t.Errorf("%+v, %v", f, err)
	}
}

// What agents share with each other may be a server of the stack, which is started before them.
func TestServersThatAgentsUse(t *testing.T) {
	port := nettest.FreePort(t)
	f, p := planned(t, fmt.Sprintf(`{"agents": {"a": {"replicas": 2, "store": "postgres://h/d"}, "b": {}, "c": {"queue": "nats://h"}, "d": {"env": {"AGENT_QUEUE": "nats://h"}}}, "servers": {"db": {"command": "x", "port": %d, "disabled": true}, "far": {"url": "http://h/"}}}`, port))
	for i, want := range []string{"[db]", "[db]", "[]", "[db]", "[db]", "[]"} {
		if got := fmt.Sprint(p.Specs[i].After); got != want {
			t.Errorf("%s is started after %s, want %s", p.Specs[i].Name, got, want)
		}
	}
	if f.Servers[0].Routed() || !f.Servers[1].Routed() {
		t.Errorf("%+v", f.Servers)
	}
}
