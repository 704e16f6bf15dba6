package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// routerSettings are the settings of the router.
type routerSettings struct {
	host            string
	port            int
	routes, tokens  string
	sessionKey      string
	drain, delay    time.Duration
	hosts           []string
	tlsCert, tlsKey string
	level           string
	audit, pins     string
	stdio           bool
	cluster         string
	clusterCreds    string
	clusterCA       string
	prefix          string
	websocket, sse  bool
	remote          manage.Remote
}

// prefixes are the modes of names at the endpoint of all agents.
var prefixes = []string{string(toolset.Always), string(toolset.Conflict), string(toolset.Never)}

// routerSources are all settings of the router.
var routerSources = []setting{
	{flag: "host", env: "ROUTER_HOST"},
	{flag: "allow-host"},
	{flag: "port", env: "ROUTER_PORT", key: "port"},
	{flag: "routes"},
	{flag: "tokens", key: "tokens"},
	{flag: "session-key", key: "sessionKey"},
	{flag: "drain-timeout"},
	{flag: "drain-delay"},
	{flag: "log-level"},
	{flag: "audit"},
	{flag: "pins"},
	{flag: "tls-cert"},
	{flag: "tls-key"},
	{flag: "stdio"},
	{flag: "cluster", env: "ROUTER_CLUSTER", key: "cluster"},
	{flag: "cluster-creds", env: "ROUTER_CLUSTER_CREDS"},
	{flag: "cluster-ca", env: "ROUTER_CLUSTER_CA"},
	{flag: "websocket", env: "ROUTER_WEBSOCKET", key: "websocket"},
	{flag: "sse", env: "ROUTER_SSE", key: "sse"},
	{flag: "prefix", key: "prefix"},
	{flag: "manage-addr"},
	{flag: "manage-cert"},
	{flag: "manage-key"},
	{flag: "manage-ca"},
}

func (a *app) routerCommand() *cobra.Command {
	var s routerSettings
	c := &cobra.Command{
		Use: "router", Short: "Run the router: one address in front of every agent", Args: noArgs,
		Long: "router serves every agent of routing.json at http://127.0.0.1:8088/mcps/NAME/mcp, in every protocol version. " +
			"It prints `listening on URL` on stderr when it is ready. SIGINT and SIGTERM let running calls finish; a second one ends it at once. " +
			"With --stdio it listens nowhere, serves all agents as one over stdin and stdout, and ends with its input. " +
			"--websocket and --sse serve clients that do not speak Streamable HTTP, too. " +
			"SIGHUP reads routing.json again, which also happens by itself when it changes; an invalid file keeps the last valid routes in force.\n\n" +
			"Servers can be registered while it runs, over a Unix socket that the log names and only you can use: RegisterMcpServer, ConnectMcpServer, " +
			"DisconnectMcpServer, ListMcpServers, GetMcpTools, StartMcpOAuth and CompleteMcpOAuth are each a POST of JSON to their own path, and a method over gRPC. " +
			"With --manage-addr they are served to other machines, too, over TLS to whoever has a certificate.\n\n" +
			"A setting is taken from its flag, else from the environment (ROUTER_HOST, ROUTER_PORT), else from routing.json (port, tokens); " +
			"DisconnectMcpServer, ListMcpServers, GetMcpTools, StartMcpOAuth and CompleteMcpOAuth are each a POST of JSON to their own path.\n\n" +
			"A setting is taken from its flag, else from the environment (ROUTER_HOST, ROUTER_PORT, ROUTER_CLUSTER), else from routing.json (port, tokens, cluster); " +
			"mcphud config explain router shows which.",
		Example: "  mcphud router\n  mcphud router --port 0 --routes ./routing.json\n  mcphud -- mcphud router --stdio --routes ./routing.json\n" +
			`  echo '{"routes":{"demo":{"hostPort":7000}}}' > routing.json`,
		RunE: a.action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.router(ctx, cmd, &s) }),
	}
	routerFlags(c, &s)
	return c
}

// routerFlags gives a command the router's flags, and what completes them.
func routerFlags(c *cobra.Command, s *routerSettings) {
	s.register(c.Flags())
	// These fail only for flags that do not exist.
	_ = c.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(agentLevels, cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagFilename("routes", "json")
	_ = c.MarkFlagFilename("tokens", "json")
}

// register gives the router's flags to f, at their defaults.
func (s *routerSettings) register(f *pflag.FlagSet) {
	*s = routerSettings{port: proxy.DefaultPort, drain: proxy.DefaultDrainTimeout, level: "info", prefix: string(toolset.Always)}
	f.SortFlags = false
	f.StringVar(&s.host, "host", "127.0.0.1", "listen on this `ADDRESS`; any but a loopback one needs a file of tokens; ROUTER_HOST")
	f.StringArrayVar(&s.hosts, "allow-host", nil, "serve requests for this `HOST`, or HOST:PORT, too, such as a load balancer's (repeatable)")
	f.Var(&number{&s.port, 0, 65535}, "port", "listen on this `PORT`; 0 picks a free one; ROUTER_PORT")
	f.StringVar(&s.routes, "routes", proxy.DefaultRoutes, "serve the agents of this `FILE`, of all in a folder, or of nats://HOST/BUCKET; reloaded when it changes")
	f.StringVar(&s.cluster, "cluster", "", "share routes, limits and circuit breakers with other routers by the NATS server at this `URL`; ROUTER_CLUSTER")
	f.StringVar(&s.clusterCreds, "cluster-creds", "", "connect to NATS as the user of this credentials `FILE`; ROUTER_CLUSTER_CREDS")
	f.StringVar(&s.clusterCA, "cluster-ca", "", "trust the NATS server by the certificate authorities in this PEM `FILE`; ROUTER_CLUSTER_CA")
	f.StringVar(&s.sessionKey, "session-key", "", "let every router with the keys in this `FILE` serve the same sessions (default the one that the routes name)")
	f.StringVar(&s.tokens, "tokens", "", "require a token of this `FILE` (default the one that the routes name)")
	f.Var((*pause)(&s.drain), "drain-timeout", "time limit for running calls to finish at shutdown")
	f.Var((*pause)(&s.delay), "drain-delay", "how long to go on at shutdown while /ready says 503, so that a load balancer notices")
	f.Var(&choice{&s.level, agentLevels}, "log-level", "lowest `LEVEL` to log: debug, info, warning or error")
	f.StringVar(&s.audit, "audit", "", "append a JSON line for each request to this `FILE`: caller, request, decision; never arguments")
	f.StringVar(&s.pins, "pins", "", "keep tool definitions in this `FILE` and warn when one changes (default: one for these routes)")
	f.StringVar(&s.tlsCert, "tls-cert", "", "serve HTTPS with the certificate in this `FILE` (PEM)")
	f.StringVar(&s.tlsKey, "tls-key", "", "the certificate's key is in this `FILE` (PEM)")
	f.BoolVar(&s.stdio, "stdio", false, "serve all agents as one over stdin and stdout instead of HTTP")
	f.BoolVar(&s.websocket, "websocket", false, "serve WebSockets at each endpoint, too: for clients that need no request for each message; not a part of the specification; ROUTER_WEBSOCKET")
	f.BoolVar(&s.sse, "sse", false, "serve HTTP+SSE of 2024-11-05 at /sse and /mcps/NAME/sse, too: for hosts that do not speak Streamable HTTP, which is better at all else; ROUTER_SSE")
	f.Var(&choice{&s.prefix, prefixes}, "prefix", "put agents' names before those of tools: always (as mcp__AGENT__TOOL), in a conflict, or never (`MODE`)")
	f.StringVar(&s.remote.Addr, "manage-addr", "", "let managers with a certificate register servers at this `ADDRESS`, HOST:PORT, as JSON and over gRPC")
	f.StringVar(&s.remote.Cert, "manage-cert", "", "the certificate of --manage-addr is in this `FILE` (PEM)")
	f.StringVar(&s.remote.Key, "manage-key", "", "its key is in this `FILE` (PEM)")
	f.StringVar(&s.remote.CA, "manage-ca", "", "certificates of managers must be signed by one in this `FILE` (PEM)")
}

// gather returns the settings of a command line and this process. table is what the file of routes has, without routes before resolve.
func (s *routerSettings) gather(f *pflag.FlagSet) (all settings, table *routes.Table) {
	if s.tokens == "" {
		f.Lookup("tokens").Changed = false // empty: the file that the routes name
	}
	table = &routes.Table{}
	read := func(file string) ([]config.Value, []config.Warning, error) {
		t, err := routes.Load(file)
		if err != nil {
			return nil, nil, err
		}
		*table = *t
		var values []config.Value
		for _, v := range []config.Value{{Key: "port", Text: strconv.Itoa(t.Port)}, {Key: "tokens", Text: t.Tokens}, {Key: "sessionKey", Text: t.SessionKey}, {Key: "cluster", Text: t.Cluster}, {Key: "websocket", Text: strconv.FormatBool(t.WebSocket)}, {Key: "sse", Text: strconv.FormatBool(t.SSE)}, {Key: "prefix", Text: string(t.Merged.Prefix)}} {
			if v.Text != "" && v.Text != "0" && v.Text != "false" { // not set
				v.Line = t.Lines[v.Key]
				values = append(values, v)
			}
		}
		var warnings []config.Warning
		for _, p := range t.Warnings {
			warnings = append(warnings, config.Warning{File: file, Line: p.Line, Message: p.Message})
		}
		return values, warnings, nil
	}
	bare := pflag.NewFlagSet("", pflag.ContinueOnError)
	where := sources{env: os.Getenv, file: s.routes, must: f.Lookup("routes").Changed, read: read}
	if cluster.IsNATS(s.routes) {
		where.file, where.must = "", false
	}
	return settings{"router", routerSources, f, bare, where}, table
}

// resolve fills in what no flag gave.
func (s *routerSettings) resolve(f *pflag.FlagSet) (*resolution, *routes.Table) {
	all, table := s.gather(f)
	r := all.resolve()
	if r.fileErr != nil {
		r.fileErr = routerError(fmt.Errorf("routes: %w", errors.Unwrap(r.fileErr)), s.routes)
	}
	host := r.of("host")
	host.problem = s.stripScheme(host.from.Name)
	if r.of("pins").from.Source == "default" {
		s.pins = defaultPins(s.routes)
		r.setDefault("pins", s.pins)
	}
	return r, table
}

// stripScheme removes the scheme from the host: ROUTER_HOST, which agents and clients read too, may have one. name says where it was
// given, for errors.
func (s *routerSettings) stripScheme(name string) error {
	if !strings.Contains(s.host, "://") {
		return nil
	}
	scheme, host, err := agentclient.Host(s.host)
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct " + name}
	}
	s.host = host
	serves, next := "http", "give --tls-cert and --tls-key, or write http:// there"
	if s.tlsCert != "" {
		serves, next = "https", "write https:// there"
	}
	if scheme != serves {
		err := fmt.Errorf("%s says %s, and the router serves %s", name, scheme, serves)
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: next}
	}
	return nil
}

// options converts resolved settings. Settings of the routes file alone are left to the router, which reloads the file.
func (s *routerSettings) options(r *resolution) proxy.Options {
	o := proxy.Options{
		Version: version(), Host: bareHost(s.host), Hosts: s.hosts, Port: s.port, RoutesPort: !r.given("port"), Routes: s.routes, RoutesMust: r.given("routes"),
		DrainTimeout: s.drain, DrainDelay: s.delay, TLSCert: s.tlsCert, TLSKey: s.tlsKey, Audit: audit.Options{File: s.audit}, Pins: s.pins, Manage: !s.stdio, Trusted: s.stdio,
		Remote: s.remote,
	}
	if r.given("tokens") {
		o.Tokens = s.tokens
	}
	if r.given("session-key") {
		o.SessionKey = s.sessionKey
	}
	if r.given("websocket") {
		o.WebSocket = &s.websocket
	}
	if r.given("sse") {
		o.SSE = &s.sse
	}
	if r.of("prefix").from.Source == "flag" { // the file's may change
		o.Prefix = toolset.Prefix(s.prefix)
	}
	return o
}

// bareHost is an address without the brackets that it has in URLs.
func bareHost(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]")
	}
	return host
}

// defaultPins is the file of tool pins for a file of routes, "" without a state folder.
func defaultPins(routes string) string {
	abs, err := filepath.Abs(routes)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(abs))
	return stateFile(filepath.Join("routers", hex.EncodeToString(sum[:8])+".json"))
}

func (a *app) router(ctx context.Context, cmd *cobra.Command, s *routerSettings) error {
	if name := hiddenFlag(cmd); name != "" {
		return usageError("--"+name+" does not apply to the router", "see mcphud router --help")
	}
	settled, _ := s.resolve(cmd.Flags())
	if err := settled.err(); err != nil {
		return err
	}
	log := agentLogger(a.err, s.level)
	settled.log(log)
	if s.stdio && settled.given("tokens") && cmd.Flags().Changed("tokens") {
		return usageError("--tokens does not apply with --stdio: whoever starts the router is its only caller", "leave one of them out")
	}
	if s.stdio && (settled.given("websocket") && s.websocket || settled.given("sse") && s.sse) {
		return usageError("--websocket and --sse do not apply with --stdio: nobody can connect", "leave one of them out")
	}
	if s.stdio && s.remote != (manage.Remote{}) {
		return usageError("--manage-addr does not apply with --stdio: nothing is managed there", "leave one of them out")
	}
	if !settled.given("pins") && (s.pins == "" || os.MkdirAll(filepath.Dir(s.pins), 0o700) != nil) {
		s.pins = "" // in memory only
	}
	t, err := tap.Open(tap.Options{Name: "router", Kind: tap.Router})
	if err != nil {
		log.Warn("mcphud tap cannot watch this router", "error", err.Error())
	}
	defer func() { _ = t.Close() }() // its socket is gone either way
	var r *proxy.Router
	o := s.options(settled)
	o.Logger = log
	logins, err := a.logins(config.Settings{})
	if err != nil {
		return err
	}
	o.Login = *logins
	o.Outer, o.Inner, o.SideChannel = []flow.Middleware{t.RecordResponses}, []flow.Middleware{t.RecordRequests}, t.Append
	o.Handlers = browser.Routes(browser.Options{Agents: func(req *http.Request) []browser.Agent { return agentsOf(r, req) }})
	leave, err := s.join(ctx, &o)
	if err != nil {
		return err
	}
	defer leave()
	if r, err = proxy.New(o); err != nil {
		return routerError(err, s.routes)
	}
	if s.stdio {
		reload := func() { _ = r.Reload() } // as below
		a.kill.reload.Store(&reload)
		logRoutes(log, s.routes, s.cluster, r.Routes())
		err := r.ServeStdio(ctx, a.in, stdout{a.out})
		a.kill.reload.Store(nil)
		slow := time.AfterFunc(time.Second, func() {
			log.Warn("waiting for the processes of servers to end; a package runner that installs one is not interrupted")
		})
		defer slow.Stop()
		return errors.Join(err, closeRouter(ctx, r, stdioDrain))
	}
	if err := r.Start(ctx); err != nil {
		_ = closeRouter(ctx, r, s.drain) // why it did not start is what matters
		return startFailure(err, "router", "ROUTER_PORT")
	}
	reload := func() { _ = r.Reload() } // errors are logged, and the last valid routes stay in force
	a.kill.reload.Store(&reload)
	_, _ = fmt.Fprintf(a.err, "listening on %s\n", r.URL())
	logRoutes(log, s.routes, s.cluster, r.Routes())
	select {
	case <-ctx.Done():
		log.Info("stopping", "drain_delay", s.delay.String(), "drain_timeout", s.drain.String())
		r.Drain(context.WithoutCancel(ctx))
	case <-r.Done(): // a listener failed
	}
	a.kill.reload.Store(nil)
	return errors.Join(r.Err(), closeRouter(ctx, r, s.drain))
}

// stdioDrain is how long what runs gets when the input of a router over stdio has ended: nobody waits for it.
const stdioDrain = 200 * time.Millisecond

// logRoutes logs the agents, or the path of the routes file if it does not exist yet.
func logRoutes(log *slog.Logger, file, shared string, t *routes.Table) {
	if cluster.IsNATS(file) {
		log.Info("routes", "bucket", natsconn.Shown(file), "agents", strings.Join(t.Names(), " "))
		return
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
		if shared != "" {
			log.Info("no routes yet: waiting for agents that register, or for the file", "nats", natsconn.Shown(shared), "file", file)
			return
		}
		log.Warn("no routes yet: waiting for the file", "file", file)
		return
	}
	log.Info("routes", "file", file, "agents", strings.Join(t.Names(), " "))
}

// agentsOf serves the router's page the agents that its caller may call.
func agentsOf(r *proxy.Router, req *http.Request) []browser.Agent {
	who, err := r.Identify(req)
	if err != nil {
		return nil
	}
	table := r.Routes()
	var all []browser.Agent
	for _, name := range table.Names() {
		if !table.Routes[name].Disabled && who.May(name) {
			all = append(all, browser.Agent{Name: name, State: r.State(name)})
		}
	}
	return all
}

// closeRouter ends the router. Calls that still run after the drain timeout are cancelled, which is not an error.
func closeRouter(ctx context.Context, r *proxy.Router, drain time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// routerError adds what to do next to an error of the router's settings.
func routerError(err error, routes string) error {
	e := &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct it; see mcphud router --help"}
	missing := new(fs.PathError)
	switch {
	case !errors.As(err, &missing) || !errors.Is(err, os.ErrNotExist):
	case missing.Path == routes:
		e.Next = "name a file that exists, or leave --routes out to start without routes and wait for " + proxy.DefaultRoutes
	default:
		e.Next = "name a file that exists"
		if dir := filepath.Dir(missing.Path); !isFolder(dir) {
			e.Next = "there is no folder " + dir + "; create it, or name another"
		}
	}
	return e
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
