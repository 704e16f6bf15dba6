package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

const agentManual = "../../agentsrv/README.md"

// A setting of the agent is called in its file as its flag, and --help-all names its variable: so the manual says, which has no list of them.
func TestAgentSettingsAreCalledLikeTheirFlags(t *testing.T) {
	t.Parallel()
	c := &cobra.Command{}
	options.AgentFlags(c, new(options.Agent))
	camel := func(flag string) string {
		words := strings.Split(flag, "-")
		for i, w := range words[1:] {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
		return strings.Join(words, "")
	}
	keys, variables := 0, 0
	for _, s := range options.AgentSources {
		if s.Key != "" {
			keys++
			if s.Key != camel(s.Flag) {
				t.Errorf("--%s is %s in agent.yaml", s.Flag, s.Key)
			}
		}
		if fl := c.Flags().Lookup(s.Flag); fl != nil && s.Env != "" {
			variables++
			if !strings.Contains(fl.Usage, s.Env) {
				t.Errorf("the help of --%s does not name %s", s.Flag, s.Env)
			}
		}
	}
	if keys < 40 || variables < 25 {
		t.Errorf("%d keys, %d variables", keys, variables)
	}
}

// The README's numbers of errors are those that the agent sends.
func TestReadmeNumbersOfErrors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(agentManual)
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "| `data.kind` |")
	table, _, _ = strings.Cut(table, "\n\n")
	kinds := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		for kind := range strings.SplitSeq(cells[1], ",") {
			kinds++
			f := jsonrpc.Errorf(jsonrpc.ErrorKind(strings.Trim(kind, " `")), "no")
			if got := fmt.Sprintf(" %d  %d ", f.Code(false), f.Code(true)); got != cells[2]+cells[3] {
				t.Errorf("%s has the numbers%s, and in the README%s", kind, got, cells[2]+cells[3])
			}
		}
	}
	if kinds < 15 {
		t.Errorf("%d kinds were found", kinds)
	}
}

// The README's tool that runs a program does what it says.
func TestA4_ReadmeToolOfOnesOwn(t *testing.T) {
	t.Parallel()
	peertest.Node(t)
	text, err := os.ReadFile(agentManual)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, rest, _ := strings.Cut(rest, "```\n")
	_, want, _ := strings.Cut(rest, "$ mcphud tools call count_words text='to be or not to be' -- mcphud agent --stdio\n")
	want, _, ok := strings.Cut(want, "\n")
	if !ok || want == "" {
		t.Fatalf("%s has no example of a tool", agentManual)
	}
	file := filepath.Join(t.TempDir(), options.AgentFile)
	require.NoError(t, os.WriteFile(file, []byte(example), 0o600))
	run := func(args ...string) outcome {
		c := command(t, append([]string{"tools"}, args...)...)
		c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral", "--config", file)
		return finish(t, c)
	}
	if out := run("call", "count_words", "text=to be or not to be", "--format", "text").ok(t); strings.TrimSpace(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
	if out := run("list", "--format", "json").ok(t); !strings.Contains(out, `"readOnlyHint":true`) {
		t.Error(out)
	}
	if o := run("call", "count_words", "text:=5"); o.code == 0 {
		t.Errorf("arguments are not checked: %s", o.out)
	}
}
