package options

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// settled resolves one command line in made-up sources.
func settled(t *testing.T, args []string, env map[string]string, file string) (s Agent, r *settings.Resolution, warned, failed string) {
	t.Helper()
	f := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	s.Register(f)
	require.NoError(t, f.Parse(args))
	all := s.Gather(f)
	all.Sources = settings.Sources{Env: func(name string) string { return env[name] }, File: filepath.Join(t.TempDir(), AgentFile), Read: ReadAgentFile}
	if file != "" {
		require.NoError(t, os.WriteFile(all.File, []byte(file), 0o600))
	}
	r = all.Resolve()
	if err := r.Err(); err != nil {
		failed = err.Error()
	}
	for _, w := range r.Warnings {
		warned += strings.TrimPrefix(w.String(), all.File) + "\n"
	}
	return s, r, warned, failed
}

func TestC1_SettingsPrecedence(t *testing.T) {
	t.Parallel()
	env := map[string]string{"AGENT_PORT": "7002", "AGENT_CONCURRENCY": "3", "AGENT_TOKEN": "from-env"}
	const file = "port: 7003\nconcurrency: 4\n"
	for _, c := range []struct {
		name              string
		args              []string
		env               map[string]string
		file              string
		port, concurrency int
		token, origin     string
	}{
		{name: "default", port: 7000, concurrency: 1, origin: "default"},
		{name: "file", file: file, port: 7003, concurrency: 4, origin: AgentFile + ":1"},
		{name: "environment over file", env: env, file: file, port: 7002, concurrency: 3, token: "from-env", origin: "environment AGENT_PORT"},
		{name: "flag over all", args: []string{"--port", "7001", "--concurrency=2", "--token", "from-flag"}, env: env, file: file, port: 7001, concurrency: 2, token: "from-flag", origin: "flag"},
		{name: "each for itself", args: []string{"--port", "0"}, env: map[string]string{"AGENT_CONCURRENCY": "3"}, port: 0, concurrency: 3, origin: "flag"},
		{name: "an empty variable is none", env: map[string]string{"AGENT_PORT": ""}, port: 7000, concurrency: 1, origin: "default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r, warned, failed := settled(t, c.args, c.env, c.file)
			if s.port != c.port || s.concurrency != c.concurrency || s.token != c.token || warned+failed != "" {
				t.Errorf("port %d, concurrency %d, token %q, %s%s", s.port, s.concurrency, s.token, warned, failed)
			}
			if from := r.Of("port").From.String(); !strings.HasSuffix(from, c.origin) {
				t.Errorf("the port is said to come from %q, want %q", from, c.origin)
			}
		})
	}
}

func TestC2_SettingsFile(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"yaml": "port: 7005\nconcurrency: 2\ntimeout: 45000\nmaxRequestSize: 10mb\nname: ours\n",
		"json": `{"port": 7005, "concurrency": 2, "timeout": "45s", "maxRequestSize": "10mb", "name": "ours"}`,
	} {
		s, _, warned, failed := settled(t, nil, nil, file)
		if s.port != 7005 || s.concurrency != 2 || s.timeout != 45*time.Second || s.maxRequest != 10<<20 || s.Name != "ours" || warned+failed != "" {
			t.Errorf("%s: %+v %s%s", name, s, warned, failed)
		}
	}
	s, _, _, _ := settled(t, nil, nil, "")
	if s.timeout != 30*time.Second || s.maxRequest != 10<<20 || s.rateLimit != byProfile || s.profile != "demo" || s.host != "127.0.0.1" {
		t.Errorf("the defaults: %+v", s)
	}
	_, _, warned, failed := settled(t, nil, nil, "port: 1\nprot: 2\ntoken: s3cret-value\ncolour: blue\n")
	want := ":2:1: unknown key \"prot\" is ignored; did you mean port or root?\n:3:1: \"token\" is not read from a file; set AGENT_TOKEN\n:4:1: unknown key \"colour\" is ignored; the keys are host, port"
	if !strings.HasPrefix(warned, want) || failed != "" || strings.Contains(warned, "s3cret") {
		t.Errorf("warned\n%s%s, want\n%s", warned, failed, want)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env, file string // one of them
		says      []string
	}{
		{env: "AGENT_PORT=abc", says: []string{`AGENT_PORT is "abc"`, "from 0 to 65535", "--port"}},
		{env: "AGENT_PORT=70000", says: []string{`AGENT_PORT is "70000"`}},
		{env: "AGENT_CONCURRENCY=0", says: []string{`AGENT_CONCURRENCY is "0"`, "from 1 to"}},
		{file: "name: x\nport: abc\n", says: []string{AgentFile + ":2:1: port is \"abc\"", "from 0 to 65535"}},
		{file: "timeout: soon\n", says: []string{"timeout is \"soon\"", "30s"}},
		{file: "timeout: 0\n", says: []string{"timeout is \"0\""}},
		{file: "maxRequestSize: big\n", says: []string{"maxRequestSize is \"big\"", "10mb"}},
		{file: "ephemeral: perhaps\n", says: []string{"ephemeral is \"perhaps\"", "true or false"}},
		{file: "profile: useful\n", says: []string{"profile is \"useful\"", "demo, everything, hostile, fault"}},
		{file: "logLevel: loud\n", says: []string{"logLevel is \"loud\"", "debug, info, warning, error"}},
		{file: "port: {\n", says: []string{AgentFile, "settings"}},
	} {
		env := map[string]string{}
		if k, v, ok := strings.Cut(c.env, "="); ok {
			env[k] = v
		}
		_, _, _, failed := settled(t, nil, env, c.file)
		for _, says := range c.says {
			if !strings.Contains(failed, says) {
				t.Errorf("%s%s: the error does not say %q: %s", c.env, c.file, says, failed)
			}
		}
	}
}

func TestSizesAndPauses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"10mb": 10 << 20, "512kb": 512 << 10, "1gb": 1 << 30, "64MiB": 64 << 20, "1MB": 1e6, "4096": 4096, "10 mb": 10 << 20} {
		var b flags.BodySize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%s is %d, %v, want %d", text, b, err, want)
		}
	}
	for text, want := range map[string]string{"30s": "30s", "30000": "30s", "2m": "2m", "1h": "1h", "90m": "1h30m", "1ms": "1ms"} {
		var p flags.Pause
		if err := p.Set(text); err != nil || p.String() != want {
			t.Errorf("%s is %s, %v, want %s", text, p.String(), err, want)
		}
	}
	for _, text := range []string{"", "-1", "-5s", "25h", "1e3", "99999999999999999999", "9223372036854775807"} {
		var p flags.Pause
		if err := p.Set(text); err == nil {
			t.Errorf("%q is taken for %s", text, p.String())
		}
	}
}

func TestA9_JWTSettingsReachTheAgent(t *testing.T) {
	t.Parallel()
	both := []string{"--jwks", "keys.json", "--jwt-audience", "https://agent.example/mcp", "--jwt-issuer", "https://id.example"}
	scopes := []string{"--jwt-scope", "mcp:tools mcp:read"}
	for _, c := range []struct {
		args     []string
		env      map[string]string
		file     string
		warnings int
		scopes   int
		fails    string
	}{
		{args: slices.Concat(both, scopes), scopes: 2},
		{args: both, env: map[string]string{"AGENT_JWT_SCOPE": "mcp:tools"}, scopes: 1},
		{args: both[:2], env: map[string]string{"AGENT_JWT_AUDIENCE": both[3], "AGENT_JWT_ISSUER": both[5]}},
		{file: "jwks: keys.json\njwtAudience: https://agent.example/mcp\njwtIssuer: https://id.example\n"},
		{args: both[:4], warnings: 1},
		{args: both[:2], warnings: 2},
		{args: both[2:], fails: "--jwks"},
		{args: scopes, fails: "--jwks"},
		{warnings: 0},
	} {
		s, _, warned, failed := settled(t, append([]string{"--ephemeral"}, c.args...), c.env, c.file)
		var log bytes.Buffer
		o, err := s.Options(slog.New(slog.NewTextHandler(&log, nil)))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%v: %v", c, err)
			}
			continue
		}
		if n := strings.Count(log.String(), "level=WARN"); err != nil || warned+failed != "" || n != c.warnings {
			t.Errorf("%v: %v %s%s, %d warnings: %s", c, err, warned, failed, n, &log)
		}
		if c.warnings == 0 && o.JWKS != "" && (o.JWTAudience != both[3] || o.JWTIssuer != both[5]) {
			t.Errorf("%v: audience %q, issuer %q", c, o.JWTAudience, o.JWTIssuer)
		}
		if len(o.JWTScopes) != c.scopes {
			t.Errorf("%v: scopes %q", c, o.JWTScopes)
		}
	}
}

// A setting with several values takes them from repeated flags, a list in the file, or one variable.
func TestC1_ListsOfSettings(t *testing.T) {
	t.Parallel()
	const file = "port: 1\nkb:\n  - ./docs\n  - acme=./acme\n"
	env := map[string]string{"AGENT_KB": "env" + string(filepath.ListSeparator) + "acme=e"}
	for _, c := range []struct {
		args        []string
		env         map[string]string
		file        string
		want, shown string
		origin      string
	}{
		{want: "[]", origin: "default"},
		{file: file, want: "[./docs acme=./acme]", shown: "./docs, acme=./acme", origin: AgentFile + ":3"},
		{file: "kb: one\n", want: "[one]", shown: "one", origin: AgentFile + ":1"},
		{file: file, env: env, want: "[env acme=e]", shown: "env, acme=e", origin: "environment AGENT_KB"},
		{file: file, env: env, args: []string{"--kb", "f", "--kb=acme=g"}, want: "[f acme=g]", shown: "f, acme=g", origin: "flag"},
	} {
		s, r, warned, failed := settled(t, c.args, c.env, c.file)
		v := r.Of("kb")
		if got := fmt.Sprint(s.kb); got != c.want || v.Value != c.shown || !strings.HasSuffix(v.From.String(), c.origin) || warned+failed != "" {
			t.Errorf("%s, shown as %s from %s; want %+v; %s%s", got, v.Value, v.From, c, warned, failed)
		}
	}
	if _, _, warned, _ := settled(t, nil, nil, "port: [1]\n"); !strings.Contains(warned, `"port" is a list`) {
		t.Errorf("a list where none may be: %s", warned)
	}
}

func TestA4_ToolsOfTheSettingsFile(t *testing.T) {
	t.Parallel()
	s, r, warned, failed := settled(t, nil, nil, "tools:\n- {name: a, command: x, inputSchema: {type: object, maxProperties: 1}}\n- {name: b, command: y}\n")
	if warned+failed != "" || len(s.tools) != 2 || string(s.tools[0].InputSchema) != `{"type":"object","maxProperties":1}` || r.Of("tools").Value != "a, b" {
		t.Errorf("%+v shown as %s; %s%s", s.tools, r.Of("tools").Value, warned, failed)
	}
	_, _, _, failed = settled(t, nil, nil, "tools:\n- {name: a, command: x}\n- name: b\n  env: {KEY: hunter2}\n")
	assert.Contains(t, failed, AgentFile+":3:", "tool b has no command")
	assert.NotContains(t, failed, "hunter2")
	s, _, _, _ = settled(t, nil, nil, "tools: [{name: a, command: /nowhere/at/all}]\n")
	if _, err := s.Options(slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Error(err)
	}
}

// The model off, from wherever, has the knowledge base searched by words alone.
func TestT3b_EmbeddingsOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		env   map[string]string
		file  string
		off   bool
		model string
		wrong string
	}{
		{},
		{args: []string{"--embeddings-model", "off"}, off: true},
		{env: map[string]string{"AGENT_EMBEDDINGS_MODEL": "off"}, off: true},
		{file: "embeddingsModel: off\n", off: true},
		{file: "embeddingsModel: off\nmodelUrl: http://127.0.0.1:1/v1\n", off: true},
		{args: []string{"--embeddings-model", "nomic"}, file: "embeddingsModel: off\nmodelUrl: http://127.0.0.1:1/v1\n", model: "nomic"},
		{args: []string{"--embeddings-model", "off", "--embeddings-url", "http://127.0.0.1:1/v1"}, wrong: "--embeddings-url makes no sense with --embeddings-model off"},
	} {
		s, _, _, failed := settled(t, append(c.args, "--ephemeral"), c.env, c.file)
		o, err := s.Options(slog.New(slog.DiscardHandler))
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) || failed != "" {
			t.Errorf("%+v: %v %s", c, err, failed)
		}
		if err == nil && (o.FullText != c.off || o.Embeddings.Name != c.model) {
			t.Errorf("%+v: %v, %q", c, o.FullText, o.Embeddings.Name)
		}
	}
}
