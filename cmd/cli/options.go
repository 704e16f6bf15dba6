package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
)

// Options are the flags that all commands share.
type Options struct {
	URL, Server, Agent  string
	Session             string // one that is kept
	Transport           string
	Env, Headers, roots []string
	Registry            string   // URL, by a command that has the flag
	set                 []string // KEY=VALUE of inputs that a server declares
	Cwd, Protocol       string
	Sandbox             flags.Sandbox
	Proxy, CA           string
	clientCert, key     string
	insecure            bool
	Configs             []string
	Timeout, MaxTimeout time.Duration
	ConnectTimeout      time.Duration
	Format              string
	usualFormat         string // of config.yaml, where no flag says one
	selection           output.Selection
	limit               output.Limit
	ReadOnly, Yes       bool
	Linear, NoBrowser   bool
	noHistory           bool
	ModelURL, ModelName string
	LogLevel, Journal   string
	journalRaw          bool
	MaxFrame            flags.Size
	meta                flags.Metadata
	Traceparent         string // one of traceparents
	Metrics             string
	Cache               time.Duration
	Answers             []string
	capabilities, as    string
	Script              *pending.Script // of answers, by check
	Client              *session.Client // of capabilities and as, by check
	near                string          // a question about the name of a server that was perhaps mistyped; "" for none
	AsIs                bool            // an entry that is disabled, broken or not trusted is taken as it is
	Settings            config.Settings // of the configs, once a server was looked up in them
	Oauth               *config.OAuth   // instead of the server's own; nil for that
	Expected            output.Expected
}

// JournalHolds is what --journal promises of the file, in the words of each manual that says it.
const JournalHolds = "only you can read it, and what is a secret by name, look or schema is masked"

// formats, transports, protocols and levels are what the flags of those names take.
var (
	Formats    = []string{"text", "json", "jsonl", "raw"}
	withBrief  = append(slices.Clone(Formats), output.FormatBrief)
	transports = config.URLTransports()
	Protocols  = []string{"auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	// of whom gets a trace context; the first is the default
	traceparents = []string{"routers", "all", "none"}
	levels       = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)

// transportNames are transports for people.
func transportNames() string {
	names := make([]string, len(transports))
	for i, t := range transports {
		names[i] = config.TransportName(t)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Register gives a command the flags.
func (o *Options) Register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&o.URL, "url", "", "talk to the HTTP server at `URL`")
	f.StringVar(&o.Agent, "agent", "", "talk to the agent `NAME` through the router at ROUTER_HOST and ROUTER_PORT, with AGENT_TOKEN and ROUTER_CA")
	f.StringVar(&o.Server, "server", "", "talk to the server `NAME` of the configs")
	f.StringVar(&o.Session, "session", "", "talk to the server of the session `NAME`, which mcphud session open keeps")
	f.Var(&flags.Choice{Value: &o.Transport, Allowed: transports}, "transport", "talk to a URL over `TRANSPORT`: "+transportNames())
	f.StringArrayVarP(&o.Env, "env", "e", nil, "add `KEY=VALUE` to the server's environment (repeatable)")
	f.StringVar(&o.Cwd, "cwd", "", "start the server in `DIR`")
	f.Var(&o.Sandbox, "sandbox", "shut the server in: no network, no files but its own and the system's programs; enforced by Linux; =`ALLOW` adds network, read=PATH or write=PATH (repeatable)")
	f.Lookup("sandbox").NoOptDefVal = "true"
	f.StringArrayVarP(&o.Headers, "header", "H", nil, "send `\"Name: value\"` with every HTTP request, or to open a WebSocket (repeatable)")
	f.StringArrayVar(&o.set, "set", nil, "give `KEY=VALUE` where the server's entry or description asks for KEY (repeatable)")
	f.StringVar(&o.Proxy, "proxy", "", "send requests through the proxy at `URL` (http, https, socks5), or none (default HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY)")
	f.StringVar(&o.CA, "ca", "", "trust the server by the certificates in `FILE` (PEM) instead of the system's")
	f.StringVar(&o.clientCert, "client-cert", "", "present the client certificate in `FILE` (PEM) to the server")
	f.StringVar(&o.key, "client-key", "", "the private key of the client certificate in `FILE` (PEM; default the file of the certificate)")
	f.BoolVar(&o.insecure, "insecure", false, "check no certificate of the server: for tests only")
	f.BoolVar(&o.NoBrowser, "no-browser", false, "open no browser for a login, only print its URL")
	f.StringArrayVar(&o.Configs, "config", nil, "read servers from `FILE` only (repeatable)")
	f.Var(&flags.Choice{Value: &o.Protocol, Allowed: Protocols}, "protocol", "speak protocol `VERSION`: auto or one of "+strings.Join(Protocols[1:], ", "))
	f.DurationVar(&o.Timeout, "timeout", config.DefaultTimeout, "time limit of a request; progress restarts it")
	f.DurationVar(&o.MaxTimeout, "max-timeout", config.DefaultMaxTimeout, "time limit of a request, whatever its progress")
	f.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "time limit of connecting (default 15s to a URL, 2m to a command; the UI waits for a command as long as it runs)")
	f.Var(&flags.Choice{Value: &o.Format, Allowed: withBrief}, "format", "print as `FORMAT`: text, json, jsonl, raw, or of a list brief (default text on a terminal, else json)")
	f.Var(&o.selection, "select", "print what `JQ` gives for the JSON, a value a line; in the format text strings are not quoted")
	f.Var(&o.limit.Most, "max-bytes", "print at most this `SIZE`, such as 8KiB, and say on stderr what is left out")
	f.BoolVar(&o.ReadOnly, "read-only", false, "list and call only tools that are marked as read-only")
	f.BoolVarP(&o.Yes, "yes", "y", false, "call tools that are marked as destructive without asking")
	f.Var(&flags.Choice{Value: &o.LogLevel, Allowed: levels}, "log-level", "ask the server for log messages of `LEVEL` and above")
	f.StringVar(&o.Journal, "journal", "", "record all traffic in `FILE` (JSON lines): "+JournalHolds)
	f.BoolVar(&o.journalRaw, "journal-raw", false, "with --journal, keep messages as they are, secrets too")
	f.BoolVar(&o.noHistory, "no-history", false, "keep no calls for mcphud history; MCPHUD_HISTORY=off")
	o.MaxFrame = config.DefaultMaxFrame
	f.Var(&o.MaxFrame, "max-frame", "largest message to accept, such as 64MiB")
	f.StringArrayVar(&o.roots, "root", nil, "offer `DIR` to the server as a root (repeatable)")
	f.BoolVar(&o.Linear, "linear", false, "plain lines instead of a full screen, for screen readers and logs")
	f.Var(&o.meta, "meta", "add `KEY=VALUE`, or KEY:=JSON, to _meta of every request (repeatable)")
	f.Var(&flags.Choice{Value: &o.Traceparent, Allowed: traceparents}, "traceparent", "send a trace context with each request to `WHOM`: routers (of mcphud), all or none (default routers; all with an OTLP collector and in the demo)")
	f.StringArrayVar(&o.Answers, "answer", nil, "answer what the server asks with `ANSWER`: accept (fills defaults in), decline, cancel, JSON (a form's content, or a whole result), or @FILE with JSON or a list of rules (repeatable: one for each question, in order; accept, decline or cancel as the last one goes on)")
	f.StringVar(&o.capabilities, "capabilities", "", "advertise the capabilities of `LIST` to the server, such as elicitation,sampling,roots (default those that --answer and --root can serve)")
	f.StringVar(&o.as, "as", "", "present mcphud to the server as `CLIENT`: "+strings.Join(persona.Names(), ", ")+", or a file")
	root.Flags().DurationVar(&o.Cache, "cache", 0, "in the UI, give the result of a read-only, idempotent tool again for `TTL` instead of calling it (default off)")
	flags.Grouped(root.Flags(), flags.GroupLimits, "cache")
	o.RegisterMetrics(root, "in the UI, every 15 s and at the end")
	flags.Grouped(root.Flags(), flags.GroupOutput, MetricsFlag)
	flags.Grouped(f, flags.GroupTarget, "url", "agent", "server", "session", "config", "set", "protocol", "meta", "traceparent")
	flags.Grouped(f, flags.GroupStdio, "env", "cwd", "sandbox", "root")
	flags.Grouped(f, flags.GroupHTTP, slices.Concat([]string{"transport", "header"}, NetworkFlags, []string{"no-browser"})...)
	flags.Grouped(f, flags.GroupClient, "answer", "capabilities", "as")
	flags.Grouped(f, flags.GroupLimits, "timeout", "max-timeout", "connect-timeout", "max-frame")
	flags.Grouped(f, flags.GroupOutput, "format", "select", "max-bytes", "log-level", "journal", "journal-raw", "no-history", "linear")
	flags.Grouped(f, flags.GroupSafety, "read-only", "yes")
	for name, values := range map[string][]string{"transport": transports, "protocol": Protocols, "format": withBrief, "log-level": levels} {
		// The error would be an unknown flag.
		_ = root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = root.RegisterFlagCompletionFunc("select", cobra.NoFileCompletions)
	_ = root.RegisterFlagCompletionFunc("max-bytes", cobra.NoFileCompletions)
	_ = root.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions([]string{confine.Network, confine.Read + "=", confine.Write + "="}, cobra.ShellCompDirectiveNoSpace))
	_ = root.RegisterFlagCompletionFunc("answer", cobra.FixedCompletions(answerWords, cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(persona.Names(), cobra.ShellCompDirectiveDefault))
	_ = root.RegisterFlagCompletionFunc("capabilities", completeCapabilities)
	_ = root.RegisterFlagCompletionFunc("server", CompleteServers(o))
	_ = root.RegisterFlagCompletionFunc("agent", completeAgents)
	_ = root.RegisterFlagCompletionFunc("session", CompleteSessions)
}

// Check refuses values that the flags' types accept, and reads what others name.
func (o *Options) Check(cmd *cobra.Command) error {
	for _, limit := range []struct {
		flag string
		is   time.Duration
	}{{"timeout", o.Timeout}, {"max-timeout", o.MaxTimeout}, {"connect-timeout", o.ConnectTimeout}} {
		if limit.is <= 0 && (limit.flag != "connect-timeout" || cmd.Flags().Changed(limit.flag)) {
			return failure.UsageError(fmt.Sprintf("--%s is %v, and must be more than 0", limit.flag, limit.is), "give it as 30s or 2m")
		}
	}
	err := o.Expected.Prepare(cmd)
	if err != nil {
		return err
	}
	if o.Script, err = o.Prepared(); err != nil {
		return err
	}
	o.Client, err = o.presented(cmd.Flags().Changed("capabilities"))
	return err
}

// Lenient takes --format from a command line that could not be parsed as a whole, so that its error comes out in the
// format that was asked for.
func (o *Options) Lenient(args []string) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Var(&flags.Choice{Value: &o.Format, Allowed: withBrief}, "format", "")
	_ = f.Parse(args)
}

// FormatFor is the output format for f: that of --format, else text on a terminal and json elsewhere.
func (o *Options) FormatFor(f *os.File) string {
	switch {
	case o.Format != "":
		return o.Format
	case o.usualFormat != "":
		return o.usualFormat
	case output.Terminal(f):
		return output.FormatText
	}
	return output.FormatJSON
}
