package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mcphud/mcphud/session/base/text"
)

// Summary is what was asked for, in a line: "tools/call echo, 500 requests/s for 30s".
func (p PlanReport) Summary() string {
	var b strings.Builder
	b.WriteString(p.Method)
	if p.Tool != "" {
		b.WriteString(" " + p.Tool)
	}
	if p.Arguments > 1 {
		fmt.Fprintf(&b, " with %d different arguments", p.Arguments)
	}
	switch {
	case p.Rate > 0:
		fmt.Fprintf(&b, ", %s requests/s", strconv.FormatFloat(p.Rate, 'f', -1, 64))
	case p.Clients == 1:
		b.WriteString(", 1 client")
	default:
		fmt.Fprintf(&b, ", %d clients", p.Clients)
	}
	if p.Count > 0 {
		fmt.Fprintf(&b, ", %d requests", p.Count)
	}
	if p.For > 0 {
		fmt.Fprintf(&b, " for %v", duration(p.For))
	}
	if p.Warmup > 0 {
		fmt.Fprintf(&b, " after %v of warm-up", duration(p.Warmup))
	}
	return b.String()
}

// Time is a time of a report for people.
func Time(ms float64) string { return text.Duration(duration(ms).Round(time.Microsecond)) }

// PerSecond is a rate of a report for people: "12.35/s", "23074/s".
func PerSecond(rate float64) string { return figure(rate) + "/s" }

// figure is a number for people: four significant digits of a small one, all of a large one, and no exponent.
func figure(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Head is what the columns of Row are.
func Head() []string {
	return []string{"", "count", "p50", "p90", "p99", "p99.9", "max", "mean"}
}

// Row is a distribution as a row of a table.
func (d Distribution) Row(name string) []string {
	if d.Count == 0 {
		return []string{name, "0", "-", "-", "-", "-", "-", "-"}
	}
	return []string{name, fmt.Sprint(d.Count), Time(d.P50), Time(d.P90), Time(d.P99), Time(d.P999), Time(d.Max), Time(d.Mean)}
}

// Outcome is what became of the requests, in a line.
func (t TargetReport) Outcome() string {
	b := fmt.Sprintf("%d answered", t.Answered)
	if t.Failed > 0 {
		b += fmt.Sprintf(", %d failed (%.3g%%)", t.Failed, 100*float64(t.Failed)/float64(t.Answered+t.Failed))
	} else {
		b += ", none failed"
	}
	b += ", " + PerSecond(t.Rate)
	if t.RateHeld != nil {
		held := ", rate held"
		if !*t.RateHeld {
			held = fmt.Sprintf(", rate NOT held: %d were due and never sent", t.Unsent)
		}
		b += held
	}
	if t.Backlog > 0 {
		b += fmt.Sprintf("; up to %d waited for a free slot", t.Backlog)
	}
	return b + fmt.Sprintf("; measuring took %.2g cores", t.Own)
}

// Against is how two distributions compare, each row a percentile: name, first, second, difference, ratio.
func Against(a, b Distribution) (rows [][]string) {
	for _, p := range []struct {
		name string
		a, b float64
	}{{"p50", a.P50, b.P50}, {"p90", a.P90, b.P90}, {"p99", a.P99, b.P99}, {"p99.9", a.P999, b.P999}, {"max", a.Max, b.Max}, {"mean", a.Mean, b.Mean}} {
		sign, ratio := "+", "-"
		if p.b < p.a {
			sign = "-"
		}
		if p.a > 0 {
			ratio = fmt.Sprintf("%.2fx", p.b/p.a)
		}
		rows = append(rows, []string{p.name, Time(p.a), Time(p.b), sign + Time(max(p.b-p.a, p.a-p.b)), ratio})
	}
	return rows
}

// Comparable reports whether two servers were measured.
func (r *Report) Comparable() bool {
	return len(r.Targets) == 2 && r.Targets[0].Latency.Count > 0 && r.Targets[1].Latency.Count > 0
}

// Markdown is the report for a pull request.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Load: %s\n", cell(r.Plan.Summary()))
	if r.Ended != "" {
		fmt.Fprintf(&b, "\n**Ended early:** %s\n", cell(r.Ended))
	}
	if len(r.Objectives) > 0 {
		rows := [][]string{{"threshold", "server", "measured", ""}}
		for _, v := range r.Objectives {
			_, value, _ := strings.Cut(v.String(), ": ")
			met := "missed"
			if v.Met {
				met = "met"
			}
			rows = append(rows, []string{v.Objective, v.Target, value, met})
		}
		table(&b, rows)
	}
	for _, t := range r.Targets {
		fmt.Fprintf(&b, "\n### %s (%s, %s)\n\n%s.\n", cell(t.Name), cell(t.Protocol), t.Transport, cell(t.Outcome()))
		for _, note := range t.Notes {
			fmt.Fprintf(&b, "\n%s.\n", cell(note))
		}
		rows := [][]string{Head(), t.Latency.Row("latency")}
		for _, p := range t.Phases {
			rows = append(rows, p.Row(p.Name))
		}
		table(&b, rows)
		if len(t.Errors) > 0 {
			rows := [][]string{{"error", "count", "first"}}
			for _, e := range t.Errors {
				rows = append(rows, []string{e.Kind, fmt.Sprint(e.Count), e.First})
			}
			table(&b, rows)
		}
	}
	if r.Comparable() {
		fmt.Fprintf(&b, "\n### %s against %s\n", cell(r.Targets[1].Name), cell(r.Targets[0].Name))
		table(&b, append([][]string{{"", r.Targets[0].Name, r.Targets[1].Name, "difference", "ratio"}}, Against(r.Targets[0].Latency, r.Targets[1].Latency)...))
	}
	return b.String()
}

// table writes rows, the first of which is the heading.
func table(b *strings.Builder, rows [][]string) {
	b.WriteByte('\n')
	for i, row := range rows {
		for _, c := range row {
			b.WriteString("| " + cell(c) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
}

// cell is a text that may come from a server in one line of Markdown: nothing in it is markup, hides, or turns the direction of text.
func cell(s string) string {
	var b strings.Builder
	for _, r := range text.FirstLine(s) {
		if r < ' ' || r == 0x7f {
			r = ' '
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			fmt.Fprintf(&b, `\<%U\>`, r)
			continue
		}
		if strings.ContainsRune("\\`*_[]<>|#&!@~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
