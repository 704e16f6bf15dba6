package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Every command that the manual shows for scripts works as it stands there, with the names of servers put in.
func TestPeerReadmeCommands(t *testing.T) {
	t.Parallel()
	everything := peertest.Everything(t)
	url := peertest.EverythingHTTP(t).Server.URL
	config := filepath.Join(t.TempDir(), "mcphud.json")
	entry := `{"mcpServers":{"everything":{"command":"` + everything.Command + `","args":["stdio"]}}}`
	require.NoError(t, os.WriteFile(config, []byte(entry), 0o600))
	behind := teamOf(t, nil, "demo") // the router
	behind.start("everything", nil, "--profile", "everything")
	const placeholder = "786512e2-9e0d" // the id of a task
	ran := 0
	for line := range strings.Lines(readme) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ mcphud ")
		if !ok || ofSessions.MatchString("mcphud "+args) {
			continue
		}
		ran++
		t.Run(args, func(t *testing.T) {
			given, err := text.Words(args)
			require.NoError(t, err)
			var words []string
			for _, w := range given {
				switch {
				case w == placeholder:
					w = taskOf(t, behind.agents["everything"].url)
				case w == "mcp-server-everything":
					w = everything.Command
				case w == "http://127.0.0.1:7000/mcp":
					w = behind.agents["demo"].url
				case strings.HasPrefix(w, "http://"):
					w = url
				}
				words = append(words, w)
				if w == "--server" {
					words = append(words[:len(words)-1], "--config", config, w)
				}
			}
			cmd := command(t, words...)
			for i, name := range []string{"answers.yaml", "own.yaml"} { // in this order in the manual
				_, block, _ := strings.Cut(readme, "```yaml\n")
				for range i {
					_, block, _ = strings.Cut(block, "```yaml\n")
				}
				block, _, _ = strings.Cut(block, "```")
				write(t, filepath.Join(cmd.Dir, name), block)
			}
			cmd.Env = append(cmd.Env, "ROUTER_HOST=", "ROUTER_PORT="+strconv.Itoa(portOf(behind.router)), "AGENT_TOKEN=")
			if out := finish(t, cmd).ok(t); out == "" {
				t.Error("nothing on stdout")
			}
		})
	}
	if ran < 5 {
		t.Errorf("%d commands were found", ran)
	}
}

// taskOf starts a task at an agent, and gives its id.
func taskOf(t *testing.T, url string) string {
	t.Helper()
	out := mcphud(t, "tools", "call", "slow_compute", "seconds=2", "--task", "--format", "jsonl", "--url", url).ok(t)
	_, id, _ := strings.Cut(out, `"taskId":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

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
	assert.Contains(t, run("list", "--format", "json").ok(t), `"readOnlyHint":true`)
	if o := run("call", "count_words", "text:=5"); o.code == 0 {
		t.Errorf("arguments are not checked: %s", o.out)
	}
}

// manualClient is a client of the manual, written to a file: command runs it.
func manualClient(t *testing.T, language string) (command []string) {
	t.Helper()
	m := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(agentsrv.README, -1)
	if len(m) != 1 {
		t.Fatalf("the manual has %d clients in %s", len(m), language)
	}
	file := filepath.Join(t.TempDir(), map[string]string{"python": "client.py", "js": "client.mjs", "go": "client.go"}[language])
	write(t, file, m[0][1])
	switch language {
	case "go":
		built := filepath.Join(filepath.Dir(file), "client")
		if out, err := exec.Command("go", "build", "-o", built, file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return []string{built}
	case "js":
		return []string{peertest.Node(t), file}
	}
	return []string{python(t), file}
}

// python is an interpreter; without one the test is skipped, for nothing else here needs one.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		if out, run := exec.Command(path, "-c", "import urllib.request").CombinedOutput(); run != nil {
			err = fmt.Errorf("%w: %s", run, out)
		}
	}
	if err != nil {
		t.Skip("Python 3 is not installed: ", err)
	}
	return path
}

// The clients of the manual do what it says, at the agent and through a router, and say what fails.
func testManualClient(t *testing.T, language string) {
	command := manualClient(t, language)
	run := func(want string, code int, args []string, env ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], append(command[1:], args...)...)
		cmd.Env = append(append(os.Environ(), "AGENT_TOKEN=", "NO_PROXY=*", "no_proxy=*"), env...)
		out, _ := cmd.CombinedOutput() // its code is compared
		if got := strings.ReplaceAll(string(out), "True", "true"); !strings.HasPrefix(got, want) || cmd.ProcessState.ExitCode() != code {
			t.Errorf("%s %v %v: exit %d, %s; want %d, %s", language, args, env, cmd.ProcessState.ExitCode(), got, code, want)
		}
	}
	m := regexp.MustCompile("(?s)\n```text\n(tools: .*?)```").FindStringSubmatch(agentsrv.README)
	if m == nil {
		t.Fatal("the manual does not say what they print")
	}
	whole := m[1]
	a := serveIn(t, t.TempDir(), []string{"AGENT_TOKEN=t0ken"}, "--ephemeral")
	r := launch(t, routerCommand(t, fmt.Sprintf(`{"routes":{"demo":{"url":%q,"headers":{"Authorization":"Bearer t0ken"}}}}`, a.url), nil, "--port", "0"), routerReady)
	run(whole, 0, nil, "MCP_URL="+a.url, "AGENT_TOKEN=t0ken")
	run(whole, 0, nil, "MCP_URL="+r.url+"/mcps/demo/mcp")
	run(whole+"failed: failed as asked\n", 1, []string{"fail"}, "MCP_URL="+a.url, "AGENT_TOKEN=t0ken")
	run(whole+"failed: -32602 Tool 'nope' not found", 1, []string{"nope"}, "MCP_URL="+a.url, "AGENT_TOKEN=t0ken")
	run("failed: -32000 Unauthorized", 1, nil, "MCP_URL="+a.url)
	run("failed: -32601 Agent 'ghost' not found\n", 1, nil, "MCP_URL="+r.url+"/mcps/ghost/mcp")
}

func TestV3b_ManualsClientInGo(t *testing.T) {
	t.Parallel()
	testManualClient(t, "go")
}

func TestPeerNode_V3b_ManualsClient(t *testing.T) {
	t.Parallel()
	testManualClient(t, "js")
}

func TestPeerPython_V3b_ManualsClient(t *testing.T) {
	t.Parallel()
	testManualClient(t, "python")
}

// The README names every tool and prompt that the agent has, and no other tool.
func TestReadmeNamesWhatTheAgentHas(t *testing.T) {
	t.Parallel()
	section := agentsrv.README
	s := serveAgent(t, "--ephemeral", "--root", t.TempDir())
	names := func(method, member string) (names []string) {
		var a struct {
			Result map[string]json.RawMessage
		}
		var items []struct{ Name string }
		r := s.post(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		if json.Unmarshal([]byte(r.body), &a) != nil || json.Unmarshal(a.Result[member], &items) != nil || len(items) == 0 {
			t.Fatalf("%s: %s", method, r.body)
		}
		for _, it := range items {
			names = append(names, it.Name)
		}
		return names
	}
	tools := names("tools/list", "tools")
	for _, name := range append(names("prompts/list", "prompts"), tools...) {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the README does not name %s", name)
		}
	}
	for method, member := range map[string]string{"resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		for _, uri := range uris(s, method, member) {
			if !strings.Contains(section, "`"+uri+"`") && !strings.HasPrefix(uri, "agentlet://") {
				t.Errorf("the README does not name %s", uri)
			}
		}
	}
	_, table, _ := strings.Cut(section, "| tool | what it does |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		first := strings.Split(row, "|")[1]
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(first, -1) {
			if !slices.Contains(tools, m[1]) {
				t.Errorf("the README names a tool that is not there: %s", m[1])
			}
		}
	}
}

// uris are the URIs, or the templates, of a list of resources.
func uris(s *served, method, member string) (all []string) {
	var a struct {
		Result map[string]json.RawMessage
	}
	var items []struct{ URI, URITemplate string }
	r := s.post(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
	if json.Unmarshal([]byte(r.body), &a) != nil || json.Unmarshal(a.Result[member], &items) != nil || len(items) == 0 {
		s.t.Fatalf("%s: %s", method, r.body)
	}
	for _, it := range items {
		all = append(all, it.URI+it.URITemplate)
	}
	return all
}

// The commands that the README shows for the agent do what it says, typed into a shell.
func TestV3_ReadmeAgentCommands(t *testing.T) {
	t.Parallel()
	_, block, _ := strings.Cut(agentsrv.README, "```console\n")
	block, _, _ = strings.Cut(block, "```")
	s := serveAgent(t, "--ephemeral")
	shell := agentCommand(t, t.TempDir(), nil)
	require.NoError(t, os.WriteFile(filepath.Join(shell.Dir, "mcphud"), []byte("#!/bin/sh\nexec "+shell.Path+" \"$@\"\n"), 0o700))
	ran := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", ""), "\n") {
		line, ok := strings.CutPrefix(line, "$ ")
		if !ok || !strings.Contains(line, "http://127.0.0.1:7000/mcp") {
			continue // it serves, or opens the UI
		}
		program, _, _ := strings.Cut(line, " ")
		if _, err := exec.LookPath(program); err != nil && program != "mcphud" {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "http://127.0.0.1:7000/mcp", s.url))
		cmd.Dir, cmd.Env = shell.Dir, append(shell.Env, "PATH="+shell.Dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.Output()
		if want := map[string]string{"mcphud": "[1,4,9]", "curl": `"sum":3`}[program]; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	if ran == 0 {
		t.Error("no command was found")
	}
}
