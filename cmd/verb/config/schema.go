package config

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/themefile"
)

// Schemas are the JSON Schemas of files that people write, by the name of the file's kind.
func Schemas() map[string][]byte {
	return map[string][]byte{"calls": calls.Schema, "config": userconfig.Schema(), "mcphud": config.Schema, "routing": routes.Schema, "stack": stack.Schema}
}

func (a *app) schemaCommand() *cobra.Command {
	names := slices.Sorted(maps.Keys(Schemas()))
	return &cobra.Command{
		Use: "schema NAME", Short: "Print the JSON Schema of config.yaml, mcphud.yaml, routing.json, mcphud.stack.yaml or a file of calls", Annotations: cli.Rule("one"),
		Long:    "Prints a JSON Schema, with which editors complete and check a file. NAME is " + strings.Join(names, ", ") + ". A file names it in a member $schema, or in a comment: # yaml-language-server: $schema=URL",
		Example: "  mcphud config schema config\n  mcphud config schema routing > routing.schema.json", Args: cobra.ArbitraryArgs, ValidArgs: names,
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if err := cli.CheckArgs(cmd, args); err != nil {
				return err
			}
			b, ok := Schemas()[args[0]]
			if !ok {
				return failure.UsageError(fmt.Sprintf("there is no schema %q", args[0]), output.DidYouMean(args[0], names)+"the schemas are "+strings.Join(names, ", "))
			}
			return a.Printer().Line(bytes.TrimRight(b, "\n"))
		}),
	}
}

// listedTheme is a theme as JSON.
type listedTheme struct {
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Dark     bool             `json:"dark"`
	File     string           `json:"file,omitempty"`
	Findings []config.Warning `json:"findings,omitempty"`
}

func (a *app) themesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "themes", Short: "List the themes, yours with their files", Annotations: cli.Rule("0"),
		Example: "  mcphud config themes\n  mcphud config themes --format json", Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if err := cli.CheckArgs(cmd, args); err != nil {
				return err
			}
			all, broken := []listedTheme{}, []config.Warning{}
			for _, p := range themes.All() {
				all = append(all, listedTheme{Name: p.Name, Title: p.Title, Dark: p.Dark})
			}
			own, warnings := themefile.Load(cli.ThemesDir())
			for _, t := range own {
				l := listedTheme{Name: t.Name, Title: t.Title, Dark: t.Dark, File: t.File}
				for _, w := range warnings {
					if w.File == t.File {
						l.Findings = append(l.Findings, w)
					}
				}
				all = append(all, l)
			}
			for _, w := range warnings {
				if !slices.ContainsFunc(own, func(t themefile.Theme) bool { return t.File == w.File }) {
					broken = append(broken, w)
				}
			}
			return a.Printer().Show(map[string]any{"themes": all, "broken": broken}, func(t *output.Text) {
				for _, l := range all {
					fmt.Fprintf(&t.B, "%-14s %-38s %s\n", safe.Line(l.Name, 40), safe.Line(l.Title, 60), safe.Line(l.File, 0))
					for _, w := range l.Findings {
						t.B.WriteString("               ! " + safe.Line(w.String(), 0) + "\n")
					}
				}
				for _, w := range broken {
					t.B.WriteString("! " + safe.Line(w.String(), 0) + "\n")
				}
			})
		}),
	}
}

func (a *app) keysCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keys [WORD…]", Short: "List actions with their ids and the keys that they have now", Annotations: cli.Rule("any"),
		Long:    "Lists every action with its id, which keys of config.yaml go by, the keys that it has now, and what it does. Each WORD has to be in the line.",
		Example: "  mcphud config keys\n  mcphud config keys zoom", Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			list := cli.AllViews()
			keys, _ := cli.FitKeys(a.Preferences(), list)
			type line struct {
				ID    string   `json:"id"`
				Where string   `json:"screen"`
				Keys  []string `json:"keys"`
				Help  string   `json:"help"`
				Own   bool     `json:"changed,omitempty"`
			}
			all := []line{}
			for _, k := range tui.KeyTable(list) {
				l := line{ID: k.ID, Where: k.Scope, Keys: []string{}, Help: k.Help}
				if k.Keys != "" {
					l.Keys = strings.Split(k.Keys, ", ")
				}
				if own, ok := keys[k.ID]; ok {
					l.Keys, l.Own = append([]string{}, own...), true
				}
				text := strings.ToLower(fmt.Sprint(l.ID, " ", l.Where, " ", l.Keys, " ", l.Help))
				if !slices.ContainsFunc(args, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) }) {
					all = append(all, l)
				}
			}
			return a.Printer().Show(map[string]any{"actions": all}, func(t *output.Text) {
				for _, l := range all {
					fmt.Fprintf(&t.B, "%-26s %-16s %s\n", l.ID, strings.Join(l.Keys, " "), l.Help)
				}
			})
		}),
	}
}
