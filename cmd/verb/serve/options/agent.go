// Package options has the settings of agent and router: their flags, variables and files, and what these servers are made of.
package options

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// AgentFlags gives a command the agent's flags, and what completes them.
func AgentFlags(c *cobra.Command, s *Agent) {
	f := c.Flags()
	s.Register(f)
	f.StringVar(&s.file, "config", "", "read settings from this `FILE` (YAML or JSON)")
	for name, values := range map[string][]string{"profile": profiles(), "log-level": agentLevels} {
		// The error would be an unknown flag.
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_, _ = c.MarkFlagDirname("kb"), c.MarkFlagDirname("root")
}

// AgentError says what to do about settings that the agent refuses.
func AgentError(err error) error {
	switch {
	case store.Down(err):
		return &failure.Error{Kind: failure.Transport, Message: err.Error(), Err: err, Next: "start the agent again when it is there"}
	case store.Explains(err):
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "or name another store with --store"}
	}
	return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "see mcphud agent --help"}
}

// Options makes what the agent takes of the settings, or says what about them cannot be.
func (s *Agent) Options(log *slog.Logger) (agentsrv.Options, error) {
	if !s.Stdio && !listen.Loopback(bareHost(s.host)) && s.token == "" && s.jwks == "" {
		return agentsrv.Options{}, failure.UsageError("--host "+s.host+" lets other machines connect without authentication",
			"set AGENT_TOKEN or --jwks, or leave --host out to serve this machine only")
	}
	if err := s.checkRegister(); err != nil {
		return agentsrv.Options{}, err
	}
	if s.Stdio && (s.websocket || s.sse) {
		return agentsrv.Options{}, failure.UsageError("--websocket and --sse do not apply with --stdio: nobody can connect", "leave one of them out")
	}
	if s.jwks == "" && s.jwtAudience+s.jwtIssuer+s.jwtScope != "" {
		return agentsrv.Options{}, failure.UsageError("--jwt-audience, --jwt-issuer and --jwt-scope need the key file of --jwks", "set --jwks, or leave them out")
	}
	if s.jwks != "" && s.jwtAudience == "" {
		log.Warn("JWTs for other services are accepted: set --jwt-audience")
	}
	if s.jwks != "" && s.jwtIssuer == "" {
		log.Warn("JWTs of any issuer are accepted: set --jwt-issuer")
	}
	o := agentsrv.Options{
		Name: s.Name, Version: cli.Version(), Profile: agentsrv.Profile(s.profile), Host: bareHost(s.host), Port: s.port, Token: s.token, JWKS: s.jwks, JWTAudience: s.jwtAudience, JWTIssuer: s.jwtIssuer,
		JWTScopes:      strings.Fields(s.jwtScope),
		TokenAnonymous: s.tokenAnonymous, WebSocket: s.websocket, SSE: s.sse, KB: s.kb, Root: s.root, Entities: s.entities, Tenants: s.tenants, Store: s.Store, Concurrency: s.concurrency, QueueCapacity: limit(s.capacity),
		Timeout: s.timeout, DrainTimeout: s.drain, MaxRequest: s.maxRequest, Batch: s.batch,
		Queue: s.Queue, RateLimit: limit(s.rateLimit), TenantConcurrency: limit(s.tenantConcurrency),
		Router: agentclient.Options{RouterHost: s.routerHost, RouterPort: s.routerPort, RouterCA: s.routerCA, AuthToken: s.routerToken},
		Model:  chat.Model{URL: s.modelURL, Name: s.model, Key: s.modelKey, Via: s.modelVia}, OTLP: s.otlp, Logger: log,
	}
	if s.Queue.URL == "" && s.Queue != (natsconn.Options{}) {
		return o, failure.UsageError("--queue-creds, --queue-ca, --queue-cert and --queue-key need the server of --queue", "set --queue, or leave them out")
	}
	var err error
	if o.Embeddings, err = s.embeddings(); err != nil {
		return o, err
	}
	o.FullText = s.embed == noEmbeddings
	for _, spec := range s.tools {
		tool, err := spec.Tool()
		if err != nil {
			return o, failure.UsageError(err.Error(), "correct tools in the settings file")
		}
		o.Tools = append(o.Tools, tool)
	}
	switch {
	case s.ephemeral && s.Store != "":
		return o, failure.UsageError("--ephemeral and --store exclude each other: in memory, or in a file or a database", "use one of them; AGENT_STORE counts as --store")
	case s.ephemeral:
		return o, nil
	case o.Store == "":
		o.StoreLater = s.Stdio // many clients only look
		if o.Store, err = defaultStore(s); err != nil {
			return o, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "name a file with --store, or use --ephemeral"}
		}
	}
	return o, nil
}

// noEmbeddings in the place of a model has the knowledge base searched by words alone.
const noEmbeddings = "off"

// embeddings is the model for embeddings: at the URL of the other model, with its key, where none of its own is given.
func (s *Agent) embeddings() (chat.Model, error) {
	m := chat.Model{URL: s.embedURL, Name: s.embed, Key: s.embedKey, Via: s.modelVia}
	switch {
	case m.Name == noEmbeddings && m.URL != "":
		return m, failure.UsageError("--embeddings-url makes no sense with --embeddings-model "+noEmbeddings, "leave one of them out, or name a model")
	case m.Name == noEmbeddings:
		return chat.Model{}, nil
	case m.Name == "" && m.URL != "":
		return m, failure.UsageError("--embeddings-url needs a model for the embeddings", "name one with --embeddings-model, such as nomic-embed-text")
	case m.Name == "":
		return chat.Model{}, nil
	case m.URL == "" && s.modelURL == "":
		return m, failure.UsageError("--embeddings-model needs the URL of an API", "set --embeddings-url, or --model-url for both")
	case m.URL == "":
		m.URL, m.Key = s.modelURL, cmp.Or(m.Key, s.modelKey)
	}
	return m, nil
}

// limit translates a flag's 0, no limit, and its absence, the profile's, to what Options mean by them.
func limit(n int) int {
	switch n {
	case 0:
		return -1
	case byProfile:
		return 0
	}
	return n
}

// StdioStore is the database of agents that serve stdin and stdout.
const StdioStore = "agent-stdio.db"

// defaultStore is where the agent keeps what it has to remember.
func defaultStore(s *Agent) (string, error) {
	path, err := agentsrv.DefaultStore(s.port)
	if err == nil && s.Stdio {
		path = filepath.Join(filepath.Dir(path), StdioStore)
	}
	return path, err
}

// Agent are what can be set about the agent. Negative limits say that the profile decides.
type Agent struct {
	host                         string
	port                         int
	Stdio, ephemeral, batch      bool
	profile, Name                string
	token, jwks                  string
	jwtAudience, jwtIssuer       string
	jwtScope                     string
	root, Store                  string
	kb, entities, tenants        []string
	tools                        flags.ToolList
	Queue                        natsconn.Options
	concurrency, capacity        int
	timeout, drain               time.Duration
	maxRequest                   int64
	rateLimit, tenantConcurrency int
	modelURL, model, modelKey    string
	modelVia                     config.Server // how that API is reached
	embedURL, embed, embedKey    string
	routerHost, routerCA         string
	routerToken                  string
	tokenAnonymous               bool
	websocket, sse               bool
	routerPort                   int
	RegisterAt, registerAs       string
	registerCreds, registerCA    string
	Level, otlp                  string
	file                         string // where the others may be
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

	// AgentFile is the name of a file of settings of the agent.
	AgentFile = "agent.yaml"
)

// AgentSources are all settings of the agent.
var AgentSources = []settings.Setting{
	{Flag: "host", Key: "host"},
	{Flag: "port", Env: "AGENT_PORT", Key: "port"},
	{Flag: "stdio"},
	{Flag: "token", Env: "AGENT_TOKEN", Secret: true},
	{Flag: "jwks", Key: "jwks"},
	{Flag: "jwt-audience", Env: "AGENT_JWT_AUDIENCE", Key: "jwtAudience"},
	{Flag: "jwt-issuer", Env: "AGENT_JWT_ISSUER", Key: "jwtIssuer"},
	{Flag: "jwt-scope", Env: "AGENT_JWT_SCOPE", Key: "jwtScope"},
	{Flag: "name", Key: "name"},
	{Flag: "profile", Key: "profile"},
	{Flag: "kb", Env: "AGENT_KB", Key: "kb"},
	{Flag: "root", Key: "root"},
	{Flag: "entities"},
	{Flag: "tools", Key: "tools"},
	{Flag: "store", Env: "AGENT_STORE", Key: "store"},
	{Flag: "concurrency", Env: "AGENT_CONCURRENCY", Key: "concurrency"},
	{Flag: "queue-capacity", Key: "queueCapacity"},
	{Flag: "queue", Env: "AGENT_QUEUE", Key: "queue"},
	{Flag: "queue-creds", Env: "AGENT_QUEUE_CREDS", Key: "queueCreds"},
	{Flag: "queue-ca", Env: "AGENT_QUEUE_CA", Key: "queueCa"},
	{Flag: "queue-cert", Env: "AGENT_QUEUE_CERT", Key: "queueCert"},
	{Flag: "queue-key", Env: "AGENT_QUEUE_KEY", Key: "queueKey"},
	{Flag: "timeout", Key: "timeout"},
	{Flag: "max-request-size", Key: "maxRequestSize"},
	{Flag: "drain-timeout", Key: "drainTimeout"},
	{Flag: "tenant"},
	{Flag: "rate-limit", Key: "rateLimit"},
	{Flag: "tenant-concurrency", Key: "tenantConcurrency"},
	{Flag: "model-url", Env: "AGENT_MODEL_URL", Key: "modelUrl"},
	{Flag: "model", Env: "AGENT_MODEL", Key: "model"},
	{Flag: "model-key", Env: "AGENT_MODEL_KEY", Secret: true},
	{Flag: "model-proxy", Env: "AGENT_MODEL_PROXY", Key: "modelProxy"},
	{Flag: "model-ca", Env: "AGENT_MODEL_CA", Key: "modelCa"},
	{Flag: "model-client-cert", Env: "AGENT_MODEL_CLIENT_CERT", Key: "modelClientCert"},
	{Flag: "model-client-key", Env: "AGENT_MODEL_CLIENT_KEY", Key: "modelClientKey"},
	{Flag: "model-insecure", Env: "AGENT_MODEL_INSECURE", Key: "modelInsecure"},
	{Flag: "embeddings-url", Env: "AGENT_EMBEDDINGS_URL", Key: "embeddingsUrl"},
	{Flag: "embeddings-model", Env: "AGENT_EMBEDDINGS_MODEL", Key: "embeddingsModel"},
	{Flag: "embeddings-key", Env: "AGENT_EMBEDDINGS_KEY", Secret: true},
	{Flag: "router-host", Env: "ROUTER_HOST", Key: "routerHost"},
	{Flag: "router-port", Env: "ROUTER_PORT", Key: "routerPort"},
	{Flag: "router-ca", Env: "ROUTER_CA", Key: "routerCa"},
	{Flag: "router-token", Env: "AGENT_TOKEN", Secret: true},
	{Flag: "token-anonymous", Env: "AGENT_TOKEN_ANONYMOUS"},
	{Flag: "register", Env: "AGENT_REGISTER", Key: "register"},
	{Flag: "register-as", Key: "registerAs"},
	{Flag: "register-creds", Env: "AGENT_REGISTER_CREDS", Key: "registerCreds"},
	{Flag: "register-ca", Env: "AGENT_REGISTER_CA", Key: "registerCa"},
	{Flag: "websocket", Env: "AGENT_WEBSOCKET", Key: "websocket"},
	{Flag: "sse", Env: "AGENT_SSE", Key: "sse"},
	{Flag: "batch", Key: "batch"},
	{Flag: "ephemeral", Key: "ephemeral"},
	{Flag: "log-level", Key: "logLevel"},
	{Flag: "otlp", Env: "OTEL_EXPORTER_OTLP_ENDPOINT"},
}

// Register gives the agent's flags to f, at their defaults.
func (s *Agent) Register(f *pflag.FlagSet) {
	*s = Agent{
		port: agentsrv.DefaultPort, concurrency: agentsrv.DefaultConcurrency, capacity: agentsrv.DefaultQueueCapacity, timeout: agentsrv.DefaultTimeout,
		drain: agentsrv.DefaultDrainTimeout, maxRequest: agentsrv.DefaultMaxRequest, rateLimit: byProfile, tenantConcurrency: byProfile,
		profile: string(agentsrv.Demo), Level: "info", routerPort: agentclient.DefaultPort,
	}
	f.SortFlags = false
	f.Var(&flags.Number{Value: &s.port, Least: 0, Most: 65535}, "port", "listen on this `PORT`; 0 picks a free one; AGENT_PORT")
	f.StringVar(&s.host, "host", "127.0.0.1", "listen on this `ADDRESS`; any but a loopback one needs --token or --jwks")
	f.BoolVar(&s.Stdio, "stdio", false, "serve over stdin and stdout instead of HTTP")
	f.Var(&flags.Choice{Value: &s.profile, Allowed: profiles()}, "profile", "serve this `PROFILE`: demo, everything, hostile or fault")
	f.BoolVar(&s.ephemeral, "ephemeral", false, "keep everything in memory and write no file")
	f.StringArrayVar(&s.kb, "kb", nil, "search the files of this `DIR` instead of the built-in texts; TENANT=DIR for that tenant alone (repeatable); AGENT_KB")
	f.StringVar(&s.root, "root", "", "let read_file and list_dir read this `DIR`; without it there are no such tools")
	f.StringArrayVar(&s.entities, "entities", nil, "add the entities of this `FILE` of JSON lines to lookup_entity; TENANT=FILE for a tenant other than default (repeatable)")
	f.StringVar(&s.Store, "store", "", "keep tasks, agents, entities and tenants in this `FILE`, which one agent at a time has (default: one file per port in the state folder), or at postgres://USER@HOST/DATABASE, which agents may share, with PGPASSWORD; AGENT_STORE")
	f.StringVar(&s.Name, "name", "", "report this `NAME` in serverInfo")
	f.StringVar(&s.token, "token", "", "require this bearer `TOKEN` of callers; AGENT_TOKEN keeps it out of process listings")
	f.StringVar(&s.jwks, "jwks", "", "accept JWTs that a key of this JWKS `FILE` signed")
	f.StringVar(&s.jwtAudience, "jwt-audience", "", "refuse JWTs whose aud does not contain this `AUDIENCE`; AGENT_JWT_AUDIENCE")
	f.StringVar(&s.jwtIssuer, "jwt-issuer", "", "refuse JWTs whose iss is not this `ISSUER`; AGENT_JWT_ISSUER")
	f.StringVar(&s.jwtScope, "jwt-scope", "", "refuse JWTs without each `SCOPE` of this list, separated by spaces; AGENT_JWT_SCOPE")
	f.Var(&flags.Number{Value: &s.concurrency, Least: 1, Most: mostTasks}, "concurrency", "run at most this many tool calls at once, in this process; AGENT_CONCURRENCY")
	f.Var(&flags.Number{Value: &s.capacity, Least: 0, Most: mostCalls}, "queue-capacity", "queue at most this many tool calls, with --queue in all processes together; 0 is no limit")
	f.Var((*flags.NatsURLs)(&s.Queue.URL), "queue", "share the calls with all agents of this --name at the NATS server with JetStream at this `URL`, nats://HOST:PORT or tls://HOST:PORT; several are separated by commas; AGENT_QUEUE keeps a password out of process listings")
	f.StringVar(&s.Queue.Creds, "queue-creds", "", "log in to it with this credentials `FILE`; AGENT_QUEUE_CREDS")
	f.StringVar(&s.Queue.CA, "queue-ca", "", "trust only the certificate authorities in this PEM `FILE` instead of the system's; AGENT_QUEUE_CA")
	f.StringVar(&s.Queue.Cert, "queue-cert", "", "show it the client certificate in this PEM `FILE`; AGENT_QUEUE_CERT")
	f.StringVar(&s.Queue.Key, "queue-key", "", "the key of --queue-cert, a PEM `FILE`; AGENT_QUEUE_KEY")
	f.Var((*flags.Pause)(&s.timeout), "timeout", "cancel a tool call after this long without progress, such as 30s; at most 60s")
	f.Var((*flags.BodySize)(&s.maxRequest), "max-request-size", "largest request body, and line on stdin, such as 10mb (a line: 1 MiB unless given)")
	f.Var((*flags.Pause)(&s.drain), "drain-timeout", "wait this long for running calls on shutdown")
	f.StringArrayVar(&s.tenants, "tenant", nil, "accept the tenant `NAME`, beside default (repeatable); without it every name is accepted")
	f.Var(&flags.Number{Value: &s.rateLimit, Least: 0, Most: mostCalls}, "rate-limit", "limit the tool calls per minute and tenant; 0 is no limit (100 in the demo profile)")
	f.Var(&flags.Number{Value: &s.tenantConcurrency, Least: 0, Most: mostTasks}, "tenant-concurrency", "limit the concurrent tool calls per tenant; 0 is no limit (10 in the demo profile)")
	f.Var((*flags.WebURL)(&s.modelURL), "model-url", "let ask_agent use the OpenAI-compatible API at this `URL`, with the key in AGENT_MODEL_KEY; AGENT_MODEL_URL")
	f.StringVar(&s.model, "model", "", "request the model of this `NAME` from it; AGENT_MODEL")
	f.Var((*flags.WebURL)(&s.embedURL), "embeddings-url", "search the knowledge base by meaning too, with embeddings of the OpenAI-compatible API at this `URL` (default: --model-url) and the key in AGENT_EMBEDDINGS_KEY; AGENT_EMBEDDINGS_URL")
	f.StringVar(&s.embed, "embeddings-model", "", "make them with the model of this `NAME`; without it built-in vectors of English words make them, and off searches by words alone; AGENT_EMBEDDINGS_MODEL")
	f.StringVar(&s.modelVia.Proxy, "model-proxy", "", "reach the API of the model, and that of the embeddings, through the proxy at `URL`, or none; AGENT_MODEL_PROXY keeps a password out of process listings")
	f.StringVar(&s.modelVia.CA, "model-ca", "", "trust both by the certificates in this PEM `FILE` instead of the system's; AGENT_MODEL_CA")
	f.StringVar(&s.modelVia.ClientCert, "model-client-cert", "", "show both the client certificate in this PEM `FILE`; AGENT_MODEL_CLIENT_CERT")
	f.StringVar(&s.modelVia.ClientKey, "model-client-key", "", "the key of --model-client-cert, a PEM `FILE` (default the file of the certificate); AGENT_MODEL_CLIENT_KEY")
	f.BoolVar(&s.modelVia.Insecure, "model-insecure", false, "check the certificates of neither: for tests only; AGENT_MODEL_INSECURE")
	f.StringVar(&s.routerHost, "router-host", agentclient.DefaultHost, "let call_agent reach other agents through the router on this `HOST`, which gets AGENT_TOKEN; https://HOST for TLS; ROUTER_HOST")
	f.Var(&flags.Number{Value: &s.routerPort, Least: 1, Most: 65535}, "router-port", "the router's `PORT`; ROUTER_PORT")
	f.StringVar(&s.routerCA, "router-ca", "", "trust only the router certificate, or the certificate authorities, in this PEM `FILE` instead of the system's; ROUTER_CA")
	f.StringVar(&s.RegisterAt, "register", "", "register with routers that read this `TARGET`: a folder of routes, or nats://HOST/BUCKET; AGENT_REGISTER")
	f.StringVar(&s.registerAs, "register-as", "", "register this `URL` instead of the address that is listened on")
	f.StringVar(&s.registerCreds, "register-creds", "", "register as the user of this NATS credentials `FILE` (default: --queue-creds); AGENT_REGISTER_CREDS")
	f.StringVar(&s.registerCA, "register-ca", "", "trust the NATS server by the certificate authorities in this PEM `FILE` (default: --queue-ca); AGENT_REGISTER_CA")
	f.BoolVar(&s.websocket, "websocket", false, "serve WebSockets at the endpoint, too: for clients that need no request for each message; not a part of the specification; AGENT_WEBSOCKET")
	f.BoolVar(&s.sse, "sse", false, "serve HTTP+SSE of 2024-11-05 at /sse and /messages, too: for hosts that do not speak Streamable HTTP, which is better at all else; AGENT_SSE")
	f.BoolVar(&s.batch, "batch", false, "offer the experimental method tools/call_batch")
	f.Var(&flags.Choice{Value: &s.Level, Allowed: agentLevels}, "log-level", "log at this `LEVEL` and above: debug, info, warning or error")
}

// bare registers the values that only the environment gives.
func (s *Agent) bare() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&s.modelKey, "model-key", "", "")
	f.StringVar(&s.embedKey, "embeddings-key", "", "")
	f.Var(&s.tools, "tools", "")
	f.StringVar(&s.routerToken, "router-token", "", "")
	f.BoolVar(&s.tokenAnonymous, "token-anonymous", false, "")
	f.StringVar(&s.otlp, "otlp", "", "")
	return f
}

// Gather returns the settings of a command line and this process.
func (s *Agent) Gather(f *pflag.FlagSet) settings.List {
	where := settings.Sources{
		Env: os.Getenv, File: s.file, Must: s.file != "", Read: ReadAgentFile, Next: "correct the file, or name another with --config",
	}
	if s.file == "" && !cli.Supervised(f) { // a stack says everything itself
		where.File = DefaultAgentFile()
	}
	return settings.List{What: "agent", List: AgentSources, Flags: f, Bare: s.bare(), Sources: where}
}

// ReadAgentFile reads agent.yaml.
func ReadAgentFile(path string) ([]config.Value, []config.Warning, error) {
	return config.ReadValues(path, "kb", "tools")
}

// DefaultAgentFile is where the settings are looked for when --config names no file, "" where there is no such place.
func DefaultAgentFile() string {
	where, err := config.System()
	if err != nil || where.ConfigDir() == "" {
		return ""
	}
	return filepath.Join(where.ConfigDir(), AgentFile)
}

// Registered says where the agent is to routers, if it is to be registered; withdraw takes that back, and gives them the time to notice.
func (s *Agent) Registered(ctx context.Context, agent *agentsrv.Agent, o agentsrv.Options) (withdraw func(), err error) {
	if s.RegisterAt == "" {
		return func() {}, nil
	}
	url := s.registerAs
	if url == "" {
		url = agent.URL()
	}
	r, err := cluster.OpenRegistration(ctx, cluster.RegistrationOptions{
		Target: s.RegisterAt, NATS: natsconn.Options{
			Creds: cmp.Or(s.registerCreds, s.Queue.Creds), CA: cmp.Or(s.registerCA, s.Queue.CA), Cert: s.Queue.Cert, Key: s.Queue.Key, Name: "mcphud agent " + s.registerName(),
		},
		Name: s.registerName(), URL: url, Token: s.token, Logger: o.Logger,
	})
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct --register, or give another address with --register-as"}
	}
	return func() {
		if err := r.Close(); err != nil {
			o.Logger.Warn("the registration is left behind", "error", err.Error())
		}
		time.Sleep(unregisterTime)
	}, nil
}

// registerName is the name of the route that the agent is registered for.
func (s *Agent) registerName() string {
	if s.Name == "" {
		return "agent"
	}
	return s.Name
}

// checkRegister refuses settings that cannot be together.
func (s *Agent) checkRegister() error {
	switch {
	case s.RegisterAt == "" && s.registerAs != "":
		return failure.UsageError("--register-as says where a registered agent is, and nothing registers it", "give --register too, or leave it out")
	case s.RegisterAt != "" && s.Stdio:
		return failure.UsageError("--register does not apply with --stdio: no router reaches an agent on stdin and stdout", "leave one of them out")
	case s.RegisterAt == "" || !cluster.IsNATS(s.RegisterAt):
		return nil
	}
	if _, _, err := cluster.Bucket(s.RegisterAt); err != nil {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct --register"}
	}
	return nil
}

// unregisterTime is how long an agent that is no longer registered serves on, for routers to notice.
const unregisterTime = 500 * time.Millisecond
