package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// MetricsFlag is where OpenMetrics go.
const MetricsFlag = "metrics"

// RegisterMetrics gives a command --metrics.
func (o *Options) RegisterMetrics(c *cobra.Command, then string) {
	c.Flags().StringVar(&o.Metrics, MetricsFlag, "",
		"write latency, errors and connections as OpenMetrics to `TARGET`: a file, which is replaced as a whole (- is stdout), or HOST:PORT of this machine to scrape; "+then)
}

// MetricsTarget is a file, or an address.
type MetricsTarget struct {
	File string
	host string
	port int
}

// ParseMetrics reads FILE|ADDR. What ends in a colon and a number and has no slash is an address; a file of such a name is ./NAME.
func ParseMetrics(at string) (t MetricsTarget, err error) {
	host, port, split := net.SplitHostPort(at)
	n, number := strconv.Atoi(port)
	switch {
	case split != nil || number != nil || strings.ContainsAny(at, `/\`):
		t.File = at
		return t, nil
	case n < 0 || n > 65535:
		return t, failure.UsageError(fmt.Sprintf("--%s is %q, whose port is not between 0 and 65535", MetricsFlag, at), "give it as 127.0.0.1:9464, or name a file as ./NAME")
	case host != "" && !listen.Loopback(host):
		return t, failure.UsageError(fmt.Sprintf("--%s %s would show other machines, without authentication, which servers you use", MetricsFlag, at),
			"listen on 127.0.0.1, or write a file for the collector of that machine")
	}
	t.host, t.port = host, n
	return t, nil
}

// Standing is how the servers of m stand.
func Standing(m *session.Manager, b *toolset.Bridge) []stats.MetricsServer {
	var all []stats.MetricsServer
	for _, s := range m.Servers() {
		st := s.Status()
		tools := 0
		if known, ok := b.Status(s.Name()); ok {
			tools = known.ToolCount
		}
		all = append(all, stats.MetricsServer{
			Name: s.Name(), State: string(st.State), Connected: st.State == session.Connected, Tools: tools, Latency: st.Latency, InFlight: len(st.Inflight), Connections: st.Conn,
		})
	}
	return all
}

// Pooled is how many connections a pool has.
func Pooled(p *toolset.Pool) func() stats.MetricsPool {
	return func() stats.MetricsPool {
		s := p.Stats()
		return stats.MetricsPool{Active: s.ActiveConnections, Idle: s.IdleConnections, Limit: p.Limits().MaxConnections}
	}
}

// WriteMetrics replaces the file.
func (a *App) WriteMetrics(file string, x *stats.Metrics) error {
	if file == "-" {
		_, err := a.Printer().Write(x.Text())
		return err
	}
	path, err := filepath.Abs(file)
	if err == nil {
		err = files.WriteMode(path, x.Text(), 0o644) // a collector of another user reads it
	}
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: "cannot write the metrics: " + err.Error(), Err: err, Next: "name a file in a folder that you can write to"}
	}
	return nil
}

// ServeMetrics serves x at an address of this machine until stop. scraped, if not nil, is called before each answer.
func (a *App) ServeMetrics(ctx context.Context, t MetricsTarget, x *stats.Metrics, scraped func(context.Context)) (url string, stop func(), err error) {
	lns, err := listen.Listen(ctx, t.host, t.port)
	if err != nil {
		return "", nil, &failure.Error{Kind: failure.Usage, Message: "cannot serve the metrics: " + err.Error(), Err: err, Next: "give another address; with port 0 a free one is chosen"}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)) // not every writer has deadlines
		if scraped != nil {
			scraped(r.Context())
		}
		x.ServeHTTP(w, r)
	})
	web := &http.Server{Handler: listen.Guard(mux), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	listen.Harden(web, 10*time.Second)
	var serving sync.WaitGroup
	for _, ln := range lns {
		serving.Go(func() { _ = web.Serve(ln) }) // until it is closed
	}
	return "http://" + lns[0].Addr().String() + "/metrics", func() {
		_ = web.Close() // whoever scrapes now comes again
		serving.Wait()
	}, nil
}

// metricsEvery is how often the UI writes the file.
const metricsEvery = 15 * time.Second

// UIMetrics says how the servers of the UI stand, until stop: at an address, or in a file, which has the last word afterwards.
func (a *App) UIMetrics(ctx context.Context, j *journal.Journal, m *session.Manager, b *toolset.Bridge) (stop func(), err error) {
	if a.Options.Metrics == "" {
		return func() {}, nil
	}
	t, err := ParseMetrics(a.Options.Metrics)
	if err != nil {
		return nil, err
	}
	if t.File == "-" {
		return nil, failure.UsageError("--"+MetricsFlag+" - does not apply to the UI, which has the terminal", "name a file or an address")
	}
	x := stats.NewMetrics(stats.MetricsOptions{Journal: j, Servers: func() []stats.MetricsServer { return Standing(m, b) }, Pool: Pooled(b.Pool())})
	if t.File == "" {
		url, end, err := a.ServeMetrics(ctx, t, x, nil)
		if err != nil {
			x.Close()
			return nil, err
		}
		j.Append(journal.Entry{Kind: journal.State, Server: "mcphud", Note: "metrics at " + url}, nil)
		return func() { end(); x.Close() }, nil
	}
	if err := a.WriteMetrics(t.File, x); err != nil { // before anything is done
		x.Close()
		return nil, err
	}
	done := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		tick := time.NewTicker(metricsEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = a.WriteMetrics(t.File, x) // the last one says what is wrong
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		writing.Wait()
		if err := a.WriteMetrics(t.File, x); err != nil {
			a.Note("mcphud: " + err.Error())
		}
		x.Close()
	}, nil
}
