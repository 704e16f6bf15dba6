package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/audit"
	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
)

// routerSettings are what can be set about the router.
type routerSettings struct {
	host             string
	port             int
	routes, tokens   string
	drain            time.Duration
	tlsCert, tlsKey  string
	level            string
	audit, pins      string
	named, forcePort bool // the file of routes was named; the port wins over the file's
}

// routerEnv are the variables that settings come from which no flag gives.
var routerEnv = map[string]string{"host": "ROUTER_HOST", "port": "ROUTER_PORT"}

func (a *app) routerCommand() *cobra.Command {
	var s routerSettings
	c := &cobra.Command{
		Use: "router", Short: "Run the router: one address in front of every agent", Args: cobra.NoArgs,
		Long: "router serves every agent that routing.json names at http://127.0.0.1:8088/mcps/NAME/mcp, in every revision of the protocol. " +
			"It says `listening on URL` on stderr once it is ready. SIGINT and SIGTERM let running calls finish; a second one ends it at once. " +
			"SIGHUP reads routing.json again, which also happens by itself when it changes; a file that cannot be used leaves the last good routes in force.\n\n" +
			"Servers can be registered while it runs, over a Unix socket that the log names and only you can use: RegisterMcpServer, ConnectMcpServer, " +
			"DisconnectMcpServer, ListMcpServers and GetMcpTools are each a POST of JSON to their own path.\n\n" +
			"A setting is taken from its flag, else from the environment (ROUTER_HOST, ROUTER_PORT), else from routing.json (port, tokens).",
		Example: "  mcphud router\n  mcphud router --port 0 --routes ./routing.json\n" +
			`  echo '{"routes":{"demo":{"hostPort":7000}}}' > routing.json`,
		RunE: a.action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.router(ctx, cmd, &s) }),
	}
	s.register(c.Flags())
	// These fail only for flags that do not exist.
	_ = c.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(agentLevels, cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagFilename("routes", "json")
	_ = c.MarkFlagFilename("tokens", "json")
	return c
}

// register gives the router's flags to f, at their defaults.
func (s *routerSettings) register(f *pflag.FlagSet) {
	*s = routerSettings{port: proxy.DefaultPort, drain: proxy.DefaultDrainTimeout, level: "info"}
	f.SortFlags = false
	f.StringVar(&s.host, "host", "127.0.0.1", "listen on this `ADDRESS`; any but a loopback one needs a file of tokens; ROUTER_HOST")
	f.Var(&number{&s.port, 0, 65535}, "port", "listen on this `PORT`; 0 picks a free one; ROUTER_PORT")
	f.StringVar(&s.routes, "routes", proxy.DefaultRoutes, "serve the agents that this `FILE` names, and follow it while it changes")
	f.StringVar(&s.tokens, "tokens", "", "ask callers for a token that this `FILE` lists, instead of the one that the routes name")
	f.Var((*pause)(&s.drain), "drain-timeout", "let running calls finish for so long before leaving")
	f.Var(&choice{&s.level, agentLevels}, "log-level", "log from this `LEVEL` on: debug, info, warning or error")
	f.StringVar(&s.audit, "audit", "", "append a line of JSON about each request to this `FILE`: who, what and whether it was allowed, never arguments")
	f.StringVar(&s.pins, "pins", "", "remember in this `FILE` what agents' tools were when they were first seen, to warn of changes (default one of these routes' own)")
	f.StringVar(&s.tlsCert, "tls-cert", "", "serve HTTPS with the certificate in this `FILE` (PEM)")
	f.StringVar(&s.tlsKey, "tls-key", "", "the certificate's key is in this `FILE` (PEM)")
}

// complete fills in what no flag gave from the environment.
func (s *routerSettings) complete(f *pflag.FlagSet, env func(string) string) error {
	for flag, name := range routerEnv {
		fl := f.Lookup(flag)
		v := env(name)
		if fl.Changed || v == "" {
			s.forcePort = s.forcePort || flag == "port" && fl.Changed
			continue
		}
		if err := fl.Value.Set(v); err != nil {
			return usageError(fmt.Sprintf("%s is %q: %v", name, v, err), "correct or unset "+name+", or give --"+flag)
		}
		s.forcePort = s.forcePort || flag == "port"
	}
	s.named = f.Lookup("routes").Changed
	if !f.Lookup("pins").Changed {
		s.pins = pinsOf(s.routes)
	}
	return nil
}

// pinsOf is where the router remembers the tools of the agents that a file of routes names, "" if there is no place for it.
func pinsOf(routes string) string {
	abs, err := filepath.Abs(routes)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(abs))
	file := stateFile(filepath.Join("routers", hex.EncodeToString(sum[:8])+".json"))
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return ""
	}
	return file
}

func (a *app) router(ctx context.Context, cmd *cobra.Command, s *routerSettings) error {
	if name := hiddenFlag(cmd); name != "" {
		return usageError("--"+name+" means nothing to the router, which is a server", "see mcphud router --help")
	}
	if err := s.complete(cmd.Flags(), os.Getenv); err != nil {
		return err
	}
	log := agentLogger(a.err, s.level)
	t, err := tap.Open(tap.Options{Name: "router", Kind: tap.Router})
	if err != nil {
		log.Warn("the router cannot be watched with mcphud tap", "error", err.Error())
	}
	defer func() { _ = t.Close() }() // its socket is gone either way
	var r *proxy.Router
	r, err = proxy.New(proxy.Options{
		Outer: []flow.Middleware{t.Outer}, Inner: []flow.Middleware{t.Inner},
		Handlers: browser.Routes(browser.Options{Agents: func(req *http.Request) []browser.Agent { return agentsOf(r, req) }}),
		Version:  version(), Host: s.host, Port: s.port, RoutesPort: !s.forcePort, Routes: s.routes, RoutesMust: s.named, Tokens: s.tokens,
		DrainTimeout: s.drain, TLSCert: s.tlsCert, TLSKey: s.tlsKey, Logger: log,
		Audit: audit.Options{File: s.audit}, Pins: s.pins, Manage: true,
	})
	if err != nil {
		return &session.Error{Kind: session.Usage, Message: err.Error(), Err: err, Next: routerAdvice(err, s.routes)}
	}
	if err := r.Start(ctx); err != nil {
		_ = closeRouter(ctx, r, s.drain) // why it did not start is what matters
		return startFailure(err, "router", "ROUTER_PORT")
	}
	reload := func() { _ = r.Reload() } // what is wrong is in the log, and the last good routes stay
	a.kill.reload.Store(&reload)
	_, _ = fmt.Fprintf(a.err, "listening on %s\n", r.URL())
	log.Info("routes", "file", s.routes, "agents", strings.Join(r.Routes().Names(), " "))
	select {
	case <-ctx.Done():
		log.Info("stopping", "drain_timeout", s.drain.String())
	case <-r.Done(): // a listener failed
	}
	a.kill.reload.Store(nil)
	return errors.Join(r.Err(), closeRouter(ctx, r, s.drain))
}

// agentsOf is what the page of the router lists to whoever asks for it: the agents that they may call.
func agentsOf(r *proxy.Router, req *http.Request) []browser.Agent {
	who, err := r.Identify(req)
	if err != nil {
		return nil
	}
	table := r.Routes()
	var all []browser.Agent
	for _, name := range table.Names() {
		if !table.Routes[name].Disabled && who.May(name) {
			all = append(all, browser.Agent{Name: name})
		}
	}
	return all
}

// closeRouter ends the router. Calls that still run after the time for draining are cancelled, which is no failure.
func closeRouter(ctx context.Context, r *proxy.Router, drain time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func routerAdvice(err error, routes string) string {
	missing := new(fs.PathError)
	switch {
	case !errors.As(err, &missing) || !errors.Is(err, os.ErrNotExist):
		return "correct it; see mcphud router --help"
	case missing.Path == routes:
		return "name a file that exists, or leave --routes out to start without routes and wait for " + proxy.DefaultRoutes
	}
	return "name a file that exists"
}
