package config

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui/themefile"
)

func (a *app) pathCommand() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where config.yaml is, whether or not there is one", Annotations: cli.Rule("0"),
		Example: "  mcphud config path", Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if err := cli.CheckArgs(cmd, args); err != nil {
				return err
			}
			path, err := ownFile()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Printer(), path)
			return err
		}),
	}
}

// ownFile is config.yaml, or an error where there is no folder for it.
func ownFile() (string, error) {
	if path := cli.UserFile(); path != "" {
		return path, nil
	}
	return "", failure.UsageError("there is no folder for config.yaml", "set HOME or XDG_CONFIG_HOME")
}

func (a *app) editCommand() *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open config.yaml in your editor, and check it when you are done", Annotations: cli.Rule("0"),
		Long: "Opens config.yaml in your editor: that of its setting editor, $VISUAL, $EDITOR, or vi. Where there is none it begins with every setting in a comment, with its default.\n\n" +
			"What you saved is checked. What is wrong is said with its line, and on a terminal you can go back to it. If you do not, a file that is not valid YAML is put beside the old one, which stays.",
		Example: "  mcphud config edit\n  EDITOR=nano mcphud config edit", Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := cli.CheckArgs(cmd, args); err != nil {
				return err
			}
			path, err := ownFile()
			if err != nil {
				return err
			}
			return a.editFile(ctx, path)
		}),
	}
}

// editFile lets the user edit a copy of config.yaml, and puts it in its place once it can be read.
func (a *app) editFile(ctx context.Context, path string) error {
	before, err := os.ReadFile(path)
	created := errors.Is(err, fs.ErrNotExist)
	was := before // nil where there is none
	switch {
	case created:
		before = userconfig.Template()
	case err != nil:
		return failure.UsageError("cannot read "+path+": "+err.Error(), "correct its permissions")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return failure.UsageError("cannot make the folder of "+path+": "+err.Error(), "correct its permissions")
	}
	draft := strings.TrimSuffix(path, ".yaml") + ".draft.yaml"
	if err := os.WriteFile(draft, before, 0o600); err != nil {
		return failure.UsageError("cannot write "+draft+": "+err.Error(), "correct the permissions of its folder")
	}
	for {
		if err := a.runEditor(ctx, draft); err != nil {
			return errors.Join(err, os.Remove(draft))
		}
		after, err := os.ReadFile(draft)
		if err != nil {
			return failure.UsageError("cannot read what the editor wrote: "+err.Error(), "edit "+path+" yourself")
		}
		if bytes.Equal(before, after) && !created {
			a.Note("nothing was changed")
			return os.Remove(draft)
		}
		findings, broken := checkText(path, after)
		for _, w := range findings {
			a.Note(w.String())
		}
		if len(findings) > 0 && output.Terminal(a.In) && output.Terminal(a.Err) {
			again, err := a.confirm(ctx, "edit it again", "y")
			if err != nil {
				return err
			}
			if again {
				continue
			}
		}
		if broken {
			return &failure.Error{Kind: failure.Usage, Message: "what you wrote cannot be read, and was kept as " + draft, Next: path + " stays as it was; correct the draft and move it there"}
		}
		if err := a.replaceEdited(ctx, path, was, after); errors.Is(err, files.ErrChanged) {
			return failure.UsageError(path+" changed while it was edited; it was left as it is", "your changes are in "+draft)
		} else if err != nil {
			return failure.UsageError("cannot write "+path+": "+err.Error(), "your changes are in "+draft)
		}
		return os.Remove(draft)
	}
}

// replaceEdited puts the text of an editor in the place of a file that had another one when it was opened.
func (a *app) replaceEdited(ctx context.Context, path string, before, after []byte) error {
	lost, err := userconfig.Replace(ctx, path, before, after)
	a.WarnOf(lost)
	return err
}

// confirm asks a question on the terminal; an empty answer is usual.
func (a *app) confirm(ctx context.Context, what, usual string) (bool, error) {
	_, _ = fmt.Fprintf(a.Err, "%s? [%s/n] ", what, strings.ToUpper(usual))
	line, err := cli.ReadLine(ctx, a.In)
	if err != nil {
		return false, err
	}
	return strings.HasPrefix(strings.ToLower(cmp.Or(strings.TrimSpace(line), usual)), "y"), nil
}

// runEditor runs the user's editor on a file, on the terminal.
func (a *app) runEditor(ctx context.Context, file string) error {
	line := cmp.Or(a.Preferences().Editor, os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	argv, err := text.Words(line)
	if err != nil || len(argv) == 0 {
		return failure.UsageError(fmt.Sprintf("%q is not a command line", line), "set EDITOR to an editor that works")
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	if err := cmd.Run(); err != nil {
		return &failure.Error{Kind: failure.Usage, Message: "the editor " + argv[0] + " failed: " + err.Error(), Err: err, Next: "set EDITOR to an editor that works"}
	}
	return nil
}

// checkText is what is wrong in a config.yaml; broken says that nothing of it can be read.
func checkText(path string, b []byte) (findings []config.Warning, broken bool) {
	c, err := userconfig.Parse(path, b)
	if err != nil {
		return []config.Warning{themefile.AsWarning(path, err)}, true
	}
	_, wrong := cli.FitKeys(&c, cli.AllViews())
	own, _ := themefile.Load(cli.ThemesDir())
	findings = append(c.Warnings, wrong...)
	return append(findings, cli.WrongTheme(&c, cli.PalettesOf(own))...), false
}
