package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
)

// doctorFlags are the flags of doctor alone.
type doctorFlags struct{ all, strict, verbose bool }

func (a *app) doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use: "doctor [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Say why a server does not connect, stage by stage", Annotations: cli.Rule("none"),
		Long: "doctor connects to a server stage by stage: its configuration, variables, program, process, output, handshake; over HTTP proxy, name, connection, certificate, " +
			"status, path and login; then whether it does what it declares. Each stage has evidence, a time, and what to do. No tool is called, and nothing is left running. " +
			"Also an entry that is disabled or broken is looked at.\n\n" +
			"--timeout bounds all of it. --format json is for bug reports: secrets are masked. Exit codes: 0 where nothing failed, 6 with --strict and a warning, else " +
			"that of the first stage that failed: 4 not started or reached, 3 authentication, 7 timed out, 10 refused, 11 protocol broken. See mcphud help doctor.",
		Example: "  mcphud doctor github\n  mcphud doctor https://mcp.example.com/mcp\n  mcphud doctor --format json -- npx -y @modelcontextprotocol/server-everything\n  mcphud doctor --all",
		Args:    cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.doctor(ctx, cmd, args, f)
		}),
	}
	c.Flags().BoolVar(&f.all, "all", false, "look at every server of the configs, and print a table")
	c.Flags().BoolVar(&f.strict, "strict", false, "exit with code 6 on a warning")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print all evidence, and the stages that were left out")
	return c
}

func (a *app) doctor(ctx context.Context, cmd *cobra.Command, args []string, f doctorFlags) (err error) {
	if err := a.Options.Check(cmd); err != nil {
		return err
	}
	_, command, dash, err := a.OwnArgs(cmd, args, nil)
	if err != nil {
		return err
	}
	a.Options.AsIs = true
	set, where, err := a.Options.Load()
	if err != nil && (f.all || a.Options.Server != "" || len(set.Servers) == 0 && !dash && a.Options.URL == "") {
		return err
	}
	named := dash || a.Options.Named()
	switch {
	case f.all && named:
		return failure.UsageError("--all is about every server, and one was named", "leave one of both out")
	case f.all:
		return a.doctorAll(ctx, cmd, set, where, f)
	case !named && a.Attended() && a.Options.FormatFor(a.Out) == output.FormatText:
		if a.Options.Server, err = a.chooseServer(ctx, set); err != nil {
			return err
		}
		_ = cmd.Flags().Set("server", a.Options.Server) // it is a flag of ours
	case !named:
		return failure.UsageError("no server was named", cli.NameTarget+", or --all")
	}
	s, err := a.Options.Target(cmd, command, dash)
	if err != nil {
		return err
	}
	p := a.Printer()
	live := p.Format == output.FormatText && p.Tty
	options, done, err := a.doctorOptions(cmd, set, where)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	var report doctor.Report
	if live {
		said := map[string]doctor.Status{}
		report = doctor.Run(ctx, doctor.Target{Server: s, Warnings: doctor.WarningsOf(set, s)}, options, func(st doctor.Step) {
			before, again := said[st.ID]
			if st.Status == doctor.Running || again && before == st.Status {
				return
			}
			said[st.ID] = st.Status
			t := &output.Text{Tty: true}
			t.Page(p.Width, stages(f.verbose, st))
			_, _ = p.Write([]byte(t.B.String())) // who reads it may have left; the report ends with an error then
		})
	} else {
		report = doctor.Run(ctx, doctor.Target{Server: s, Warnings: doctor.WarningsOf(set, s)}, options, nil)
	}
	if err := p.Show(report, func(t *output.Text) {
		if !live {
			t.Page(p.Width, stages(f.verbose, slices.Clone(report.Steps)...))
		}
		if report.Err() == nil && !report.Cancelled {
			t.Block("\n" + wellness(report))
		}
	}); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return a.diagnosis(report, f.strict)
}

// diagnosis is the error that a report ends with, nil for none.
func (a *app) diagnosis(r doctor.Report, strict bool) error {
	if e := r.Err(); e != nil {
		return e
	}
	if w := r.First(doctor.Warning); w != nil && strict {
		return &cli.StrictError{Err: &failure.Error{Kind: failure.Assertion, Server: r.Server, Stage: w.ID, Message: w.Evidence[0], Next: w.Fix, Remedy: w.Remedy, Object: w.Object}}
	}
	return nil
}

// doctorOptions are how diagnoses are made. done closes what they are recorded in, and returns the error of its file.
func (a *app) doctorOptions(cmd *cobra.Command, set config.Set, where config.Options) (d doctor.Options, done func() error, err error) {
	o, err := a.SessionOptions(set.Settings)
	if err != nil {
		return d, nil, err
	}
	j, done, err := a.Journal()
	if err != nil {
		return d, nil, err
	}
	d = doctor.Options{Journal: j, Session: o, Home: where.Home, Version: cli.Version(), Watch: func(m *session.Manager) { a.Kill.Watch(cli.ProcessesOf(m)) }}
	if cmd.Flags().Changed("timeout") {
		d.Timeout = a.Options.Timeout
	}
	return d, done, nil
}

// chooseServer asks which server of the configs is meant.
func (a *app) chooseServer(ctx context.Context, set config.Set) (string, error) {
	if len(set.Servers) == 0 {
		return "", &failure.Error{Kind: failure.Usage, Message: "the configs name no server", Next: cli.NameTarget}
	}
	for i, s := range set.Servers {
		a.Note(fmt.Sprintf("%3d  %s  %s", i+1, safe.Line(s.Name, 40), safe.Line(s.Source.String(), 0)))
	}
	fmt.Fprintf(a.Err, "Which server (1-%d)? ", len(set.Servers))
	line, err := cli.ReadLine(ctx, a.In)
	if err != nil {
		return "", err
	}
	line = strings.TrimSpace(line)
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(set.Servers) {
		return set.Servers[n-1].Name, nil
	}
	if s, ok := set.Server(line); ok {
		return s.Name, nil
	}
	return "", failure.UsageError(fmt.Sprintf("no server was chosen: %q", line), "type its number or its name")
}

// atOnce is how many servers are looked at side by side.
const atOnce = 4

// doctorAll looks at all servers of the configs.
func (a *app) doctorAll(ctx context.Context, cmd *cobra.Command, set config.Set, where config.Options, f doctorFlags) (err error) {
	options, done, err := a.doctorOptions(cmd, set, where)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	reports := make([]doctor.Report, len(set.Servers))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, s := range set.Servers {
		a.Options.Limits(cmd, &s)
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			reports[i] = doctor.Run(ctx, doctor.Target{Server: s, Warnings: doctor.WarningsOf(set, s)}, options, nil)
		})
	}
	wg.Wait()
	var frames [][]byte
	for _, r := range reports {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		frames = append(frames, raw)
	}
	if err := a.Printer().Page(patients(reports), frames...); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var first error
	for _, r := range reports {
		if err := a.diagnosis(r, f.strict); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// patients are a row for each server, and what to do about those at which something failed.
func patients(reports []doctor.Report) page.Page {
	p := page.Page{None: [2]string{cli.NoServers}, Value: struct {
		Servers []doctor.Report `json:"servers"`
	}{reports}, Table: page.Table{
		Columns: []page.Column{{Name: "SERVER"}, {Name: "STATUS"}, {Name: "TOOK"}, {Name: "STAGE"}, {Name: "WHAT"}}, Len: len(reports),
		Value: func(i int) any { return reports[i] },
		Row: func(i int) page.Row {
			r := reports[i]
			cells := []page.Text{{S: r.Server}, pages.StageMark(r.Status()).Text(), {S: text.Duration(r.Took)}, {}, {}}
			if s := cmp.Or(r.First(doctor.Failed), r.First(doctor.Warning)); s != nil {
				cells[3].S, cells[4].S = s.Title, strings.Join(s.Evidence[:min(1, len(s.Evidence))], "")
			}
			return page.Row{Cells: cells}
		},
	}}
	for _, r := range reports {
		if s := r.First(doctor.Failed); s != nil && s.Fix != "" {
			p.After = append(p.After, r.Server+": "+s.Fix)
		}
	}
	return p
}

// stages are those of a report that are printed.
func stages(verbose bool, steps ...doctor.Step) page.Page {
	return pages.Diagnosis(slices.DeleteFunc(steps, func(s doctor.Step) bool { return s.Status == doctor.Skipped && !verbose }), verbose, with)
}

// with is what the command line has for the remedy of a step.
func with(s doctor.Step) string {
	e := (&failure.Error{Remedy: s.Remedy, Object: s.Object}).With(cli.Remedies, safe.Quote)
	if e.Next == "" {
		return ""
	}
	return " (" + e.Next + ")"
}

// wellness is the end of a report in which nothing failed.
func wellness(r doctor.Report) string {
	n := 0
	for _, s := range r.Steps {
		if s.Status == doctor.Warning {
			n++
		}
	}
	switch {
	case n > 0:
		return fmt.Sprintf("! %s, in %s", text.Count(n, "warning", "warnings"), text.Duration(r.Took))
	case !r.Connected():
		return "✓ nothing failed, and the server wants a login, in " + text.Duration(r.Took)
	}
	return "✓ all ok, in " + text.Duration(r.Took)
}
