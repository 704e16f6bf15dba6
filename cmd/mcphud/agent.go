package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

func (a *app) agentCommand() *cobra.Command {
	var s agentSettings
	c := &cobra.Command{
		Use: "agent", Short: "Run the bundled agent: an MCP server to try, debug and test clients with", Args: noArgs,
		Long: "agent serves MCP over HTTP on http://127.0.0.1:7000/mcp, or over stdin and stdout with --stdio, in every revision of the protocol. " +
			"It prints `listening on URL` on stderr when it is ready. SIGINT and SIGTERM let running calls finish; a second signal ends it at once.\n\n" +
			"--websocket and --sse serve clients that do not speak Streamable HTTP, too: see mcphud help agent.\n\n" +
			"Beside /mcp it answers GET /health, /ready, /metrics, /queue, /tasks/ID, /task?taskId=ID and /getTaskStatus?taskId=ID.\n\n" +
			"A setting is taken from its flag, else from the environment (AGENT_PORT, AGENT_CONCURRENCY, AGENT_TOKEN, AGENT_MODEL_URL, AGENT_MODEL, AGENT_MODEL_KEY, AGENT_EMBEDDINGS_URL, AGENT_EMBEDDINGS_MODEL, AGENT_EMBEDDINGS_KEY, AGENT_REGISTER, ROUTER_HOST, ROUTER_PORT, ROUTER_CA), " +
			"else from --config FILE or agent.yaml in mcphud's configuration folder, with keys such as port, concurrency, timeout, maxRequestSize and name; " +
			"mcphud config explain agent shows which.",
		Example: "  mcphud agent\n  mcphud agent --port 0 --ephemeral --profile everything\n  mcphud agent --kb ./docs --root ./docs\n" +
			"  AGENT_TOKEN=… mcphud agent --host 0.0.0.0\n  mcphud -- mcphud agent --stdio",
		RunE: a.action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.agent(ctx, cmd, &s) }),
	}
	agentFlags(c, &s)
	return c
}

// agentFlags gives a command the agent's flags, and what completes them.
func agentFlags(c *cobra.Command, s *agentSettings) {
	f := c.Flags()
	s.register(f)
	f.StringVar(&s.file, "config", "", "read settings from this `FILE` (YAML or JSON)")
	for name, values := range map[string][]string{"profile": profiles(), "log-level": agentLevels} {
		// The error would be an unknown flag.
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_, _ = c.MarkFlagDirname("kb"), c.MarkFlagDirname("root")
}

// hideInherited leaves of the flags that all commands share only --format, and keep, to a command that is not a client. The others
// are still known, so that whoever gives one is told why it means nothing.
func hideInherited(c *cobra.Command, keep ...string) {
	c.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "format" || slices.Contains(keep, f.Name) || c.Flags().Lookup(f.Name) != nil {
			return
		}
		own := *f
		own.Hidden = true
		c.Flags().AddFlag(&own)
	})
}

// hiddenFlag is a flag that was given though the command does not have it, "" if there is none.
func hiddenFlag(cmd *cobra.Command) (name string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden && f.Name != supervisedFlag {
			name = f.Name
		}
	})
	return name
}

func (a *app) agent(ctx context.Context, cmd *cobra.Command, s *agentSettings) error {
	if name := hiddenFlag(cmd); name != "" {
		return usageError("--"+name+" does not apply to the agent, which is a server", "see mcphud agent --help")
	}
	r := s.gather(cmd.Flags()).resolve()
	if err := r.err(); err != nil {
		return err
	}
	log := agentLogger(a.err, s.level)
	for _, w := range r.warnings {
		log.Warn("settings file", "file", w.File, "line", w.Line, "message", w.Message)
	}
	r.log(log)
	o, err := s.options(log)
	if err != nil {
		return err
	}
	if r.of("store").from.Source == "flag" && store.Password(s.store) {
		log.Warn("the password of --store is in process listings: set PGPASSWORD, or AGENT_STORE instead of --store")
	}
	for _, f := range [][3]string{{"queue", s.queue.URL, "AGENT_QUEUE"}, {"register", s.registerAt, "AGENT_REGISTER"}} {
		if r.of(f[0]).from.Source == "flag" && strings.Contains(f[1], "://") && natsconn.Shown(f[1]) != f[1] {
			log.Warn("the password of --" + f[0] + " is in process listings: set " + f[2] + " instead")
		}
	}
	if r.of("max-request-size").from.Source == "default" {
		o.MaxRequest = 0 // bodies and lines have each their own default
	}
	if o.Model.Unverified() || o.Embeddings.Unverified() {
		log.Warn("the certificate of the model's API is not checked: anybody on the way can read and change what is sent")
	}
	t, err := tap.Open(tap.Options{Name: cmp.Or(s.name, "agent"), Kind: tap.Agent})
	if err != nil {
		log.Warn("mcphud tap cannot watch this agent", "error", err.Error())
	} else {
		o.Sink = t
	}
	defer func() { _ = t.Close() }() // its socket is gone either way
	agent, err := agentsrv.New(o)
	if err != nil {
		return agentError(err)
	}
	if s.stdio {
		return a.agentStdio(ctx, agent, o)
	}
	return a.agentHTTP(ctx, agent, o, s)
}

// agentError says what to do about settings that the agent refuses.
func agentError(err error) error {
	switch {
	case store.Down(err):
		return &failure.Error{Kind: failure.Transport, Message: err.Error(), Err: err, Next: "start the agent again when it is there"}
	case store.Explains(err):
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "or name another store with --store"}
	}
	return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "see mcphud agent --help"}
}

// options makes what the agent takes of the settings, or says what about them cannot be.
func (s *agentSettings) options(log *slog.Logger) (agentsrv.Options, error) {
	if !s.stdio && !listen.Loopback(bareHost(s.host)) && s.token == "" && s.jwks == "" {
		return agentsrv.Options{}, usageError("--host "+s.host+" lets other machines connect without authentication",
			"set AGENT_TOKEN or --jwks, or leave --host out to serve this machine only")
	}
	if err := s.checkRegister(); err != nil {
		return agentsrv.Options{}, err
	}
	if s.stdio && (s.websocket || s.sse) {
		return agentsrv.Options{}, usageError("--websocket and --sse do not apply with --stdio: nobody can connect", "leave one of them out")
	}
	if s.jwks == "" && s.jwtAudience+s.jwtIssuer+s.jwtScope != "" {
		return agentsrv.Options{}, usageError("--jwt-audience, --jwt-issuer and --jwt-scope need the key file of --jwks", "set --jwks, or leave them out")
	}
	if s.jwks != "" && s.jwtAudience == "" {
		log.Warn("JWTs for other services are accepted: set --jwt-audience")
	}
	if s.jwks != "" && s.jwtIssuer == "" {
		log.Warn("JWTs of any issuer are accepted: set --jwt-issuer")
	}
	o := agentsrv.Options{
		Name: s.name, Version: version(), Profile: agentsrv.Profile(s.profile), Host: bareHost(s.host), Port: s.port, Token: s.token, JWKS: s.jwks, JWTAudience: s.jwtAudience, JWTIssuer: s.jwtIssuer,
		JWTScopes:      strings.Fields(s.jwtScope),
		TokenAnonymous: s.tokenAnonymous, WebSocket: s.websocket, SSE: s.sse, KB: s.kb, Root: s.root, Entities: s.entities, Tenants: s.tenants, Store: s.store, Concurrency: s.concurrency, QueueCapacity: limit(s.capacity),
		Timeout: s.timeout, DrainTimeout: s.drain, MaxRequest: s.maxRequest, Batch: s.batch,
		Queue: s.queue, RateLimit: limit(s.rateLimit), TenantConcurrency: limit(s.tenantConcurrency),
		Router: agentclient.Options{RouterHost: s.routerHost, RouterPort: s.routerPort, RouterCA: s.routerCA, AuthToken: s.routerToken},
		Model:  chat.Model{URL: s.modelURL, Name: s.model, Key: s.modelKey, Via: s.modelVia}, OTLP: s.otlp, Logger: log,
	}
	if s.queue.URL == "" && s.queue != (natsconn.Options{}) {
		return o, usageError("--queue-creds, --queue-ca, --queue-cert and --queue-key need the server of --queue", "set --queue, or leave them out")
	}
	var err error
	if o.Embeddings, err = s.embeddings(); err != nil {
		return o, err
	}
	o.FullText = s.embed == noEmbeddings
	for _, spec := range s.tools {
		tool, err := spec.Tool()
		if err != nil {
			return o, usageError(err.Error(), "correct tools in the settings file")
		}
		o.Tools = append(o.Tools, tool)
	}
	switch {
	case s.ephemeral && s.store != "":
		return o, usageError("--ephemeral and --store exclude each other: in memory, or in a file or a database", "use one of them; AGENT_STORE counts as --store")
	case s.ephemeral:
		return o, nil
	case o.Store == "":
		o.StoreLater = s.stdio // many clients only look
		if o.Store, err = defaultStore(s); err != nil {
			return o, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "name a file with --store, or use --ephemeral"}
		}
	}
	return o, nil
}

// noEmbeddings in the place of a model has the knowledge base searched by words alone.
const noEmbeddings = "off"

// embeddings is the model for embeddings: at the URL of the other model, with its key, where none of its own is given.
func (s *agentSettings) embeddings() (chat.Model, error) {
	m := chat.Model{URL: s.embedURL, Name: s.embed, Key: s.embedKey, Via: s.modelVia}
	switch {
	case m.Name == noEmbeddings && m.URL != "":
		return m, usageError("--embeddings-url makes no sense with --embeddings-model "+noEmbeddings, "leave one of them out, or name a model")
	case m.Name == noEmbeddings:
		return chat.Model{}, nil
	case m.Name == "" && m.URL != "":
		return m, usageError("--embeddings-url needs a model for the embeddings", "name one with --embeddings-model, such as nomic-embed-text")
	case m.Name == "":
		return chat.Model{}, nil
	case m.URL == "" && s.modelURL == "":
		return m, usageError("--embeddings-model needs the URL of an API", "set --embeddings-url, or --model-url for both")
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

// stdioStore is the database of agents that serve stdin and stdout.
const stdioStore = "agent-stdio.db"

// defaultStore is where the agent keeps what it has to remember.
func defaultStore(s *agentSettings) (string, error) {
	path, err := agentsrv.DefaultStore(s.port)
	if err == nil && s.stdio {
		path = filepath.Join(filepath.Dir(path), stdioStore)
	}
	return path, err
}

// agentHTTP serves until a signal, and then lets running calls finish.
func (a *app) agentHTTP(ctx context.Context, agent *agentsrv.Agent, o agentsrv.Options, s *agentSettings) error {
	if err := agent.Start(ctx); err != nil {
		_ = closeAgent(ctx, agent, o) // why it did not start is what matters
		return startFailure(err, "agent", "AGENT_PORT")
	}
	withdraw, err := s.registered(ctx, agent, o)
	if err != nil {
		return errors.Join(err, closeAgent(ctx, agent, o))
	}
	_, _ = fmt.Fprintf(a.err, "listening on %s\n", agent.URL())
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
	err := agent.ServeStdio(ctx, a.in, stdout{a.out})
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
