package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// agentSettings are what can be set about the agent. Negative limits say that the profile decides.
type agentSettings struct {
	host                         string
	port                         int
	stdio, ephemeral, batch      bool
	profile, name                string
	token, jwks                  string
	jwtAudience, jwtIssuer       string
	jwtScope                     string
	root, store                  string
	kb, entities, tenants        []string
	tools                        toolList
	queue                        natsconn.Options
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
	registerAt, registerAs       string
	registerCreds, registerCA    string
	level, otlp                  string
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

	agentFile = "agent.yaml"
)

// agentSources are all settings of the agent.
var agentSources = []setting{
	{flag: "host", key: "host"},
	{flag: "port", env: "AGENT_PORT", key: "port"},
	{flag: "stdio"},
	{flag: "token", env: "AGENT_TOKEN", secret: true},
	{flag: "jwks", key: "jwks"},
	{flag: "jwt-audience", env: "AGENT_JWT_AUDIENCE", key: "jwtAudience"},
	{flag: "jwt-issuer", env: "AGENT_JWT_ISSUER", key: "jwtIssuer"},
	{flag: "jwt-scope", env: "AGENT_JWT_SCOPE", key: "jwtScope"},
	{flag: "name", key: "name"},
	{flag: "profile", key: "profile"},
	{flag: "kb", env: "AGENT_KB", key: "kb"},
	{flag: "root", key: "root"},
	{flag: "entities"},
	{flag: "tools", key: "tools"},
	{flag: "store", env: "AGENT_STORE", key: "store"},
	{flag: "concurrency", env: "AGENT_CONCURRENCY", key: "concurrency"},
	{flag: "queue-capacity", key: "queueCapacity"},
	{flag: "queue", env: "AGENT_QUEUE", key: "queue"},
	{flag: "queue-creds", env: "AGENT_QUEUE_CREDS", key: "queueCreds"},
	{flag: "queue-ca", env: "AGENT_QUEUE_CA", key: "queueCa"},
	{flag: "queue-cert", env: "AGENT_QUEUE_CERT", key: "queueCert"},
	{flag: "queue-key", env: "AGENT_QUEUE_KEY", key: "queueKey"},
	{flag: "timeout", key: "timeout"},
	{flag: "max-request-size", key: "maxRequestSize"},
	{flag: "drain-timeout", key: "drainTimeout"},
	{flag: "tenant"},
	{flag: "rate-limit", key: "rateLimit"},
	{flag: "tenant-concurrency", key: "tenantConcurrency"},
	{flag: "model-url", env: "AGENT_MODEL_URL", key: "modelUrl"},
	{flag: "model", env: "AGENT_MODEL", key: "model"},
	{flag: "model-key", env: "AGENT_MODEL_KEY", secret: true},
	{flag: "model-proxy", env: "AGENT_MODEL_PROXY", key: "modelProxy"},
	{flag: "model-ca", env: "AGENT_MODEL_CA", key: "modelCa"},
	{flag: "model-client-cert", env: "AGENT_MODEL_CLIENT_CERT", key: "modelClientCert"},
	{flag: "model-client-key", env: "AGENT_MODEL_CLIENT_KEY", key: "modelClientKey"},
	{flag: "model-insecure", env: "AGENT_MODEL_INSECURE", key: "modelInsecure"},
	{flag: "embeddings-url", env: "AGENT_EMBEDDINGS_URL", key: "embeddingsUrl"},
	{flag: "embeddings-model", env: "AGENT_EMBEDDINGS_MODEL", key: "embeddingsModel"},
	{flag: "embeddings-key", env: "AGENT_EMBEDDINGS_KEY", secret: true},
	{flag: "router-host", env: "ROUTER_HOST", key: "routerHost"},
	{flag: "router-port", env: "ROUTER_PORT", key: "routerPort"},
	{flag: "router-ca", env: "ROUTER_CA", key: "routerCa"},
	{flag: "router-token", env: "AGENT_TOKEN", secret: true},
	{flag: "token-anonymous", env: "AGENT_TOKEN_ANONYMOUS"},
	{flag: "register", env: "AGENT_REGISTER", key: "register"},
	{flag: "register-as", key: "registerAs"},
	{flag: "register-creds", env: "AGENT_REGISTER_CREDS", key: "registerCreds"},
	{flag: "register-ca", env: "AGENT_REGISTER_CA", key: "registerCa"},
	{flag: "websocket", env: "AGENT_WEBSOCKET", key: "websocket"},
	{flag: "sse", env: "AGENT_SSE", key: "sse"},
	{flag: "batch", key: "batch"},
	{flag: "ephemeral", key: "ephemeral"},
	{flag: "log-level", key: "logLevel"},
	{flag: "otlp", env: "OTEL_EXPORTER_OTLP_ENDPOINT"},
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
	f.BoolVar(&s.stdio, "stdio", false, "serve over stdin and stdout instead of HTTP")
	f.Var(&choice{&s.profile, profiles()}, "profile", "serve this `PROFILE`: demo, everything, hostile or fault")
	f.BoolVar(&s.ephemeral, "ephemeral", false, "keep everything in memory and write no file")
	f.StringArrayVar(&s.kb, "kb", nil, "search the files of this `DIR` instead of the built-in texts; TENANT=DIR for that tenant alone (repeatable); AGENT_KB")
	f.StringVar(&s.root, "root", "", "let read_file and list_dir read this `DIR`; without it there are no such tools")
	f.StringArrayVar(&s.entities, "entities", nil, "add the entities of this `FILE` of JSON lines to lookup_entity; TENANT=FILE for a tenant other than default (repeatable)")
	f.StringVar(&s.store, "store", "", "keep tasks, agents, entities and tenants in this `FILE`, which one agent at a time has (default: one file per port in the state folder), or at postgres://USER@HOST/DATABASE, which agents may share, with PGPASSWORD; AGENT_STORE")
	f.StringVar(&s.name, "name", "", "report this `NAME` in serverInfo")
	f.StringVar(&s.token, "token", "", "require this bearer `TOKEN` of callers; AGENT_TOKEN keeps it out of process listings")
	f.StringVar(&s.jwks, "jwks", "", "accept JWTs that a key of this JWKS `FILE` signed")
	f.StringVar(&s.jwtAudience, "jwt-audience", "", "refuse JWTs whose aud does not contain this `AUDIENCE`; AGENT_JWT_AUDIENCE")
	f.StringVar(&s.jwtIssuer, "jwt-issuer", "", "refuse JWTs whose iss is not this `ISSUER`; AGENT_JWT_ISSUER")
	f.StringVar(&s.jwtScope, "jwt-scope", "", "refuse JWTs without each `SCOPE` of this list, separated by spaces; AGENT_JWT_SCOPE")
	f.Var(&number{&s.concurrency, 1, mostTasks}, "concurrency", "run at most this many tool calls at once, in this process; AGENT_CONCURRENCY")
	f.Var(&number{&s.capacity, 0, mostCalls}, "queue-capacity", "queue at most this many tool calls, with --queue in all processes together; 0 is no limit")
	f.Var((*natsURLs)(&s.queue.URL), "queue", "share the calls with all agents of this --name at the NATS server with JetStream at this `URL`, nats://HOST:PORT or tls://HOST:PORT; several are separated by commas; AGENT_QUEUE keeps a password out of process listings")
	f.StringVar(&s.queue.Creds, "queue-creds", "", "log in to it with this credentials `FILE`; AGENT_QUEUE_CREDS")
	f.StringVar(&s.queue.CA, "queue-ca", "", "trust only the certificate authorities in this PEM `FILE` instead of the system's; AGENT_QUEUE_CA")
	f.StringVar(&s.queue.Cert, "queue-cert", "", "show it the client certificate in this PEM `FILE`; AGENT_QUEUE_CERT")
	f.StringVar(&s.queue.Key, "queue-key", "", "the key of --queue-cert, a PEM `FILE`; AGENT_QUEUE_KEY")
	f.Var((*pause)(&s.timeout), "timeout", "cancel a tool call after this long without progress, such as 30s; at most 60s")
	f.Var((*bodySize)(&s.maxRequest), "max-request-size", "largest request body, and line on stdin, such as 10mb (a line: 1 MiB unless given)")
	f.Var((*pause)(&s.drain), "drain-timeout", "wait this long for running calls on shutdown")
	f.StringArrayVar(&s.tenants, "tenant", nil, "accept the tenant `NAME`, beside default (repeatable); without it every name is accepted")
	f.Var(&number{&s.rateLimit, 0, mostCalls}, "rate-limit", "limit the tool calls per minute and tenant; 0 is no limit (100 in the demo profile)")
	f.Var(&number{&s.tenantConcurrency, 0, mostTasks}, "tenant-concurrency", "limit the concurrent tool calls per tenant; 0 is no limit (10 in the demo profile)")
	f.Var((*webURL)(&s.modelURL), "model-url", "let ask_agent use the OpenAI-compatible API at this `URL`, with the key in AGENT_MODEL_KEY; AGENT_MODEL_URL")
	f.StringVar(&s.model, "model", "", "request the model of this `NAME` from it; AGENT_MODEL")
	f.Var((*webURL)(&s.embedURL), "embeddings-url", "search the knowledge base by meaning too, with embeddings of the OpenAI-compatible API at this `URL` (default: --model-url) and the key in AGENT_EMBEDDINGS_KEY; AGENT_EMBEDDINGS_URL")
	f.StringVar(&s.embed, "embeddings-model", "", "make them with the model of this `NAME`; without it built-in vectors of English words make them, and off searches by words alone; AGENT_EMBEDDINGS_MODEL")
	f.StringVar(&s.modelVia.Proxy, "model-proxy", "", "reach the API of the model, and that of the embeddings, through the proxy at `URL`, or none; AGENT_MODEL_PROXY keeps a password out of process listings")
	f.StringVar(&s.modelVia.CA, "model-ca", "", "trust both by the certificates in this PEM `FILE` instead of the system's; AGENT_MODEL_CA")
	f.StringVar(&s.modelVia.ClientCert, "model-client-cert", "", "show both the client certificate in this PEM `FILE`; AGENT_MODEL_CLIENT_CERT")
	f.StringVar(&s.modelVia.ClientKey, "model-client-key", "", "the key of --model-client-cert, a PEM `FILE` (default the file of the certificate); AGENT_MODEL_CLIENT_KEY")
	f.BoolVar(&s.modelVia.Insecure, "model-insecure", false, "check the certificates of neither: for tests only; AGENT_MODEL_INSECURE")
	f.StringVar(&s.routerHost, "router-host", agentclient.DefaultHost, "let call_agent reach other agents through the router on this `HOST`, which gets AGENT_TOKEN; https://HOST for TLS; ROUTER_HOST")
	f.Var(&number{&s.routerPort, 1, 65535}, "router-port", "the router's `PORT`; ROUTER_PORT")
	f.StringVar(&s.routerCA, "router-ca", "", "trust only the router certificate, or the certificate authorities, in this PEM `FILE` instead of the system's; ROUTER_CA")
	f.StringVar(&s.registerAt, "register", "", "register with routers that read this `TARGET`: a folder of routes, or nats://HOST/BUCKET; AGENT_REGISTER")
	f.StringVar(&s.registerAs, "register-as", "", "register this `URL` instead of the address that is listened on")
	f.StringVar(&s.registerCreds, "register-creds", "", "register as the user of this NATS credentials `FILE` (default: --queue-creds); AGENT_REGISTER_CREDS")
	f.StringVar(&s.registerCA, "register-ca", "", "trust the NATS server by the certificate authorities in this PEM `FILE` (default: --queue-ca); AGENT_REGISTER_CA")
	f.BoolVar(&s.websocket, "websocket", false, "serve WebSockets at the endpoint, too: for clients that need no request for each message; not a part of the specification; AGENT_WEBSOCKET")
	f.BoolVar(&s.sse, "sse", false, "serve HTTP+SSE of 2024-11-05 at /sse and /messages, too: for hosts that do not speak Streamable HTTP, which is better at all else; AGENT_SSE")
	f.BoolVar(&s.batch, "batch", false, "offer the experimental method tools/call_batch")
	f.Var(&choice{&s.level, agentLevels}, "log-level", "log at this `LEVEL` and above: debug, info, warning or error")
}

// bare registers the values that only the environment gives.
func (s *agentSettings) bare() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&s.modelKey, "model-key", "", "")
	f.StringVar(&s.embedKey, "embeddings-key", "", "")
	f.Var(&s.tools, "tools", "")
	f.StringVar(&s.routerToken, "router-token", "", "")
	f.BoolVar(&s.tokenAnonymous, "token-anonymous", false, "")
	f.StringVar(&s.otlp, "otlp", "", "")
	return f
}

// gather returns the settings of a command line and this process.
func (s *agentSettings) gather(f *pflag.FlagSet) settings {
	where := sources{
		env: os.Getenv, file: s.file, must: s.file != "", read: readAgentFile, next: "correct the file, or name another with --config",
	}
	if s.file == "" && !supervised(f) { // a stack says everything itself
		where.file = defaultAgentFile()
	}
	return settings{"agent", agentSources, f, s.bare(), where}
}

// readAgentFile reads agent.yaml.
func readAgentFile(path string) ([]config.Value, []config.Warning, error) {
	return config.ReadValues(path, "kb", "tools")
}

// defaultAgentFile is where the settings are looked for when --config names no file, "" where there is no such place.
func defaultAgentFile() string {
	where, err := config.System()
	if err != nil || where.ConfigDir() == "" {
		return ""
	}
	return filepath.Join(where.ConfigDir(), agentFile)
}
