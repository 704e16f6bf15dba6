package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/config"
)

// safetyFlags are what the section safety takes.
type safetyFlags struct {
	beside []string
	lock   *contractFlags
}

func (f *safetyFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.beside, "beside", nil, "safety: compare names with those of another configured server, `NAME`; may be repeated")
}

func (f *safetyFlags) make(ctx context.Context, l *link) (check.Section, error) {
	s := &safety.Section{}
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
func (f *safetyFlags) others(ctx context.Context, a *app, l *link) (out []check.Offer, err error) {
	for _, name := range f.beside {
		cfg, err := a.o.configured(name)
		if config.IsURL(name) {
			cfg, err = a.o.urlServer(name)
		}
		if err != nil {
			return nil, err
		}
		cfg.NoReconnect = true
		if err := a.beside(ctx, l, cfg, func(second *link) error {
			o, err := check.Take(ctx, second.Session)
			out = append(out, o)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// once leaves the lock to the section contract where that runs too: what changed is said once.
func (f *safetyFlags) once(sections []check.Section) {
	var own *safety.Section
	locked := false
	for _, s := range sections {
		switch s := s.(type) {
		case *safety.Section:
			own = s
		case *contract.Section:
			locked = true
		}
	}
	if own != nil && locked {
		own.Lock = nil
	}
}
