package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

func (a *app) convertCommand() *cobra.Command {
	var to, out string
	var names []string
	var strict bool
	c := &cobra.Command{
		Use: "convert --to DIALECT", Short: "Print servers as the file of another program", Args: cli.NoArgs,
		Long: "convert prints the servers of the configs, or those that --server names, as a file in the shape of another program. Variables are written as that program has them. What it cannot " +
			"say is listed on stderr; with --strict the exit code is 1 then. On stdout secrets are masked; the file of -o has them, and only its owner can read it.",
		Example: "  mcphud config convert --to vscode\n  mcphud config convert --to codex --server github --server files\n  mcphud config convert --to cursor --config .mcp.json -o cursor.json --strict",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, _ []string) error {
			if err := cli.Misplaced(cmd); err != nil {
				return err
			}
			if to == "" {
				return failure.UsageError("--to names no dialect", "give one of "+dialectList())
			}
			return a.convert(to, out, names, strict)
		}),
	}
	f := c.Flags()
	f.StringVar(&to, "to", "", "write in `DIALECT`: "+dialectList())
	f.StringArrayVar(&names, "server", nil, "only the server `NAME` (repeatable)")
	f.StringVarP(&out, "output", "o", "", "write into the new `FILE` instead of stdout, secrets included")
	f.BoolVar(&strict, "strict", false, "fail where something cannot be written")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(append(config.DialectNames(), "claude"), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("server", cli.CompleteServers(&a.Options))
	return c
}

func dialectList() string {
	list := "claude"
	for _, n := range config.DialectNames() {
		list += ", " + n
	}
	return list
}

func (a *app) convert(to, out string, names []string, strict bool) error {
	if to == "claude" {
		to = "claude-desktop"
	}
	o, err := a.Where()
	if err != nil {
		return err
	}
	o.Literal = true
	set, err := config.Load(o)
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file, or name another with --config"}
	}
	servers := set.Servers
	if len(names) > 0 {
		servers = nil
		for _, name := range names {
			s, ok := set.Server(name)
			if !ok {
				return &failure.Error{Kind: failure.ServerNotFound, Server: name, Message: "no such server in the configs", Next: output.DidYouMean(name, cli.ServerNames(set)) + "mcphud servers list shows what was found where"}
			}
			servers = append(servers, s)
		}
	}
	if len(servers) == 0 {
		return &failure.Error{Kind: failure.ServerNotFound, Message: cli.NoServers}
	}
	file, lost, err := config.EncodeAll(to, servers)
	if err != nil {
		return cli.EditFailure(err)
	}
	for _, l := range lost {
		a.Note("lost: " + l)
	}
	if strict && len(lost) > 0 {
		return &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("%d settings cannot be written for %s", len(lost), config.ProgramOf(to)), Next: "leave --strict out to do without them"}
	}
	if out != "" {
		return writeNew(out, file)
	}
	shown := config.MaskFile(file, servers)
	if shown != string(file) {
		a.Note("secrets are masked: -o FILE writes them")
	}
	p := a.Printer()
	if json.Valid([]byte(shown)) {
		return p.Line([]byte(strings.TrimRight(shown, "\n")))
	}
	t := &output.Text{Tty: p.Tty}
	t.Block(shown)
	_, err = p.Write([]byte(t.B.String()))
	return err
}

// writeNew writes a file that is not there yet, for its owner only.
func writeNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return failure.UsageError(path+" is there already; it was left as it is", "name another file, or add single servers with mcphud servers add --to")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
