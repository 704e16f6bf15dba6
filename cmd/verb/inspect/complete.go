package inspect

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/inspector"
)

// inspectorScript prints the script for a shell. It is the one of mcphud completion, which completes these command lines too.
func (a *app) inspectorScript(shell string) error {
	root := a.Tree()
	var script strings.Builder
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&script, true)
	case "zsh":
		err = root.GenZshCompletion(&script)
	default:
		err = root.GenFishCompletion(&script, true)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(output.Stdout{File: a.Out}, script.String())
	return err
}

// Complete answers the shell, as cobra does for all other command lines. The last word is the one that is being typed.
func Complete(of *cli.App, describe bool, words []string) int {
	a := &app{of}
	if len(words) == 0 {
		return cli.ExitOK
	}
	last := len(words) - 1
	all, files := inspector.Complete(words[:last], words[last])
	directive := cobra.ShellCompDirectiveNoFileComp
	if files {
		directive = cobra.ShellCompDirectiveDefault
	}
	var out strings.Builder
	for _, s := range all {
		if out.WriteString(s.Word); describe && s.About != "" {
			out.WriteString("\t" + s.About)
		}
		out.WriteByte('\n')
	}
	if _, err := fmt.Fprintf(output.Stdout{File: a.Out}, "%s:%d\n", out.String(), directive); err != nil {
		return cli.ExitFailure
	}
	return cli.ExitOK
}
