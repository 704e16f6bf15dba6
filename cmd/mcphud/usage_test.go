package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// eachCommand visits every command that help shows.
func eachCommand(t *testing.T, f func(a *app, c *cobra.Command)) {
	t.Helper()
	a := &app{&cli.App{Standard: cli.Standard{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, Kill: &cli.Children{}, Sent: &cli.Redactor{}}}
	a.Root = a.command(nil)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		f(a, c)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub)
			}
		}
	}
	walk(a.Root)
}

// Every command has examples, and every example is a command line that can be given.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	n := 0
	eachCommand(t, func(_ *app, c *cobra.Command) {
		if strings.HasPrefix(c.CommandPath(), "mcphud completion ") {
			return // cobra's: their text says how they are used
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			lines := commandLines("```sh\n" + strings.TrimSpace(line) + "\n```")
			if !strings.HasPrefix(line, "  ") || len(lines) == 0 && !strings.HasPrefix(line, "  echo ") {
				t.Errorf("%s: the example %q is not an indented command line", c.CommandPath(), line)
			}
			for _, args := range lines {
				parses(t, c.CommandPath(), args)
				n++
			}
		}
	})
	if n < 40 {
		t.Errorf("%d examples", n)
	}
}

// Every flag that takes a value names it, every shared flag stands under a heading, and nothing shows how it was marked up.
func TestFlagsNameTheirValues(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^(-\w, )?--[a-z-]+( [A-Z]+(=[A-Z]+)?| "Name: value")?$`)
	eachCommand(t, func(a *app, c *cobra.Command) {
		c.LocalFlags()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			if got := cli.FlagName(f); !name.MatchString(got) || f.NoOptDefVal == "" && !strings.Contains(got, " ") {
				t.Errorf("%s: %q", c.CommandPath(), got)
			}
			if strings.Contains(f.Usage, "`") {
				t.Errorf("%s --%s: %s", c.CommandPath(), f.Name, f.Usage)
			}
		})
		if c == a.Root {
			c.PersistentFlags().VisitAll(func(f *pflag.Flag) {
				if g := strings.Join(f.Annotations[flags.GroupKey], ""); !slices.ContainsFunc(flags.Groups, func(h flags.HelpGroup) bool { return h.Name == g }) {
					t.Errorf("--%s stands under no heading", f.Name)
				}
			})
		}
	})
}

// Help fits 80 columns, where a line can be broken at all, and shows what a verb needs first.
func TestHelp(t *testing.T) {
	t.Parallel()
	eachCommand(t, func(_ *app, c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		out := mcphud(t, append(path, "--help-all")...).ok(t)
		text, _, _ := strings.Cut(out, "\nExamples:")
		_, flags, _ := strings.Cut(out, "\n\nTarget:")
		for line := range strings.Lines(text + flags) {
			if line = strings.TrimRight(line, "\n"); ansi.StringWidth(line) > 80 && !strings.HasPrefix(c.CommandPath(), "mcphud completion") {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), ansi.StringWidth(line), line)
			}
		}
		if strings.Contains(out, "`") && !strings.HasPrefix(c.CommandPath(), "mcphud completion") {
			t.Errorf("%s shows how it was marked up:\n%s", c.CommandPath(), out)
		}
	})
	verb, all := mcphud(t, "tools", "call", "--help").ok(t), mcphud(t, "tools", "call", "--help-all").ok(t)
	for text, usual := range map[string]bool{
		"  --agent NAME  ": true, "  --args JSON  ": true, "\nOutput:\n": true, "--help-all shows": true,
		"\nLimits:\n": false, "  -e, --env KEY=VALUE  ": false, "  --timeout DURATION  ": false, "  -y, --yes  ": true,
	} {
		if strings.Contains(verb, text) != usual || !strings.Contains(all, text) && !strings.Contains(text, "shows") {
			t.Errorf("%q: usual %v:\n%s\n%s", text, usual, verb, all)
		}
	}
	few, every := mcphud(t, "--help").ok(t), mcphud(t, "--help-all").ok(t)
	_, more, _ := strings.Cut(few, "\nMore commands, with --help-all: ")
	more, _, _ = strings.Cut(more, "\n\n")
	eachCommand(t, func(a *app, c *cobra.Command) {
		row := "\n  " + c.Name() + " "
		if c.Parent() == a.Root && (strings.Count(every, row) != 1 || strings.Contains(few, row) == slices.Contains(strings.FieldsFunc(more, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }), c.Name())) {
			t.Errorf("%s is not in exactly one group of verbs", c.Name())
		}
	})
	for _, heading := range []string{"\nUse a server:\n", "\nProve that it works:\n", "\nRecord what is said:\n", "\nRun servers:\n"} {
		assert.Contains(t, few, heading)
	}
	if strings.Contains(all, "--linear") || !strings.Contains(mcphud(t, "--help").ok(t), "--linear") {
		t.Errorf("--linear is for a full screen:\n%s", all)
	}
	assert.Contains(t, mcphud(t, "help", "tools", "calll").stderr, "did you mean call? see mcphud tools --help")
	assert.Contains(t, mcphud(t, "tools", "list", "--pretocol", "x").stderr, "did you mean --protocol? see mcphud tools list --help")
	assert.Contains(t, mcphud(t, "help", "chekc").stderr, "did you mean check? see mcphud help")
	assert.Equalf(t, mcphud(t, "help", "tools", "call").ok(t), verb, "mcphud help tools call")
	assert.NotContains(t, mcphud(t, "completion", "bash", "--help").ok(t), "--url")
	if o := mcphud(t, fake(t, behave.Good, "tools", "list", "--help=false")...); o.code != 0 || strings.Contains(o.out, "Usage:") {
		t.Errorf("--help=false: exit %d\n%s", o.code, o.out)
	}
}
