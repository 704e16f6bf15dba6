package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/redact"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui/safe"
)

// OneShot is how long a stdio server may take to exit after a headless command: together less than the 60 ms within which a
// command has to exit after its last byte of output. No request is pending by then.
var OneShot = transport.GracePeriod{Input: 20 * time.Millisecond, Term: 25 * time.Millisecond}

// Link is a command's connection to the one server it talks to.
type Link struct {
	*session.Session
	Manager *session.Manager
	Journal *journal.Journal
	Hops    *Hops
	Out     *output.Printer
	Side    *Side
	Opts    *Options
	Std     Standard
	consent *consent.Policy
	How     session.Options // of sessions that are not recorded, and whose servers' stderr nobody reads
	tty     bool            // stdout is a terminal
	agreed  string          // the question that was answered by yes
	Asking  sync.Locker     // held while a person is asked, where other connections may ask too; nil for none
	Work    *Workplace
}

// ServerCommand makes a command's body from a function that is given the connection and the command's own arguments. The
// server is gone, and everything it wrote to stderr has been passed on, when the body returns.
func (a *App) ServerCommand(f func(ctx context.Context, l *Link, args []string) error) func(*cobra.Command, []string) error {
	return a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if err := a.Options.Check(cmd); err != nil {
			return err
		}
		own, command, dash, err := a.OwnArgs(cmd, args, nil)
		if err != nil {
			return err
		}
		if err := a.serverOfTool(ctx, cmd, own, dash); err != nil {
			return err
		}
		cfg, err := a.Options.Target(cmd, command, dash)
		if err != nil {
			return err
		}
		return a.Connected(ctx, cfg, func(ctx context.Context, l *Link) error { return f(ctx, l, own) })
	})
}

// SessionOptions are what the flags, and settings for all servers, say of sessions.
func (a *App) SessionOptions(set config.Settings) (session.Options, error) {
	logins, err := a.Logins(set)
	if err != nil {
		return session.Options{}, err
	}
	o := session.Options{
		ClientInfo: ClientInfo(), Client: a.Options.Client, Pending: a.Questions(false), Meta: a.Options.meta.JSON, Trust: a.Options.Trust(), MaxCalls: set.MaxConcurrentCalls,
		Retry: session.Retry{Max: set.MaxRetries, Base: set.RetryBackoff}, Auth: logins,
	}
	o.Tracing = a.TracingOf(false)
	if len(set.Given["max_retries"]) > 0 && set.MaxRetries == 0 {
		o.Retry.Max = -1
	}
	if set.AllowedToolPattern != "" {
		o.AllowTool = regexp.MustCompile(set.AllowedToolPattern) // it was read as one
	}
	return o, nil
}

// Journal opens the journal, with its file if there is one. done closes it, and returns the error of its file.
func (a *App) Journal() (j *journal.Journal, done func() error, err error) {
	o := journal.Options{File: a.Options.Journal}
	switch {
	case o.File == "" && a.Options.journalRaw:
		return nil, nil, failure.UsageError("--journal-raw goes with --journal FILE", "name the file, or leave --journal-raw out")
	case o.File == "":
	case a.Options.journalRaw:
		a.Note("mcphud: " + safe.Line(o.File, 300) + " keeps messages as they are, with every secret in them")
	default:
		o.Keep = redact.NewKeeper().Change
	}
	j = journal.New(o)
	wrong := func(err error) error {
		if err == nil {
			return nil
		}
		return &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("--journal %s: %v", a.Options.Journal, err), Err: err, Next: "name a file that can be written"}
	}
	done = func() error { return wrong(j.Close()) }
	if err = wrong(j.Err()); err != nil {
		_ = done() // the same error
	}
	return j, done, err
}

// Connected opens cfg, connects, runs f, and closes everything. After a login that f turned out to need it runs again.
func (a *App) Connected(ctx context.Context, cfg config.Server, f func(context.Context, *Link) error) (err error) {
	return a.Opened(ctx, cfg, func(ctx context.Context, l *Link) error {
		if a.Person == nil && a.CanLogIn() {
			a.Person = a.BrowserPerson(l.Side, l.Title(), nil)
		}
		return a.LoggedIn(ctx, l.Session, func() error {
			if err := l.Ready(ctx); err != nil {
				return err
			}
			l.Out.Began = time.Now()
			return f(ctx, l)
		})
	})
}

// Ready connects, and asks for the log messages that --log-level names.
func (l *Link) Ready(ctx context.Context) error {
	if err := l.Connect(ctx); err != nil {
		return err
	}
	if l.Opts.LogLevel == "" {
		return nil
	}
	if err := l.SetLevel(ctx, l.Opts.LogLevel); err != nil {
		if ctx.Err() != nil {
			return err
		}
		l.Side.Warn("log level not set: " + err.Error())
	}
	return nil
}

// Opened registers cfg, runs f, and closes everything.
func (a *App) Opened(ctx context.Context, cfg config.Server, f func(context.Context, *Link) error) (err error) {
	if cfg, err = a.Filled(ctx, cfg); err != nil {
		return err
	}
	attended := a.Attended()
	return a.Working(ctx, attended, func(w *Workplace) error {
		m := w.Manager()
		defer m.Close()
		if attended {
			defer (&person{a.asked, w.Side, a.Standard}).attend(ctx, m)()
		}
		l, err := w.Link(m, cfg)
		if err != nil {
			return err
		}
		return a.unanswered(f(ctx, l))
	})
}

// Workplace is what all connections of a command share.
type Workplace struct {
	a    *App
	o    session.Options
	how  session.Options // of sessions that are not recorded
	out  *output.Printer
	Side *Side
	hops *Hops
}

// Working makes a workplace for f, and closes it. attended keeps what servers ask until somebody answers.
func (a *App) Working(ctx context.Context, attended bool, f func(*Workplace) error) (err error) {
	j, done, err := a.Journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	out := a.Printer()
	sd := NewSide(j, a.Err, out, a.Options.LogLevel != "")
	defer sd.Stop()
	o, err := a.SessionOptions(a.Options.Settings)
	if err != nil {
		return err
	}
	defer a.ExportCalls(j, a.Err)()
	how := o
	how.Transport = transport.Options{GracePeriod: OneShot}
	o.Journal, o.Transport = j, transport.Options{Stderr: sd, GracePeriod: OneShot}
	kept := a.KeptCalls()
	defer func() { // what the calls were for has been done
		if err := kept.Close(); err != nil {
			sd.Warn("warning: " + err.Error() + "; --no-history keeps none")
		}
	}()
	a.keeps = kept != nil
	o.Record = a.Sent.Wrap(kept.Record)
	if attended {
		o.Pending = a.Questions(true)
	}
	hops := NewHops(ctx, j, &o)
	defer hops.Close()
	return f(&Workplace{a, o, how, out, sd, hops})
}

// Manager is one for servers of the command. Whoever asks for it closes it.
func (w *Workplace) Manager() *session.Manager {
	m := session.NewManager(w.o)
	if w.a.Tracing {
		w.hops.Of(m)
	}
	w.a.Kill.Watch(ProcessesOf(m))
	return m
}

// Link registers a server, without connecting to it.
func (w *Workplace) Link(m *session.Manager, cfg config.Server) (*Link, error) {
	cfg.NoReconnect = true // a command either has its answer or fails
	s, err := m.Register(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Unverified() {
		w.Side.Warn(Unverified(cfg))
	}
	return &Link{
		Session: s, Manager: m, Journal: w.o.Journal, Hops: w.hops, Out: w.out, Side: w.Side, Opts: &w.a.Options, Std: w.a.Standard, consent: w.a.Consent(), How: w.how, tty: output.Terminal(w.a.Out), Work: w,
	}, nil
}

// Print writes an answer after everything that was received before it.
func (l *Link) Print(a output.Answer) error {
	l.Side.Finish()
	return l.Out.Print(a)
}

// Reply makes an answer of one response.
func Reply(r rpc.Reply, f func(*output.Text)) output.Answer {
	return output.Answer{Result: r.Result, Frames: [][]byte{r.Frame}, Text: f, Took: r.Took}
}

// Responses are the frames of all responses to a method so far, for the raw format of what takes several requests.
func (l *Link) Responses(method string) (frames [][]byte) {
	for _, e := range l.Journal.Snapshot(0, nil) {
		if e.Hop == "" && e.Dir == journal.In && e.Kind == journal.Response && e.Method == method {
			if b, err := l.Journal.Body(e.Seq); err == nil {
				frames = append(frames, b)
			}
		}
	}
	return frames
}

// CheckArgs applies the command's rule about its own arguments; cobra would apply it to the server's command as well.
func CheckArgs(cmd *cobra.Command, own []string) error {
	rule, ok := argRules[cmd.Annotations[RuleKey]]
	if !ok {
		return nil
	}
	if len(own) < rule.min || rule.max >= 0 && len(own) > rule.max {
		next := "usage: " + cmd.UseLine()
		if n := len(own); n > 0 && flags.BareURL(own[n-1]) != "" {
			next = "did you mean " + flags.BareURL(own[n-1]) + "? " + next
		}
		return failure.UsageError(fmt.Sprintf("%s takes %s, and got %d", cmd.CommandPath(), rule.takes, len(own)), next)
	}
	return nil
}

// nameFlag gives the first argument of a command where that would be read as a flag.
const nameFlag = "name"

// RegisterName gives commands --name, for what begins with a dash.
func RegisterName(cmds ...*cobra.Command) {
	for _, c := range cmds {
		c.Flags().String(nameFlag, "", "the `NAME`, where it begins with a dash")
	}
}

// RuleKey is where a command's annotations name its entry of argRules.
const RuleKey = "args"

type argRule struct {
	min, max int // max -1: any number
	takes    string
}

var argRules = map[string]argRule{
	"none":  {0, 0, "no arguments but a server: a URL, or a name of the configs (a command follows --)"},
	"0-1":   {0, 1, "at most one argument"},
	"one":   {1, 1, "one argument"},
	"some":  {1, -1, "at least one argument"},
	"two":   {2, 2, "two arguments"},
	"1-2":   {1, 2, "one or two arguments"},
	"three": {3, 3, "three arguments"},
	"0":     {0, 0, "no arguments"},
	"any":   {0, -1, "any number of arguments"},
}

// Rule says, as an annotation, which arguments of its own a command takes: see argRules.
func Rule(name string) map[string]string { return map[string]string{RuleKey: name} }

// briefKey marks commands that have the format brief.
const briefKey = "brief"

// Listing is Rule("none") of a command that lists what a server has, which the format brief is for.
func Listing() map[string]string { return map[string]string{RuleKey: "none", briefKey: "true"} }

// ReadArg resolves a JSON argument: the JSON itself, @FILE, or - for stdin.
func (a *App) ReadArg(text string) ([]byte, error) {
	const limit = 64 << 20
	read := func(f *os.File, name string) ([]byte, error) {
		b, err := flags.ReadAll(f, limit)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("read %s: %v", name, err), Err: err, Next: "give the JSON itself, @FILE, or - for stdin"}
		}
		return b, nil
	}
	switch {
	case text == "-":
		return read(a.In, "stdin")
	case len(text) > 1 && text[0] == '@':
		f, err := os.Open(text[1:])
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "name a file that can be read after the @"}
		}
		defer f.Close()
		return read(f, text[1:])
	}
	return []byte(text), nil
}
