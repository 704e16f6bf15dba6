package traffic

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/stats"
)

func (a *app) statsCommand() *cobra.Command {
	var only *cli.FilterFlag
	order := stats.ByCalls.String()
	var orders []string
	for o := range stats.NumOrders {
		orders = append(orders, o.String())
	}
	c := &cobra.Command{
		Use: "stats [flags] FILE", Annotations: cli.Rule("one"), Short: "Count calls, times and errors of recorded traffic",
		Long: "stats prints, for each method and tool, how many calls there were, how many failed, the times that half, 95 % and 99 % of them stayed below, " +
			"and their bytes. --filter selects calls by their requests.",
		Example: "  mcphud journal stats session.jsonl\n  mcphud journal stats session.jsonl --filter 'at:10:31..10:32' --sort p95\n  mcphud journal stats session.jsonl --format json",
		Args:    cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			switch {
			case cli.HiddenFlag(cmd) != "":
				return failure.UsageError("--"+cli.HiddenFlag(cmd)+" does not apply to journal stats, which connects to no server", "see mcphud journal stats --help")
			case len(args) != 1 || cmd.ArgsLenAtDash() >= 0:
				return failure.UsageError(fmt.Sprintf("journal stats takes one file, and got %d arguments", len(args)), "write mcphud journal stats FILE")
			}
			if err := only.Parse(); err != nil {
				return err
			}
			return a.stats(ctx, args[0], only, order)
		}),
	}
	only = cli.AddFilter(c.Flags())
	c.Flags().Var(&flags.Choice{Value: &order, Allowed: orders}, "sort", "sort by this `COLUMN`: "+strings.Join(orders, ", "))
	_ = c.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(orders, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// statsLine is the numbers of one method and tool, or of all calls, as JSON. Times are in milliseconds.
type statsLine struct {
	Server    string   `json:"server,omitempty"`
	Hop       string   `json:"hop,omitempty"`
	Method    string   `json:"method,omitempty"`
	Tool      string   `json:"tool,omitempty"`
	Calls     int      `json:"calls"`
	Failed    int      `json:"failed"`
	Cancelled int      `json:"cancelled"`
	Pending   int      `json:"pending"`
	ErrorRate float64  `json:"errorRate"`
	P50       float64  `json:"p50_ms"`
	P95       float64  `json:"p95_ms"`
	P99       float64  `json:"p99_ms"`
	Bytes     int64    `json:"bytes"`
	Series    [][2]int `json:"series"` // calls and failures in each part of the time
}

// statsReport is what stats prints.
type statsReport struct {
	Start  time.Time   `json:"start"`
	Bucket float64     `json:"bucket_ms"` // of each part of a series
	Total  statsLine   `json:"total"`
	Rows   []statsLine `json:"rows"`
}

func statsLineOf(r *stats.Row, used int) statsLine {
	ms := func(q float64) float64 { return float64(r.Quantile(q)) / float64(time.Millisecond) }
	l := statsLine{r.Server, r.Hop, r.Method, r.Tool, r.Calls, r.Failed, r.Cancelled, r.Pending, r.ErrorRate(), ms(0.5), ms(0.95), ms(0.99), r.Bytes, [][2]int{}}
	for _, b := range r.Series[:used] {
		l.Series = append(l.Series, [2]int{b.Calls, b.Failed})
	}
	return l
}

func (a *app) stats(ctx context.Context, name string, only *cli.FilterFlag, order string) error {
	f, err := a.Whole(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	n := &stats.Numbers{Only: only.Filter}
	if !n.Update(ctx, f.Journal) {
		return ctx.Err()
	}
	by := stats.ByCalls
	for o := range stats.NumOrders {
		if o.String() == order {
			by = o
		}
	}
	start, bucket := n.Span()
	out := statsReport{Start: start.UTC(), Bucket: float64(bucket) / float64(time.Millisecond), Total: statsLineOf(n.Total(), n.Used()), Rows: []statsLine{}}
	rows := [][]string{{"SERVER", "METHOD", "TOOL", "CALLS", "ERRORS", "P50", "P95", "P99", "BYTES"}}
	var lines [][]byte
	row := func(who string, r *stats.Row) {
		rows = append(rows, []string{
			who, r.Method, r.Tool, strconv.Itoa(r.Calls), strconv.FormatFloat(100*r.ErrorRate(), 'f', 1, 64) + " %",
			text.Duration(r.Quantile(0.5)), text.Duration(r.Quantile(0.95)), text.Duration(r.Quantile(0.99)), text.Bytes(r.Bytes),
		})
	}
	for _, r := range n.Rows(by) {
		l := statsLineOf(r, n.Used())
		raw, err := output.Marshal(l)
		if err != nil {
			return err
		}
		out.Rows, lines = append(out.Rows, l), append(lines, raw)
		row(strings.TrimSpace(r.Hop+" "+r.Server), r)
	}
	row("all", n.Total())
	raw, err := output.Marshal(out)
	if err != nil {
		return err
	}
	p := a.Printer()
	if p.Format == output.FormatJSONL {
		for _, l := range lines {
			if err := p.Line(l); err != nil {
				return err
			}
		}
		return nil
	}
	return p.Print(output.Answer{Result: raw, Frames: lines, Text: func(t *output.Text) {
		if n.Total().Calls == 0 {
			t.Block("no calls")
			return
		}
		t.Table(p.Width, rows)
	}})
}
