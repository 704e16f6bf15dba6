package servers

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
)

func (a *app) statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "status [SERVER…]", Short: "Connect every configured server and show its state, tools and latency", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: cli.CompleteServers(&a.Options),
		Long: "status connects every server of the configs that is enabled and trusted, several at a time, and shows the state, the number of tools, " +
			"the error and the latency of each, and the figures of the connection pool. Everything that it started is ended. With the names of servers it is about these alone, " +
			"each of which has to be enabled and trusted.\n\n" +
			"The exit code is 0 when all of them connected, else that of the first server that did not. With continue_on_error: false in the config " +
			"the first failure ends the others.\n\n" +
			"--metrics FILE also writes latency, errors and connections as OpenMetrics, for a collector of text files; --metrics HOST:PORT stays connected and serves " +
			"them at /metrics. The UI does the same for what it does: mcphud --metrics 127.0.0.1:9464.",
		Example: "  mcphud status\n  mcphud status github\n  mcphud status --config ci/mcp.json --format json\n" +
			"  mcphud status --metrics mcp.prom\n  mcphud status --metrics 127.0.0.1:9464",
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, names []string) error {
			switch name := cli.HiddenFlag(cmd); {
			case name == "server":
				return failure.UsageError("--server does not apply to status, which takes names as they are", "write mcphud status "+a.Options.Server)
			case name != "":
				return failure.UsageError("--"+name+" does not apply to status, which is about servers of the configs", "see mcphud status --help")
			case cmd.ArgsLenAtDash() >= 0:
				return failure.UsageError("status is about servers of the configs, and a command was given", "mcphud info says of one server what it is")
			}
			for _, name := range names {
				if _, err := a.Options.Configured(name); err != nil {
					return err
				}
			}
			if a.Options.Metrics == "" {
				return a.WithFleet(ctx, cmd, statusOfAll, names...)
			}
			t, err := cli.ParseMetrics(a.Options.Metrics)
			if err != nil {
				return err
			}
			return a.WithFleet(ctx, cmd, a.statusMetrics(t), names...)
		}),
	}
	a.Options.RegisterMetrics(c, "an address is served until you interrupt, and each scrape pings the servers")
	return c
}

// statusRow is one server of status as JSON.
type statusRow struct {
	Name string `json:"name"`
	toolset.ServerStatus
	Trusted bool          `json:"trusted"` // false: an entry of a file of the working folder that is not trusted yet
	Source  config.Source `json:"source"`
}

// poolReport is the pool of status as JSON: what it has, and what it may have.
type poolReport struct {
	toolset.PoolStats
	MaxConnections  int    `json:"max_connections"` // 0: no limit
	MaxIdleTime     string `json:"max_idle_time"`
	CleanupInterval string `json:"cleanup_interval"`
}

func newPoolReport(p *toolset.Pool) poolReport {
	l := p.Limits()
	return poolReport{p.Stats(), l.MaxConnections, l.MaxIdleTime.String(), l.CleanupInterval.String()}
}

func statusOfAll(ctx context.Context, f *cli.Fleet) error {
	seen, first := f.Connect(ctx)
	if ctx.Err() != nil {
		return first
	}
	report := struct {
		Servers []statusRow `json:"servers"`
		Pool    poolReport  `json:"pool"`
	}{[]statusRow{}, newPoolReport(f.Pool())}
	var all []pages.Outcome
	for _, s := range f.Set.Servers {
		row := statusRow{Name: s.Name, Trusted: f.Trust.Trusted(s), Source: s.Source}
		got, tried := seen[s.Name]
		if row.ServerStatus = got.ServerStatus; !tried {
			row.ServerStatus, _ = f.Status(s.Name)
		}
		row.Error, row.Reason = mask.Text(row.Error), mask.Text(row.Reason)
		if got.Err != nil && row.Error == "" { // of the list of tools, say
			row.Error = mask.Text(got.Err.Error())
		}
		out := pages.Outcome{Name: s.Name, State: pages.EntryMark(s, row.Trusted)}
		switch at, _ := f.M.Server(s.Name); {
		case got.Stopped(first):
			out.State, row.Error = page.Mark{Glyph: "–", Word: "not tried", Tone: page.Quiet}, cli.NotTried
		case tried:
			out.State = pages.ServerMark(at, row.State)
		case !s.Disabled && !row.Trusted:
			out.Note = "from a file of this folder: name the file with --config, or trust it in mcphud"
		}
		out.ServerStatus, out.Note = row.ServerStatus, cmp.Or(out.Note, strings.TrimPrefix(row.Error, s.Name+": "))
		report.Servers, all = append(report.Servers, row), append(all, out)
	}
	p := pages.Outcomes(all, report.Pool.PoolStats, f.Pool().Limits())
	p.None[0], p.Value = cli.NoServers, report
	if err := f.Out.Page(p); err != nil {
		return err
	}
	return first
}
