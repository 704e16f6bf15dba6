package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/inspector"
)

// inspectorScript prints the script for a shell. It is the one of mcphud completion, which completes these command lines too.
func (a *app) inspectorScript(shell string) error {
	root := a.command(nil)
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
	_, err = io.WriteString(stdout{a.out}, script.String())
	return err
}

// completeInspector answers the shell, as cobra does for all other command lines. The last word is the one that is being typed.
func (a *app) completeInspector(describe bool, words []string) int {
	if len(words) == 0 {
		return exitOK
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
	if _, err := fmt.Fprintf(stdout{a.out}, "%s:%d\n", out.String(), directive); err != nil {
		return exitFailure
	}
	return exitOK
}
