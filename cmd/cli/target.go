package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
)

// NameTarget is the advice where no server was named.
const NameTarget = "name one: its name in the configs, a URL (--url URL), --agent NAME, or -- COMMAND ARGS…"

// Named reports whether a flag names a server.
func (o *Options) Named() bool { return o.URL+o.Agent+o.Server+o.Session != "" }

// SplitArgs separates a command's own arguments from the server command after the double dash; dash reports whether there was one.
func SplitArgs(cmd *cobra.Command, args []string) (own, server []string, dash bool) {
	n := cmd.ArgsLenAtDash()
	if n < 0 {
		return args, nil, false
	}
	return args[:n], args[n:], true
}

// Target is the server that the flags or the command after the double dash name, exactly one.
func (o *Options) Target(cmd *cobra.Command, command []string, dash bool) (config.Server, error) {
	var named []string
	if dash {
		named = append(named, "-- COMMAND")
	}
	if o.URL != "" || cmd.Flags().Changed("url") {
		named = append(named, "--url")
	}
	if o.Agent != "" || cmd.Flags().Changed("agent") {
		named = append(named, "--agent")
	}
	if o.Server != "" || cmd.Flags().Changed("server") {
		named = append(named, "--server")
	}
	if o.Session != "" || cmd.Flags().Changed("session") {
		named = append(named, "--session")
	}
	switch {
	case len(named) == 0:
		return config.Server{}, failure.UsageError("no server was named", o.near+NameTarget)
	case len(named) > 1:
		return config.Server{}, failure.UsageError("more than one server was named: "+strings.Join(named, " and "), "name exactly one")
	}
	var s config.Server
	var err error
	switch {
	case dash:
		s, err = StdioServer(command)
	case o.Server != "":
		s, err = o.Configured(o.Server)
	case o.URL != "" || cmd.Flags().Changed("url"):
		s, err = o.URLServer(o.URL)
	case o.Session != "" || cmd.Flags().Changed("session"):
		s, err = keptServer(cmd, o.Session)
	default:
		s, err = AgentServer(o.Agent)
	}
	if err != nil {
		return config.Server{}, err
	}
	return s, o.Apply(cmd, &s)
}

// StdioServer is a server that a command line starts.
func StdioServer(command []string) (config.Server, error) {
	if len(command) == 0 || command[0] == "" {
		return config.Server{}, failure.UsageError("no command follows the double dash", "write it as -- COMMAND ARGS…")
	}
	return config.OfCommand(command[0], command[1:]...), nil
}

// URLServer is a server at a URL.
func (o *Options) URLServer(raw string) (config.Server, error) {
	if _, _, err := config.Endpoint(raw); err != nil {
		return config.Server{}, &failure.Error{
			Kind: failure.Usage, Message: fmt.Sprintf("%q is not an HTTP URL: it %v", mask.URL(raw), err), Err: err,
			Next: "give it as https://host/path or http://127.0.0.1:PORT/mcp",
		}
	}
	t := o.Transport
	switch {
	case t == config.WS && strings.HasPrefix(raw, "http") && !strings.HasPrefix(raw, "http+"):
		raw = "ws" + strings.TrimPrefix(raw, "http")
	case t == "":
		t = config.TransportOf(raw)
	}
	return config.Server{Name: config.URLName(raw), Unnamed: true, Transport: t, URL: raw}, nil
}

// Configured finds an entry of the configs that may be started without a question.
func (o *Options) Configured(name string) (config.Server, error) {
	set, where, err := o.Load()
	if err != nil {
		return config.Server{}, err
	}
	o.Settings = set.Settings
	s, ok := set.Server(name)
	if !ok {
		return s, &failure.Error{
			Kind: failure.ServerNotFound, Server: name, Message: "no such server in the configs",
			Next: output.DidYouMean(name, ServerNames(set)) + "mcphud servers list shows what was found where",
		}
	}
	switch {
	case o.AsIs:
	case len(s.Inputs) == 0 && len(o.set) > 0:
		return s, failure.UsageError("--set does not apply: "+name+" asks for nothing", "leave it out")
	case s.Disabled:
		return s, &failure.Error{Kind: failure.ServerDisabled, Server: name, Message: "disabled in " + s.Source.String(), Next: "enable it there"}
	case s.Problem != nil:
		return s, &failure.Error{Kind: failure.Usage, Server: name, Message: s.Problem.Error(), Err: s.Problem, Next: "see " + s.Source.String()}
	case !config.OpenTrust(where.StateDir()).Trusted(s):
		return s, &failure.Error{
			Kind: failure.ServerDisabled, Server: name,
			Message: fmt.Sprintf("not trusted yet: it comes from a file of this folder, %s", s.Source),
			Next:    "look at it and trust it in mcphud's server list, or name the file yourself with --config",
		}
	}
	return s, nil
}

// Trust is the store of trusted entries; nil, which trusts no entry of a project, without a state folder.
func (o *Options) Trust() *config.Trust {
	where, err := config.System()
	if err != nil {
		return nil
	}
	return config.OpenTrust(where.StateDir())
}

// Load reads the servers of the configs, or of the files of --config, and says where those are looked for.
func (o *Options) Load() (config.Set, config.Options, error) {
	where, err := config.System(o.Configs...)
	if err != nil {
		return config.Set{}, where, err
	}
	set, err := config.Load(where)
	if err != nil {
		return set, where, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file, or name another with --config"}
	}
	return set, where, nil
}

// Fitting refuses flags for another kind of server than s is.
func Fitting(cmd *cobra.Command, s *config.Server) error {
	stdio := s.Transport == config.Stdio
	wrong := []string{"env", "cwd", "sandbox"}
	if stdio {
		wrong = append([]string{"header", "transport"}, NetworkFlags...)
	}
	for _, flag := range wrong {
		if cmd.Flags().Changed(flag) {
			kind := "a server that is started by its command"
			if !stdio {
				kind = "a server that is reached by its URL"
			}
			return failure.UsageError(fmt.Sprintf("--%s does not apply to %s, %s", flag, s.Name, kind), "leave it out")
		}
	}
	return nil
}

// Apply overrides s by the flags.
func (o *Options) Apply(cmd *cobra.Command, s *config.Server) error {
	err := Fitting(cmd, s)
	if err != nil {
		return err
	}
	if s.Env, err = Pairs(s.Env, o.Env, "=", "-e", "KEY=VALUE"); err != nil {
		return err
	}
	if s.Headers, err = Pairs(s.Headers, o.Headers, ":", "-H", `"Name: value"`); err != nil {
		return err
	}
	if o.Cwd != "" {
		s.Cwd = o.Cwd
	}
	if err := o.Sandbox.Shut(s); err != nil {
		return err
	}
	if o.Transport != "" {
		s.Transport = o.Transport
	}
	if err := o.Network(s); err != nil {
		return err
	}
	if o.Protocol != "" {
		s.Protocol = o.Protocol
	}
	if o.Oauth != nil {
		s.OAuth = o.Oauth
	}
	for _, dir := range o.roots {
		abs, err := rootDir(dir)
		if err != nil {
			return err
		}
		s.Roots = append(s.Roots, abs)
	}
	o.Limits(cmd, s)
	return nil
}

// Limits overrides what s says of times and sizes by the flags.
func (o *Options) Limits(cmd *cobra.Command, s *config.Server) {
	changed := func(name string) bool { return cmd.Flags().Changed(name) }
	if s.Timeout == 0 || changed("timeout") {
		s.Timeout = o.Timeout
	}
	if s.MaxTimeout == 0 || changed("max-timeout") {
		s.MaxTimeout = o.MaxTimeout
	}
	// A --timeout beyond the default --max-timeout raises it.
	if !changed("max-timeout") && s.MaxTimeout < s.Timeout {
		s.MaxTimeout = s.Timeout
	}
	if changed("connect-timeout") || s.ConnectTimeout == 0 && o.ConnectTimeout > 0 {
		s.ConnectTimeout = o.ConnectTimeout
	}
	if s.MaxFrame == 0 || changed("max-frame") {
		s.MaxFrame = int64(o.MaxFrame)
	}
}

// Pairs adds "key SEP value" texts to a copy of m.
func Pairs(m map[string]string, add []string, sep, flag, form string) (map[string]string, error) {
	if len(add) == 0 {
		return m, nil
	}
	out := make(map[string]string, len(m)+len(add))
	for k, v := range m {
		out[k] = v
	}
	for _, text := range add {
		k, v, ok := strings.Cut(text, sep)
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, failure.UsageError(fmt.Sprintf("%s %q has no %q", flag, text, sep), "give it as "+flag+" "+form)
		}
		if sep == ":" {
			v = strings.TrimSpace(v)
			for old := range out { // header names are case-insensitive
				if strings.EqualFold(old, k) {
					delete(out, old)
				}
			}
		}
		out[k] = v
	}
	return out, nil
}

func rootDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("--root %s: %w", dir, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("--root %s: %v", dir, err), Err: err, Next: "name a folder that exists"}
	}
	if !info.IsDir() {
		return "", failure.UsageError("--root "+dir+" is not a folder", "name the folder it is in")
	}
	return abs, nil
}

// ServerNames are the names of the servers of the configs.
func ServerNames(set config.Set) []string {
	var names []string
	for _, s := range set.Servers {
		names = append(names, s.Name)
	}
	return names
}

// CompleteServers offers the names of the configs.
func CompleteServers(o *Options) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		set, _, err := o.Load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return ServerNames(set), cobra.ShellCompDirectiveNoFileComp
	}
}
