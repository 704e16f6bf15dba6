package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/mcpb"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/importer"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
	"github.com/mcphud/mcphud/views/traffic"
)

func (a *app) openCommand() *cobra.Command {
	var only *cli.FilterFlag
	about := &openFlags{}
	c := &cobra.Command{
		Use: "open [flags] FILE | NAME[@VERSION] | --session NAME", Annotations: cli.Rule("one"), Short: "Open a server by its name in a registry, its server.json or bundle, or a file of recorded traffic",
		Long: "With the name of a server, open looks it up in a registry, asks for what it needs, shows what it would run or contact, and opens it once that is trusted; " +
			"with a server.json, or a bundle (.mcpb), it does the same without a registry. A name that is not there is searched for.\n\n" +
			"With a file of recorded traffic, open shows what a file recorded, without connecting to anything: in the traffic screen on a terminal, as one JSON line per entry elsewhere. " +
			"It reads what --journal and tap write, sessions of mcpsnoop, exports of the MCP Inspector and HTTP archives (HAR), each also compressed with gzip. " +
			"The file may still be written to; - is standard input.\n\n" +
			"With --session it opens a kept session, and shows what other commands do there while they do it.",
		Example: "  mcphud open io.github.owner/name@1.2.0 --set API_KEY=secret\n  mcphud open ./server.json --print\n  mcphud open notes.mcpb --list\n  mcphud open io.github.owner/name --save claude-code\n  mcphud open session.jsonl\n  mcphud open browser.har\n  mcphud open session.jsonl.gz --format text | less\n  mcphud open session.jsonl --filter 'status:error >1s'",
		Args:    cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.open(ctx, cmd, args, only, about)
		}),
	}
	about.register(c)
	only = cli.AddFilter(c.Flags())
	return c
}

// openKept opens the UI on a kept session.
func (a *app) openKept(ctx context.Context, cmd *cobra.Command) error {
	s, err := a.Options.Target(cmd, nil, false)
	if err != nil {
		return err
	}
	where, err := config.System()
	if err != nil {
		return err
	}
	return ui.Open(ctx, a.App, ui.Start{Servers: []config.Server{s}, Connect: s.Name, Configs: &servers.Configs{Where: where}})
}

func (a *app) open(ctx context.Context, cmd *cobra.Command, args []string, only *cli.FilterFlag, about *openFlags) (err error) {
	if hidden := cli.HiddenFlag(cmd); hidden != "" {
		return failure.UsageError("--"+hidden+" does not apply to open, which connects to no server", "see mcphud open --help")
	}
	if len(args) == 0 && a.Options.Session != "" {
		return a.openKept(ctx, cmd)
	}
	if len(args) != 1 || cmd.ArgsLenAtDash() >= 0 || a.Options.Session != "" {
		return failure.UsageError(fmt.Sprintf("open takes one file, and got %d arguments", len(args)), "write mcphud open FILE")
	}
	if mcpb.IsBundle(args[0]) {
		return a.openBundle(ctx, args[0], about)
	}
	if doc := described.File(args[0]); doc.Document != nil || named(args[0]) {
		return a.openServer(ctx, args[0], about)
	}
	if name := about.any(cmd); name != "" {
		if _, err := os.Stat(args[0]); err != nil && args[0] != "-" {
			return cli.FileError(err)
		}
		return failure.UsageError("--"+name+" does not apply to "+args[0]+", which is not the description of a server", "see mcphud open --help")
	}
	if err := only.Parse(); err != nil {
		return err
	}
	f, err := a.OpenJournal(ctx, args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	defer func() { a.Unread(f) }()
	cfg := tui.Config{Linear: a.Options.Linear}
	if !a.Options.Printed() && output.Terminal(a.Out) && !cfg.LinearMode() {
		return a.openUI(ctx, f, only.Text)
	}
	if err := f.Wait(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	p := &cli.Follower{J: f.Journal, Out: a.LinePrinter(), Only: only.Filter}
	if err := p.Drain(); err != nil {
		return err
	}
	return cli.FileError(f.Progress().Err)
}

// openUI shows a file in the screens for traffic of others.
func (a *app) openUI(ctx context.Context, f *importer.File, filter string) error {
	// The index of a large file is most of the memory, grows once and has few pointers: room for as much garbage again is not worth it.
	debug.SetGCPercent(40)
	m := session.NewManager(session.Options{Journal: f.Journal, ClientInfo: cli.ClientInfo()})
	defer m.Close()
	targets, end, err := a.Targets()
	if err != nil {
		return err
	}
	defer end()
	changed, done := make(chan struct{}, 1), make(chan struct{})
	work, stop := context.WithCancel(ctx)
	defer func() { stop(); <-done }()
	go func() {
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-work.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			select {
			case changed <- struct{}{}:
			default:
			}
			if f.Progress().Done {
				tick.Stop()
			}
		}
	}()
	name := filepath.Base(f.Name)
	cfg := tui.Config{
		Views: views.Watch(traffic.Foreign{
			Targets: targets,
			Empty:   func() (what, next string) { return nothingIn(name, f.Progress()) },
			Over:    func() bool { return f.Progress().Done && quiet(f.Journal) },
		}),
		Sessions: m,
		Idle:     func() string { return "open " + name + readState(f.Progress()) }, Changed: changed,
		Filter: filter, Report: cli.Issues,
	}
	defer a.Personal(&cfg)()
	return tui.Run(ctx, cfg)
}

// quiet is whether nothing was written to a file for so long that nobody writes to it any more.
func quiet(j *journal.Journal) bool {
	const long = time.Minute
	e, ok := j.Get(j.First() + uint64(j.Len()) - 1)
	return ok && time.Since(e.Time) > long
}

// readState is what the status line says of reading a file, behind its name.
func readState(p importer.Progress) string {
	s := ""
	switch {
	case p.Err != nil:
		s = " · reading stopped"
	case !p.Done && p.Total > 0:
		s = fmt.Sprintf(" · read %d %%", 100*p.Read/p.Total)
	case !p.Done:
		s = " · reading"
	}
	if p.Bad > 0 {
		s += " · " + text.Count(p.Bad, "bad part", "bad parts")
	}
	if p.Partial > 0 {
		s += " · last line not complete"
	}
	if p.Other > 0 {
		s += fmt.Sprintf(" · %d not about MCP", p.Other)
	}
	return s
}

// nothingIn is what a list without entries says.
func nothingIn(name string, p importer.Progress) (what, next string) {
	switch {
	case p.Err != nil:
		return "Reading stopped.", p.Err.Error()
	case !p.Done:
		return "Reading " + name + ".", ""
	}
	if list := cli.Problems(p); len(list) > 0 {
		return "No entries in " + name + ".", strings.Join(list, " · ")
	}
	return "No entries in " + name + ".", "They appear here as soon as something is written to it."
}
