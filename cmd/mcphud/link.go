package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/resident"
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

// oneShot is how long a stdio server may take to exit after a headless command: together less than the 60 ms within which a
// command has to exit after its last byte of output. No request is pending by then.
var oneShot = transport.GracePeriod{Input: 20 * time.Millisecond, Term: 25 * time.Millisecond}

// link is a command's connection to the one server it talks to.
type link struct {
	*session.Session
	manager *session.Manager
	journal *journal.Journal
	hops    *hops
	out     *printer
	side    *side
	opts    *options
	std     standard
	consent *consent.Policy
	how     session.Options // of sessions that are not recorded, and whose servers' stderr nobody reads
	tty     bool            // stdout is a terminal
	agreed  string          // the question that was answered by yes
	asking  sync.Locker     // held while a person is asked, where other connections may ask too; nil for none
	work    *workplace
}

// serverCommand makes a command's body from a function that is given the connection and the command's own arguments. The
// server is gone, and everything it wrote to stderr has been passed on, when the body returns.
func (a *app) serverCommand(f func(ctx context.Context, l *link, args []string) error) func(*cobra.Command, []string) error {
	return a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if err := a.o.check(cmd); err != nil {
			return err
		}
		own, command, dash, err := a.ownArgs(cmd, args, nil)
		if err != nil {
			return err
		}
		if err := a.serverOfTool(ctx, cmd, own, dash); err != nil {
			return err
		}
		cfg, err := a.o.target(cmd, command, dash)
		if err != nil {
			return err
		}
		return a.connected(ctx, cfg, func(ctx context.Context, l *link) error { return f(ctx, l, own) })
	})
}

// sessionOptions are what the flags, and settings for all servers, say of sessions.
func (a *app) sessionOptions(set config.Settings) (session.Options, error) {
	logins, err := a.logins(set)
	if err != nil {
		return session.Options{}, err
	}
	o := session.Options{
		ClientInfo: clientInfo(), Client: a.o.client, Pending: a.questions(false), Meta: a.o.meta.json, Trust: a.o.trust(), MaxCalls: set.MaxConcurrentCalls,
		Retry: session.Retry{Max: set.MaxRetries, Base: set.RetryBackoff}, Auth: logins,
	}
	o.Tracing = a.tracingOf(false)
	if len(set.Given["max_retries"]) > 0 && set.MaxRetries == 0 {
		o.Retry.Max = -1
	}
	if set.AllowedToolPattern != "" {
		o.AllowTool = regexp.MustCompile(set.AllowedToolPattern) // it was read as one
	}
	return o, nil
}

// journal opens the journal, with its file if there is one. done closes it, and returns the error of its file.
func (a *app) journal() (j *journal.Journal, done func() error, err error) {
	o := journal.Options{File: a.o.journal}
	switch {
	case o.File == "" && a.o.journalRaw:
		return nil, nil, usageError("--journal-raw goes with --journal FILE", "name the file, or leave --journal-raw out")
	case o.File == "":
	case a.o.journalRaw:
		a.note("mcphud: " + safe.Line(o.File, 300) + " keeps messages as they are, with every secret in them")
	default:
		o.Keep = redact.NewKeeper().Change
	}
	j = journal.New(o)
	wrong := func(err error) error {
		if err == nil {
			return nil
		}
		return &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("--journal %s: %v", a.o.journal, err), Err: err, Next: "name a file that can be written"}
	}
	done = func() error { return wrong(j.Close()) }
	if err = wrong(j.Err()); err != nil {
		_ = done() // the same error
	}
	return j, done, err
}

// connected opens cfg, connects, runs f, and closes everything. After a login that f turned out to need it runs again.
func (a *app) connected(ctx context.Context, cfg config.Server, f func(context.Context, *link) error) (err error) {
	return a.opened(ctx, cfg, func(ctx context.Context, l *link) error {
		if a.person == nil && a.canLogIn() {
			a.person = a.browserPerson(l.side, l.Title(), nil)
		}
		return a.loggedIn(ctx, l.Session, func() error {
			resident.Trim() // of what reading the command line took
			if err := l.ready(ctx); err != nil {
				return err
			}
			l.out.began = time.Now()
			return f(ctx, l)
		})
	})
}

// ready connects, and asks for the log messages that --log-level names.
func (l *link) ready(ctx context.Context) error {
	if err := l.Connect(ctx); err != nil {
		return err
	}
	if l.opts.logLevel == "" {
		return nil
	}
	if err := l.SetLevel(ctx, l.opts.logLevel); err != nil {
		if ctx.Err() != nil {
			return err
		}
		l.side.warn("log level not set: " + err.Error())
	}
	return nil
}

// opened registers cfg, runs f, and closes everything.
func (a *app) opened(ctx context.Context, cfg config.Server, f func(context.Context, *link) error) (err error) {
	if cfg, err = a.filled(ctx, cfg); err != nil {
		return err
	}
	attended := a.attended()
	return a.working(ctx, attended, func(w *workplace) error {
		m := w.manager()
		defer m.Close()
		if attended {
			defer (&person{a.asked, w.side, a.standard}).attend(ctx, m)()
		}
		l, err := w.link(m, cfg)
		if err != nil {
			return err
		}
		return a.unanswered(f(ctx, l))
	})
}

// workplace is what all connections of a command share.
type workplace struct {
	a    *app
	o    session.Options
	how  session.Options // of sessions that are not recorded
	out  *printer
	side *side
	hops *hops
}

// working makes a workplace for f, and closes it. attended keeps what servers ask until somebody answers.
func (a *app) working(ctx context.Context, attended bool, f func(*workplace) error) (err error) {
	j, done, err := a.journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	out := a.printer()
	sd := newSide(j, a.err, out, a.o.logLevel != "")
	defer sd.stop()
	o, err := a.sessionOptions(a.o.settings)
	if err != nil {
		return err
	}
	defer a.exportCalls(j, a.err)()
	how := o
	how.Transport = transport.Options{GracePeriod: oneShot}
	o.Journal, o.Transport = j, transport.Options{Stderr: sd, GracePeriod: oneShot}
	calls := a.keptCalls()
	defer func() { // what the calls were for has been done
		if err := calls.Close(); err != nil {
			sd.warn("warning: " + err.Error() + "; --no-history keeps none")
		}
	}()
	o.Record = a.sent.recording(calls.Record)
	if attended {
		o.Pending = a.questions(true)
	}
	hops := newHops(ctx, j, &o)
	defer hops.close()
	return f(&workplace{a, o, how, out, sd, hops})
}

// manager is one for servers of the command. Whoever asks for it closes it.
func (w *workplace) manager() *session.Manager {
	m := session.NewManager(w.o)
	if w.a.tracing {
		w.hops.of(m)
	}
	w.a.kill.watch(processesOf(m))
	return m
}

// link registers a server, without connecting to it.
func (w *workplace) link(m *session.Manager, cfg config.Server) (*link, error) {
	cfg.NoReconnect = true // a command either has its answer or fails
	s, err := m.Register(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Unverified() {
		w.side.warn(unverified(cfg))
	}
	return &link{
		Session: s, manager: m, journal: w.o.Journal, hops: w.hops, out: w.out, side: w.side, opts: &w.a.o, std: w.a.standard, consent: w.a.consent(), how: w.how, tty: terminal(w.a.out), work: w,
	}, nil
}

// print writes an answer after everything that was received before it.
func (l *link) print(a answer) error {
	l.side.finish()
	return l.out.print(a)
}

// reply makes an answer of one response.
func reply(r rpc.Reply, f func(*textOutput)) answer {
	return answer{result: r.Result, frames: [][]byte{r.Frame}, text: f, took: r.Took}
}

// responses are the frames of all responses to a method so far, for the raw format of what takes several requests.
func (l *link) responses(method string) (frames [][]byte) {
	for _, e := range l.journal.Snapshot(0, nil) {
		if e.Hop == "" && e.Dir == journal.In && e.Kind == journal.Response && e.Method == method {
			if b, err := l.journal.Body(e.Seq); err == nil {
				frames = append(frames, b)
			}
		}
	}
	return frames
}

// checkArgs applies the command's rule about its own arguments; cobra would apply it to the server's command as well.
func checkArgs(cmd *cobra.Command, own []string) error {
	rule, ok := argRules[cmd.Annotations[ruleKey]]
	if !ok {
		return nil
	}
	if len(own) < rule.min || rule.max >= 0 && len(own) > rule.max {
		next := "usage: " + cmd.UseLine()
		if n := len(own); n > 0 && bareURL(own[n-1]) != "" {
			next = "did you mean " + bareURL(own[n-1]) + "? " + next
		}
		return usageError(fmt.Sprintf("%s takes %s, and got %d", cmd.CommandPath(), rule.takes, len(own)), next)
	}
	return nil
}

// nameFlag gives the first argument of a command where that would be read as a flag.
const nameFlag = "name"

func registerName(cmds ...*cobra.Command) {
	for _, c := range cmds {
		c.Flags().String(nameFlag, "", "the `NAME`, where it begins with a dash")
	}
}

// ruleKey is where a command's annotations name its entry of argRules.
const ruleKey = "args"

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

func rule(name string) map[string]string { return map[string]string{ruleKey: name} }

// readArg resolves a JSON argument: the JSON itself, @FILE, or - for stdin.
func (a *app) readArg(text string) ([]byte, error) {
	const limit = 64 << 20
	read := func(f *os.File, name string) ([]byte, error) {
		b, err := readAll(f, limit)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("read %s: %v", name, err), Err: err, Next: "give the JSON itself, @FILE, or - for stdin"}
		}
		return b, nil
	}
	switch {
	case text == "-":
		return read(a.in, "stdin")
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
