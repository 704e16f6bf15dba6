package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// benchNow is how far a measurement is, as a line of the jsonl format.
type benchNow struct {
	At       float64 `json:"at_ms"`
	Target   string  `json:"target"`
	Answered int64   `json:"answered"`
	Failed   int64   `json:"failed"`
	InFlight int64   `json:"in_flight"`
	Waiting  int64   `json:"waiting"`
	Rate     float64 `json:"per_s"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
}

// showNow shows how far a measurement is: as a picture on a terminal, as a line elsewhere.
func (a *app) showNow(l *cli.Link, n bench.Now) {
	if l.Out.Format == output.FormatJSONL {
		d := n.Report.Latency
		raw, err := output.Marshal(map[string]benchNow{"progress": {output.Ms(n.Since), n.Target, n.Report.Answered, n.Report.Failed, n.InFlight, n.Waits, rateNow(n), d.P50, d.P99}})
		if err == nil {
			_ = l.Out.Line(raw) // the report, which follows, meets the same error
		}
	}
	if !l.Side.Tty {
		l.Side.Raw("mcphud: " + nowLine(n) + "\n")
		return
	}
	width := output.WidthOf(l.Std.Err)
	lines := benchPicture(n, min(width-1, 100))
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, max(width-1, 1), "…")
	}
	l.Side.Picture(lines)
}

// rateNow is how many requests were due in the last whole second.
func rateNow(n bench.Now) float64 {
	s := n.Report.Series
	if len(s) > 1 {
		s = s[:len(s)-1]
	}
	if len(s) == 0 || s[len(s)-1].Millis == 0 {
		return 0
	}
	last := s[len(s)-1]
	if len(n.Report.Series) == 1 && n.Since > 0 { // it is not over
		return float64(last.Count) / max(n.Since.Seconds(), 0.1)
	}
	return float64(last.Count) / last.Millis * 1000
}

func nowLine(n bench.Now) string {
	d := n.Report.Latency
	return fmt.Sprintf("%s: %s, %d answered, %d failed, %s, %d in flight, %d waiting, p50 %s, p99 %s", safe.Line(n.Target, 40), text.Duration(n.Since.Round(100*time.Millisecond)),
		n.Report.Answered, n.Report.Failed, bench.PerSecond(rateNow(n)), n.InFlight, n.Waits, bench.Time(d.P50), bench.Time(d.P99))
}

// benchPicture draws how far a measurement is, in width cells.
func benchPicture(n bench.Now, width int) []string {
	d := n.Report.Latency
	head := safe.Line(n.Target, 40) + "  " + text.Duration(n.Since.Round(100*time.Millisecond))
	if n.Whole > 0 {
		head += " of " + n.Whole.String()
	}
	bar := max(width-ansi.StringWidth(head)-2, 0)
	full := int(float64(bar) * n.Done)
	lines := []string{
		head + "  " + strings.Repeat("━", full) + strings.Repeat("╌", bar-full),
		fmt.Sprintf("%s  %d answered  %d failed  %d in flight  %d waiting", bench.PerSecond(rateNow(n)), n.Report.Answered, n.Report.Failed, n.InFlight, n.Waits),
	}
	if d.Count == 0 {
		return lines
	}
	lines = append(lines, fmt.Sprintf("p50 %s  p90 %s  p99 %s  p99.9 %s  max %s", bench.Time(d.P50), bench.Time(d.P90), bench.Time(d.P99), bench.Time(d.P999), bench.Time(d.Max)))
	var rates, tails []float64
	for _, p := range n.Report.Series {
		rates = append(rates, float64(p.Count)/p.Millis)
		tails = append(tails, p.P99)
	}
	lines = append(lines, "p99   "+widget.Spark(tails, width-6), "rate  "+widget.Spark(rates, width-6))
	return append(lines, benchBars(n.Report.Bars, d.Count, width)...)
}

// benchBars draws a histogram.
func benchBars(bars []bench.Bar, total int64, width int) (lines []string) {
	const label, share = 19, 7
	most := int64(0)
	for _, b := range bars {
		most = max(most, b.Count)
	}
	room := max(min(width, 80)-label-share, 4)
	for _, b := range bars {
		n := 0
		if most > 0 {
			n = int(b.Count * int64(room) / most)
		}
		if b.Count > 0 && n == 0 {
			n = 1
		}
		lines = append(lines, fmt.Sprintf("%8s - %-8s%s %.3g%%", bench.Time(b.From), bench.Time(b.To), strings.Repeat("█", n), 100*float64(b.Count)/float64(total)))
	}
	return lines
}

// printBench writes the report of a measurement.
func printBench(t *output.Text, width int, r *bench.Report) {
	t.Note(width, r.Plan.Summary())
	for _, one := range r.Targets {
		t.Block("")
		t.Note(width, fmt.Sprintf("%s (%s over %s, %s): %s", one.Name, one.Protocol, one.Transport, text.Count(one.Connections, "connection", "connections"), one.Outcome()))
		if one.Lost != "" {
			t.Note(width, "! the server is gone: "+one.Lost)
		}
		for _, n := range one.Notes {
			t.Note(width, "! "+n)
		}
		if one.Latency.Count > 0 {
			rows := [][]string{bench.Head(), one.Latency.Row("latency")}
			for _, p := range one.Phases {
				rows = append(rows, p.Row("  "+p.Name))
			}
			t.Block("")
			t.Table(width, rows)
			t.Block("")
			for _, line := range benchBars(one.Bars, one.Latency.Count, max(width, 80)) {
				t.Block(line)
			}
		}
		if len(one.Errors) > 0 {
			t.Block("")
			rows := [][]string{}
			for _, e := range one.Errors {
				rows = append(rows, []string{"error: " + e.Kind, fmt.Sprint(e.Count), e.First})
			}
			t.Table(width, rows)
		}
	}
	if r.Comparable() {
		t.Block("")
		t.Table(width, append([][]string{{"", r.Targets[0].Name, r.Targets[1].Name, "difference", "ratio"}}, bench.Against(r.Targets[0].Latency, r.Targets[1].Latency)...))
	}
	if len(r.Objectives) > 0 {
		t.Block("")
		for _, v := range r.Objectives {
			word := "missed"
			if v.Met {
				word = "met   "
			}
			line := word + "  " + v.String()
			if len(r.Targets) > 1 {
				line += "  " + v.Target
			}
			t.Block(line)
		}
	}
	if r.Ended != "" {
		t.Block("")
		t.Note(width, "ended early: "+r.Ended)
	}
}
