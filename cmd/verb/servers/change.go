package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
)

// entryFlags are the shared flags that say what is in an entry.
var entryFlags = []string{
	"env", "cwd", "sandbox", "header", "transport", "url", "proxy", "ca", "client-cert", "client-key", "insecure", "protocol", "timeout", "max-timeout", "connect-timeout", "max-frame", "config", "set",
}

// ChangedServer is what servers add and its like print of one entry as JSON.
type ChangedServer struct {
	Server  string   `json:"server"`
	Action  string   `json:"action"` // add, edit, rename, remove, enable or disable
	File    string   `json:"file"`
	Line    int      `json:"line,omitempty"`
	Changed bool     `json:"changed"` // false: --dry-run, or there is nothing to change
	Backup  string   `json:"backup,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Diff    string   `json:"diff,omitempty"` // secrets masked
	Lost    []string `json:"lost,omitempty"` // what of the file could not be kept
	Next    string   `json:"next,omitempty"`
}

// done is the participle of an action.
var done = map[string]string{"add": "added", "edit": "edited", "rename": "renamed", "remove": "removed", "enable": "enabled", "disable": "disabled"}

// save writes a change unless that is only to be shown, and says what was done.
func save(action string, c *config.Change, dry bool) (out ChangedServer, err error) {
	out = ChangedServer{Server: c.Server, Action: action, File: c.File, Line: c.Line, Notes: c.Notes, Lost: c.Lost, Diff: c.Diff()}
	if dry || out.Diff == "" {
		return out, nil
	}
	if out.Backup, err = c.Save(); err != nil {
		return out, cli.EditFailure(err)
	}
	out.Line, out.Notes, out.Lost, out.Diff = c.Line, c.Notes, c.Lost, c.Diff() // of the file as it was by then
	out.Changed, out.Next = true, c.Next
	return out, nil
}

// printChanges says what became of entries.
func (a *app) printChanges(all ...ChangedServer) error {
	for _, c := range all {
		a.WarnOf(c.Lost)
	}
	b, err := json.Marshal(struct {
		Changes []ChangedServer `json:"changes"`
	}{all})
	if err != nil {
		return err
	}
	p := a.Printer()
	return p.Print(output.Answer{Result: b, Frames: [][]byte{b}, Text: func(t *output.Text) {
		for _, c := range all {
			where := c.File
			if c.Line > 0 {
				where = fmt.Sprintf("%s:%d", c.File, c.Line)
			}
			if c.Diff != "" {
				t.Block(c.Diff)
			}
			switch {
			case c.Changed:
				t.Block(done[c.Action] + " " + c.Server + ": " + where)
			case c.Diff == "":
				t.Block(c.Server + " is so already: " + where)
			default:
				t.Block("nothing was written: " + where)
			}
			for _, n := range c.Notes {
				t.Block("note    " + n)
			}
			if c.Backup != "" {
				t.Block("backup  " + c.Backup)
			}
			if c.Next != "" {
				t.Block("next    " + c.Next)
			}
		}
	}})
}

func (a *app) serversAddCommand() *cobra.Command {
	var to, paste, template string
	var dry bool
	c := &cobra.Command{
		Use: "add NAME [-- COMMAND ARGS… | URL]", Short: "Write a server into a configuration file", Args: cobra.ArbitraryArgs,
		Long: "add writes an entry into mcphud's own file, or that of another program, in its own shape. All else in the file stays as it is, byte for byte; a copy is kept beside it, and the difference " +
			"is shown with secrets masked. Values are written as they are given: ${NAME} stands for a variable, which keeps a secret out of the file.\n\n" +
			"--to names a program (" + strings.Join(config.ClientNames(), ", ") + "), or a file.",
		Example: "  mcphud servers add files -- npx -y @modelcontextprotocol/server-filesystem .\n  mcphud servers add reports https://example.com/mcp -H 'Authorization: Bearer ${REPORTS_TOKEN}'\n" +
			"  mcphud servers add github --template github --to claude-code\n  mcphud servers add --paste - --dry-run",
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := cli.Misplaced(cmd); err != nil {
				return err
			}
			o, err := a.Where()
			if err != nil {
				return err
			}
			servers, err := a.newServers(ctx, cmd, args, o, paste, template)
			if err != nil {
				return err
			}
			dest, err := o.Destination(to)
			if err != nil {
				return cli.EditFailure(err)
			}
			var all []ChangedServer
			for _, s := range servers {
				change, err := o.AddEntry(dest, s)
				if err != nil {
					return cli.EditFailure(err)
				}
				one, err := save("add", change, dry)
				if err != nil {
					return err
				}
				if note := a.shadowed(s.Name); note != "" {
					one.Notes = append(one.Notes, note)
				}
				all = append(all, one)
			}
			return a.printChanges(all...)
		}),
	}
	f := c.Flags()
	f.StringVar(&to, "to", "", "write into the file of `CLIENT`, or into FILE (default mcphud's own)")
	f.StringVar(&paste, "paste", "", "take the server from `JSON` of any program, a command line or a URL; - reads stdin")
	f.StringVar(&template, "template", "", "take the well-known server `TEMPLATE`; see mcphud servers templates")
	dryRun(c, &dry)
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(config.ClientNames(), cobra.ShellCompDirectiveDefault))
	_ = c.RegisterFlagCompletionFunc("template", func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		for _, t := range config.Templates() {
			names = append(names, t.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

func dryRun(c *cobra.Command, dry *bool) {
	c.Flags().BoolVar(dry, "dry-run", false, "only show what would change")
}

// newServers are those that a command line of servers add describes.
func (a *app) newServers(ctx context.Context, cmd *cobra.Command, args []string, o config.Options, paste, template string) ([]config.Server, error) {
	own, command, dash := cli.SplitArgs(cmd, args)
	name := ""
	if len(own) > 0 {
		name, own = own[0], own[1:]
	}
	url := a.Options.URL
	if len(own) > 0 {
		url, own = own[0], own[1:]
	}
	var ways []string
	for way, given := range map[string]bool{"-- COMMAND": dash, "a URL": url != "", "--paste": cmd.Flags().Changed("paste"), "--template": template != ""} {
		if given {
			ways = append(ways, way)
		}
	}
	switch {
	case len(own) > 0:
		return nil, failure.UsageError(fmt.Sprintf("%s takes a name and a URL, and got %q too", cmd.CommandPath(), own[0]), "put a command and its arguments after --")
	case len(ways) != 1:
		return nil, failure.UsageError("say in one way what to add", "write mcphud servers add NAME -- COMMAND ARGS…, NAME URL, --paste JSON or --template TEMPLATE")
	}
	var all []config.Server
	switch {
	case dash:
		s, err := cli.StdioServer(command)
		if err != nil {
			return nil, err
		}
		all = []config.Server{s}
	case url != "":
		s, err := a.Options.URLServer(url)
		if err != nil {
			return nil, err
		}
		all = []config.Server{s}
	case template != "":
		s, err := a.fromTemplate(ctx, name, template)
		if err != nil {
			return nil, err
		}
		all = []config.Server{s}
	default:
		if paste == "-" {
			b, err := io.ReadAll(io.LimitReader(a.In, 1<<20))
			if err != nil {
				return nil, fmt.Errorf("cannot read stdin: %w", err)
			}
			paste = string(b)
		}
		o.Literal = true
		pasted, err := config.Pasted(paste, o)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: "cannot read what was pasted: " + mask.Text(err.Error()), Err: err, Next: "paste a command, a URL, or JSON with mcpServers"}
		}
		all = pasted
	}
	if name != "" && len(all) > 1 {
		return nil, failure.UsageError(fmt.Sprintf("%d servers were pasted, and %s names one", len(all), name), "leave the name out")
	}
	for i := range all {
		s := &all[i]
		if name != "" {
			s.Name = name
		}
		if name == "" && s.Unnamed {
			return nil, failure.UsageError("the server has no name", "write mcphud servers add NAME …")
		}
		if err := a.entry(cmd, s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// entry changes what the flags say of an entry.
func (a *app) entry(cmd *cobra.Command, s *config.Server) (err error) {
	if err := cli.Fitting(cmd, s); err != nil {
		return err
	}
	if s.Env, err = cli.Pairs(s.Env, a.Options.Env, "=", "-e", "KEY=VALUE"); err != nil {
		return err
	}
	if s.Headers, err = cli.Pairs(s.Headers, a.Options.Headers, ":", "-H", `"Name: value"`); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	if changed("cwd") {
		if s.Cwd, err = filepath.Abs(a.Options.Cwd); err != nil {
			return err
		}
	}
	if err := a.Options.Sandbox.Shut(s); err != nil {
		return err
	}
	if a.Options.Transport != "" {
		s.Transport = a.Options.Transport
	}
	if err := a.Options.Network(s); err != nil {
		return err
	}
	for _, file := range []*string{&s.CA, &s.ClientCert, &s.ClientKey} {
		if *file != "" && !strings.Contains(*file, "${") {
			if *file, err = filepath.Abs(*file); err != nil {
				return err
			}
		}
	}
	s.Protocol = cmp.Or(a.Options.Protocol, s.Protocol)
	if changed("timeout") {
		s.Timeout = a.Options.Timeout
	}
	if changed("max-timeout") {
		s.MaxTimeout = a.Options.MaxTimeout
	}
	if changed("connect-timeout") {
		s.ConnectTimeout = a.Options.ConnectTimeout
	}
	if changed("max-frame") {
		s.MaxFrame = int64(a.Options.MaxFrame)
	}
	return nil
}

// fromTemplate asks for what a template needs to be told.
func (a *app) fromTemplate(ctx context.Context, name, template string) (config.Server, error) {
	t, err := config.TemplateNamed(template)
	if err != nil {
		return config.Server{}, cli.EditFailure(err)
	}
	given, err := a.Options.Given()
	if err != nil {
		return config.Server{}, err
	}
	values, err := a.Fill(ctx, t.Title, t.Inputs, given)
	if err != nil {
		return config.Server{}, err
	}
	if t.Archived != "" {
		a.Note("warning: " + t.Title + " was " + t.Archived)
	}
	return t.Fill(name, values), nil
}

func (a *app) serversTemplatesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "templates", Short: "List the well-known servers that servers add --template knows", Args: cli.NoArgs,
		Example: "  mcphud servers templates\n  mcphud servers add files --template filesystem --set folder=. --dry-run",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, _ []string) error {
			if err := cli.Misplaced(cmd); err != nil {
				return err
			}
			type input struct {
				Name     string `json:"name"`
				Required bool   `json:"required"`
				Secret   bool   `json:"secret"`
			}
			type listed struct {
				Name        string  `json:"name"`
				Title       string  `json:"title"`
				Description string  `json:"description"`
				Archived    string  `json:"archived,omitempty"`
				Runs        string  `json:"runs"`
				Inputs      []input `json:"inputs"`
			}
			var all []listed
			var rows [][]string
			for _, t := range config.Templates() {
				one := listed{t.Name, t.Title, t.Description, t.Archived, t.Server.Destination(), []input{}}
				var wants []string
				for _, in := range t.Inputs {
					one.Inputs = append(one.Inputs, input{in.Name, in.Required, in.Secret})
					wants = append(wants, in.Name)
				}
				all = append(all, one)
				about := t.Description
				if t.Archived != "" {
					about += " It was " + t.Archived + "."
				}
				rows = append(rows, []string{t.Name, strings.Join(wants, ", "), about})
			}
			b, err := output.Marshal(all)
			if err != nil {
				return err
			}
			p := a.Printer()
			return p.Print(output.Answer{Result: b, Frames: [][]byte{b}, Text: func(t *output.Text) { t.Table(p.Width, rows) }})
		}),
	}
}
