package servers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/servers"
)

// openFlags are those of open that are about servers.
type openFlags struct {
	registry *string
	pack     int
	remote   bool
	save     string
	print    bool
	list     bool
}

func (o *openFlags) register(c *cobra.Command) {
	f := c.Flags()
	o.registry = ui.AddRegistry(f)
	f.IntVar(&o.pack, "package", 0, "start package `N` of the description")
	f.BoolVar(&o.remote, "remote", false, "use a remote of the description, and run nothing here")
	f.StringVar(&o.save, "save", "", "save the server in `FILE`, or in the file of a client such as claude-code, instead of opening it")
	f.BoolVar(&o.print, "print", false, "print what would be started or contacted, and do nothing")
	f.BoolVar(&o.list, "list", false, "print what is in a bundle and what it would run, and do nothing")
}

// any is a flag that was given, "" for none.
func (o *openFlags) any(c *cobra.Command) string {
	for _, name := range []string{"registry", "package", "remote", "save", "print", "list", "set", "proxy", "ca", "sandbox"} {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// named reports whether what open was given is rather meant for a registry than as a file: there is no such file, and it has the
// form of a name, or of one word.
func named(what string) bool {
	name, _ := splitVersion(what)
	if _, err := os.Stat(what); !errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(what, ".") {
		return false
	}
	if registry.ValidName(name) {
		return strings.Contains(registry.Namespace(name), ".")
	}
	return !strings.ContainsAny(name, `./\`) && name != "" && name != "-"
}

// openServer opens a server by its description: a file, or what a registry has under a name.
func (a *app) openServer(ctx context.Context, what string, f *openFlags) error {
	a.Options.Registry = *f.registry
	e := described.File(what)
	if e.Document == nil {
		c, err := ui.RegistryAt(a.App, *f.registry)
		if err != nil {
			return err
		}
		defer c.Close()
		found, err := a.lookUp(ctx, c, what)
		if err != nil {
			return err
		}
		e = described.Listed(c, found)
	}
	if e.Status == "deprecated" || e.Status == "deleted" {
		a.Note("mcphud: " + safe.Line(e.Name+" is "+statusOf(e.Entry), 300))
	}
	way, err := a.way(ctx, e.Entry, f)
	if err != nil {
		return err
	}
	if f.list && way.Bundle == nil {
		return failure.UsageError("--list is for bundles, and "+safe.Line(way.Title, 100)+" is none", "--print shows what it would start; --package N names another")
	}
	if way.Missing != "" {
		if !f.print && f.save == "" {
			return &failure.Error{Kind: failure.SpawnFailed, Server: e.Name, Message: way.Missing, Next: "install it, or choose another way with --package N or --remote"}
		}
		a.Note("mcphud: " + way.Missing)
	}
	if way.Bundle != nil && f.print {
		return &failure.Error{
			Kind: failure.Usage, Server: e.Name, Message: "what it runs stands in the bundle " + mask.URL(way.Bundle.URL) + ", which is not downloaded yet",
			Next: "--list downloads it and shows what is in it",
		}
	}
	host, err := ui.PublishedHost(a.App)
	if err != nil && way.Bundle != nil {
		return err
	}
	if f.list {
		file, err := host.Download(ctx, e.Name, way.Bundle, nil)
		if err != nil {
			return err
		}
		return a.listBundle(file, host)
	}
	host.Proxy = a.Options.Proxy
	o, err := host.Way(ctx, e, way, nil)
	if err != nil {
		return err
	}
	return a.openOffer(ctx, o, f)
}

// openOffer asks for what a server needs, then prints, saves or opens it.
func (a *app) openOffer(ctx context.Context, o *described.Offer, f *openFlags) error {
	given, err := a.Options.Given()
	if err != nil {
		return err
	}
	before := maps.Clone(given)
	a.Recall(ctx, o.Scope, o.Inputs, given)
	maps.Copy(before, given)
	values, err := a.Fill(ctx, o.Name, o.Inputs, given)
	if err != nil {
		return err
	}
	s, err := o.Server(values)
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Server: o.Name, Message: err.Error(), Err: err, Next: "give other values with --set KEY=VALUE"}
	}
	if err := a.Options.Sandbox.Shut(&s); err != nil {
		return err
	}
	lacks := o.Missing(s)
	if !f.print { // which starts nothing
		lacks = o.Lacks(ctx, s)
	}
	for _, n := range lacks {
		a.Note("mcphud: " + safe.Line(o.Name+": "+n, 300))
	}
	if f.print {
		return a.printServer(s)
	}
	if err := o.Prepare(); err != nil {
		return err
	}
	if f.save != "" {
		return a.saveServer(ctx, f.save, s)
	}
	if err := a.Remember(ctx, o.Scope, o.Inputs, before, given); err != nil {
		return err
	}
	for _, i := range o.After {
		a.Note("mcphud: once it is installed, its publisher says: " + safe.Line(strings.TrimSpace(i.Description+" "+i.Command), 400))
	}
	where, err := config.System()
	if err != nil {
		return err
	}
	start := ui.Start{Servers: []config.Server{s}, Open: s.Name, Configs: &servers.Configs{Where: where}}
	if !output.Terminal(a.In) && !a.Options.Trust().Trusted(s) {
		return &failure.Error{
			Kind: failure.ServerDisabled, Server: o.Name, Message: "not trusted yet: what it would run or contact comes from " + o.From,
			Next: "run it on a terminal, which shows that and asks; --print shows it, --save keeps it",
		}
	}
	return ui.Open(ctx, a.App, start)
}

// lookUp is a server by its exact name, or the one that is picked from what a search finds.
func (a *app) lookUp(ctx context.Context, c *registry.Client, what string) (registry.Entry, error) {
	name, version := splitVersion(what)
	if registry.ValidName(name) {
		e, err := a.published(ctx, c, name, version)
		if failure.KindOf(err) != failure.ServerNotFound || !output.Terminal(a.In) || !output.Terminal(a.Err) || version != "" {
			return e, err
		}
		_, name, _ = strings.Cut(name, "/")
	}
	const most = 20
	found, err := a.lookFor(ctx, c, name, most)
	switch {
	case err != nil:
		return registry.Entry{}, err
	case len(found) == 0 || !output.Terminal(a.In) || !output.Terminal(a.Err):
		return registry.Entry{}, &failure.Error{
			Kind: failure.ServerNotFound, Server: what, Message: "no file and no server of this name", Next: meant(found[:min(len(found), 3)]) + "mcphud registry search finds names",
		}
	}
	rows := make([]string, len(found))
	for i, f := range found {
		rows[i] = fmt.Sprintf("%s %s  %s", f.Name, f.Version, f.Description)
	}
	n, err := a.pick(ctx, fmt.Sprintf("No server is called %s. Which one is meant?", safe.Line(what, 80)), rows)
	if err != nil {
		return registry.Entry{}, err
	}
	return a.published(ctx, c, found[n].Name, "")
}

// pick lets one of several be chosen by its number.
func (a *app) pick(ctx context.Context, question string, rows []string) (int, error) {
	fmt.Fprintln(a.Err, question)
	for i, r := range rows {
		fmt.Fprintf(a.Err, "  %2d  %s\n", i+1, safe.Line(r, max(output.WidthOf(a.Err)-6, 40)))
	}
	for {
		fmt.Fprintf(a.Err, "1-%d, or nothing to leave: ", len(rows))
		line, err := cli.ReadLine(ctx, a.In)
		if err != nil {
			return 0, err
		}
		if line == "" {
			return 0, failure.UsageError("nothing was chosen", "")
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(rows) {
			return n - 1, nil
		}
	}
}

// way is the candidate that the flags name, or that is picked, or the best one.
func (a *app) way(ctx context.Context, e registry.Entry, f *openFlags) (registry.Candidate, error) {
	var good []registry.Candidate
	var why []string
	for _, c := range e.Candidates(ui.OnPath) {
		switch {
		case f.remote && !c.Remote() || f.pack > 0 && (c.Remote() || c.Number != f.pack):
		case c.Refused != nil:
			why = append(why, c.Title+": "+c.Refused.Error())
		default:
			good = append(good, c)
		}
	}
	switch {
	case len(good) == 0 && why == nil && (f.remote || f.pack > 0):
		return registry.Candidate{}, &failure.Error{Kind: failure.Usage, Server: e.Name, Message: fmt.Sprintf("it has %d packages and %d remotes", len(e.Packages), len(e.Remotes)), Next: "name one of them"}
	case len(good) == 0 && why == nil:
		return registry.Candidate{}, &failure.Error{Kind: failure.SpawnFailed, Server: e.Name, Message: "its description names neither a package nor a remote", Next: cmpOr(e.WebsiteURL, "see "+e.WebsiteURL, "see "+e.Repository.URL)}
	case len(good) == 0:
		return registry.Candidate{}, &failure.Error{Kind: failure.SpawnFailed, Server: e.Name, Message: "it cannot be started: " + text.Clip(strings.Join(why, "; "), 600), Next: "see " + e.Repository.URL}
	}
	ready := 0
	for _, c := range good {
		if c.Missing == "" {
			ready++
		}
	}
	if ready < 2 || !output.Terminal(a.In) || !output.Terminal(a.Err) {
		return good[0], nil
	}
	rows := make([]string, ready)
	for i, c := range good[:ready] {
		rows[i] = c.Title
	}
	n, err := a.pick(ctx, safe.Line(e.Name, 100)+" can be reached in several ways:", rows)
	return good[n], err
}

func cmpOr(s, with, without string) string {
	if s == "" {
		return without
	}
	return with
}

// printServer prints what a server would run or contact, secrets masked.
func (a *app) printServer(s config.Server) error {
	return a.Printer().Show(output.Foreign{Value: s.Masked()}, func(t *output.Text) {
		var rows [][2]string
		for _, f := range config.Describe(s) {
			rows = append(rows, [2]string{f.Label, safe.Text(f.Value)}) // untruncated: any part of it may be what runs
		}
		t.Fields(rows...)
	})
}

// agreeToSave shows what a server would run or contact for whoever reads the file, and asks on a terminal whether to write it there.
func (a *app) agreeToSave(ctx context.Context, file string, s config.Server) error {
	var b strings.Builder
	for _, f := range config.Describe(s) {
		fmt.Fprintf(&b, "  %-12s %s\n", f.Label, safe.Text(f.Value))
	}
	fmt.Fprintf(a.Err, "Whatever reads %s would run or contact exactly this:\n%s", safe.Line(file, 300), b.String())
	if !output.Terminal(a.In) || !output.Terminal(a.Err) {
		return nil
	}
	fmt.Fprint(a.Err, "Write it there? [y/N] ")
	line, err := cli.ReadLine(ctx, a.In)
	if err == nil && !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
		err = failure.UsageError("nothing was saved", "")
	}
	return err
}

// saveServer adds a server to a file of a client or of mcphud.
func (a *app) saveServer(ctx context.Context, to string, s config.Server) error {
	where, err := config.System()
	if err != nil {
		return err
	}
	file, err := where.Destination(to)
	if err != nil {
		return cli.EditFailure(err)
	}
	change, err := where.AddEntry(file, s)
	if err != nil {
		return cli.EditFailure(err)
	}
	if err := a.agreeToSave(ctx, change.File, s); err != nil {
		return err
	}
	backup, err := change.Save()
	if err != nil {
		return cli.EditFailure(err)
	}
	a.WarnOf(change.Lost)
	notes := append([]string{}, change.Notes...)
	if s.Source.Published != nil {
		notes = append(notes, s.Source.Published.Warnings...)
	}
	return a.Printer().Show(output.Foreign{Value: map[string]any{"file": change.File, "server": s.Name, "backup": backup, "notes": notes}}, func(t *output.Text) {
		t.Block(change.Diff())
		for _, n := range append(notes, change.Next) {
			if n != "" {
				t.Block(safe.Line(n, 0))
			}
		}
	})
}

// aboutInput is what an input wants, in words.
func aboutInput(i setup.Input) string {
	var about []string
	for _, x := range []struct {
		is   bool
		what string
	}{
		{i.Required && i.Default == "", "required"},
		{i.Secret, "secret"},
		{i.Default != "", "default " + i.Default},
		{i.Repeated, "several"},
		{i.Fixed != "", "fixed"},
		{len(i.Choices) > 0, "one of " + strings.Join(i.Choices, " | ")},
		{i.Description != "", i.Description},
	} {
		if x.is {
			about = append(about, x.what)
		}
	}
	return strings.Join(about, "; ")
}
