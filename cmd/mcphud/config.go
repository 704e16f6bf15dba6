package main

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

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
)

func (a *app) configCommand() *cobra.Command {
	return a.group("config", "Settings: what they are, where they come from, and what is wrong in the files", a.explainCommand(), a.convertCommand(), a.editCommand(), a.checkCommand(), a.schemaCommand(), a.pathCommand(), a.themesCommand(), a.keysCommand())
}

func (a *app) explainCommand() *cobra.Command {
	var agent agentSettings
	var router routerSettings
	var all bool
	ofAgent := &cobra.Command{
		Use: "agent", Short: "Explain the settings of mcphud agent with these flags", Args: noArgs,
		Example: "  mcphud config explain agent\n  mcphud config explain agent --port 0 --config ./agent.yaml",
		RunE: a.action(func(_ context.Context, cmd *cobra.Command, _ []string) error {
			return a.explainServers(cmd, func(e *explained) { e.Agent = explainAgent(&agent, cmd.Flags()) })
		}),
	}
	agentFlags(ofAgent, &agent)
	ofRouter := &cobra.Command{
		Use: "router", Short: "Explain the settings of mcphud router with these flags", Args: noArgs,
		Example: "  mcphud config explain router --routes ./routing.json",
		RunE: a.action(func(_ context.Context, cmd *cobra.Command, _ []string) error {
			return a.explainServers(cmd, func(e *explained) { e.Router = explainRouter(&router, cmd.Flags()) })
		}),
	}
	routerFlags(ofRouter, &router)
	c := &cobra.Command{
		Use: "explain", Short: "Show every setting and its source; secrets are masked", Args: cobra.ArbitraryArgs,
		Long: "explain shows the settings that the agent and the router would use now: each value, its source (flag, environment, file or default), " +
			"and the values that it overrides. It also shows which server configs were looked for and what is in them. Nothing is started.\n\n" +
			"After agent or router come the flags of mcphud agent or mcphud router; that command line is explained.\n\n" +
			"An invalid value is shown with the reason, and the exit code is 1.",
		Example: "  mcphud config explain\n  mcphud config explain agent --port 0\n  AGENT_PORT=7001 mcphud config explain agent --format json",
		RunE: a.action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(fmt.Sprintf("cannot explain %q: only agent and router", args[0]), "see mcphud config explain --help")
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

// hideExplain hides the flags that do not apply to config explain. It needs the whole tree of commands.
func hideExplain(config *cobra.Command) {
	hideInherited(config)
	for _, explain := range config.Commands() {
		hideInherited(explain, "config")
		for _, c := range explain.Commands() {
			hideInherited(c)
		}
	}
}

// explained is what config explain prints as JSON.
type explained struct {
	Agent    *resolution     `json:"agent,omitempty"`
	Router   *resolution     `json:"router,omitempty"`
	General  *resolution     `json:"general,omitempty"`
	Servers  *resolution     `json:"servers,omitempty"` // what server configs say of all servers together
	Files    []explainedFile `json:"files,omitempty"`   // searched for servers, in order of precedence
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
	if name := hiddenFlag(cmd); name != "" {
		return usageError("--"+name+" does not apply to "+strings.TrimPrefix(cmd.CommandPath(), "mcphud "), "see "+cmd.CommandPath()+" --help")
	}
	var e explained
	fill(&e)
	raw, err := marshal(e)
	if err != nil {
		return err
	}
	p := a.printer()
	home, _ := os.UserHomeDir() // without one, paths are shown in full
	if err := p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) { t.explained(&e, p.width, home) }}); err != nil {
		return err
	}
	return e.err()
}

// err is the first problem, with the number of the others; nil if there is none.
func (e *explained) err() error {
	all := []error{e.filesErr}
	for _, r := range []*resolution{e.Agent, e.Router, e.General} {
		if r != nil {
			all = append(all, r.errs()...)
		}
	}
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	if len(all) == 0 {
		return nil
	}
	first := *explain(context.Background(), all[0])
	if n := len(all) - 1; n > 0 {
		first.Message += fmt.Sprintf(" (and %d more)", n)
	}
	return &first
}

func (a *app) explainAll(e *explained) {
	var agent agentSettings
	var router routerSettings
	f := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	agent.register(f)
	e.Agent = explainAgent(&agent, f)
	f = pflag.NewFlagSet("router", pflag.ContinueOnError)
	router.register(f)
	e.Router = explainRouter(&router, f)
	e.General = a.generalSettings().resolve()
	set, _, err := a.o.load()
	e.Servers = &resolution{what: "servers", values: resolvedSettings(&set.Settings)}
	e.Files, e.filesErr = explainFiles(set), err
}

// resolvedSettings are what server configs say of all servers together.
func resolvedSettings(s *config.Settings) (all []resolved) {
	usual := map[string]string{
		"continue_on_error": "true", "result_cache_ttl": "off", "max_retries": "10", "retry_backoff": "500ms", "max_concurrent_calls": "no limit", "pool.max_idle_time": toolset.DefaultMaxIdleTime.String(), "pool.cleanup_interval": toolset.DefaultCleanupInterval.String(),
		"pool.max_connections": "no limit", "timeouts.tool_call": config.DefaultTimeout.String(), "timeouts.connect": "15s or 2m0s",
	}
	for _, name := range config.SettingNames() {
		v := resolved{setting: setting{flag: name, key: name}, value: usual[name], from: origin{Source: "default", Value: usual[name]}}
		for i, at := range s.Given[name] {
			from := origin{Source: "file", File: at.File, Line: at.Line, Value: at.Text}
			if i == 0 {
				v.value, v.from = at.Text, from
			} else {
				v.overridden = append(v.overridden, from)
			}
		}
		all = append(all, v)
	}
	return all
}

// explainAgent resolves the agent's settings as the agent does, defaults included.
func explainAgent(s *agentSettings, f *pflag.FlagSet) *resolution {
	r := s.gather(f).resolve()
	o, err := s.options(slog.New(slog.DiscardHandler))
	if err == nil {
		if o, err = o.Completed(); err != nil {
			err = agentError(err)
		}
	}
	if r.err() == nil && err != nil {
		r.conflict = err
	}
	r.setDefault("name", o.Name)
	r.setDefault("store", o.Store)
	r.setDefault("rate-limit", strconv.Itoa(o.RateLimit))
	r.setDefault("tenant-concurrency", strconv.Itoa(o.TenantConcurrency))
	return r
}

// explainRouter is explainAgent for the router.
func explainRouter(s *routerSettings, f *pflag.FlagSet) *resolution {
	r, table := s.resolve(f)
	if r.err() == nil {
		if err := s.options(r).Check(table); err != nil {
			r.conflict = routerError(fmt.Errorf("router: %w", err), s.routes)
		}
	}
	return r
}

// generalSettings are the settings of mcphud itself that outlive a command line.
func (a *app) generalSettings() settings {
	own := ""
	if where, err := config.System(); err == nil && where.ConfigDir() != "" {
		own = filepath.Join(where.ConfigDir(), "mcphud.yaml")
	}
	f, bare := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringArray("config", []string{own}, "")
	for _, file := range a.o.configs {
		_ = f.Set("config", file) // it takes any
	}
	bare.Var(credentialsFlag(new(string)), credentialsSetting.flag, "")
	bare.Var(&documentURL{}, documentSetting.flag, "")
	for _, name := range []string{"no-color", "model-key"} {
		bare.String(name, "", "")
	}
	list := []setting{
		{flag: "config", env: "MCPHUD_CONFIG"},
		{flag: "theme", env: "MCPHUD_THEME", key: "theme"},
		{flag: "no-color", env: "NO_COLOR"},
		{flag: "model-key", env: "MCPHUD_MODEL_KEY", secret: true},
		credentialsSetting,
		documentSetting,
	}
	for _, s := range userconfig.Table() {
		if s.Key == "theme" {
			bare.Var(&choice{new(string), a.themeNames()}, "theme", "")
			continue
		}
		bare.Var(&userValue{setting: s, texts: defaultTexts(s)}, s.Key, "")
		list = append(list, setting{flag: s.Key, env: userVariable(s.Key), key: s.Key})
	}
	return settings{"mcphud", list, f, bare, sources{env: os.Getenv, file: userFile(), read: readUserValues, next: "correct it with mcphud config edit"}}
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
