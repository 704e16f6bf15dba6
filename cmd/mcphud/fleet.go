package main

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// fleet is a command's connections to all servers of the configs.
type fleet struct {
	*toolset.Bridge
	m       *session.Manager
	journal *journal.Journal

	set   config.Set
	trust *config.Trust
	out   *printer

	readOnly bool // tools that are not marked as read-only are left out
}

// fleetFlags are the flags that make sense for all servers at once.
var fleetFlags = []string{"config", "connect-timeout", "timeout", "max-timeout", "max-frame", "meta", "journal", "journal-raw"}

// withFleet runs f on the servers of the configs, or on those that are named, of which none is connected yet, and closes everything. What children write
// to stderr is not passed on: nobody could tell whose it is. The error of one that failed has the end of it.
func (a *app) withFleet(ctx context.Context, cmd *cobra.Command, f func(context.Context, *fleet) error, names ...string) (err error) {
	if err := a.o.check(cmd); err != nil {
		return err
	}
	set, where, err := a.o.load()
	if err != nil {
		return err
	}
	if len(names) > 0 {
		set.Servers = slices.DeleteFunc(slices.Clone(set.Servers), func(s config.Server) bool { return !slices.Contains(names, s.Name) })
	}
	j, done, err := a.journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	trust := config.OpenTrust(where.StateDir())
	o, err := a.sessionOptions(set.Settings)
	if err != nil {
		return err
	}
	o.Journal, o.Transport = j, transport.Options{GracePeriod: oneShot}
	m := session.NewManager(o)
	defer m.Close()
	settings := set.Settings
	settings.AutoDiscover = nil // who runs this asks for it
	fl := &fleet{Bridge: toolset.NewBridge(m, settings), m: m, journal: j, set: set, trust: trust, out: a.printer(), readOnly: a.o.readOnly}
	defer fl.Close()
	for i := range set.Servers {
		s := set.Servers[i]
		s.NoReconnect = true // it works now, or it does not
		a.o.limits(cmd, &s)
		if s.Unverified() && !s.Disabled && trust.Trusted(s) {
			a.note("mcphud: " + unverified(s))
		}
		if err := fl.RegisterServer(s); err != nil {
			return err
		}
	}
	a.kill.watch(processesOf(m))
	return f(ctx, fl)
}

// startable are the names of the servers that are to be connected: those that are enabled and trusted.
func (f *fleet) startable() (names []string) {
	for _, s := range f.set.Servers {
		if !s.Disabled && f.trust.Trusted(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// connect connects every server that may start. Each outcome comes with the status while it was connected: the pool may close one to
// make room for the next. first is the failure that the command ends with: the first server's, or, where a failure ends the rest,
// the one that did.
func (f *fleet) connect(ctx context.Context) (seen map[string]seenServer, first error) {
	seen = map[string]seenServer{}
	var mu sync.Mutex
	names := f.startable()
	first = f.ConnectAll(ctx, names, func(name string, err error) {
		st, _ := f.Status(name)
		mu.Lock()
		defer mu.Unlock()
		seen[name] = seenServer{st, err}
	})
	if set := f.set.Settings.ContinueOnError; set != nil && !*set {
		return seen, first
	}
	for _, name := range names {
		if err := seen[name].err; err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// seenServer is how connecting one server went.
type seenServer struct {
	toolset.ServerStatus
	err error
}

// notTried is why nothing is known of a server that stopped is true of.
const notTried = "another server failed, and continue_on_error is false"

// stopped reports whether it was not tried to the end because another server failed.
func (s seenServer) stopped(first error) bool {
	return first != nil && s.err != nil && failure.KindOf(s.err) == failure.Interrupted && failure.KindOf(first) != failure.Interrupted
}

// targetFlags are those of the flags that name or shape one server and were given.
func targetFlags(cmd *cobra.Command) (given []string) {
	for _, name := range []string{"url", "agent", "server", "transport", "protocol", "log-level", "env", "cwd", "sandbox", "header", "root"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}
