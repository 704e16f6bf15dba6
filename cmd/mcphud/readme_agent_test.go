package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/charmbracelet/x/exp/golden" // for -update
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/peertest"
)

const agentManual = "../../agentsrv/README.md"

// settingsTable is the manual's table of the agent's settings, from the flags that there really are.
func settingsTable() string {
	c := &cobra.Command{}
	options.AgentFlags(c, new(options.Agent))
	f := c.Flags()
	more := map[string]settings.Setting{}
	for _, s := range options.AgentSources {
		more[s.Flag] = s
	}
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteString("| flag | environment | in the file | default | |\n|---|---|---|---|---|\n")
	f.VisitAll(func(fl *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(fl)
		if name == "" || fl.Value.Type() == "bool" {
			name = ""
		} else {
			name = " " + name
		}
		def := fl.DefValue
		if def == "false" || def == "[]" {
			def = ""
		}
		s := more[fl.Name]
		usage = strings.TrimSuffix(strings.TrimSuffix(usage, s.Env), "; ")
		fmt.Fprintf(&b, "| `--%s%s` | %s | %s | %s | %s |\n", fl.Name, name, code(s.Env), code(s.Key), code(def), usage)
	})
	return b.String()
}

func TestReadmeHasAllSettings(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- agent settings: made by go test ./cmd/mcphud -run Readme -update -->\n", "<!-- end of agent settings -->\n"
	text, err := os.ReadFile(agentManual)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no part between %q and %q", agentManual, begin, end)
	}
	want := settingsTable()
	if table == want {
		return
	}
	if flag.Lookup("update").Value.String() != "true" {
		t.Fatalf("%s has another table; go test ./cmd/mcphud -run Readme -update writes\n%s", agentManual, want)
	}
	if err := os.WriteFile(agentManual, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The README's numbers of errors are those that the agent sends.
func TestReadmeNumbersOfErrors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(agentManual)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, rest, _ := strings.Cut(rest, "```\n")
	_, want, _ := strings.Cut(rest, "$ mcphud tools call count_words text='to be or not to be' -- mcphud agent --stdio\n")
	want, _, ok := strings.Cut(want, "\n")
	if !ok || want == "" {
		t.Fatalf("%s has no example of a tool", agentManual)
	}
	file := filepath.Join(t.TempDir(), options.AgentFile)
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
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
