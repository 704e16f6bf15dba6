package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

func (a *app) routerCommand() *cobra.Command {
	var s options.Router
	c := &cobra.Command{
		Use: "router", Short: "Run the router: one address in front of every agent", Args: cli.NoArgs,
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
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.router(ctx, cmd, &s) }),
	}
	options.RouterFlags(c, &s)
	return c
}

func (a *app) router(ctx context.Context, cmd *cobra.Command, s *options.Router) error {
	if name := cli.HiddenFlag(cmd); name != "" {
		return failure.UsageError("--"+name+" does not apply to the router", "see mcphud router --help")
	}
	settled, _ := s.Resolve(cmd.Flags())
	if err := settled.Err(); err != nil {
		return err
	}
	log := agentLogger(a.Err, s.Level)
	settled.Log(log)
	if s.Stdio && settled.Given("tokens") && cmd.Flags().Changed("tokens") {
		return failure.UsageError("--tokens does not apply with --stdio: whoever starts the router is its only caller", "leave one of them out")
	}
	if s.Stdio && (settled.Given("websocket") && s.Websocket || settled.Given("sse") && s.Sse) {
		return failure.UsageError("--websocket and --sse do not apply with --stdio: nobody can connect", "leave one of them out")
	}
	if s.Stdio && s.Remote != (manage.Remote{}) {
		return failure.UsageError("--manage-addr does not apply with --stdio: nothing is managed there", "leave one of them out")
	}
	if !settled.Given("pins") && (s.Pins == "" || os.MkdirAll(filepath.Dir(s.Pins), 0o700) != nil) {
		s.Pins = "" // in memory only
	}
	t, err := tap.Open(tap.Options{Name: "router", Kind: tap.Router})
	if err != nil {
		log.Warn("mcphud tap cannot watch this router", "error", err.Error())
	}
	defer func() { _ = t.Close() }() // its socket is gone either way
	var r *proxy.Router
	o := s.Options(settled)
	o.Logger = log
	logins, err := a.Logins(config.Settings{})
	if err != nil {
		return err
	}
	o.Login = *logins
	o.Outer, o.Inner, o.SideChannel = []flow.Middleware{t.RecordResponses}, []flow.Middleware{t.RecordRequests}, t.Append
	o.Handlers = browser.Routes(browser.Options{Agents: func(req *http.Request) []browser.Agent { return agentsOf(r, req) }})
	leave, err := s.Join(ctx, &o)
	if err != nil {
		return err
	}
	defer leave()
	if r, err = proxy.New(o); err != nil {
		return options.RouterError(err, s.Routes)
	}
	if s.Stdio {
		reload := func() { _ = r.Reload() } // as below
		a.Kill.Reload.Store(&reload)
		logRoutes(log, s.Routes, s.Cluster, r.Routes())
		err := r.ServeStdio(ctx, a.In, output.Stdout{File: a.Out})
		a.Kill.Reload.Store(nil)
		slow := time.AfterFunc(time.Second, func() {
			log.Warn("waiting for the processes of servers to end; a package runner that installs one is not interrupted")
		})
		defer slow.Stop()
		return errors.Join(err, closeRouter(ctx, r, stdioDrain))
	}
	if err := r.Start(ctx); err != nil {
		_ = closeRouter(ctx, r, s.Drain) // why it did not start is what matters
		return startFailure(err, "router", "ROUTER_PORT")
	}
	reload := func() { _ = r.Reload() } // errors are logged, and the last valid routes stay in force
	a.Kill.Reload.Store(&reload)
	_, _ = fmt.Fprintf(a.Err, "listening on %s\n", r.URL())
	logRoutes(log, s.Routes, s.Cluster, r.Routes())
	select {
	case <-ctx.Done():
		log.Info("stopping", "drain_delay", s.Delay.String(), "drain_timeout", s.Drain.String())
		r.Drain(context.WithoutCancel(ctx))
	case <-r.Done(): // a listener failed
	}
	a.Kill.Reload.Store(nil)
	return errors.Join(r.Err(), closeRouter(ctx, r, s.Drain))
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
