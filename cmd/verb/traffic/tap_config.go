package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

func (a *app) wrapCommand() *cobra.Command {
	return &cobra.Command{
		Use: "wrap CLIENT SERVER", Annotations: cli.Rule("two"), Short: "Put tap before a server in a client's configuration", Args: cobra.ArbitraryArgs,
		Long: "wrap changes one entry of a client's configuration so that mcphud tap runs the server and records what is said. A copy of the file is kept beside it; all else " +
			"stays as it is, byte for byte, comments and order included. Nothing is written where the entry changed meanwhile. mcphud tap unwrap takes it back.\n\n" +
			"CLIENT is one of " + strings.Join(config.ClientNames(), ", ") + ", or the path of its file.",
		Example: "  mcphud tap wrap claude-desktop github\n  mcphud tap wrap ./.vscode/mcp.json github",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			return a.changeEntry(cmd, args, wrapEntry)
		}),
	}
}

func (a *app) unwrapCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unwrap CLIENT SERVER", Annotations: cli.Rule("two"), Short: "Take tap away from a server in a client's configuration", Args: cobra.ArbitraryArgs,
		Long:    "unwrap changes the entry back to what it was before mcphud tap wrap. A copy of the file is kept beside it.",
		Example: "  mcphud tap unwrap claude-desktop github",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			return a.changeEntry(cmd, args, unwrapEntry)
		}),
	}
}

// ChangedEntry is what wrap and unwrap print as JSON.
type ChangedEntry struct {
	Client  string   `json:"client"`
	Server  string   `json:"server"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Wrapped bool     `json:"wrapped"` // the server runs below tap now
	Changed bool     `json:"changed"`
	Backup  string   `json:"backup,omitempty"`
	Command []string `json:"command"`        // the server's own, secrets masked
	Lost    []string `json:"lost,omitempty"` // what of the file could not be kept
	Next    string   `json:"next,omitempty"`
}

// changeEntry finds the entry of a server in a client's configuration, changes it, and says what to do next.
func (a *app) changeEntry(cmd *cobra.Command, args []string, change func(p *config.Place, server string) (changed, wrapped bool, err error)) error {
	if hidden := cli.HiddenFlag(cmd); hidden != "" {
		return failure.UsageError("--"+hidden+" does not apply to "+cmd.CommandPath()+", which connects to no server", "see "+cmd.CommandPath()+" --help")
	}
	if len(args) == 1 {
		return whichEntry(cmd, args[0])
	}
	if len(args) != 2 {
		return failure.UsageError(fmt.Sprintf("%s takes a client and a server, and got %d arguments", cmd.CommandPath(), len(args)), "write "+cmd.CommandPath()+" CLIENT SERVER")
	}
	o, err := config.System()
	if err != nil {
		return err
	}
	p, err := o.FindEntry(args[0], args[1])
	if err != nil {
		return cli.EditFailure(err)
	}
	if len(p.Argv) == 0 {
		next := "change the entry by hand"
		if p.URL != "" {
			next = "run mcphud tap --http " + mask.URL(p.URL) + " and put the address that it prints into the entry"
		}
		return &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("%s has no command: %s:%d", args[1], p.File, p.Line), Next: next}
	}
	out := ChangedEntry{Client: p.Client.Name, Server: args[1], File: p.File, Line: p.Line}
	if out.Changed, out.Wrapped, err = change(p, args[1]); err != nil {
		return err
	}
	out.Command = mask.Args(ownCommand(p.Argv))
	if out.Changed {
		if out.Backup, err = p.Save(); err != nil {
			return cli.EditFailure(err)
		}
		a.WarnOf(p.Lost)
		out.Lost, out.Next = p.Lost, p.Client.Restart
	}
	return a.printEntry(p, out)
}

// whichEntry is the error of a client that was named without a server: it says which servers that client has.
func whichEntry(cmd *cobra.Command, client string) error {
	o, err := config.System()
	if err != nil {
		return err
	}
	_, err = o.FindEntry(client, "")
	var why *config.EditError
	if !errors.As(err, &why) || len(why.Names) == 0 {
		return cli.EditFailure(err)
	}
	names := strings.Join(why.Names, ", ")
	return failure.UsageError("no server was named: "+why.File+" has "+text.Clip(names, 400), "write "+cmd.CommandPath()+" "+safe.Quote(client)+" "+safe.Quote(why.Names[0])+", or another of them")
}

// printEntry says what became of an entry.
func (a *app) printEntry(p *config.Place, out ChangedEntry) error {
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return a.Printer().Print(output.Answer{Result: b, Text: func(t *output.Text) {
		where := fmt.Sprintf("%s:%d", out.File, out.Line)
		switch {
		case out.Changed && out.Wrapped:
			t.Block("wrapped " + out.Server + ": " + where)
		case out.Changed:
			t.Block("unwrapped " + out.Server + ": " + where)
		case out.Wrapped:
			t.Block(out.Server + " is wrapped already: " + where)
		default:
			t.Block(out.Server + " is not wrapped: " + where)
		}
		if out.Changed {
			t.Block("backup   " + out.Backup)
			if out.Next != "" {
				t.Block("next     " + out.Next)
			}
		}
		if out.Changed && out.Wrapped {
			t.Block("watch    mcphud tap")
		}
	}})
}

// tapped is how many words of a command line come before the server's own: mcphud tap … --. 0 if it is not wrapped.
func tapped(argv []string) int {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.ToSlash(argv[0]))), ".exe")
	exe, _ := os.Executable()
	if name != "mcphud" && argv[0] != exe || len(argv) < 4 || argv[1] != "tap" {
		return 0
	}
	n := slices.Index(argv, "--") + 1
	if n == 0 || n == len(argv) {
		return 0
	}
	return n
}

// ownCommand is the server's command line, without tap.
func ownCommand(argv []string) []string { return argv[tapped(argv):] }

func wrapEntry(p *config.Place, server string) (changed, wrapped bool, err error) {
	exe, err := os.Executable()
	if err != nil {
		return false, false, fmt.Errorf("cannot find this program's own path: %w", err)
	}
	switch n := tapped(p.Argv); {
	case n == 0:
		p.Prefix(exe, "tap", "--name", server, "--")
	case p.Argv[0] != exe:
		p.SetCommand(exe)
	default:
		return false, true, nil
	}
	return true, true, nil
}

func unwrapEntry(p *config.Place, _ string) (changed, wrapped bool, err error) {
	n := tapped(p.Argv)
	if n == 0 {
		return false, false, nil
	}
	p.Strip(n)
	return true, false, nil
}
