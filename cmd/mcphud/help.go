package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/agentsrv/profiles/mock"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/traffic/again"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// readme is the manual of mcphud in scripts, in Markdown.
//
//go:embed README.md
var readme string

// ci is the manual of mcphud in CI, in Markdown.
//
//go:embed CI.md
var ci string

// topic is a manual that `mcphud help` prints.
type topic struct {
	name, alias string
	about       string
	text        string // Markdown
}

// topics are the manuals of the folders, each embedded by its own package.
func topics() []topic {
	return []topic{
		{"scripts", "formats", "mcphud in scripts: arguments, output formats, exit codes", readme},
		{"ci", "trust", "mcphud in CI: run, check and bench, reports, exit codes, trust", ci},
		{"inspector", "cli", "the official Inspector's command line, --cli", inspector.README},
		{"keys", "", "what every key does on every screen", tui.KEYS},
		{"inbox", "questions", "answering what servers ask: elicitation, sampling, roots", pending.README},
		{"login", "oauth", "logging in to servers, with a browser, over SSH and in CI", auth.README},
		{"servers", "", "files with servers: which are read, what is in them", config.README},
		{"config", "settings", "config.yaml: theme, keys, layout and all other settings", userconfig.README},
		{"doctor", "diagnose", "why a server does not connect: the stages, the report", doctor.README},
		{"check", "rules", "is this server good: sections, rules, reports", check.README},
		{"network", "proxy", "proxies, certificates, Unix sockets, HTTP/2", transport.NETWORK},
		{"registry", "bundles", "servers by name: registries, server.json, bundles", registry.README},
		{"agent", "", "the bundled agent: tools, limits, settings", agentsrv.README},
		{"mock", "", "serving a file of recorded traffic", mock.README},
		{"router", "", "the router: routes, tokens, management, web pages", proxy.README},
		{"scale", "replicas", "agents and routers on several machines: what they share, what bounds them", queue.README},
		{"stack", "up", "several agents and a router from one file", stack.README},
		{"traffic", "filter", "the traffic screen, and the filter that selects entries", filter.README},
		{"bench", "load", "measuring a server under load", bench.README},
		{"again", "compare", "sending requests again, and comparing the answers", again.README},
		{"tap", "wrap", "watching what other clients say", tap.README},
		{"history", "calls", "calls that were made before, and named calls as files", history.README},
		{"journal", "har", "files of recorded traffic: opening, redacting, cutting, merging, exporting", journal.README},
		{"trace", "hops", "what a call did at each hop: client, router, agents", trace.README},
		{"changes", "whatsnew", "what changed in each version", ui.Changelog},
		{"speed", "budgets", "performance budgets and measured figures", session.Budgets},
	}
}

func (a *app) helpCommand() *cobra.Command {
	var list strings.Builder
	widest := 0
	for _, t := range topics() {
		widest = max(widest, len(t.name))
	}
	for _, t := range topics() {
		fmt.Fprintf(&list, "  %-*s  %s\n", widest, t.name, t.about)
	}
	return &cobra.Command{
		Use: "help [TOPIC | COMMAND…]", Short: "Explain a topic or a command",
		Long: "Prints the manual of a topic, formatted on a terminal and as Markdown elsewhere, or the flags of a command.\n\nTopics:\n\n" +
			strings.TrimRight(list.String(), "\n"),
		Example: "  mcphud help keys\n  mcphud help agent | less\n  mcphud help tools call",
		Args:    cobra.ArbitraryArgs,
		RunE:    a.Action(a.help),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var found []cobra.Completion
			if len(args) == 0 {
				for _, t := range topics() {
					found = append(found, cobra.CompletionWithDesc(t.name, t.about))
				}
			}
			if parent, rest, err := a.Root.Find(args); err == nil && len(rest) == 0 {
				for _, c := range parent.Commands() {
					if c.IsAvailableCommand() && c.Name() != "help" {
						found = append(found, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// help prints a topic's manual or a command's flags. A word that is both means the manual: the command has --help.
func (a *app) help(ctx context.Context, cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		if err := a.ShowHelp(a.Root); err != nil {
			return err
		}
		_, err := io.WriteString(output.Stdout{File: a.Out}, "\n"+cmd.Long+"\n")
		return err
	}
	names := cli.Subcommands(a.Root)
	for _, t := range topics() {
		if len(args) == 1 && (args[0] == t.name || args[0] == t.alias) {
			return a.manual(ctx, t.text)
		}
		names = append(names, t.name)
	}
	about, rest, err := a.Root.Find(args)
	if err != nil || len(rest) > 0 || about == a.Root {
		wrong, see := args[0], "mcphud help"
		if err == nil && about != a.Root { // a subcommand of what was found
			wrong, names, see = rest[0], cli.Subcommands(about), about.CommandPath()+" --help"
		}
		return failure.UsageError(fmt.Sprintf("there is no topic or command %q", strings.Join(args, " ")), output.DidYouMean(wrong, names)+"see "+see)
	}
	return a.ShowHelp(about)
}

// manual writes Markdown: rendered on a terminal, as it is elsewhere.
func (a *app) manual(ctx context.Context, text string) error {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "<!--") { // where the generated parts begin and end
			b.WriteString(line)
		}
	}
	text = b.String()
	if output.Terminal(a.Out) {
		profile := colorprofile.Detect(a.Out, os.Environ())
		palette, ok := themes.Find(os.Getenv("MCPHUD_THEME"))
		if !ok {
			// Not every terminal answers, so it is not asked in vain.
			dark := profile <= colorprofile.ASCII || lipgloss.HasDarkBackground(a.In, a.Out)
			palette = themes.Default(dark)
		}
		doc, err := widget.Markdown(ctx, paint.New(palette, profile), text, min(output.WidthOf(a.Out), 120))
		if err != nil {
			return err
		}
		text = strings.Join(doc.Lines, "\n") + "\n"
	}
	_, err := io.WriteString(output.Stdout{File: a.Out}, text)
	return err
}
