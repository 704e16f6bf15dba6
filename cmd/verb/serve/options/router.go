package options

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// Router are the settings of the router.
type Router struct {
	host            string
	port            int
	Routes, tokens  string
	sessionKey      string
	Drain, Delay    time.Duration
	hosts           []string
	tlsCert, tlsKey string
	Level           string
	audit, Pins     string
	Stdio           bool
	Cluster         string
	clusterCreds    string
	clusterCA       string
	prefix          string
	Websocket, Sse  bool
	Remote          manage.Remote
}

// prefixes are the modes of names at the endpoint of all agents.
var prefixes = []string{string(toolset.Always), string(toolset.Conflict), string(toolset.Never)}

// routerSources are all settings of the router.
var routerSources = []settings.Setting{
	{Flag: "host", Env: "ROUTER_HOST"},
	{Flag: "allow-host"},
	{Flag: "port", Env: "ROUTER_PORT", Key: "port"},
	{Flag: "routes"},
	{Flag: "tokens", Key: "tokens"},
	{Flag: "session-key", Key: "sessionKey"},
	{Flag: "drain-timeout"},
	{Flag: "drain-delay"},
	{Flag: "log-level"},
	{Flag: "audit"},
	{Flag: "pins"},
	{Flag: "tls-cert"},
	{Flag: "tls-key"},
	{Flag: "stdio"},
	{Flag: "cluster", Env: "ROUTER_CLUSTER", Key: "cluster"},
	{Flag: "cluster-creds", Env: "ROUTER_CLUSTER_CREDS"},
	{Flag: "cluster-ca", Env: "ROUTER_CLUSTER_CA"},
	{Flag: "websocket", Env: "ROUTER_WEBSOCKET", Key: "websocket"},
	{Flag: "sse", Env: "ROUTER_SSE", Key: "sse"},
	{Flag: "prefix", Key: "prefix"},
	{Flag: "manage-addr"},
	{Flag: "manage-cert"},
	{Flag: "manage-key"},
	{Flag: "manage-ca"},
}

// RouterFlags gives a command the router's flags, and what completes them.
func RouterFlags(c *cobra.Command, s *Router) {
	s.Register(c.Flags())
	// These fail only for flags that do not exist.
	_ = c.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(agentLevels, cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagFilename("routes", "json")
	_ = c.MarkFlagFilename("tokens", "json")
}

// Register gives the router's flags to f, at their defaults.
func (s *Router) Register(f *pflag.FlagSet) {
	*s = Router{port: proxy.DefaultPort, Drain: proxy.DefaultDrainTimeout, Level: "info", prefix: string(toolset.Always)}
	f.SortFlags = false
	f.StringVar(&s.host, "host", "127.0.0.1", "listen on this `ADDRESS`; any but a loopback one needs a file of tokens; ROUTER_HOST")
	f.StringArrayVar(&s.hosts, "allow-host", nil, "serve requests for this `HOST`, or HOST:PORT, too, such as a load balancer's (repeatable)")
	f.Var(&flags.Number{Value: &s.port, Least: 0, Most: 65535}, "port", "listen on this `PORT`; 0 picks a free one; ROUTER_PORT")
	f.StringVar(&s.Routes, "routes", proxy.DefaultRoutes, "serve the agents of this `FILE`, of all in a folder, or of nats://HOST/BUCKET; reloaded when it changes")
	f.StringVar(&s.Cluster, "cluster", "", "share routes, limits and circuit breakers with other routers by the NATS server at this `URL`; ROUTER_CLUSTER")
	f.StringVar(&s.clusterCreds, "cluster-creds", "", "connect to NATS as the user of this credentials `FILE`; ROUTER_CLUSTER_CREDS")
	f.StringVar(&s.clusterCA, "cluster-ca", "", "trust the NATS server by the certificate authorities in this PEM `FILE`; ROUTER_CLUSTER_CA")
	f.StringVar(&s.sessionKey, "session-key", "", "let every router with the keys in this `FILE` serve the same sessions (default the one that the routes name)")
	f.StringVar(&s.tokens, "tokens", "", "require a token of this `FILE` (default the one that the routes name)")
	f.Var((*flags.Pause)(&s.Drain), "drain-timeout", "time limit for running calls to finish at shutdown")
	f.Var((*flags.Pause)(&s.Delay), "drain-delay", "how long to go on at shutdown while /ready says 503, so that a load balancer notices")
	f.Var(&flags.Choice{Value: &s.Level, Allowed: agentLevels}, "log-level", "lowest `LEVEL` to log: debug, info, warning or error")
	f.StringVar(&s.audit, "audit", "", "append a JSON line for each request to this `FILE`: caller, request, decision; never arguments")
	f.StringVar(&s.Pins, "pins", "", "keep tool definitions in this `FILE` and warn when one changes (default: one for these routes)")
	f.StringVar(&s.tlsCert, "tls-cert", "", "serve HTTPS with the certificate in this `FILE` (PEM)")
	f.StringVar(&s.tlsKey, "tls-key", "", "the certificate's key is in this `FILE` (PEM)")
	f.BoolVar(&s.Stdio, "stdio", false, "serve all agents as one over stdin and stdout instead of HTTP")
	f.BoolVar(&s.Websocket, "websocket", false, "serve WebSockets at each endpoint, too: for clients that need no request for each message; not a part of the specification; ROUTER_WEBSOCKET")
	f.BoolVar(&s.Sse, "sse", false, "serve HTTP+SSE of 2024-11-05 at /sse and /mcps/NAME/sse, too: for hosts that do not speak Streamable HTTP, which is better at all else; ROUTER_SSE")
	f.Var(&flags.Choice{Value: &s.prefix, Allowed: prefixes}, "prefix", "put agents' names before those of tools: always (as mcp__AGENT__TOOL), in a conflict, or never (`MODE`)")
	f.StringVar(&s.Remote.Addr, "manage-addr", "", "let managers with a certificate register servers at this `ADDRESS`, HOST:PORT, as JSON and over gRPC")
	f.StringVar(&s.Remote.Cert, "manage-cert", "", "the certificate of --manage-addr is in this `FILE` (PEM)")
	f.StringVar(&s.Remote.Key, "manage-key", "", "its key is in this `FILE` (PEM)")
	f.StringVar(&s.Remote.CA, "manage-ca", "", "certificates of managers must be signed by one in this `FILE` (PEM)")
}

// Gather returns the settings of a command line and this process. table is what the file of routes has, without routes before resolve.
func (s *Router) Gather(f *pflag.FlagSet) (all settings.List, table *routes.Table) {
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
	where := settings.Sources{Env: os.Getenv, File: s.Routes, Must: f.Lookup("routes").Changed, Read: read}
	if cluster.IsNATS(s.Routes) {
		where.File, where.Must = "", false
	}
	return settings.List{What: "router", List: routerSources, Flags: f, Bare: bare, Sources: where}, table
}

// Resolve fills in what no flag gave.
func (s *Router) Resolve(f *pflag.FlagSet) (*settings.Resolution, *routes.Table) {
	all, table := s.Gather(f)
	r := all.Resolve()
	if r.FileErr != nil {
		r.FileErr = RouterError(fmt.Errorf("routes: %w", errors.Unwrap(r.FileErr)), s.Routes)
	}
	host := r.Of("host")
	host.Problem = s.stripScheme(host.From.Name)
	if r.Of("pins").From.Source == "default" {
		s.Pins = cli.DefaultPins(s.Routes)
		r.SetDefault("pins", s.Pins)
	}
	return r, table
}

// stripScheme removes the scheme from the host: ROUTER_HOST, which agents and clients read too, may have one. name says where it was
// given, for errors.
func (s *Router) stripScheme(name string) error {
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

// Options converts resolved settings. Settings of the routes file alone are left to the router, which reloads the file.
func (s *Router) Options(r *settings.Resolution) proxy.Options {
	o := proxy.Options{
		Version: cli.Version(), Host: bareHost(s.host), Hosts: s.hosts, Port: s.port, RoutesPort: !r.Given("port"), Routes: s.Routes, RoutesMust: r.Given("routes"),
		DrainTimeout: s.Drain, DrainDelay: s.Delay, TLSCert: s.tlsCert, TLSKey: s.tlsKey, Audit: audit.Options{File: s.audit}, Pins: s.Pins, Manage: !s.Stdio, Trusted: s.Stdio,
		Remote: s.Remote,
	}
	if r.Given("tokens") {
		o.Tokens = s.tokens
	}
	if r.Given("session-key") {
		o.SessionKey = s.sessionKey
	}
	if r.Given("websocket") {
		o.WebSocket = &s.Websocket
	}
	if r.Given("sse") {
		o.SSE = &s.Sse
	}
	if r.Of("prefix").From.Source == "flag" { // the file's may change
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

// RouterError adds what to do next to an error of the router's settings.
func RouterError(err error, routes string) error {
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

// Join opens what the router shares with others, if it does. leave ends it, after the router.
func (s *Router) Join(ctx context.Context, o *proxy.Options) (leave func(), err error) {
	server, bucket := s.Cluster, cluster.DefaultBucket
	if cluster.IsNATS(s.Routes) {
		if server, bucket, err = cluster.Bucket(s.Routes); err != nil {
			return nil, natsError(err, "correct --routes")
		}
		o.Routes, o.RoutesMust = "", false
	}
	if server == "" {
		return func() {}, nil
	}
	at := natsconn.Options{URL: server, Creds: s.clusterCreds, CA: s.clusterCA, Name: "mcphud router", Logger: o.Logger}
	const next = "start the NATS server, or correct --cluster, --cluster-creds and --cluster-ca"
	keys, err := cluster.OpenRoutes(ctx, at, bucket)
	if err != nil {
		return nil, natsError(err, next)
	}
	o.Keys = keys
	if s.Cluster == "" {
		return keys.Close, nil
	}
	at.URL = s.Cluster
	shared, err := cluster.Open(ctx, at)
	if err != nil {
		keys.Close()
		return nil, natsError(err, next)
	}
	o.Cluster = shared
	return func() {
		shared.Close()
		keys.Close()
	}, nil
}

func natsError(err error, next string) error {
	return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: next}
}
