package servers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/traffic/stats"
)

// probeEvery is how long the outcome of a scrape's pings is good for further scrapes, and probeTime how long they may take.
const (
	probeEvery = 2 * time.Second
	probeTime  = 8 * time.Second // less than the 10 s that collectors wait
)

// statusMetrics is status with --metrics: a file is written once, and an address is served until ctx is done.
func (a *app) statusMetrics(t cli.MetricsTarget) func(context.Context, *cli.Fleet) error {
	return func(ctx context.Context, f *cli.Fleet) error {
		x := stats.NewMetrics(stats.MetricsOptions{Journal: f.Journal, Servers: func() []stats.MetricsServer { return cli.Standing(f.M, f.Bridge) }, Pool: cli.Pooled(f.Pool())})
		defer x.Close()
		if t.File == "-" {
			_, first := f.Connect(ctx)
			if ctx.Err() != nil {
				return first
			}
			if err := a.WriteMetrics(t.File, x); err != nil {
				return err
			}
			return first
		}
		if t.File != "" {
			first := statusOfAll(ctx, f)
			if ctx.Err() != nil {
				return first
			}
			if err := a.WriteMetrics(t.File, x); err != nil {
				return err
			}
			return first
		}
		p := &prober{f: f}
		url, stop, err := a.ServeMetrics(ctx, t, x, p.probe)
		if err != nil {
			return err
		}
		defer stop()
		if err := statusOfAll(ctx, f); err != nil {
			a.Note("mcphud: " + err.Error())
		}
		_, _ = fmt.Fprintf(a.Err, "metrics at %s\n", url)
		<-ctx.Done()
		return nil // that some are away is what the metrics say
	}
}

// prober finds out how servers stand when somebody scrapes.
type prober struct {
	f    *cli.Fleet
	mu   sync.Mutex // held by the one that asks; the others have its outcome
	last time.Time
}

// probe connects servers that are not connected, and pings the others.
func (p *prober) probe(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < probeEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var asked sync.WaitGroup
	slots := make(chan struct{}, 8)
	for _, name := range p.f.Startable() {
		asked.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			s, ok := p.f.M.Server(name)
			if !ok {
				return
			}
			if s.Status().State != session.Connected && p.f.ConnectAll(ctx, []string{name}, nil) != nil {
				return // its state says so
			}
			_, _ = s.Ping(ctx) // the outcome is counted
		})
	}
	asked.Wait()
	p.last = time.Now()
}
