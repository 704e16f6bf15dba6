package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/config"
)

// exampleServers are names that documents use as if a configuration had them; so is any word in capitals.
var exampleServers = []string{"github", "everything", "notes", "files", "SERVER", "NAME", "TARGET"}

// placeholder is a word that stands for another one.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z_]*…?$`)

// argumentsFit is the error of a command line whose arguments the command would refuse before it did anything. A
// command without any is only spoken of.
func argumentsFit(t *testing.T, a *app, cmd *cobra.Command) error {
	t.Helper()
	args := cmd.Flags().Args()
	own, _, dash := cli.SplitArgs(cmd, args)
	if len(args) == 0 && !dash {
		return nil // it is spoken of
	}
	if len(own) > 0 && own[len(own)-1] == "…" { // whatever it takes
		return nil
	}
	file := filepath.Join(t.TempDir(), "examples.yaml")
	text := "mcp:\n  servers:\n"
	names := slices.Clone(exampleServers)
	for _, w := range own {
		if placeholder.MatchString(w) && !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	for _, n := range names {
		text += "    - {id: \"" + n + "\", command: \"true\"}\n"
	}
	write(t, file, text)
	a.Options.Configs = []string{file}
	if cmd == a.Root {
		if len(own) == 0 || config.IsURL(own[0]) {
			return nil
		}
		return a.bareName(cmd, own)
	}
	if err := cmd.ValidateArgs(args); err != nil {
		return err
	}
	if cmd.Annotations[cli.RuleKey] == "" {
		return nil
	}
	_, _, _, err := a.OwnArgs(cmd, args, runner.IsCall)
	return err
}

// The test of documents sees what it is for: commands that are not there, flags that are not, and arguments that are refused.
func TestDocumentedCommandsAreChecked(t *testing.T) {
	t.Parallel()
	for line, right := range map[string]bool{
		"mcphud doctor github": true, "mcphud doctor NAME": true, "mcphud NAME": true, "mcphud tools list": true, "mcphud tap wrap cursor github": true, "mcphud run": true,
		"mcphud doctor no-such-server": false, "mcphud no-such-server": false, "mcphud doctor a b": false, "mcphud version now": false, "mcphud tap wrap cursor": false,
		"mcphud open a b": false, "mcphud run x --no-such-flag": false, "mcphud complete a b": false, "mcphud journal stats a b": false, "mcphud servers edit a b": false,
		"mcphud tools lst": false, "mcphud help nothing": false, "mcphud servers list github": false, "mcphud journal redact": true,
	} {
		args := commandLines("`" + line + "`")
		if len(args) != 1 {
			t.Errorf("%s: %d command lines", line, len(args))
			continue
		}
		if err := parsed(t, args[0]); (err == nil) != right {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// commandLines finds a command wherever a reader takes one from.
func TestDocumentedCommandsAreFound(t *testing.T) {
	t.Parallel()
	text := "Say `mcphud ping x`, or `A=1 mcphud info\ny` in two lines.\n\n```console\n$ mcphud tools list z | jq .\n$ cd x && mcphud demo\n$ cat f | mcphud open - > out  # a file\n$ go run ./cmd/mcphud up\n$ cmd \\\n  -- mcphud ps\n```\n\n```sh\nmcphud tap &\n```\n\n```\nmcphud help keys\n```\n\n```yml\n- run: mcphud run x\n```\n"
	var got []string
	for _, args := range commandLines(text) {
		got = append(got, strings.Join(args, " "))
	}
	want := []string{"ping x", "info y", "tools list z", "demo", "open -", "up", "ps", "tap", "help keys", "run x"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
