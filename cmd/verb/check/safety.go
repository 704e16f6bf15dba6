package check

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/config"
)

// safetyFlags are what the section safety takes.
type safetyFlags struct {
	beside []string
	pins   string
	lock   *contractFlags
}

func (f *safetyFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.beside, "beside", nil, "safety: compare names with those of another configured server, `NAME`; may be repeated")
	cmd.Flags().StringVar(&f.pins, "pins", "", "safety: compare tools with those that a router remembers in this `FILE` (default: what your routers remember of the server)")
}

func (f *safetyFlags) make(ctx context.Context, l *cli.Link) (check.Section, error) {
	s := &safety.Section{Journal: l.Manager.Journal(), Evidence: &f.lock.calls}
	err := f.lock.recorded()
	if err != nil {
		return nil, err
	}
	if s.Pins, s.Notes, err = pinsOf(l.Config(), f.pins); err != nil {
		return nil, err
	}
	if f.lock.accept { // what the lock says then is what the server offers now
		return s, nil
	}
	if made, err := f.lock.make(ctx, l); err == nil {
		if c, ok := made.(*contract.Section); ok {
			s.Lock = c.Lock
		}
	} // else the section contract says it
	return s, nil
}

// others are what the other servers offer.
func (f *safetyFlags) others(ctx context.Context, a *app, l *cli.Link) (out []check.Offer, err error) {
	for _, name := range f.beside {
		cfg, err := a.Options.Configured(name)
		if config.IsURL(name) {
			cfg, err = a.Options.URLServer(name)
		}
		if err != nil {
			return nil, err
		}
		cfg.NoReconnect = true
		if err := runner.Beside(ctx, a.App, l, cfg, func(second *cli.Link) error {
			o, err := check.Take(ctx, second.Session)
			out = append(out, o)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
