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
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/traffic"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// readme is the manual of mcphud in scripts, in Markdown.
//
//go:embed README.md
var readme string

// topic is a manual that `mcphud help` prints.
type topic struct {
	name, about string
	text        string // Markdown
	parts       []part
}

// part is another name for a topic, of the section with this heading or, without one, of the whole.
type part struct{ name, heading string }

// topics are the manuals, each embedded by the package of its folder.
func topics() []topic {
	return []topic{
		{"keys", "what every key does on every screen", tui.KEYS, nil},
		{"servers", "servers: files, entries, sandbox, registries and bundles, networks", config.README, []part{
			{"sandbox", "Sandbox"}, {"registry", "Servers by name"}, {"bundles", "Servers by name"}, {"network", "Networks"}, {"proxy", "Networks"},
		}},
		{"login", "logging in to servers, with a browser, over SSH and in CI", auth.README, []part{{"oauth", ""}}},
		{"config", "config.yaml: theme, keys, layout and all other settings", userconfig.README, []part{{"settings", "Reference"}, {"themes", "Themes"}}},
		{"scripts", "in scripts and CI: arguments, output, exit codes, answers, --cli", readme, []part{
			{"formats", "Output and exit codes"},
			{"inbox", "What servers ask"},
			{"questions", "What servers ask"},
			{"ci", "In CI"},
			{"trust", "In CI"},
			{"inspector", "The Inspector's command line"},
			{"cli", "The Inspector's command line"},
		}},
		{"history", "calls that were made before, and named calls as files and tests", calls.README, []part{{"calls", ""}}},
		{"traffic", "recorded traffic: filter, tap, trace, comparing, journal files", traffic.README, []part{
			{"filter", "The filter"},
			{"tap", "Other clients"},
			{"wrap", "Other clients"},
			{"trace", "The hops of a call"},
			{"hops", "The hops of a call"},
			{"again", "Sending again, and comparing"},
			{"compare", "Sending again, and comparing"},
			{"journal", "Journal files"},
			{"har", "Journal files"},
		}},
		{"check", "is this server good: check, doctor, bench", check.README, []part{
			{"rules", ""},
			{"doctor", "Why a server does not connect"},
			{"diagnose", "Why a server does not connect"},
			{"bench", "Measuring under load"},
			{"load", "Measuring under load"},
			{"speed", "Measuring under load"},
			{"budgets", "Measuring under load"},
		}},
		{"agent", "the bundled agent: tools, clients, settings; mock: a recording as a server", agentsrv.README, []part{{"mock", "A recording as a server"}}},
		{"router", "the router, stacks of agents, several machines", proxy.README, []part{
			{"stack", "A stack of agents"}, {"up", "A stack of agents"}, {"scale", "Several machines"}, {"replicas", "Several machines"},
		}},
		{"changes", "what each version has", ui.Changelog, []part{{"whatsnew", ""}}},
	}
}

// manual is the text of a topic, or of a part of one, in Markdown.
func manual(name string) (text string, ok bool) {
	for _, t := range topics() {
		if t.name == name {
			return t.text, true
		}
		for _, p := range t.parts {
			switch {
			case p.name != name:
			case p.heading == "":
				return t.text, true
			default:
				return section(t.text, p.heading) + "\nThe whole manual: `mcphud help " + t.name + "`.\n", true
			}
		}
	}
	return "", false
}

// section is what a text has below a heading of the second level, with it.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, "\n## "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	return "# " + heading + "\n" + strings.TrimRight(rest, "\n") + "\n"
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
		Long: "Prints the manual of a topic, formatted on a terminal and as Markdown elsewhere, or the flags of a command.\n\n" +
			"With --format json it prints the commands with their flags and examples, the exit codes and the kinds of errors as one document.\n\nTopics:\n\n" +
			strings.TrimRight(list.String(), "\n"),
		Example: "  mcphud help keys\n  mcphud help agent | less\n  mcphud help tools call\n  mcphud help --format json --select '.verbs[].usage'",
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
		if err := a.ShowHelp(a.Root); err != nil || a.Options.AsksJSON() {
			return err
		}
		_, err := io.WriteString(a.Printer(), "\n"+cmd.Long+"\n")
		return err
	}
	names := cli.Subcommands(a.Root)
	for _, t := range topics() {
		names = output.Union(names, []string{t.name})
		for _, p := range t.parts {
			names = output.Union(names, []string{p.name})
		}
	}
	if text, ok := manual(args[0]); ok && len(args) == 1 {
		if a.Options.AsksJSON() {
			return a.Printer().Show(map[string]string{"topic": args[0], "text": text}, nil)
		}
		return a.print(ctx, text)
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

// print writes Markdown: rendered on a terminal, as it is elsewhere.
func (a *app) print(ctx context.Context, text string) error {
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
	_, err := io.WriteString(a.Printer(), text)
	return err
}
