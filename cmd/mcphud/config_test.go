package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// explaining is config explain as a script reads it.
type explaining struct {
	Agent, Router, General, Servers explainedPart
	Files                           []struct {
		Path, Dialect, Error string
		Found                bool
		Servers              int
		Problems             []struct {
			Line    int
			Message string
		}
	}
}

type explainedPart struct {
	File struct {
		Path  string
		Found bool
	}
	Settings []struct {
		Name, Flag, Env, Key, Value, Source, File, Problem string
		Line                                               int
		Overridden                                         []struct {
			Source, Name, File, Value string
			Line                      int
		}
	}
	Warnings []struct {
		File, Message string
		Line          int
	}
	Problems []string
}

// of is a setting in a line: its value, where it is from, and what it won over.
func (p explainedPart) of(name string) string {
	at := func(source, name, file string, line int) string {
		switch source {
		case "environment":
			return name
		case "file":
			return fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
		return source
	}
	for _, s := range p.Settings {
		if s.Name == name {
			line := s.Value + " " + at(s.Source, s.Env, s.File, s.Line)
			for _, o := range s.Overridden {
				line += ", not " + o.Value + " " + at(o.Source, o.Name, o.File, o.Line)
			}
			if s.Problem != "" {
				line += "; " + s.Problem
			}
			return line
		}
	}
	return "no such setting"
}

// explainer prepares config explain in a home that has this agent.yaml, and a working folder with this routing.json.
func explainer(t *testing.T, agentYAML, routes string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, append([]string{"config", "explain"}, args...)...)
	cmd.Env = append(cmd.Env, "AGENT_PORT=", "AGENT_CONCURRENCY=", "AGENT_TOKEN=", "AGENT_MODEL_URL=", "AGENT_MODEL=", "AGENT_MODEL_KEY=",
		"AGENT_EMBEDDINGS_URL=", "AGENT_EMBEDDINGS_MODEL=", "AGENT_EMBEDDINGS_KEY=",
		"ROUTER_HOST=", "ROUTER_PORT=", "ROUTER_CA=", "MCPHUD_THEME=", "OTEL_EXPORTER_OTLP_ENDPOINT=")
	cmd.Env = append(cmd.Env, env...)
	for file, text := range map[string]string{filepath.Join(".config", "mcphud", options.AgentFile): agentYAML, "routing.json": routes} {
		if text == "" {
			continue
		}
		file = filepath.Join(cmd.Dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return cmd
}

// explainedBy is what it printed, and the message of its error.
func explainedBy(t *testing.T, cmd *exec.Cmd) (e explaining, failure string) {
	t.Helper()
	before := filesBelow(t, cmd.Dir)
	o := finish(t, cmd)
	if err := json.Unmarshal([]byte(o.out), &e); err != nil {
		t.Fatalf("exit %d, %v: %s%s", o.code, err, o.out, o.stderr)
	}
	if o.code != cli.ExitOK {
		failure = o.errorLine(t).Message
	}
	if o.code != cli.ExitOK && o.code != cli.ExitFailure || (failure == "") != (o.stderr == "") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if strings.Contains(o.out+o.stderr, "s3cret") {
		t.Errorf("a secret was printed: %s%s", o.out, o.stderr)
	}
	if after := filesBelow(t, cmd.Dir); len(after) != len(before) {
		t.Errorf("files were written: %v", after)
	}
	return e, failure
}

func wantSettings(t *testing.T, p explainedPart, want map[string]string) {
	t.Helper()
	for name, line := range want {
		if got := p.of(name); got != line {
			t.Errorf("%s is explained as %q, want %q", name, got, line)
		}
	}
}

func TestC1_ExplainKnowsEveryFlag(t *testing.T) {
	t.Parallel()
	var agent options.Agent
	var router options.Router
	fa, fr := pflag.NewFlagSet("agent", pflag.ContinueOnError), pflag.NewFlagSet("router", pflag.ContinueOnError)
	agent.Register(fa)
	router.Register(fr)
	ofRouter, _ := router.Gather(fr)
	for _, all := range []settings.List{agent.Gather(fa), ofRouter} {
		listed := map[string]bool{}
		for _, s := range all.List {
			listed[s.Flag] = true
			if all.Flags.Lookup(s.Flag) == nil && all.Bare.Lookup(s.Flag) == nil {
				t.Errorf("%s: %s is no flag and no value", all.What, s.Flag)
			}
		}
		for _, f := range []*pflag.FlagSet{all.Flags, all.Bare} {
			f.VisitAll(func(fl *pflag.Flag) {
				if !listed[fl.Name] {
					t.Errorf("%s: nobody lists %s", all.What, fl.Name)
				}
			})
		}
	}
}

func TestC1_ExplainAgent(t *testing.T) {
	t.Parallel()
	const file = "port: 7003\nconcurrency: 4\nprot: 1\ntoken: s3cret-in-file\nname: ours\nmodelUrl: http://me:s3cret@file/v1\nembeddingsUrl: http://me:s3cret@vectors/v1\nembeddingsModel: nomic\n"
	env := []string{
		"AGENT_PORT=7002", "AGENT_CONCURRENCY=3", "AGENT_TOKEN=s3cret-token", "AGENT_MODEL_KEY=s3cret-key",
		"AGENT_MODEL_URL=http://me:s3cret@models.example/v1", "AGENT_EMBEDDINGS_KEY=s3cret-too",
	}
	e, failure := explainedBy(t, explainer(t, file, "", env, "agent", "--port", "7001", "--tenant", "a", "--tenant", "b"))
	wantSettings(t, e.Agent, map[string]string{
		"port":             "7001 flag, not 7002 AGENT_PORT, not 7003 agent.yaml:1",
		"concurrency":      "3 AGENT_CONCURRENCY, not 4 agent.yaml:2",
		"name":             "ours agent.yaml:5",
		"token":            "*** AGENT_TOKEN",
		"model-key":        "*** AGENT_MODEL_KEY",
		"model-url":        "http://***@models.example/v1 AGENT_MODEL_URL, not http://***@file/v1 agent.yaml:6",
		"embeddings-url":   "http://***@vectors/v1 agent.yaml:7",
		"embeddings-model": "nomic agent.yaml:8",
		"embeddings-key":   "*** AGENT_EMBEDDINGS_KEY",
		"tenant":           "a, b flag",
		"timeout":          "30s default",
		"rate-limit":       "100 default",
	})
	if store := e.Agent.of("store"); !strings.HasSuffix(store, "/mcphud/agent-7001.db default") {
		t.Errorf("the store is explained as %q", store)
	}
	w := e.Agent.Warnings
	if failure != "" || len(w) != 2 || w[0].Line != 3 || !strings.Contains(w[0].Message, `"prot"`) || w[1].Line != 4 || !strings.Contains(w[1].Message, "AGENT_TOKEN") {
		t.Errorf("%s, warnings %+v", failure, w)
	}
	if !e.Agent.File.Found || e.Router.Settings != nil || e.Files != nil {
		t.Errorf("%+v", e)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(other, []byte("{\n\"port\": 7009}"), 0o600))
	e, failure = explainedBy(t, explainer(t, file, "", nil, "agent", "--config", other))
	if got := e.Agent.of("port"); got != "7009 other.json:2" || failure != "" || e.Agent.File.Path != other {
		t.Errorf("%s %s %s", got, failure, e.Agent.File.Path)
	}
}

// What is wrong is said as the agent and the router say it when they refuse to start.
func TestC1_ExplainWrongSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, yaml, routes, env string
		args                    []string
		Setting, is, failure    string
	}{
		{
			name: "variable", yaml: "port: 7003", env: "AGENT_PORT=abc", args: []string{"agent"}, Setting: "port",
			is: "abc AGENT_PORT, not 7003 agent.yaml:1; must be a whole number from 0 to 65535", failure: `AGENT_PORT is "abc"`,
		},
		{
			name: "file", yaml: "name: x\ntimeout: soon\n", args: []string{"agent"}, Setting: "timeout",
			is: "soon agent.yaml:2; must be a duration such as 30s, or a number of milliseconds, of at most 24h", failure: `agent.yaml:2:1: timeout is "soon"`,
		},
		{name: "no object", yaml: "[1]", args: []string{"agent"}, Setting: "port", is: "7000 default", failure: "agent.yaml:1:1"},
		{name: "no file", args: []string{"agent", "--config", "none.yaml"}, Setting: "port", is: "7000 default", failure: "none.yaml"},
		{name: "together", args: []string{"agent", "--host", "0.0.0.0"}, Setting: "host", is: "0.0.0.0 flag", failure: "without authentication"},
		{name: "too long", args: []string{"agent", "--timeout", "2m"}, Setting: "timeout", is: "2m flag", failure: "the limit of a tool call"},
		{
			name: "router's variable", routes: `{"port":9001}`, env: "ROUTER_PORT=abc", args: []string{"router"}, Setting: "port",
			is: "abc ROUTER_PORT, not 9001 routing.json:1; must be a whole number from 0 to 65535", failure: `ROUTER_PORT is "abc"`,
		},
		{name: "router's file", routes: "{\n\"port\":\"x\"}", args: []string{"router"}, Setting: "port", is: "8088 default", failure: "routing.json: line 2, column 8: port is"},
		{name: "no routes", args: []string{"router", "--routes", "none.json"}, Setting: "routes", is: "none.json flag", failure: "none.json: no such file"},
		{name: "router together", routes: `{}`, args: []string{"router", "--host", "0.0.0.0"}, Setting: "host", is: "0.0.0.0 flag", failure: "without authentication"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := explainer(t, c.yaml, c.routes, []string{c.env}, c.args...)
			e, failure := explainedBy(t, cmd)
			part, first := e.Agent, "max-request-size"
			if c.args[0] == "router" {
				part, first = e.Router, "drain-timeout"
			}
			if got := part.of(c.Setting); got != c.is {
				t.Errorf("%s is explained as %q, want %q", c.Setting, got, c.is)
			}
			if !strings.Contains(failure, c.failure) || !strings.HasSuffix(part.of(first), " default") {
				t.Errorf("%q, want %q, and the rest: %+v", failure, c.failure, part)
			}
			server := exec.Command(cmd.Path, c.args...)
			server.Env, server.Dir = cmd.Env, cmd.Dir
			if o := finish(t, server); o.code != cli.ExitFailure || o.errorLine(t).Message != failure {
				t.Errorf("it is refused with %s, and explained with %s", o.stderr, failure)
			}
		})
	}
}

// The log of the agent at --log-level debug and explain come from one place.
func TestC1_ExplainAgreesWithTheAgent(t *testing.T) {
	t.Parallel()
	const file = "concurrency: 4\nmaxRequestSize: 1mb\nrateLimit: 7\n"
	args := []string{"--port", "0", "--log-level", "debug", "--tenant-concurrency", "9", "--name", "x"}
	cmd := explainer(t, file, "", []string{"AGENT_CONCURRENCY=3"}, append([]string{"agent"}, args...)...)
	server := exec.Command(cmd.Path, append([]string{"agent"}, args...)...)
	server.Env, server.Dir = cmd.Env, cmd.Dir
	e, failure := explainedBy(t, cmd)
	if failure != "" {
		t.Fatal(failure)
	}
	s := launch(t, server, readyLine)
	var logged map[string]any
	for line := range strings.Lines(s.log()) {
		if strings.Contains(line, `"msg":"settings"`) && json.Unmarshal([]byte(line), &logged) != nil {
			t.Fatalf("%s", line)
		}
	}
	seen := 0
	for _, v := range e.Agent.Settings {
		from := v.Source
		switch from {
		case "environment":
			from += " " + v.Env
		case "file":
			from = fmt.Sprintf("%s:%d", v.File, v.Line)
		}
		if v.Name == "store" { // the agent decides later
			continue
		}
		seen++
		if want := fmt.Sprintf("%s (%s)", v.Value, from); logged[v.Name] != want {
			t.Errorf("%s is logged as %q and explained as %q", v.Name, logged[v.Name], want)
		}
	}
	if seen < 20 {
		t.Errorf("%d settings were compared", seen)
	}
}

func TestC1_ExplainRouter(t *testing.T) {
	t.Parallel()
	const routes = "{\"port\": 9001,\n\"tokens\": \"tokens.json\",\n\"sessionKey\": \"/etc/key\",\n\"prot\": 1, \"routes\": {\"a\": {\"hostPort\": 1, \"hostport\": 2}}}"
	e, failure := explainedBy(t, explainer(t, "", routes, []string{"ROUTER_PORT=9002", "ROUTER_HOST=localhost"}, "router", "--port", "9003"))
	wantSettings(t, e.Router, map[string]string{
		"host":        "localhost ROUTER_HOST",
		"port":        "9003 flag, not 9002 ROUTER_PORT, not 9001 routing.json:1",
		"session-key": "/etc/key routing.json:3",
		"routes":      "routing.json default",
	})
	if got := e.Router.of("tokens"); !strings.HasSuffix(got, "/tokens.json routing.json:2") {
		t.Errorf("tokens: %s", got)
	}
	if w := e.Router.Warnings; failure != "" || len(w) != 2 || w[0].Line != 4 || w[1].Line != 4 || e.Agent.Settings != nil {
		t.Errorf("%s %+v", failure, w)
	}
	e, failure = explainedBy(t, explainer(t, "", routes, nil, "router", "--tokens", "mine.json"))
	wantSettings(t, e.Router, map[string]string{"host": "127.0.0.1 default", "port": "9001 routing.json:1"})
	if got := e.Router.of("tokens"); !strings.HasPrefix(got, "mine.json flag, not /") || failure != "" {
		t.Errorf("tokens: %s %s", got, failure)
	}
	e, failure = explainedBy(t, explainer(t, "", "", nil, "router"))
	if got := e.Router.of("port"); got != "8088 default" || e.Router.File.Found || failure != "" {
		t.Errorf("without a file: %s %s", got, failure)
	}
}

func TestC1_ExplainEverything(t *testing.T) {
	t.Parallel()
	cmd := explainer(t, "port: 7003\n", `{"port":9001}`, []string{"MCPHUD_THEME=dark"})
	list := filepath.Join(cmd.Dir, "mcp.yaml")
	text := "servers:\n  good: {command: x, env: {TOKEN: s3cret}}\n  bad: {transport: {type: stdio}}\nsevrers: {}\n"
	require.NoError(t, os.WriteFile(list, []byte(text), 0o600))
	e, failure := explainedBy(t, cmd)
	wantSettings(t, e.Agent, map[string]string{"port": "7003 agent.yaml:1"})
	wantSettings(t, e.Router, map[string]string{"port": "9001 routing.json:1"})
	wantSettings(t, e.General, map[string]string{"theme": "dark MCPHUD_THEME", "no-color": "1 NO_COLOR", "credentials": "file MCPHUD_CREDENTIALS"})
	found := 0
	for _, f := range e.Files {
		if !f.Found {
			continue
		}
		found++
		if p := f.Problems; f.Path != list || f.Dialect != "mcphud" || f.Servers != 2 || len(p) != 2 || p[0].Line != 4 || p[1].Line != 3 {
			t.Errorf("%+v", f)
		}
	}
	if found != 1 || len(e.Files) < 7 || failure != "" {
		t.Errorf("%d of %d files were found, %s", found, len(e.Files), failure)
	}
	e, failure = explainedBy(t, explainer(t, "", "", []string{"MCPHUD_CONFIG=none.yaml", "MCPHUD_THEME=nice", "MCPHUD_CREDENTIALS=vault", "AGENT_PORT=x"}))
	wantSettings(t, e.General, map[string]string{"config": "none.yaml MCPHUD_CONFIG"})
	if !strings.Contains(failure, "none.yaml") || !strings.Contains(failure, "and 3 more") || !strings.HasPrefix(e.General.of("theme"), "nice MCPHUD_THEME; must be one of") ||
		e.General.of("credentials") != "vault MCPHUD_CREDENTIALS; must be one of auto, keychain, file, memory" {
		t.Errorf("%s, %+v", failure, e.General)
	}
	if f := e.Files[0]; f.Found || f.Error == "" || !strings.HasSuffix(f.Path, "none.yaml") || len(e.Files) < 7 {
		t.Errorf("%+v", e.Files)
	}
	cmd = explainer(t, "", "", []string{"MCPHUD_CONFIG=none.yaml"}, "--config", list)
	if e, failure = explainedBy(t, cmd); e.General.of("config") != list+" flag, not none.yaml MCPHUD_CONFIG" || len(e.Files) != 1 || failure != "" {
		t.Errorf("%s, %s, %+v", e.General.of("config"), failure, e.Files)
	}
}

func TestC1_ExplainForPeople(t *testing.T) {
	t.Parallel()
	cmd := explainer(t, "prot: 1\nport: 7003\n", "", []string{"AGENT_TOKEN=s3cret", "AGENT_PORT=many"}, "--format", "text")
	o := finish(t, cmd)
	for _, line := range []string{
		"agent\n  file                   ~/.config/mcphud/agent.yaml\n                         ! line 1: unknown key \"prot\"",
		"\n  --port                 many              environment AGENT_PORT\n                         ! must be a whole number from 0 to 65535\n" +
			"    overridden           7003              ~/.config/mcphud/agent.yaml:2\n",
		"\n  --token                ***               environment AGENT_TOKEN\n",
		"\n  --kb                   -                 default\n",
		"\n  --store                ~/.state/mcphud/agent-7000.db\n                                           default\n",
		"\nrouter\n  file             routing.json, not found\n",
		"\nall servers\n  auto_discover          -            default\n  continue_on_error      true         default\n",
		"\nserver configs, in order of precedence\n  not there       mcphud          ~/.config/mcphud/mcphud.yaml and ",
		"\n  --all lists them\n",
	} {
		assert.Contains(t, o.out, line)
	}
	lines := strings.Count(o.out, "  not there  ")
	all := finish(t, explainer(t, "", "", nil, "--all", "--format", "text"))
	if every := strings.Count(all.out, "  not there  "); lines > 20 || every < lines+10 || strings.Contains(all.out, "--all lists them") {
		t.Errorf("%d lines for what is not there, with --all %d:\n%s", lines, every, all.out)
	}
	if o.code != cli.ExitFailure || !strings.HasPrefix(o.stderr, `error: AGENT_PORT is "many"`) || strings.Contains(o.out+o.stderr, "s3cret") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

func TestC1_ExplainUsage(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"config explain demo":                   `cannot explain "demo"`,
		"config explian":                        "did you mean explain",
		"config explain agent --url http://x/":  "--url does not apply to config explain agent",
		"config explain --server x":             "--server does not apply to config explain",
		"config explain agent --port many":      "from 0 to 65535",
		"config explain router --queue 1":       "unknown flag",
		"config explain agent more":             "takes no arguments",
		"config explain router --audit":         "needs an argument",
		"config explain agent --log-level loud": "debug, info, warning, error",
	} {
		o := mcphud(t, strings.Fields(args)...)
		if e := o.errorLine(t); o.code != cli.ExitFailure || o.out != "" || !strings.Contains(e.Message, says) {
			t.Errorf("%s: exit %d, stdout %q, stderr %s", args, o.code, o.out, o.stderr)
		}
	}
	for args, want := range map[string]string{
		"config explain ":                    "agent\tExplain the settings of mcphud agent",
		"config explain agent --profile ":    "demo\neverything\n",
		"config explain router --":           "--drain-timeout",
		"config explain router --log-level ": "debug\ninfo\n",
	} {
		at := strings.LastIndexByte(args, ' ')
		out := mcphud(t, append(append([]string{"__complete"}, strings.Fields(args[:at])...), args[at+1:])...).ok(t)
		if !strings.Contains(out, want) || strings.Contains(out, "--journal") {
			t.Errorf("%q is completed with %s", args, out)
		}
	}
}
