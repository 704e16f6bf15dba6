package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
)

type ioWriter = io.Writer

// options are the flags that all commands share.
type options struct {
	url, server, agent  string
	transport           string
	env, headers, roots []string
	registry            string   // URL, by a command that has the flag
	set                 []string // KEY=VALUE of inputs that a server declares
	cwd, protocol       string
	sandbox             sandboxFlag
	proxy, ca           string
	clientCert, key     string
	insecure            bool
	configs             []string
	timeout, maxTimeout time.Duration
	connectTimeout      time.Duration
	format              string
	usualFormat         string // of config.yaml, where no flag says one
	readOnly, yes       bool
	linear, noBrowser   bool
	noHistory           bool
	modelURL, modelName string
	logLevel, journal   string
	journalRaw          bool
	maxFrame            size
	meta                metadata
	traceparent         string // one of traceparents
	metrics             string
	cache               time.Duration
	answers             []string
	capabilities, as    string
	script              *pending.Script // of answers, by check
	client              *session.Client // of capabilities and as, by check
	near                string          // a question about the name of a server that was perhaps mistyped; "" for none
	asIs                bool            // an entry that is disabled, broken or not trusted is taken as it is
	settings            config.Settings // of the configs, once a server was looked up in them
	oauth               *config.OAuth   // instead of the server's own; nil for that
	expected            expected
}

// journalHolds is what --journal promises of the file, in the words of each manual that says it.
const journalHolds = "only you can read it, and what is a secret by name, look or schema is masked"

// formats, transports, protocols and levels are what the flags of those names take.
var (
	formats    = []string{"text", "json", "jsonl", "raw"}
	transports = config.URLTransports()
	protocols  = []string{"auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	// of whom gets a trace context; the first is the default
	traceparents = []string{"routers", "all", "none"}
	levels       = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)

func (o *options) register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&o.url, "url", "", "talk to the HTTP server at `URL`")
	f.StringVar(&o.agent, "agent", "", "talk to the agent `NAME` through the router at ROUTER_HOST and ROUTER_PORT, with AGENT_TOKEN and ROUTER_CA")
	f.StringVar(&o.server, "server", "", "talk to the server `NAME` of the configs")
	f.Var(&choice{&o.transport, transports}, "transport", "talk to a URL over `TRANSPORT`: auto, http, sse or ws (experimental)")
	f.StringArrayVarP(&o.env, "env", "e", nil, "add `KEY=VALUE` to the server's environment (repeatable)")
	f.StringVar(&o.cwd, "cwd", "", "start the server in `DIR`")
	f.Var(&o.sandbox, "sandbox", "shut the server in: no network, no files but its own and the system's programs; enforced by Linux; =`ALLOW` adds network, read=PATH or write=PATH (repeatable)")
	f.Lookup("sandbox").NoOptDefVal = "true"
	f.StringArrayVarP(&o.headers, "header", "H", nil, "send `\"Name: value\"` with every HTTP request, or to open a WebSocket (repeatable)")
	f.StringArrayVar(&o.set, "set", nil, "give `KEY=VALUE` where the server's entry or description asks for KEY (repeatable)")
	f.StringVar(&o.proxy, "proxy", "", "send requests through the proxy at `URL` (http, https, socks5), or none (default HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY)")
	f.StringVar(&o.ca, "ca", "", "trust the server by the certificates in `FILE` (PEM) instead of the system's")
	f.StringVar(&o.clientCert, "client-cert", "", "present the client certificate in `FILE` (PEM) to the server")
	f.StringVar(&o.key, "client-key", "", "the private key of the client certificate in `FILE` (PEM; default the file of the certificate)")
	f.BoolVar(&o.insecure, "insecure", false, "check no certificate of the server: for tests only")
	f.BoolVar(&o.noBrowser, "no-browser", false, "open no browser for a login, only print its URL")
	f.StringArrayVar(&o.configs, "config", nil, "read servers from `FILE` only (repeatable)")
	f.Var(&choice{&o.protocol, protocols}, "protocol", "speak protocol `VERSION`: auto or one of "+strings.Join(protocols[1:], ", "))
	f.DurationVar(&o.timeout, "timeout", config.DefaultTimeout, "time limit of a request; progress restarts it")
	f.DurationVar(&o.maxTimeout, "max-timeout", config.DefaultMaxTimeout, "time limit of a request, whatever its progress")
	f.DurationVar(&o.connectTimeout, "connect-timeout", 0, "time limit of connecting (default 15s to a URL, 2m to a command; the UI waits for a command as long as it runs)")
	f.Var(&choice{&o.format, formats}, "format", "print as `FORMAT`: text, json, jsonl or raw (default text on a terminal, else json)")
	f.BoolVar(&o.readOnly, "read-only", false, "list and call only tools that are marked as read-only")
	f.BoolVarP(&o.yes, "yes", "y", false, "call tools that are marked as destructive without asking")
	f.Var(&choice{&o.logLevel, levels}, "log-level", "ask the server for log messages of `LEVEL` and above")
	f.StringVar(&o.journal, "journal", "", "record all traffic in `FILE` (JSON lines): "+journalHolds)
	f.BoolVar(&o.journalRaw, "journal-raw", false, "with --journal, keep messages as they are, secrets too")
	f.BoolVar(&o.noHistory, "no-history", false, "keep no calls for mcphud history; MCPHUD_HISTORY=off")
	o.maxFrame = config.DefaultMaxFrame
	f.Var(&o.maxFrame, "max-frame", "largest message to accept, such as 64MiB")
	f.StringArrayVar(&o.roots, "root", nil, "offer `DIR` to the server as a root (repeatable)")
	f.BoolVar(&o.linear, "linear", false, "plain lines instead of a full screen, for screen readers and logs")
	f.Var(&o.meta, "meta", "add `KEY=VALUE`, or KEY:=JSON, to _meta of every request (repeatable)")
	f.Var(&choice{&o.traceparent, traceparents}, "traceparent", "send a trace context with each request to `WHOM`: routers (of mcphud), all or none (default routers; all with an OTLP collector and in the demo)")
	f.StringArrayVar(&o.answers, "answer", nil, "answer what the server asks with `ANSWER`: accept (fills defaults in), decline, cancel, JSON (a form's content, or a whole result), or @FILE with JSON or a list of rules (repeatable: one for each question, in order; accept, decline or cancel as the last one goes on)")
	f.StringVar(&o.capabilities, "capabilities", "", "advertise the capabilities of `LIST` to the server, such as elicitation,sampling,roots (default those that --answer and --root can serve)")
	f.StringVar(&o.as, "as", "", "present mcphud to the server as `CLIENT`: "+strings.Join(persona.Names(), ", ")+", or a file")
	root.Flags().DurationVar(&o.cache, "cache", 0, "in the UI, give the result of a read-only, idempotent tool again for `TTL` instead of calling it (default off)")
	grouped(root.Flags(), groupLimits, "cache")
	o.registerMetrics(root, "in the UI, every 15 s and at the end")
	grouped(root.Flags(), groupOutput, metricsFlag)
	grouped(f, groupTarget, "url", "agent", "server", "config", "set", "protocol", "meta", "traceparent")
	grouped(f, groupStdio, "env", "cwd", "sandbox", "root")
	grouped(f, groupHTTP, slices.Concat([]string{"transport", "header"}, networkFlags, []string{"no-browser"})...)
	grouped(f, groupClient, "answer", "capabilities", "as")
	grouped(f, groupLimits, "timeout", "max-timeout", "connect-timeout", "max-frame")
	grouped(f, groupOutput, "format", "log-level", "journal", "journal-raw", "no-history", "linear")
	grouped(f, groupSafety, "read-only", "yes")
	for name, values := range map[string][]string{"transport": transports, "protocol": protocols, "format": formats, "log-level": levels} {
		// The error would be an unknown flag.
		_ = root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = root.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions([]string{confine.Network, confine.Read + "=", confine.Write + "="}, cobra.ShellCompDirectiveNoSpace))
	_ = root.RegisterFlagCompletionFunc("answer", cobra.FixedCompletions(answerWords, cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(persona.Names(), cobra.ShellCompDirectiveDefault))
	_ = root.RegisterFlagCompletionFunc("capabilities", completeCapabilities)
	_ = root.RegisterFlagCompletionFunc("server", completeServers(o))
	_ = root.RegisterFlagCompletionFunc("agent", completeAgents)
}

// check refuses values that the flags' types accept, and reads what others name.
func (o *options) check(cmd *cobra.Command) error {
	for _, limit := range []struct {
		flag string
		is   time.Duration
	}{{"timeout", o.timeout}, {"max-timeout", o.maxTimeout}, {"connect-timeout", o.connectTimeout}} {
		if limit.is <= 0 && (limit.flag != "connect-timeout" || cmd.Flags().Changed(limit.flag)) {
			return usageError(fmt.Sprintf("--%s is %v, and must be more than 0", limit.flag, limit.is), "give it as 30s or 2m")
		}
	}
	err := o.expected.prepare(cmd)
	if err != nil {
		return err
	}
	if o.script, err = o.prepared(); err != nil {
		return err
	}
	o.client, err = o.presented(cmd.Flags().Changed("capabilities"))
	return err
}

// lenient takes --format from a command line that could not be parsed as a whole, so that its error comes out in the
// format that was asked for.
func (o *options) lenient(args []string) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Var(&choice{&o.format, formats}, "format", "")
	_ = f.Parse(args)
}

// choice is a flag whose value is one of a list.
type choice struct {
	value   *string
	allowed []string
}

func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	*c.value = s
	return nil
}

func (c *choice) Type() string { return "string" }

// metadata is what goes into _meta of every request.
type metadata struct {
	words []string
	json  json.RawMessage // the object of them
}

func (m *metadata) String() string { return strings.Join(m.words, " ") }

// Set adds one member.
func (m *metadata) Set(text string) (err error) {
	words := append(slices.Clone(m.words), text)
	meta, err := session.ParseMeta(words)
	if err == nil {
		m.words, m.json = words, meta
	}
	return err
}

func (m *metadata) Type() string { return "KEY=VALUE" }

// size is a number of bytes: 65536, 512KiB, 64MiB.
type size int64

func (s *size) String() string {
	n := int64(*s)
	for _, u := range []struct {
		n    int64
		unit string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.n && n%u.n == 0 {
			return fmt.Sprintf("%d%s", n/u.n, u.unit)
		}
	}
	return fmt.Sprint(n)
}

func (s *size) Set(text string) error {
	n, err := config.ParseSize(text)
	if err != nil {
		return err
	}
	if n <= 0 {
		return fmt.Errorf("must be more than 0")
	}
	*s = size(n)
	return nil
}

func (s *size) Type() string { return "SIZE" }
