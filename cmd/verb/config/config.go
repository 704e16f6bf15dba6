package config

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
)

func (a *app) configCommand() *cobra.Command {
	return a.Group("config", "Settings: what they are, where they come from, and what is wrong in the files", a.explainCommand(), a.convertCommand(), a.editCommand(), a.checkCommand(), a.schemaCommand(), a.pathCommand(), a.themesCommand(), a.keysCommand())
}

func (a *app) explainCommand() *cobra.Command {
	var agent options.Agent
	var router options.Router
	var all bool
	ofAgent := &cobra.Command{
		Use: "agent", Short: "Explain the settings of mcphud agent with these flags", Args: cli.NoArgs,
		Example: "  mcphud config explain agent\n  mcphud config explain agent --port 0 --config ./agent.yaml",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, _ []string) error {
			return a.explainServers(cmd, func(e *explained) { e.Agent = explainAgent(&agent, cmd.Flags()) })
		}),
	}
	options.AgentFlags(ofAgent, &agent)
	ofRouter := &cobra.Command{
		Use: "router", Short: "Explain the settings of mcphud router with these flags", Args: cli.NoArgs,
		Example: "  mcphud config explain router --routes ./routing.json",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, _ []string) error {
			return a.explainServers(cmd, func(e *explained) { e.Router = explainRouter(&router, cmd.Flags()) })
		}),
	}
	options.RouterFlags(ofRouter, &router)
	c := &cobra.Command{
		Use: "explain", Short: "Show every setting and its source; secrets are masked", Args: cobra.ArbitraryArgs,
		Long: "explain shows the settings that the agent and the router would use now: each value, its source (flag, environment, file or default), " +
			"and the values that it overrides. It also shows which server configs were looked for and what is in them. Nothing is started.\n\n" +
			"After agent or router come the flags of mcphud agent or mcphud router; that command line is explained.\n\n" +
			"An invalid value is shown with the reason, and the exit code is 1.",
		Example: "  mcphud config explain\n  mcphud config explain agent --port 0\n  AGENT_PORT=7001 mcphud config explain agent --format json",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return failure.UsageError(fmt.Sprintf("cannot explain %q: only agent and router", args[0]), "see mcphud config explain --help")
			}
			return a.explainServers(cmd, func(e *explained) {
				a.explainAll(e)
				e.absent = all
			})
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "list every server config that was looked for, also those that are not there (text)")
	c.AddCommand(ofAgent, ofRouter)
	return c
}

// explained is what config explain prints as JSON.
type explained struct {
	Agent    *settings.Resolution `json:"agent,omitempty"`
	Router   *settings.Resolution `json:"router,omitempty"`
	General  *settings.Resolution `json:"general,omitempty"`
	Servers  *settings.Resolution `json:"servers,omitempty"` // what server configs say of all servers together
	Files    []explainedFile      `json:"files,omitempty"`   // searched for servers, in order of precedence
	filesErr error
	absent   bool // files that are not there are listed for people as well
}

// explainedFile is a file that was searched for servers.
type explainedFile struct {
	config.File
	Found    bool             `json:"found"`
	Problems []config.Warning `json:"problems"`
}

func (a *app) explainServers(cmd *cobra.Command, fill func(*explained)) error {
	if name := cli.HiddenFlag(cmd); name != "" {
		return failure.UsageError("--"+name+" does not apply to "+strings.TrimPrefix(cmd.CommandPath(), "mcphud "), "see "+cmd.CommandPath()+" --help")
	}
	var e explained
	fill(&e)
	p := a.Printer()
	home, _ := os.UserHomeDir() // without one, paths are shown in full
	if err := p.Show(e, func(t *output.Text) { printExplained(t, &e, p.Width, home) }); err != nil {
		return err
	}
	return e.err()
}

// err is the first problem, with the number of the others; nil if there is none.
func (e *explained) err() error {
	all := []error{e.filesErr}
	for _, r := range []*settings.Resolution{e.Agent, e.Router, e.General} {
		if r != nil {
			all = append(all, r.Errs()...)
		}
	}
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	if len(all) == 0 {
		return nil
	}
	first := *cli.Explain(context.Background(), all[0])
	if n := len(all) - 1; n > 0 {
		first.Message += fmt.Sprintf(" (and %d more)", n)
	}
	return &first
}

func (a *app) explainAll(e *explained) {
	var agent options.Agent
	var router options.Router
	f := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	agent.Register(f)
	e.Agent = explainAgent(&agent, f)
	f = pflag.NewFlagSet("router", pflag.ContinueOnError)
	router.Register(f)
	e.Router = explainRouter(&router, f)
	e.General = a.generalSettings().Resolve()
	set, _, err := a.Options.Load()
	e.Servers = &settings.Resolution{What: "servers", Values: resolvedSettings(&set.Settings)}
	e.Files, e.filesErr = explainFiles(set), err
}

// resolvedSettings are what server configs say of all servers together.
func resolvedSettings(s *config.Settings) (all []settings.Resolved) {
	usual := map[string]string{
		"continue_on_error": "true", "result_cache_ttl": "off", "max_retries": "10", "retry_backoff": "500ms", "max_concurrent_calls": "no limit", "pool.max_idle_time": toolset.DefaultMaxIdleTime.String(), "pool.cleanup_interval": toolset.DefaultCleanupInterval.String(),
		"pool.max_connections": "no limit", "timeouts.tool_call": config.DefaultTimeout.String(), "timeouts.connect": "15s or 2m0s",
	}
	for _, name := range config.SettingNames() {
		v := settings.Resolved{Setting: settings.Setting{Flag: name, Key: name}, Value: usual[name], From: settings.Origin{Source: "default", Value: usual[name]}}
		for i, at := range s.Given[name] {
			from := settings.Origin{Source: "file", File: at.File, Line: at.Line, Value: at.Text}
			if i == 0 {
				v.Value, v.From = at.Text, from
			} else {
				v.Overridden = append(v.Overridden, from)
			}
		}
		all = append(all, v)
	}
	return all
}

// explainAgent resolves the agent's settings as the agent does, defaults included.
func explainAgent(s *options.Agent, f *pflag.FlagSet) *settings.Resolution {
	r := s.Gather(f).Resolve()
	o, err := s.Options(slog.New(slog.DiscardHandler))
	if err == nil {
		if o, err = o.Completed(); err != nil {
			err = options.AgentError(err)
		}
	}
	if r.Err() == nil && err != nil {
		r.Conflict = err
	}
	r.SetDefault("name", o.Name)
	r.SetDefault("store", o.Store)
	r.SetDefault("rate-limit", strconv.Itoa(o.RateLimit))
	r.SetDefault("tenant-concurrency", strconv.Itoa(o.TenantConcurrency))
	return r
}

// explainRouter is explainAgent for the router.
func explainRouter(s *options.Router, f *pflag.FlagSet) *settings.Resolution {
	r, table := s.Resolve(f)
	if r.Err() == nil {
		if err := s.Options(r).Check(table); err != nil {
			r.Conflict = options.RouterError(fmt.Errorf("router: %w", err), s.Routes)
		}
	}
	return r
}

// generalSettings are the settings of mcphud itself that outlive a command line.
func (a *app) generalSettings() settings.List {
	own := ""
	if where, err := config.System(); err == nil && where.ConfigDir() != "" {
		own = filepath.Join(where.ConfigDir(), "mcphud.yaml")
	}
	f, bare := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringArray("config", []string{own}, "")
	for _, file := range a.Options.Configs {
		_ = f.Set("config", file) // it takes any
	}
	bare.Var(cli.CredentialsFlag(new(string)), cli.CredentialsSetting.Flag, "")
	bare.Var(&cli.DocumentURL{}, cli.DocumentSetting.Flag, "")
	for _, name := range []string{"no-color", "model-key"} {
		bare.String(name, "", "")
	}
	list := []settings.Setting{
		{Flag: "config", Env: "MCPHUD_CONFIG"},
		{Flag: "theme", Env: "MCPHUD_THEME", Key: "theme"},
		{Flag: "no-color", Env: "NO_COLOR"},
		{Flag: "model-key", Env: "MCPHUD_MODEL_KEY", Secret: true},
		cli.CredentialsSetting,
		cli.DocumentSetting,
	}
	for _, s := range userconfig.Table() {
		if s.Key == "theme" {
			bare.Var(&flags.Choice{Value: new(string), Allowed: a.themeNames()}, "theme", "")
			continue
		}
		bare.Var(&userValue{setting: s, texts: []string{s.Usual()}}, s.Key, "")
		list = append(list, settings.Setting{Flag: s.Key, Env: cli.SettingVariable(s.Key), Key: s.Key})
	}
	return settings.List{What: "mcphud", List: list, Flags: f, Bare: bare, Sources: settings.Sources{Env: os.Getenv, File: cli.UserFile(), Read: readUserValues, Next: "correct it with mcphud config edit"}}
}

// explainFiles lists the files that were searched and what they hold.
func explainFiles(set config.Set) (all []explainedFile) {
	for _, f := range set.Looked {
		e := explainedFile{File: f, Found: !f.Absent, Problems: []config.Warning{}}
		for _, w := range set.Warnings {
			if w.File == f.Path {
				e.Problems = append(e.Problems, w)
			}
		}
		for _, s := range set.Servers {
			if s.Source.File == f.Path && s.Problem != nil {
				e.Problems = append(e.Problems, config.Warning{File: f.Path, Line: s.Source.Line, Message: mask.Text(s.Problem.Error())})
			}
		}
		all = append(all, e)
	}
	return all
}
