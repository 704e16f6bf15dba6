package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/servers"
)

// addRegistry gives a command the flag that names a registry.
func addRegistry(f *pflag.FlagSet) *string {
	return f.String("registry", "", "look servers up in the registry at `URL` (default "+registry.Official+"); MCPHUD_REGISTRY, registry.url of config.yaml")
}

// registryAt is the registry that a flag names, else the environment, else config.yaml.
func (a *app) registryAt(flag string) (*registry.Client, error) {
	base := cmp.Or(flag, os.Getenv("MCPHUD_REGISTRY"))
	if base == "" {
		where, err := config.System()
		if err != nil {
			return nil, err
		}
		set := userconfig.Default()
		if dir := where.ConfigDir(); dir != "" {
			if set, err = userconfig.Load(filepath.Join(dir, "config.yaml")); err != nil {
				return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file"}
			}
		}
		base = cmp.Or(set.RegistryURL, registry.Official)
	}
	if err := config.CheckProxy(a.o.proxy); err != nil {
		return nil, usageError("--proxy "+err.Error(), "see mcphud help network")
	}
	return registry.Open(config.Server{URL: base, Proxy: a.o.proxy, CA: a.o.ca}, nil)
}

// registryCache is the list of a registry that is kept on disk.
func registryCache(c *registry.Client) *registry.Cache {
	return registry.OpenCache(cacheDir(), c.Base())
}

// cacheDir is mcphud's folder for what can be fetched again, "" where there is none.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mcphud")
}

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
		base := addRegistry(c.cmd.Flags())
		c.cmd.Args = cobra.ArbitraryArgs
		c.cmd.RunE = a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if hidden := hiddenFlag(cmd); hidden != "" {
				return usageError("--"+hidden+" does not apply to "+cmd.CommandPath()+", which connects to no server", "see "+cmd.CommandPath()+" --help")
			}
			if n := len(args); cmd.ArgsLenAtDash() >= 0 || c.args == "none" && n > 0 || c.args == "one" && n != 1 || c.args == "some" && n == 0 {
				return usageError(fmt.Sprintf("%s got %d arguments", cmd.CommandPath(), n), "write "+cmd.Root().Name()+" registry "+cmd.Use)
			}
			from, err := a.registryAt(*base)
			if err != nil {
				return err
			}
			defer from.Close()
			return c.run(ctx, from, args)
		})
	}
	return a.group("registry", "Find servers in an MCP registry", search, show, versions, sync)
}

// foundServer is one line of a search.
type foundServer struct {
	Name        string    `json:"name"`
	Title       string    `json:"title,omitempty"`
	Version     string    `json:"version"`
	Status      string    `json:"status"`
	Kinds       []string  `json:"kinds"` // remote, npm, pypi, oci, nuget, mcpb …
	Description string    `json:"description"`
	Updated     time.Time `json:"updated,omitzero"`
}

func foundOf(s registry.Summary) foundServer {
	kinds := strings.Fields(s.Kinds)
	if kinds == nil {
		kinds = []string{}
	}
	return foundServer{s.Name, s.Title, s.Version, cmp.Or(s.Status, "active"), kinds, s.Description, s.Updated}
}

// lookFor searches the registry, or the list that is kept where it cannot be reached.
func (a *app) lookFor(ctx context.Context, c *registry.Client, what string, limit int) ([]foundServer, error) {
	found := []foundServer{}
	bad, err := c.List(ctx, registry.Query{Search: what, Version: "latest", Most: max(2000, 2*limit)}, func(page []registry.Entry) bool {
		for _, e := range page {
			if len(found) < limit && e.Status != "deleted" {
				found = append(found, foundOf(registry.SummaryOf(e)))
			}
		}
		return len(found) < limit
	})
	if bad > 0 {
		a.note(fmt.Sprintf("mcphud: %s left out: their descriptions cannot be read", count(bad, "server", "servers")))
	}
	if failure.KindOf(err) != failure.Transport {
		return found, err
	}
	list, bad2 := registryCache(c).Load()
	if bad2 != nil || list.Synced.IsZero() {
		return found, err
	}
	a.note("mcphud: " + err.Error() + "; searching the list of " + list.Synced.Local().Format(time.DateTime))
	return foundIn(list, what, limit), nil
}

func foundIn(list registry.List, what string, limit int) []foundServer {
	found := []foundServer{}
	for _, s := range list.Search(what) {
		if len(found) < limit {
			found = append(found, foundOf(s))
		}
	}
	return found
}

func (a *app) registrySearch(ctx context.Context, c *registry.Client, what string, limit int) error {
	if limit <= 0 {
		return usageError(fmt.Sprintf("--limit is %d, and must be more than 0", limit), "give it as --limit 50")
	}
	found, err := a.lookFor(ctx, c, what, limit)
	if err != nil {
		return err
	}
	raw, err := marshalForeign(map[string]any{"servers": found})
	if err != nil {
		return err
	}
	p := a.printer()
	return p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		if len(found) == 0 {
			t.block("no server matches; mcphud registry search with another word")
			return
		}
		t.table(p.width, foundRows(found))
	}})
}

func foundRows(found []foundServer) (rows [][]string) {
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
	if raw, err = marshalForeign(e.Raw); err != nil {
		return err
	}
	p := a.printer()
	return p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		t.safeFields([][2]string{
			{"name", e.Name},
			{"title", e.Title},
			{"version", e.Document.Version},
			{"status", statusOf(e)},
			{"description", e.Description},
			{"repository", cmp.Or(e.Repository.URL, "none is named")},
			{"website", e.WebsiteURL},
			{"published", shortDate(e.Published)},
		}...)
		for _, way := range e.Candidates(onPath) {
			t.block("\n" + safe.Line(way.Title, 300))
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
			t.safeFields(rows...)
		}
	}})
}

// safeFields is fields for what others wrote.
func (t *textOutput) safeFields(rows ...[2]string) {
	for i, r := range rows {
		rows[i] = [2]string{strings.TrimRight(r[0][:len(r[0])-len(strings.TrimLeft(r[0], " "))]+safe.Line(r[0], 120), " "), safe.Line(r[1], 2000)}
	}
	t.fields(rows...)
}

func shortDate(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.DateTime)
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
		rows = append(rows, []string{e.Document.Version, shortDate(e.Published), statusOf(e)})
	}
	raw, err := marshalForeign(map[string]any{"name": name, "versions": lines})
	if err != nil {
		return err
	}
	p := a.printer()
	return p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) { t.table(p.width, rows) }})
}

func (a *app) registrySync(ctx context.Context, c *registry.Client) error {
	cache := registryCache(c)
	old, err := cache.Load()
	if err != nil {
		return err
	}
	began, said := time.Now(), time.Now()
	list, bad, err := cache.Sync(ctx, c, old, func(n int) {
		if terminal(a.err) && time.Since(said) > progressEvery {
			said = time.Now()
			fmt.Fprintf(a.err, "\r%d servers", n)
		}
	})
	if terminal(a.err) {
		fmt.Fprint(a.err, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	raw, err := marshalForeign(map[string]any{"registry": c.Base(), "servers": len(list.Servers), "unreadable": bad, "took": ms(time.Since(began))})
	if err != nil {
		return err
	}
	p := a.printer()
	return p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		t.block(fmt.Sprintf("%s of %s in %s", count(len(list.Servers), "server", "servers"), c.Base(), text.Duration(time.Since(began))))
	}})
}

// splitVersion takes NAME@VERSION apart.
func splitVersion(what string) (name, version string) {
	name, version, _ = strings.Cut(what, "@")
	return name, version
}

func notAName(name string) error {
	return usageError(fmt.Sprintf("%q is not the name of a server", text.Clip(name, 100)), "write it as NAMESPACE/NAME; mcphud registry search finds names")
}

// published is a version of a server, "" for the latest: from the registry, or from the list that is kept where that cannot be reached.
func (a *app) published(ctx context.Context, c *registry.Client, name, version string) (registry.Entry, error) {
	if !registry.ValidName(name) {
		return registry.Entry{}, notAName(name)
	}
	e, err := c.Version(ctx, name, version)
	switch failure.KindOf(err) {
	case failure.Transport:
		list, _ := registryCache(c).Load()
		if s, ok := list.Find(name); ok && (version == "" || s.Version == version) {
			if kept, bad := list.Entry(s); bad == nil {
				a.note("mcphud: " + err.Error() + "; taking what was said on " + list.Synced.Local().Format(time.DateTime))
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
func meant(found []foundServer) string {
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	if names == nil {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "? "
}

// publishedServers is where the UI finds servers that others have published.
func (a *app) publishedServers() *servers.Published {
	return &servers.Published{
		Open: func() (*registry.Client, *registry.Cache, error) {
			c, err := a.registryAt(a.o.registry)
			if err != nil {
				return nil, nil, err
			}
			return c, registryCache(c), nil
		},
		Host: a.publishedHost,
		Look: onPath,
		Recall: func(ctx context.Context, scope string) (map[string]string, error) {
			kept, err := keptInputs()
			if err != nil {
				return nil, err
			}
			return kept.Recall(ctx, scope)
		},
		Keep: func(ctx context.Context, scope string, in []setup.Input, values map[string]string) error {
			kept, err := keptInputs()
			if err != nil {
				return err
			}
			return kept.Keep(ctx, scope, in, values)
		},
	}
}
