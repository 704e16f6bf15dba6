package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/themefile"
)

// fileKinds are the kinds of files that config check knows.
var fileKinds = []string{"config", "theme", "servers", "routing", "stack", "agent"}

func (a *app) checkCommand() *cobra.Command {
	kind := ""
	c := &cobra.Command{
		Use: "check [FILE…]", Short: "Say what is wrong in files of settings and servers, with line and column", Args: cobra.ArbitraryArgs,
		Long: "Reads files as mcphud does, and prints everything that is wrong in them as FILE:LINE:COLUMN: MESSAGE. Nothing is started.\n\n" +
			"Without FILE these are checked, as far as they are there: config.yaml, the themes, agent.yaml, every file in which servers are looked for, and routing.json and mcphud.stack.yaml of the working folder. " +
			"The kind of a FILE follows from its name: config.yaml, routing.json, *.stack.yaml, agent.yaml, a file in a folder themes; any other has servers. --kind says it otherwise.\n\n" +
			"The exit code is 6 if something is wrong, and 1 if a FILE cannot be found.",
		Example: "  mcphud config check\n  mcphud config check ./mcphud.yaml ./routing.json --format json",
		RunE:    a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error { return a.configCheck(args, kind) }),
	}
	c.Flags().Var(&flags.Choice{Value: &kind, Allowed: fileKinds}, "kind", "read each FILE as this `KIND`: "+strings.Join(fileKinds, ", "))
	return c
}

// Checked is a file that was checked, as JSON.
type Checked struct {
	File     string           `json:"file"`
	Kind     string           `json:"kind"`
	Findings []config.Warning `json:"findings"`
}

func (a *app) configCheck(args []string, kind string) error {
	var all []Checked
	for _, path := range args {
		if _, err := os.Stat(path); err != nil {
			return failure.UsageError("cannot check "+path+": "+err.Error(), "name a file that exists")
		}
		k := kind
		if k == "" {
			k = kindOfFile(path)
		}
		all = append(all, CheckFile(path, k))
	}
	if len(args) == 0 {
		all = a.checkFound()
	}
	n := 0
	for i := range all {
		if all[i].Findings == nil {
			all[i].Findings = []config.Warning{}
		}
		n += len(all[i].Findings)
	}
	if err := a.Printer().Show(map[string]any{"files": all, "count": n}, func(t *output.Text) { printChecked(t, all) }); err != nil {
		return err
	}
	if n > 0 {
		return cli.ExitStatus(cli.ExitStrict)
	}
	return nil
}

func printChecked(t *output.Text, all []Checked) {
	good := 0
	for _, c := range all {
		if len(c.Findings) == 0 {
			good++
		}
		for _, w := range c.Findings {
			t.B.WriteString(safe.Line(w.String(), 0) + "\n")
		}
	}
	fmt.Fprintf(&t.B, "%s checked, %d without a finding\n", text.Count(len(all), "file", "files"), good)
}

// checkFound checks what is there.
func (a *app) checkFound() (all []Checked) {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return path != "" && err == nil
	}
	add := func(path, kind string) {
		if exists(path) {
			all = append(all, CheckFile(path, kind))
		}
	}
	add(cli.UserFile(), "config")
	entries, _ := os.ReadDir(cli.ThemesDir()) // without one there are none
	for _, e := range entries {
		if themefile.Is(e.Name()) {
			add(filepath.Join(cli.ThemesDir(), e.Name()), "theme")
		}
	}
	add(options.DefaultAgentFile(), "agent")
	if set, _, err := a.Options.Load(); err == nil {
		for _, f := range set.Looked {
			if !f.Absent {
				all = append(all, Checked{f.Path, "servers", findingsIn(set, f.Path)})
			}
		}
	} else {
		all = append(all, Checked{strings.Join(a.Options.Configs, ", "), "servers", []config.Warning{themefile.AsWarning("", err)}})
	}
	add("routing.json", "routing")
	add(stack.FileName, "stack")
	return all
}

// kindOfFile goes by the name.
func kindOfFile(path string) string {
	switch name := filepath.Base(path); {
	case name == userconfig.FileName:
		return "config"
	case name == options.AgentFile:
		return "agent"
	case strings.HasSuffix(name, "stack.yaml") || strings.HasSuffix(name, "stack.yml"):
		return "stack"
	case strings.HasSuffix(name, "routing.json"):
		return "routing"
	case themefile.Is(name) && filepath.Base(filepath.Dir(absolute(path))) == themefile.Folder:
		return "theme"
	}
	return "servers"
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// CheckFile reads a file as what it is.
func CheckFile(path, kind string) Checked {
	c := Checked{File: path, Kind: kind}
	fail := func(err error) {
		if err != nil {
			c.Findings = append(c.Findings, themefile.AsWarning(path, err))
		}
	}
	switch kind {
	case "config":
		u, err := userconfig.Load(path)
		if fail(err); err == nil {
			_, wrong := cli.FitKeys(&u, cli.AllViews())
			own, _ := themefile.Load(cli.ThemesDir())
			c.Findings = slices.Concat(u.Warnings, wrong, cli.WrongTheme(&u, cli.PalettesOf(own)))
		}
	case "theme":
		_, warnings, err := themefile.Read(path)
		c.Findings = warnings
		fail(err)
	case "agent":
		c.Findings = checkAgentFile(path)
	case "routing":
		table, err := routes.Load(path)
		if err != nil {
			c.Findings = []config.Warning{routingFinding(path, err)}
			break
		}
		for _, p := range table.Warnings {
			c.Findings = append(c.Findings, config.Warning{File: path, Line: p.Line, Col: p.Col, Message: p.Message})
		}
	case "stack":
		f, err := stack.Source{Lookup: os.LookupEnv, Agent: options.AgentChecker()}.Load(path)
		if fail(err); err == nil {
			c.Findings = f.Warnings
		}
	default:
		where, err := config.System(path)
		if err != nil {
			fail(err)
			break
		}
		set, err := config.Load(where)
		if fail(err); err == nil {
			for _, f := range set.Looked {
				c.Findings = append(c.Findings, findingsIn(set, f.Path)...)
			}
		}
	}
	slices.SortStableFunc(c.Findings, func(a, b config.Warning) int { return a.Line - b.Line })
	return c
}

// findingsIn is what is wrong in a file with servers.
func findingsIn(set config.Set, path string) (all []config.Warning) {
	for _, f := range explainFiles(set) {
		if f.Path == path {
			all = append(all, f.Problems...)
		}
	}
	return slices.Compact(all)
}

// checkAgentFile is what is wrong in an agent.yaml.
func checkAgentFile(path string) (all []config.Warning) {
	values, all, err := options.ReadAgentFile(path)
	if err != nil {
		return []config.Warning{themefile.AsWarning(path, err)}
	}
	check := options.AgentChecker()
	for _, v := range values {
		if v.Key == "kb" || v.Key == "tools" { // lists, of which the agent's own start says more
			continue
		}
		_, unknown, err := check(v.Key, v.Text)
		if v.Key == "host" {
			unknown = ""
		}
		if err != nil {
			unknown = fmt.Sprintf("%s is %q: %v", v.Key, mask.Value(v.Key, v.Text), err)
		}
		if unknown != "" {
			all = append(all, config.Warning{File: path, Line: v.Line, Col: v.Col, Message: unknown})
		}
	}
	return all
}

// routingFinding is an error of a routing.json with its place.
func routingFinding(path string, err error) config.Warning {
	var p routes.Problem
	if errors.As(err, &p) {
		return config.Warning{File: path, Line: p.Line, Col: p.Col, Message: p.Message, Malformed: true}
	}
	var missing *fs.PathError
	if errors.As(err, &missing) {
		err = missing
	}
	return config.Warning{File: path, Message: strings.TrimPrefix(err.Error(), path+": "), Malformed: true}
}
