package servers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// named finds the entry of a server in the configs, whether it can be started or not.
func (a *app) named(name string) (config.Options, config.Server, error) {
	set, where, err := a.Options.Load()
	if err != nil {
		return where, config.Server{}, err
	}
	s, ok := set.Server(name)
	if !ok {
		return where, s, &failure.Error{
			Kind: failure.ServerNotFound, Server: name, Message: "no such server in the configs",
			Next: output.DidYouMean(name, cli.ServerNames(set)) + "mcphud servers list shows what was found where",
		}
	}
	return where, s, nil
}

// change is a command that changes the entry of a server.
func (a *app) change(use, short, long, example, action string, args int, f func(o config.Options, s config.Server, name string, args []string) (*config.Change, error)) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, given []string) error {
			if err := cli.Misplaced(cmd); err != nil {
				return err
			}
			if len(given) != args {
				return failure.UsageError(fmt.Sprintf("%s takes %d names, and got %d", cmd.CommandPath(), args, len(given)), "write mcphud servers "+use)
			}
			o, s, err := a.named(given[0])
			if err != nil {
				return err
			}
			change, err := f(o, s, cmp.Or(s.Given, s.Name), given)
			if err != nil {
				return cli.EditFailure(err)
			}
			also(change, action, s)
			out, err := save(action, change, dry)
			if err != nil {
				return err
			}
			return a.printChanges(out)
		}),
	}
	c.ValidArgsFunction = cli.CompleteServers(&a.Options)
	dryRun(c, &dry)
	return c
}

// also notes where else the server is, which stays as it is.
func also(c *config.Change, action string, s config.Server) {
	if action == "add" {
		return
	}
	for _, other := range s.Also {
		c.Notes = append(c.Notes, "the same server is in "+other.String()+" too, which was left as it is")
	}
}

func (a *app) serversRemoveCommand() *cobra.Command {
	return a.change("remove NAME", "Take a server out of its configuration file", "remove takes the entry out of the file that it is in, with the comment behind it on its line; all else stays as it is. A copy of the file is kept beside it.",
		"  mcphud servers remove reports\n  mcphud servers remove reports --dry-run", "remove", 1,
		func(o config.Options, s config.Server, name string, _ []string) (*config.Change, error) {
			return o.RemoveEntry(s.Source, name)
		})
}

func (a *app) serversEnableCommand(on bool) *cobra.Command {
	use, short := "disable", "Say in its file that a server is not to be used"
	if on {
		use, short = "enable", "Say in its file that a server may be used again"
	}
	return a.change(use+" NAME", short, use+" writes what the program that the file belongs to reads for that. Where it has no way to disable a server, nothing is written and the exit code is 1.",
		"  mcphud servers "+use+" reports", use, 1,
		func(o config.Options, s config.Server, name string, _ []string) (*config.Change, error) {
			return o.EnableEntry(s.Source, name, on)
		})
}

func (a *app) serversDuplicateCommand() *cobra.Command {
	return a.change("duplicate NAME NEW", "Write the entry of a server once more, under another name", "duplicate adds the entry to the file that it is in, with what only its program knows of it. Comments are not copied.",
		"  mcphud servers duplicate reports reports-2", "add", 2,
		func(o config.Options, s config.Server, name string, args []string) (*config.Change, error) {
			return o.DuplicateEntry(s.Source, name, args[1])
		})
}

func (a *app) serversEditCommand() *cobra.Command {
	var unset []string
	var rename string
	var dry bool
	c := &cobra.Command{
		Use: "edit NAME [-- COMMAND ARGS…]", Annotations: cli.Rule("one"), Short: "Change the entry of a server in its configuration file", Args: cobra.ArbitraryArgs,
		Long: "edit changes what the flags name, in the file that the entry is in; all else stays as it is, byte for byte, and a copy is kept beside it. Without flags the entry is opened in $EDITOR, " +
			"and what comes back is checked before anything is written.\n\n--unset takes a field away: env.NAME, header.NAME, args, cwd, envFile, headersHelper, oauth, proxy, ca, client-cert, client-key, insecure, protocol, timeout, max-timeout, connect-timeout or max-frame.",
		Example: "  mcphud servers edit reports -e LEVEL=debug --unset env.OLD\n  mcphud servers edit files -- npx -y @modelcontextprotocol/server-filesystem /srv\n  mcphud servers edit reports --rename weekly-reports\n  mcphud servers edit reports",
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := cli.Misplaced(cmd); err != nil {
				return err
			}
			own, command, dash := cli.SplitArgs(cmd, args)
			if len(own) != 1 {
				return failure.UsageError(fmt.Sprintf("%s takes one name, and got %d", cmd.CommandPath(), len(own)), "put a new command and its arguments after --")
			}
			o, s, err := a.named(own[0])
			if err != nil {
				return err
			}
			name := cmp.Or(s.Given, s.Name)
			entry, err := o.Entry(s.Source, name)
			if err != nil {
				return cli.EditFailure(err)
			}
			flags := dash || rename != "" || len(unset) > 0
			for _, f := range entryFlags {
				flags = flags || f != "config" && cmd.Flags().Changed(f)
			}
			var change *config.Change
			switch {
			case !flags:
				change, err = a.editedEntry(ctx, o, s, name, entry)
			case rename != "":
				change, err = o.RenameEntry(s.Source, name, rename)
			default:
				if err := a.entryByFlags(cmd, &entry, command, dash, unset); err != nil {
					return err
				}
				change, err = o.EditEntry(s.Source, name, entry)
			}
			if err != nil {
				return cli.EditFailure(err)
			}
			also(change, "edit", s)
			out, err := save("edit", change, dry)
			if err != nil {
				return err
			}
			return a.printChanges(out)
		}),
	}
	f := c.Flags()
	f.StringArrayVar(&unset, "unset", nil, "take `FIELD` away, such as env.NAME or cwd (repeatable)")
	f.StringVar(&rename, "rename", "", "give the entry the `NAME`, and change nothing else")
	dryRun(c, &dry)
	c.ValidArgsFunction = cli.CompleteServers(&a.Options)
	return c
}

// entryByFlags changes an entry as a command line says.
func (a *app) entryByFlags(cmd *cobra.Command, s *config.Server, command []string, dash bool, unset []string) error {
	url := cmd.Flags().Changed("url")
	switch {
	case dash && url:
		return failure.UsageError("a server is either a command or a URL", "leave one of them out")
	case dash:
		if _, err := cli.StdioServer(command); err != nil {
			return err
		}
		s.Transport, s.Command, s.Args = config.Stdio, command[0], command[1:]
		s.URL, s.Headers, s.HeadersHelper, s.OAuth = "", nil, nil, nil
	case url:
		at, err := a.Options.URLServer(a.Options.URL)
		if err != nil {
			return err
		}
		if s.URL == "" {
			s.Transport = at.Transport
		}
		s.URL, s.Command, s.Args, s.Env, s.EnvFile, s.Cwd, s.Sandbox = at.URL, "", nil, nil, "", "", nil
	}
	for _, field := range unset {
		if err := unsetField(s, field); err != nil {
			return err
		}
	}
	return a.entry(cmd, s)
}

func unsetField(s *config.Server, field string) error {
	name, key, _ := strings.Cut(field, ".")
	found := true
	switch name {
	case "env":
		found = remove(&s.Env, key)
	case "header", "headers":
		found = remove(&s.Headers, key)
	case "args":
		s.Args = nil
	case "cwd":
		s.Cwd = ""
	case "sandbox":
		s.Sandbox = nil
	case "envFile":
		s.EnvFile = ""
	case "headersHelper":
		s.HeadersHelper = nil
	case "oauth":
		s.OAuth = nil
	case "proxy":
		s.Proxy = ""
	case "ca":
		s.CA = ""
	case "client-cert":
		s.ClientCert = ""
	case "client-key":
		s.ClientKey = ""
	case "insecure":
		s.Insecure = false
	case "protocol":
		s.Protocol = ""
	case "timeout":
		s.Timeout = 0
	case "max-timeout":
		s.MaxTimeout = 0
	case "connect-timeout":
		s.ConnectTimeout = 0
	case "max-frame":
		s.MaxFrame = 0
	default:
		found = false
	}
	if !found {
		return failure.UsageError(fmt.Sprintf("--unset %q: the entry of %s has no such field", field, s.Name), "see mcphud servers edit --help")
	}
	return nil
}

// remove takes one of a map away, or all of it.
func remove(m *map[string]string, key string) bool {
	if key == "" {
		*m = nil
		return true
	}
	for k := range *m {
		if k == key {
			delete(*m, k)
			return true
		}
	}
	return false
}

// editedEntry lets the user's editor change an entry. What cannot be read is asked about again.
func (a *app) editedEntry(ctx context.Context, o config.Options, s config.Server, name string, entry config.Server) (*config.Change, error) {
	if !output.Terminal(a.In) {
		return nil, failure.UsageError("nothing says what to change", "give flags, or run it on a terminal, which opens $EDITOR")
	}
	before, _, err := config.Encode(s.Source.Dialect, entry)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mcphud-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, filepath.Base(s.Source.File))
	if err := os.WriteFile(path, before, 0o600); err != nil {
		return nil, err
	}
	for {
		if err := a.editor(ctx, path); err != nil {
			return nil, err
		}
		now, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(now, before) {
			return o.EditEntry(s.Source, name, entry)
		}
		change, err := o.EditText(s.Source, name, now)
		if err == nil {
			return change, nil
		}
		a.Note("error: " + err.Error())
		fmt.Fprint(a.Err, "Edit it again? [Y/n] ")
		line, readErr := cli.ReadLine(ctx, a.In)
		if readErr != nil || strings.EqualFold(line, "n") || strings.EqualFold(line, "no") {
			return nil, errors.Join(err, readErr)
		}
	}
}

// editor runs the user's editor in the terminal.
func (a *app) editor(ctx context.Context, path string) error {
	argv, err := text.Words(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	if err != nil || len(argv) == 0 {
		return failure.UsageError("cannot read $EDITOR", "set it to an editor that works")
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Err, a.Err
	if err := cmd.Run(); err != nil {
		return &failure.Error{Kind: failure.Usage, Message: "the editor failed: " + err.Error(), Err: err, Next: "set $EDITOR to an editor that works"}
	}
	return nil
}
