package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/agentclient"
	"github.com/mcphud/mcphud/session/config"
)

// agentSettings are what can be set about the agent. Negative limits say that the profile decides.
type agentSettings struct {
	host                         string
	port                         int
	stdio, ephemeral, batch      bool
	profile, name                string
	token, jwks                  string
	kb, root, store              string
	entities, tenants            []string
	concurrency, capacity        int
	timeout, drain               time.Duration
	maxRequest                   int64
	rateLimit, tenantConcurrency int
	modelURL, model, modelKey    string
	routerHost, routerToken      string
	routerPort                   int
	level                        string
}

// agentLevels are what the agent's --log-level takes.
var agentLevels = []string{"debug", "info", "warning", "error"}

func profiles() (names []string) {
	for _, p := range agentsrv.Profiles() {
		names = append(names, string(p))
	}
	return names
}

const (
	byProfile = -1 // a limit that nobody gave
	mostTasks = 10_000
	mostCalls = 1_000_000

	agentFile  = "agent.yaml"
	secretFlag = "token" // whose value is never shown
)

// setting says where else the value of a flag may come from. A secret is not read from the file.
type setting struct {
	flag string
	env  string // variable, "" for none
	key  string // member of the file, "" for none
}

var agentSources = []setting{
	{flag: "host", key: "host"},
	{flag: "port", env: "AGENT_PORT", key: "port"},
	{flag: "token", env: "AGENT_TOKEN"},
	{flag: "jwks", key: "jwks"},
	{flag: "name", key: "name"},
	{flag: "profile", key: "profile"},
	{flag: "kb", key: "kb"},
	{flag: "root", key: "root"},
	{flag: "store", key: "store"},
	{flag: "concurrency", env: "AGENT_CONCURRENCY", key: "concurrency"},
	{flag: "queue-capacity", key: "queueCapacity"},
	{flag: "timeout", key: "timeout"},
	{flag: "max-request-size", key: "maxRequestSize"},
	{flag: "drain-timeout", key: "drainTimeout"},
	{flag: "rate-limit", key: "rateLimit"},
	{flag: "tenant-concurrency", key: "tenantConcurrency"},
	{flag: "model-url", env: "AGENT_MODEL_URL", key: "modelUrl"},
	{flag: "model", env: "AGENT_MODEL", key: "model"},
	{flag: "router-host", env: "ROUTER_HOST", key: "routerHost"},
	{flag: "router-port", env: "ROUTER_PORT", key: "routerPort"},
	{flag: "batch", key: "batch"},
	{flag: "ephemeral", key: "ephemeral"},
	{flag: "log-level", key: "logLevel"},
}

// register gives the agent's flags to f, at their defaults.
func (s *agentSettings) register(f *pflag.FlagSet) {
	*s = agentSettings{
		port: agentsrv.DefaultPort, concurrency: agentsrv.DefaultConcurrency, capacity: agentsrv.DefaultQueueCapacity, timeout: agentsrv.DefaultTimeout,
		drain: agentsrv.DefaultDrainTimeout, maxRequest: agentsrv.DefaultMaxRequest, rateLimit: byProfile, tenantConcurrency: byProfile,
		profile: string(agentsrv.Demo), level: "info", routerPort: agentclient.DefaultPort,
	}
	f.SortFlags = false
	f.Var(&number{&s.port, 0, 65535}, "port", "listen on this `PORT`; 0 picks a free one; AGENT_PORT")
	f.StringVar(&s.host, "host", "127.0.0.1", "listen on this `ADDRESS`; any but a loopback one needs --token or --jwks")
	f.BoolVar(&s.stdio, "stdio", false, "serve stdin and stdout instead of HTTP")
	f.Var(&choice{&s.profile, profiles()}, "profile", "serve this `PROFILE`: demo, everything, hostile or fault")
	f.BoolVar(&s.ephemeral, "ephemeral", false, "keep everything in memory and write no file")
	f.StringVar(&s.kb, "kb", "", "search the files of this `DIR` instead of the built-in texts")
	f.StringVar(&s.root, "root", "", "let read_file and list_dir see this `DIR`; without it they see nothing")
	f.StringArrayVar(&s.entities, "entities", nil, "let lookup_entity find what this `FILE` of JSON lines has; TENANT=FILE for another tenant than default (repeatable)")
	f.StringVar(&s.store, "store", "", "keep tasks, agents and tenants in this `FILE` (default one for each port in the state folder)")
	f.StringVar(&s.name, "name", "", "introduce the server under this `NAME`")
	f.StringVar(&s.token, "token", "", "ask callers for this bearer `TOKEN`, which AGENT_TOKEN keeps out of process listings")
	f.StringVar(&s.jwks, "jwks", "", "accept JWTs that a key of this JWKS `FILE` signed")
	f.Var(&number{&s.concurrency, 1, mostTasks}, "concurrency", "run so many tool calls at a time; AGENT_CONCURRENCY")
	f.Var(&number{&s.capacity, 0, mostCalls}, "queue-capacity", "let so many tool calls wait; 0 is no limit")
	f.Var((*pause)(&s.timeout), "timeout", "end a tool call after this long without progress, such as 30s; at most 60s")
	f.Var((*bodySize)(&s.maxRequest), "max-request-size", "largest request body, such as 10mb")
	f.Var((*pause)(&s.drain), "drain-timeout", "let running calls finish for so long before leaving")
	f.StringArrayVar(&s.tenants, "tenant", nil, "let in the tenant of this `NAME`, default, and no new ones (repeatable); without it each name makes a tenant")
	f.Var(&number{&s.rateLimit, 0, mostCalls}, "rate-limit", "tool calls a minute and tenant; 0 is no limit (100 in the demo profile)")
	f.Var(&number{&s.tenantConcurrency, 0, mostTasks}, "tenant-concurrency", "tool calls at a time and tenant; 0 is no limit (10 in the demo profile)")
	f.StringVar(&s.modelURL, "model-url", "", "let ask_agent use the OpenAI-compatible API at this `URL`, with the key in AGENT_MODEL_KEY; AGENT_MODEL_URL")
	f.StringVar(&s.model, "model", "", "ask it for the model of this `NAME`; AGENT_MODEL")
	f.StringVar(&s.routerHost, "router-host", agentclient.DefaultHost, "let call_agent reach other agents through the router on this `HOST`, which is shown AGENT_TOKEN; ROUTER_HOST")
	f.Var(&number{&s.routerPort, 1, 65535}, "router-port", "the router's `PORT`; ROUTER_PORT")
	f.BoolVar(&s.batch, "batch", false, "offer the experimental method tools/call_batch")
	f.Var(&choice{&s.level, agentLevels}, "log-level", "log from this `LEVEL` on: debug, info, warning or error")
}

// surroundings is where settings that no flag gives come from.
type surroundings struct {
	env  func(string) string
	file string // read if it is there; "" for none
	must bool   // the file was named, so it has to be there
}

// resolve fills in what no flag gave, from the environment, then from the file. origin has where each flag's value came
// from. A value that cannot be is an error that names the variable, or the file and line; what nobody knows in the file is a
// warning.
func resolve(f *pflag.FlagSet, where surroundings) (origin map[string]string, warnings []config.Warning, err error) {
	values, warnings, err := where.read()
	if err != nil {
		return nil, nil, err
	}
	given := map[string]config.Value{}
	for _, v := range values {
		given[v.Key] = v
	}
	origin = map[string]string{}
	for _, s := range agentSources {
		fl := f.Lookup(s.flag)
		v, inFile := given[s.key]
		inFile = inFile && s.key != ""
		delete(given, s.key)
		switch env := where.lookup(s.env); {
		case fl.Changed:
			origin[s.flag] = "flag"
		case env != "":
			origin[s.flag] = "environment " + s.env
			if err := fl.Value.Set(env); err != nil {
				return nil, nil, usageError(fmt.Sprintf("%s is %q: %v", s.env, shown(s.flag, env), plain(err)), "correct or unset "+s.env+", or give --"+s.flag)
			}
		case inFile:
			origin[s.flag] = fmt.Sprintf("%s:%d", where.file, v.Line)
			if err := fl.Value.Set(v.Text); err != nil {
				at := config.Warning{File: where.file, Line: v.Line, Col: v.Col, Message: fmt.Sprintf("%s is %q: %v", s.key, v.Text, plain(err))}
				return nil, nil, usageError(at.String(), "correct it there, or give --"+s.flag)
			}
		default:
			origin[s.flag] = "default"
		}
	}
	for _, v := range values {
		if _, unknown := given[v.Key]; unknown {
			warnings = append(warnings, config.Warning{File: where.file, Line: v.Line, Col: v.Col, Message: unknownKey(v.Key)})
		}
	}
	return origin, warnings, nil
}

func (w surroundings) lookup(name string) string {
	if name == "" {
		return ""
	}
	return w.env(name)
}

func (w surroundings) read() ([]config.Value, []config.Warning, error) {
	if w.file == "" {
		return nil, nil, nil
	}
	values, warnings, err := config.ReadValues(w.file)
	if errors.Is(err, fs.ErrNotExist) && !w.must {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, &session.Error{Kind: session.Usage, Message: "the agent's settings: " + err.Error(), Err: err, Next: "correct the file, or name another with --config"}
	}
	return values, warnings, nil
}

func unknownKey(key string) string {
	var keys []string
	for _, s := range agentSources {
		if s.key != "" {
			keys = append(keys, s.key)
		}
	}
	if key == secretFlag {
		return `"token" is not read from a file; set AGENT_TOKEN`
	}
	msg := fmt.Sprintf("unknown key %.80q is ignored", key)
	if like := similar(key, keys); len(like) > 0 {
		return msg + "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return msg + "; the keys are " + strings.Join(keys, ", ")
}

// shown is a setting's value for a message or log; of a secret only that there is one.
func shown(flag, value string) string {
	if flag == secretFlag && value != "" {
		return "set"
	}
	return value
}

// plain says what a boolean flag wants, where its own error speaks of a Go function.
func plain(err error) string {
	if strings.HasPrefix(err.Error(), "strconv.ParseBool: ") {
		return "must be true or false"
	}
	return err.Error()
}

// logSettings records every value and where it came from.
func logSettings(log *slog.Logger, f *pflag.FlagSet, origin map[string]string) {
	var all []any
	for _, s := range agentSources {
		all = append(all, s.flag, fmt.Sprintf("%s (%s)", shown(s.flag, f.Lookup(s.flag).Value.String()), origin[s.flag]))
	}
	log.Debug("settings", all...)
}

// defaultAgentFile is where the settings are looked for when --config names no file, "" where there is no such place.
func defaultAgentFile() string {
	where, err := config.System()
	if err != nil || where.ConfigDir() == "" {
		return ""
	}
	return filepath.Join(where.ConfigDir(), agentFile)
}
