package cli

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Fleet is a command's connections to all servers of the configs.
type Fleet struct {
	*toolset.Bridge
	M       *session.Manager
	Journal *journal.Journal

	Set   config.Set
	Trust *config.Trust
	Out   *output.Printer

	ReadOnly bool // tools that are not marked as read-only are left out
}

// FleetFlags are the flags that make sense for all servers at once.
var FleetFlags = []string{"config", "connect-timeout", "timeout", "max-timeout", "max-frame", "meta", "journal", "journal-raw"}

// WithFleet runs f on the servers of the configs, or on those that are named, of which none is connected yet, and closes everything. What children write
// to stderr is not passed on: nobody could tell whose it is. The error of one that failed has the end of it.
func (a *App) WithFleet(ctx context.Context, cmd *cobra.Command, f func(context.Context, *Fleet) error, names ...string) (err error) {
	if err := a.Options.Check(cmd); err != nil {
		return err
	}
	set, where, err := a.Options.Load()
	if err != nil {
		return err
	}
	if len(names) > 0 {
		set.Servers = slices.DeleteFunc(slices.Clone(set.Servers), func(s config.Server) bool { return !slices.Contains(names, s.Name) })
	}
	j, done, err := a.Journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	trust := config.OpenTrust(where.StateDir())
	o, err := a.SessionOptions(set.Settings)
	if err != nil {
		return err
	}
	o.Journal, o.Transport = j, transport.Options{GracePeriod: OneShot}
	m := session.NewManager(o)
	defer m.Close()
	settings := set.Settings
	settings.AutoDiscover = nil // who runs this asks for it
	fl := &Fleet{Bridge: toolset.NewBridge(m, settings), M: m, Journal: j, Set: set, Trust: trust, Out: a.Printer(), ReadOnly: a.Options.ReadOnly}
	defer fl.Close()
	for i := range set.Servers {
		s := set.Servers[i]
		s.NoReconnect = true // it works now, or it does not
		a.Options.Limits(cmd, &s)
		if s.Unverified() && !s.Disabled && trust.Trusted(s) {
			a.Note("mcphud: " + Unverified(s))
		}
		if err := fl.RegisterServer(s); err != nil {
			return err
		}
	}
	a.Kill.Watch(ProcessesOf(m))
	return f(ctx, fl)
}

// Startable are the names of the servers that are to be connected: those that are enabled and trusted.
func (f *Fleet) Startable() (names []string) {
	for _, s := range f.Set.Servers {
		if !s.Disabled && f.Trust.Trusted(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Connect connects every server that may start. Each outcome comes with the status while it was connected: the pool may close one to
// make room for the next. first is the failure that the command ends with: the first server's, or, where a failure ends the rest,
// the one that did.
func (f *Fleet) Connect(ctx context.Context) (seen map[string]seenServer, first error) {
	seen = map[string]seenServer{}
	var mu sync.Mutex
	names := f.Startable()
	first = f.ConnectAll(ctx, names, func(name string, err error) {
		st, _ := f.Status(name)
		mu.Lock()
		defer mu.Unlock()
		seen[name] = seenServer{st, err}
	})
	if set := f.Set.Settings.ContinueOnError; set != nil && !*set {
		return seen, first
	}
	for _, name := range names {
		if err := seen[name].Err; err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// seenServer is how connecting one server went.
type seenServer struct {
	toolset.ServerStatus
	Err error
}

// NotTried is why nothing is known of a server that stopped is true of.
const NotTried = "another server failed, and continue_on_error is false"

// Stopped reports whether it was not tried to the end because another server failed.
func (s seenServer) Stopped(first error) bool {
	return first != nil && s.Err != nil && failure.KindOf(s.Err) == failure.Interrupted && failure.KindOf(first) != failure.Interrupted
}

// TargetFlags are those of the flags that name or shape one server and were given.
func TargetFlags(cmd *cobra.Command) (given []string) {
	for _, name := range []string{"url", "agent", "server", "session", "transport", "protocol", "log-level", "env", "cwd", "sandbox", "header", "root"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}
