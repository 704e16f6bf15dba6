package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/tui/safe"
)

func (a *app) registryCommand() *cobra.Command {
	limit := 0
	search := &cobra.Command{
		Use: "search TEXT…", Short: "Search a registry for servers",
		Long: "Searches for servers whose name or description has TEXT: in the registry, or in the list that registry sync keeps where the registry cannot be reached. " +
			"The newest version of each server is printed.",
		Example: "  mcphud registry search filesystem\n  mcphud registry search github --limit 5 --format json",
	}
	search.Flags().IntVar(&limit, "limit", 50, "print at most `N` servers")
	show := &cobra.Command{
		Use: "show NAME[@VERSION]", Short: "Show what a registry says of a server",
		Long:    "Shows a server: its description, repository and status, and each way to start or reach it with what that asks for.",
		Example: "  mcphud registry show io.github.owner/name\n  mcphud registry show io.github.owner/name@1.2.0 --format json",
	}
	versions := &cobra.Command{
		Use: "versions NAME", Short: "List the versions of a server, the newest first",
		Example: "  mcphud registry versions io.github.owner/name",
	}
	sync := &cobra.Command{
		Use: "sync", Short: "Keep a registry's whole list on this machine",
		Long:    "Fetches the list of a registry, or what changed in it since, into the cache folder. The UI searches that list, also without a network.",
		Example: "  mcphud registry sync\n  mcphud registry sync --registry https://registry.example.com",
	}
	for _, c := range []struct {
		cmd  *cobra.Command
		args string
		run  func(context.Context, *registry.Client, []string) error
	}{
		{search, "some", func(ctx context.Context, c *registry.Client, words []string) error {
			return a.registrySearch(ctx, c, strings.Join(words, " "), limit)
		}},
		{show, "one", func(ctx context.Context, c *registry.Client, args []string) error {
			return a.registryShow(ctx, c, args[0])
		}},
		{versions, "one", func(ctx context.Context, c *registry.Client, args []string) error {
			return a.registryVersions(ctx, c, args[0])
		}},
		{sync, "none", func(ctx context.Context, c *registry.Client, _ []string) error { return a.registrySync(ctx, c) }},
	} {
		base := ui.AddRegistry(c.cmd.Flags())
		c.cmd.Args = cobra.ArbitraryArgs
		c.cmd.RunE = a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if hidden := cli.HiddenFlag(cmd); hidden != "" {
				return failure.UsageError("--"+hidden+" does not apply to "+cmd.CommandPath()+", which connects to no server", "see "+cmd.CommandPath()+" --help")
			}
			if n := len(args); cmd.ArgsLenAtDash() >= 0 || c.args == "none" && n > 0 || c.args == "one" && n != 1 || c.args == "some" && n == 0 {
				return failure.UsageError(fmt.Sprintf("%s got %d arguments", cmd.CommandPath(), n), "write "+cmd.Root().Name()+" registry "+cmd.Use)
			}
			from, err := ui.RegistryAt(a.App, *base)
			if err != nil {
				return err
			}
			defer from.Close()
			return c.run(ctx, from, args)
		})
	}
	return a.Group("registry", "Find servers in an MCP registry", search, show, versions, sync)
}

// FoundServer is one line of a search.
type FoundServer struct {
	Name        string    `json:"name"`
	Title       string    `json:"title,omitempty"`
	Version     string    `json:"version"`
	Status      string    `json:"status"`
	Kinds       []string  `json:"kinds"` // remote, npm, pypi, oci, nuget, mcpb …
	Description string    `json:"description"`
	Updated     time.Time `json:"updated,omitzero"`
}

func foundOf(s registry.Summary) FoundServer {
	kinds := strings.Fields(s.Kinds)
	if kinds == nil {
		kinds = []string{}
	}
	return FoundServer{s.Name, s.Title, s.Version, cmp.Or(s.Status, "active"), kinds, s.Description, s.Updated}
}

// lookFor searches the registry, or the list that is kept where it cannot be reached.
func (a *app) lookFor(ctx context.Context, c *registry.Client, what string, limit int) ([]FoundServer, error) {
	found := []FoundServer{}
	bad, err := c.List(ctx, registry.Query{Search: what, Version: "latest", Most: max(2000, 2*limit)}, func(page []registry.Entry) bool {
		for _, e := range page {
			if len(found) < limit && e.Status != "deleted" {
				found = append(found, foundOf(registry.SummaryOf(e)))
			}
		}
		return len(found) < limit
	})
	if bad > 0 {
		a.Note(fmt.Sprintf("mcphud: %s left out: their descriptions cannot be read", text.Count(bad, "server", "servers")))
	}
	if failure.KindOf(err) != failure.Transport {
		return found, err
	}
	list, bad2 := ui.RegistryCache(c).Load()
	if bad2 != nil || list.Synced.IsZero() {
		return found, err
	}
	a.Note("mcphud: " + err.Error() + "; searching the list of " + list.Synced.Local().Format(time.DateTime))
	return foundIn(list, what, limit), nil
}

func foundIn(list registry.List, what string, limit int) []FoundServer {
	found := []FoundServer{}
	for _, s := range list.Search(what) {
		if len(found) < limit {
			found = append(found, foundOf(s))
		}
	}
	return found
}

func (a *app) registrySearch(ctx context.Context, c *registry.Client, what string, limit int) error {
	if limit <= 0 {
		return failure.UsageError(fmt.Sprintf("--limit is %d, and must be more than 0", limit), "give it as --limit 50")
	}
	found, err := a.lookFor(ctx, c, what, limit)
	if err != nil {
		return err
	}
	p := a.Printer()
	return p.Show(output.Foreign{Value: map[string]any{"servers": found}}, func(t *output.Text) {
		if len(found) == 0 {
			t.Block("no server matches; mcphud registry search with another word")
			return
		}
		t.Table(p.Width, foundRows(found))
	})
}

func foundRows(found []FoundServer) (rows [][]string) {
	for _, f := range found {
		about := f.Description
		if f.Status != "active" {
			about = "! " + f.Status + ": " + about
		}
		rows = append(rows, []string{f.Name, f.Version, strings.Join(f.Kinds, " "), about})
	}
	return rows
}

func (a *app) registryShow(ctx context.Context, c *registry.Client, what string) error {
	name, version := splitVersion(what)
	e, err := a.published(ctx, c, name, version)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if raw, err = output.MarshalForeign(e.Raw); err != nil {
		return err
	}
	p := a.Printer()
	return p.Print(output.Answer{Result: raw, Frames: [][]byte{raw}, Text: func(t *output.Text) {
		printSafeFields(t, [][2]string{
			{"name", e.Name},
			{"title", e.Title},
			{"version", e.Document.Version},
			{"status", statusOf(e)},
			{"description", e.Description},
			{"repository", cmp.Or(e.Repository.URL, "none is named")},
			{"website", e.WebsiteURL},
			{"published", output.ShortDate(e.Published)},
		}...)
		for _, way := range e.Candidates(ui.OnPath) {
			t.Block("\n" + safe.Line(way.Title, 300))
			var rows [][2]string
			if way.Refused != nil {
				rows = append(rows, [2]string{"  not possible", way.Refused.Error()})
			}
			rows = append(rows, [2]string{"  needs", way.Missing})
			for _, w := range way.Warnings {
				rows = append(rows, [2]string{"  !!", w})
			}
			for _, i := range way.Inputs {
				rows = append(rows, [2]string{"  " + i.Name, aboutInput(i)})
			}
			printSafeFields(t, rows...)
		}
	}})
}

// printSafeFields is fields for what others wrote.
func printSafeFields(t *output.Text, rows ...[2]string) {
	for i, r := range rows {
		rows[i] = [2]string{strings.TrimRight(r[0][:len(r[0])-len(strings.TrimLeft(r[0], " "))]+safe.Line(r[0], 120), " "), safe.Line(r[1], 2000)}
	}
	t.Fields(rows...)
}

func statusOf(e registry.Entry) string {
	if e.Message != "" {
		return e.Status + ": " + e.Message
	}
	return e.Status
}

func (a *app) registryVersions(ctx context.Context, c *registry.Client, name string) error {
	if !registry.ValidName(name) {
		return notAName(name)
	}
	all, err := c.Versions(ctx, name)
	if err != nil {
		return err
	}
	type line struct {
		Version   string    `json:"version"`
		Status    string    `json:"status"`
		Message   string    `json:"statusMessage,omitempty"`
		Latest    bool      `json:"latest"`
		Published time.Time `json:"published,omitzero"`
	}
	lines := []line{}
	var rows [][]string
	for _, e := range all {
		lines = append(lines, line{e.Document.Version, e.Status, e.Message, e.Latest, e.Published})
		rows = append(rows, []string{e.Document.Version, output.ShortDate(e.Published), statusOf(e)})
	}
	p := a.Printer()
	return p.Show(output.Foreign{Value: map[string]any{"name": name, "versions": lines}}, func(t *output.Text) { t.Table(p.Width, rows) })
}

func (a *app) registrySync(ctx context.Context, c *registry.Client) error {
	cache := ui.RegistryCache(c)
	old, err := cache.Load()
	if err != nil {
		return err
	}
	began, said := time.Now(), time.Now()
	list, bad, err := cache.Sync(ctx, c, old, func(n int) {
		if output.Terminal(a.Err) && time.Since(said) > cli.ProgressEvery {
			said = time.Now()
			fmt.Fprintf(a.Err, "\r%d servers", n)
		}
	})
	if output.Terminal(a.Err) {
		fmt.Fprint(a.Err, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	p := a.Printer()
	return p.Show(output.Foreign{Value: map[string]any{"registry": c.Base(), "servers": len(list.Servers), "unreadable": bad, "took": output.Ms(time.Since(began))}}, func(t *output.Text) {
		t.Block(fmt.Sprintf("%s of %s in %s", text.Count(len(list.Servers), "server", "servers"), c.Base(), text.Duration(time.Since(began))))
	})
}

// splitVersion takes NAME@VERSION apart.
func splitVersion(what string) (name, version string) {
	name, version, _ = strings.Cut(what, "@")
	return name, version
}

func notAName(name string) error {
	return failure.UsageError(fmt.Sprintf("%q is not the name of a server", text.Clip(name, 100)), "write it as NAMESPACE/NAME; mcphud registry search finds names")
}

// published is a version of a server, "" for the latest: from the registry, or from the list that is kept where that cannot be reached.
func (a *app) published(ctx context.Context, c *registry.Client, name, version string) (registry.Entry, error) {
	if !registry.ValidName(name) {
		return registry.Entry{}, notAName(name)
	}
	e, err := c.Version(ctx, name, version)
	switch failure.KindOf(err) {
	case failure.Transport:
		list, _ := ui.RegistryCache(c).Load()
		if s, ok := list.Find(name); ok && (version == "" || s.Version == version) {
			if kept, bad := list.Entry(s); bad == nil {
				a.Note("mcphud: " + err.Error() + "; taking what was said on " + list.Synced.Local().Format(time.DateTime))
				return kept, nil
			}
		}
	case failure.NotFound:
		what := name
		if version != "" {
			if _, err := c.Version(ctx, name, ""); err == nil {
				return e, &failure.Error{Kind: failure.ServerNotFound, Server: name, Message: "the registry has no version " + text.Clip(version, 60), Next: "mcphud registry versions " + name + " lists them"}
			}
		}
		_, short, _ := strings.Cut(what, "/")
		near, _ := a.lookFor(ctx, c, short, 3)
		return e, &failure.Error{Kind: failure.ServerNotFound, Server: name, Message: "no such server in " + c.Base(), Next: meant(near) + "mcphud registry search finds others"}
	}
	return e, err
}

// meant names what was found instead.
func meant(found []FoundServer) string {
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	if names == nil {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "? "
}
