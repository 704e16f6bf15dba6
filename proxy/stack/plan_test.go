package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// settings takes every setting of an agent but token, and gives its flag the same name.
var settings = Source{
	Lookup: func(string) (string, bool) { return "", false },
	Agent: func(key, _ string) (string, string, error) {
		if key == "token" {
			return "", "set AGENT_TOKEN", nil
		}
		return map[string]string{"drainTimeout": "drain-timeout", "modelUrl": "model-url", "store": "store", "queue": "queue", "queueCa": "queue-ca", "register": "register"}[key], "", nil
	},
}

// planned is what a file would run.
func planned(t *testing.T, text string) (*File, *Plan) {
	t.Helper()
	f, err := settings.Parse("/p/x.yaml", []byte(text))
	require.NoError(t, err)
	p, err := f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
	require.NoError(t, err)
	return f, p
}

// Everybody on the machine can see arguments.
func TestModelURLIsNoArgument(t *testing.T) {
	f, p := planned(t, `{"agents": {"a": {"modelUrl": "http://user:pw12345@127.0.0.1:1/v1", "env": {"AGENT_MODEL_URL": "x", "B": "c"}}, "b": {"modelUrl": "http://u:pw12345@h/", "embeddingsUrl": "http://v:pw12345@h/"}, "c": {}}}`)
	for _, s := range p.Specs {
		if strings.Contains(strings.Join(s.Args, " "), "pw12345") {
			t.Errorf("%s: arguments %v", s.Name, s.Args)
		}
	}
	if env := p.Specs[0].Env; env["AGENT_MODEL_URL"] != "http://user:pw12345@127.0.0.1:1/v1" || env["B"] != "c" {
		t.Errorf("environment %v", env)
	}
	if env := p.Specs[1].Env; env["AGENT_MODEL_URL"] != "http://u:pw12345@h/" || env["AGENT_EMBEDDINGS_URL"] != "http://v:pw12345@h/" {
		t.Errorf("environment %v", env)
	}
	if _, ok := p.Specs[2].Env["AGENT_MODEL_URL"]; ok {
		t.Error("an agent without a model gets one")
	}
	if about := strings.Join(f.Describe(), "\n"); strings.Contains(about, "pw12345") || !strings.Contains(about, "AGENT_MODEL_URL=http://***@127.0.0.1:1/v1") {
		t.Error(about)
	}
}

func TestServersOfAQueueAreNoArguments(t *testing.T) {
	f, p := planned(t, `{"agents": {"a": {"queue": "tls://u:pw12345@h", "register": "nats://u:pw12345@h/routes", "queueCa": "ca.pem"}}, "servers": {"nats": {"command": "nats-server", "port": 4222, "disabled": true}}}`)
	a := p.Specs[0]
	if args := strings.Join(a.Args, " "); strings.Contains(args, "pw12345") || !strings.Contains(args, "--queue-ca="+filepath.Join(filepath.Dir(f.Path), "ca.pem")) {
		t.Errorf("arguments %v", a.Args)
	}
	if a.Env["AGENT_QUEUE"] != "tls://u:pw12345@h" || a.Env["AGENT_REGISTER"] != "nats://u:pw12345@h/routes" || !slices.Equal(a.After, []string{"nats"}) {
		t.Errorf("environment %v, after %v", a.Env, a.After)
	}
	if about := strings.Join(f.Describe(), "\n"); strings.Contains(about, "pw12345") || !strings.Contains(about, "AGENT_QUEUE=tls://***@h") {
		t.Error(about)
	}
}

func TestTheDatabaseOfAnAgent(t *testing.T) {
	f, p := planned(t, `{"agents": {"a": {"store": "postgres://u:pw12345@h/d?sslmode=require"}, "b": {"store": "b.db"}, "c": {"env": {"AGENT_STORE": "postgres://h/d"}}}}`)
	for i, s := range p.Specs[:3] {
		args := strings.Join(s.Args, " ")
		if strings.Contains(args, "pw12345") || strings.Contains(args, "store") != (i == 1) || strings.Contains(args, "ephemeral") {
			t.Errorf("%s: arguments %v", s.Name, s.Args)
		}
	}
	if env := p.Specs[0].Env; env["AGENT_STORE"] != "postgres://u:pw12345@h/d?sslmode=require" {
		t.Errorf("environment %v", env)
	}
	if about := strings.Join(f.Describe(), "\n"); strings.Contains(about, "pw12345") || !strings.Contains(about, "AGENT_STORE=postgres://***@h/d") {
		t.Error(about)
	}
}

func TestTokenOfAnAgentIsWarnedOf(t *testing.T) {
	f, p := planned(t, `{"agents": {"a": {"token": "s3cret"}}}`)
	if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0].String(), `agents.a.token is ignored: `) || !strings.Contains(f.Warnings[0].String(), `env: {AGENT_TOKEN: "${NAME}"}`) ||
		strings.Contains(f.Warnings[0].String(), "s3cret") {
		t.Errorf("%v", f.Warnings)
	}
	if strings.Contains(strings.Join(p.Specs[0].Args, " "), "s3cret") {
		t.Error(p.Specs[0].Args)
	}
}

// A server that ignores TERM keeps a stack no longer than the most patient agent may, and nobody longer than it asks for.
func TestTimeToLeave(t *testing.T) {
	for text, want := range map[string][3]time.Duration{ // of the first, of the router, of servers
		`{"agents": {"a": {"drainTimeout": "2s"}}, "servers": {"w": {"command": "x", "port": PORT}}}`:                                                 {4, 12, 4},
		`{"agents": {"a": {"drainTimeout": 2000}}, "router": {"drainTimeout": "3s"}}`:                                                                 {4, 5, 4},
		`{"agents": {"a": {"drainTimeout": "2s"}, "b": {}}, "router": {"drainTimeout": "60s"}}`:                                                       {4, 62, 12},
		`{"agents": {"a": {"drainTimeout": "30s"}, "b": {"drainTimeout": "1s"}}, "servers": {"w": {"command": "x", "url": "http://127.0.0.1:PORT"}}}`: {32, 12, 32},
		`{"servers": {"w": {"command": "x", "port": PORT}}}`:                                                                                          {0, 12, 12},
	} {
		port := nettest.FreePort(t)
		_, p := planned(t, strings.ReplaceAll(text, "PORT", fmt.Sprint(port)))
		last := p.Specs[len(p.Specs)-1]
		if got := [3]time.Duration{p.Specs[0].Drain / time.Second, last.Drain / time.Second, p.Drain / time.Second}; got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// What a Spec says goes before what Options say.
func TestOwnTimeToLeave(t *testing.T) {
	s := supervise(t, Options{Drain: time.Hour}, Spec{Name: "a", Args: []string{"--mode", "deaf"}, Drain: 20 * time.Millisecond})
	ready(t, s)
	require.NoError(t, s.Stop(bounded(t)))
	says(t, s, "a", "signal killed")
}

// A command that the router starts when it is called is looked for before that.
func TestCommandThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	f, err := Source{Lookup: os.LookupEnv}.Parse(filepath.Join(dir, "x.yaml"), []byte("servers: {here: {command: sh}, away: {command: ./nowhere}}\n"))
	require.NoError(t, err)
	p, err := f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], `calls of away will fail: cannot start "./nowhere" in `+dir+": ") {
		t.Errorf("%+v %v", p, err)
	}
}

func TestTheQueueOfAnAgent(t *testing.T) {
	f, p := planned(t, `{"agents": {"a": {"queue": "nats://u:pw12345@h:4222,tls://v:pw12345@i", "register": "nats://w:pw12345@h/b"}, "b": {"register": "routes"}}}`)
	for i, s := range p.Specs[:2] {
		args := strings.Join(s.Args, " ")
		if strings.Contains(args, "pw12345") || strings.Contains(args, "queue") || strings.Contains(args, "=routes") != (i == 1) {
			t.Errorf("%s: arguments %v", s.Name, s.Args)
		}
	}
	if env := p.Specs[0].Env; env["AGENT_QUEUE"] != "nats://u:pw12345@h:4222,tls://v:pw12345@i" || env["AGENT_REGISTER"] != "nats://w:pw12345@h/b" {
		t.Errorf("environment %v", env)
	}
	if about := strings.Join(f.Describe(), "\n"); strings.Contains(about, "pw12345") || !strings.Contains(about, "AGENT_QUEUE=nats://***@h:4222") {
		t.Error(about)
	}
}
