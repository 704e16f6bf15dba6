package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

func (a *app) agentCommand() *cobra.Command {
	var s options.Agent
	c := &cobra.Command{
		Use: "agent", Short: "Run the bundled agent: an MCP server to try, debug and test clients with", Args: cli.NoArgs,
		Long: "agent serves MCP over HTTP on http://127.0.0.1:7000/mcp, or over stdin and stdout with --stdio, in every revision of the protocol. " +
			"It prints `listening on URL` on stderr when it is ready. SIGINT and SIGTERM let running calls finish; a second signal ends it at once.\n\n" +
			"--websocket and --sse serve clients that do not speak Streamable HTTP, too: see mcphud help agent.\n\n" +
			"Beside /mcp it answers GET /health, /ready, /metrics, /queue, /tasks/ID, /task?taskId=ID and /getTaskStatus?taskId=ID.\n\n" +
			"A setting is taken from its flag, else from the environment (AGENT_PORT, AGENT_CONCURRENCY, AGENT_TOKEN, AGENT_MODEL_URL, AGENT_MODEL, AGENT_MODEL_KEY, AGENT_EMBEDDINGS_URL, AGENT_EMBEDDINGS_MODEL, AGENT_EMBEDDINGS_KEY, AGENT_REGISTER, ROUTER_HOST, ROUTER_PORT, ROUTER_CA), " +
			"else from --config FILE or agent.yaml in mcphud's configuration folder, with keys such as port, concurrency, timeout, maxRequestSize and name; " +
			"mcphud config explain agent shows which.",
		Example: "  mcphud agent\n  mcphud agent --port 0 --ephemeral --profile everything\n  mcphud agent --kb ./docs --root ./docs\n" +
			"  AGENT_TOKEN=… mcphud agent --host 0.0.0.0\n  mcphud -- mcphud agent --stdio",
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.agent(ctx, cmd, &s) }),
	}
	options.AgentFlags(c, &s)
	return c
}

func (a *app) agent(ctx context.Context, cmd *cobra.Command, s *options.Agent) error {
	if name := cli.HiddenFlag(cmd); name != "" {
		return failure.UsageError("--"+name+" does not apply to the agent, which is a server", "see mcphud agent --help")
	}
	r := s.Gather(cmd.Flags()).Resolve()
	if err := r.Err(); err != nil {
		return err
	}
	log := agentLogger(a.Err, s.Level)
	for _, w := range r.Warnings {
		log.Warn("settings file", "file", w.File, "line", w.Line, "message", w.Message)
	}
	r.Log(log)
	o, err := s.Options(log)
	if err != nil {
		return err
	}
	if r.Of("store").From.Source == "flag" && store.Password(s.Store) {
		log.Warn("the password of --store is in process listings: set PGPASSWORD, or AGENT_STORE instead of --store")
	}
	for _, f := range [][3]string{{"queue", s.Queue.URL, "AGENT_QUEUE"}, {"register", s.RegisterAt, "AGENT_REGISTER"}} {
		if r.Of(f[0]).From.Source == "flag" && strings.Contains(f[1], "://") && natsconn.Shown(f[1]) != f[1] {
			log.Warn("the password of --" + f[0] + " is in process listings: set " + f[2] + " instead")
		}
	}
	if r.Of("max-request-size").From.Source == "default" {
		o.MaxRequest = 0 // bodies and lines have each their own default
	}
	if o.Model.Unverified() || o.Embeddings.Unverified() {
		log.Warn("the certificate of the model's API is not checked: anybody on the way can read and change what is sent")
	}
	t, err := tap.Open(tap.Options{Name: cmp.Or(s.Name, "agent"), Kind: tap.Agent})
	if err != nil {
		log.Warn("mcphud tap cannot watch this agent", "error", err.Error())
	} else {
		o.Sink = t
	}
	defer func() { _ = t.Close() }() // its socket is gone either way
	agent, err := agentsrv.New(o)
	if err != nil {
		return options.AgentError(err)
	}
	if s.Stdio {
		return a.agentStdio(ctx, agent, o)
	}
	return a.agentHTTP(ctx, agent, o, s)
}

// agentHTTP serves until a signal, and then lets running calls finish.
func (a *app) agentHTTP(ctx context.Context, agent *agentsrv.Agent, o agentsrv.Options, s *options.Agent) error {
	if err := agent.Start(ctx); err != nil {
		_ = closeAgent(ctx, agent, o) // why it did not start is what matters
		return startFailure(err, "agent", "AGENT_PORT")
	}
	withdraw, err := s.Registered(ctx, agent, o)
	if err != nil {
		return errors.Join(err, closeAgent(ctx, agent, o))
	}
	_, _ = fmt.Fprintf(a.Err, "listening on %s\n", agent.URL())
	select {
	case <-ctx.Done():
		o.Logger.Info("stopping", "drain_timeout", o.DrainTimeout.String())
	case <-agent.Done(): // a listener failed
	}
	withdraw()
	return errors.Join(agent.Err(), closeAgent(ctx, agent, o))
}

// agentStdio serves until the input ends, or a signal.
func (a *app) agentStdio(ctx context.Context, agent *agentsrv.Agent, o agentsrv.Options) error {
	err := agent.ServeStdio(ctx, a.In, output.Stdout{File: a.Out})
	return errors.Join(err, closeAgent(ctx, agent, o))
}

// closeAgent ends the agent. Calls that still run after the drain timeout are cancelled, which is not an error.
func closeAgent(ctx context.Context, agent *agentsrv.Agent, o agentsrv.Options) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.DrainTimeout)
	defer cancel()
	err := agent.Close(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		o.Logger.Warn("cancelled calls that were still running after the drain timeout", "drain_timeout", o.DrainTimeout.String())
		return nil
	}
	return err
}

// startFailure says what to do about a server that could not start; portEnv is the variable that names its port.
func startFailure(err error, command, portEnv string) error {
	e := &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "see mcphud " + command + " --help"}
	if errors.Is(err, syscall.EADDRINUSE) {
		e.Next = "give another with --port or " + portEnv + ", or let --port 0 pick one"
	}
	return e
}
