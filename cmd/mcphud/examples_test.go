package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/registrytest"
	"github.com/mcphud/mcphud/session/test/require"
)

// exampleCodes are the exit codes of examples that cannot end with 0 in the world of the test, and why that is what they should do.
var exampleCodes = map[string]int{
	"mcphud skills show refunds -- node server.js":                                         cli.ExitTool, // the server's skills have other names
	"mcphud skills show skill://acme/refunds/SKILL.md examples/email.md -- node server.js": cli.ExitTool,
	"mcphud skills verify refunds --format json --url http://127.0.0.1:3000/mcp":           cli.ExitTool,
	"mcphud tasks get 786512e2 --url http://127.0.0.1:3000/mcp":                            cli.ExitTool, // and its tasks other ids
	"mcphud tasks result 786512e2 --max-timeout 1h --url http://127.0.0.1:3000/mcp":        cli.ExitTool,
	"mcphud tasks cancel 786512e2 --url http://127.0.0.1:3000/mcp":                         cli.ExitTool,
	"mcphud tasks list --url http://127.0.0.1:3000/mcp":                                    cli.ExitFailure,     // there is none in the newest revision
	"mcphud servers edit reports":                                                          cli.ExitFailure,     // the editor needs a terminal
	"mcphud up":                                                                            cli.ExitFailure,     // nobody is asked whether the stack may start
	"mcphud open io.github.owner/name@1.2.0 --set API_KEY=secret":                          cli.ExitUnreachable, // nor whether the server may
	// Of manuals: what stands for something that is not there, and a server with findings.
	"mcphud open io.github.owner/name": cli.ExitUnreachable,
	"mcphud servers remove more-files": cli.ExitUnreachable,
	"mcphud tools call echo message=hi --compare https://staging.example.com/mcp --server production":                   cli.ExitUnreachable,
	"mcphud raw tools/list --compare 'node build/next.js' -- node build/last.js":                                        cli.ExitUnreachable,
	"mcphud bench search --batch queries.jsonl --rate 50 --count 1000 --agent docs --compare http://127.0.0.1:7000/mcp": cli.ExitUnreachable,
	"mcphud bench search query=mcp --clients 8 --for 30s --slo 'p99<200ms' --slo 'errors<1%' -- node server.js":         cli.ExitFailure, // the tool may change something
	"mcphud check all --server github": cli.ExitAssertion,
	// The server asks for no login.
	"mcphud auth login https://mcp.example.com/mcp":  cli.ExitAuth,
	"mcphud auth login --server github --no-browser": cli.ExitAuth, "mcphud auth status --server github --format json": cli.ExitAuth,
}

// lasting are examples that go on until they are interrupted, by what they begin with.
var lasting = regexp.MustCompile(`^mcphud (agent|router|up|mock|tap|resources subscribe|status --metrics \S+:\d+)\b`)

// ending are those of lasting's commands that end by themselves.
var ending = regexp.MustCompile(`^mcphud (tap (un)?wrap|tap -- )`)

// ofSessions are the commands about kept sessions, which need one another: kept_test.go runs them.
var ofSessions = regexp.MustCompile(`^mcphud (session|answer) |--session `)

// Every example of the help runs, in a home that has what the examples name: servers, files of traffic, calls made before, a router.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell")
	}
	w := newExampleWorld(t)
	seen := map[string]bool{}
	eachCommand(t, func(_ *app, c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			if seen[line] || strings.HasPrefix(line, "echo ") || strings.HasPrefix(line, "mcphud completion") || ofSessions.MatchString(line) {
				continue
			}
			seen[line] = true
			if len(seen)%3 != 0 && !budget.All() { // each is a process or more in a home of its own
				continue
			}
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				w.run(t, line)
			})
		}
	})
	for _, line := range manualCommands() {
		if seen[line] {
			continue
		}
		seen[line] = true
		if budget.All() {
			t.Run("manual: "+line, func(t *testing.T) {
				t.Parallel()
				w.run(t, line)
			})
		}
	}
	for line := range exampleCodes {
		if !seen[line] {
			t.Errorf("no command and no manual has the example %q", line)
		}
	}
}

// manualCommands are those of the manuals that no other test runs, and that need nothing which stands before them.
func manualCommands() (lines []string) {
	for _, topic := range topics() {
		if slices.Contains([]string{"scripts", "agent", "router"}, topic.name) { // TestPeerReadmeCommands, TestV3_ReadmeAgentCommands; other machines
			continue
		}
		text := topic.text
		for _, tested := range []string{"Journal files", "The hops of a call"} {
			text = strings.Replace(text, section(topic.text, tested)[2:], "", 1)
		}
		for block := range strings.SplitSeq(text, "\n```") {
			language, block, _ := strings.Cut(block, "\n")
			for line := range strings.Lines(block) {
				line, prompt := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if line, _, _ = strings.Cut(line, "  #"); strings.HasPrefix(line, "mcphud ") && (prompt && language == "console" || language == "sh") {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
		}
	}
	return lines
}

// exampleWorld is what the examples run in. Each gets a copy of its folder.
type exampleWorld struct {
	dir, url   string
	everything string // an agent that has skills and tasks
	env        []string
	replace    *strings.Replacer
}

func newExampleWorld(t *testing.T) *exampleWorld {
	t.Helper()
	exe := ownProgram(t)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(examples()))
	h := httptest.NewServer(mux)
	t.Cleanup(h.Close)
	w := &exampleWorld{dir: t.TempDir(), url: h.URL + "/mcp", everything: serveAgent(t, "--ephemeral", "--port", "0", "--profile", "everything").url}
	tm := teamOf(t, nil, "everything", "demo")
	w.env = []string{"ROUTER_HOST=localhost", fmt.Sprintf("ROUTER_PORT=%d", portOf(tm.router)), "EDITOR=true"}

	reg := registrytest.Start(t)
	description := `{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json","name":"io.github.owner/name","description":"Files and github","version":"1.2.0",` +
		`"packages":[{"registryType":"npm","identifier":"@owner/name","version":"1.2.0","transport":{"type":"stdio"},"environmentVariables":[{"name":"API_KEY","isSecret":true}]}]}`
	reg.Put(t, description)
	w.env = append(w.env, "MCPHUD_REGISTRY="+reg.URL)

	local := "env -u " + asMain + " " + asServer + "=" + exampleServer + " " + exe
	w.replace = strings.NewReplacer(
		"node server.js", local, "npx -y @modelcontextprotocol/server-everything stdio", local, "npx -y @modelcontextprotocol/server-everything", local,
		"https://mcp.example.com/mcp", w.url, "https://staging.example.com/mcp", w.url, "https://host/mcp", w.url, "http://127.0.0.1:3000/mcp", w.url,
		"https://registry.example.com", reg.URL, "0.0.0.0", "127.0.0.1", "=…", "=token-of-the-example")
	entry := fmt.Sprintf(`{"command":"env","args":["-u",%q,%q,%q]}`, asMain, asServer+"="+exampleServer, exe)
	servers := fmt.Sprintf(`{"mcpServers":{"github":%s,"everything":%[1]s}}`, entry)
	own := fmt.Sprintf("servers:\n  github:\n    url: %s\n  everything: %s\n", w.url, entry)
	more := fmt.Sprintf("  reports: # weekly\n    command: env\n    args: [-u, %s, %s, %q]\n    env: {OLD: '1'}\n    enabled: true\n  files: %s\n", asMain, asServer+"="+exampleServer, exe, entry)
	for name, text := range map[string]string{
		".config/mcphud/mcphud.yaml": own + more, "plain.yaml": own, ".config/Claude/claude_desktop_config.json": servers, "work/.vscode/mcp.json": strings.Replace(servers, "mcpServers", "servers", 1),
		"work/.mcp.json": fmt.Sprintf(`{"mcpServers":{"everything":%s}}`, entry), "work/ci/mcp.json": servers, "work/server.json": description, "work/query.json": `{"query":"mcp"}`, "work/numbers.jsonl": "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n", "work/agent.yaml": "log-level: warn\n",
		"work/routing.json": `{"routes":{"demo":{"hostPort":7000}}}`, "work/docs/read.md": "# Read\n\nme\n",
		"work/mcphud.stack.yaml": "version: 1\nagents:\n  docs: {}\nrouter: false\n", "work/mcphud.yaml": "servers: {}\n", "work/notes.mcpb": string(bundled(t)),
	} {
		file := filepath.Join(w.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	nano := filepath.Join(w.dir, "bin", "nano")
	require.NoError(t, errors.Join(os.Mkdir(filepath.Dir(nano), 0o700), os.WriteFile(nano, []byte("#!/bin/sh\n"), 0o700)))
	w.env = append(w.env, "PATH="+filepath.Dir(nano)+":"+os.Getenv("PATH"))
	// What was recorded and called before, made by the program itself.
	must := func(args ...string) {
		t.Helper()
		cmd := w.command(t, w.dir, args...)
		if o := finish(t, cmd); o.code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.out, o.stderr)
		}
	}
	must("tools", "call", "echo", "message=hi", "--server", "everything", "--journal", "session.jsonl", "--meta", "traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	for i := range 16 {
		must("tools", "call", "search", fmt.Sprintf("query=%d", i), "--server", "github", "--journal", "session.jsonl")
	}
	must("history", "name", "last", "search")
	must("history", "save", "last", "search")
	must("journal", "export", "session.jsonl", "--format", "har", "-o", "browser.har")
	b, err := os.ReadFile(filepath.Join(w.dir, "work", "session.jsonl"))
	require.NoError(t, err)
	for _, name := range []string{"client.jsonl", "router.jsonl", "a.jsonl", "b.jsonl", "session.jsonl.gz"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "work", name), b, 0o600))
	}
	return w
}

// command prepares a run in a home.
func (w *exampleWorld) command(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Dir = filepath.Join(home, "work")
	// Short enough for a socket.
	tap, err := os.MkdirTemp("", "tap")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(tap) })
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, cli.NoHistory+"=") })
	cmd.Env = append(cmd.Env, append(w.env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "XDG_CACHE_HOME="+home+"/.cache", "MCPHUD_TAP_DIR="+tap)...)
	return cmd
}

// run runs one example to its end, or until it has something to say.
func (w *exampleWorld) run(t *testing.T, line string) {
	home := t.TempDir()
	require.NoError(t, os.CopyFS(home, os.DirFS(w.dir)))
	plain, _, _ := strings.Cut(line, " | ")
	plain, _, _ = strings.Cut(plain, " > ")
	words := shellWord.FindAllString(w.replace.Replace(plain), -1)
	var env []string
	for regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
		env, words = append(env, words[0]), words[1:]
	}
	for i, word := range words {
		words[i] = strings.Trim(word, `'"`)
	}
	exe := ownProgram(t)
	for i, word := range words {
		if i > 0 && word == "mcphud" { // a server that is mcphud itself
			words[i] = exe
		}
	}
	args := words[1:]
	plain = "mcphud " + strings.Join(args, " ")
	switch args[0] {
	case "skills", "tasks":
		args = slices.DeleteFunc(args, func(a string) bool { return a == w.url || a == "--url" })
		if i := slices.Index(args, "--"); i >= 0 {
			args = args[:i]
		}
		args = append(args, "--url", w.everything)
	case "servers":
		file := filepath.Join(home, ".config/mcphud/mcphud.yaml")
		b, err := os.ReadFile(file)
		switch args[1] {
		case "add":
			b, err = os.ReadFile(filepath.Join(home, "plain.yaml"))
		case "enable":
			b = bytes.Replace(b, []byte("enabled: true"), []byte("enabled: false"), 1)
		}
		require.NoError(t, errors.Join(err, os.WriteFile(file, b, 0o600)))
	case "history":
		require.NoError(t, os.RemoveAll(filepath.Join(home, "work", ".mcphud")))
	}
	if slices.Contains([]string{"mcphud agent", "mcphud router", "mcphud mock"}, strings.Join(words[:min(2, len(words))], " ")) && !slices.Contains(args, "--port") {
		args = append(args, "--port", "0") // what else listens on this machine is none of the example's business
	}
	if i := slices.Index(args, "--"+cli.MetricsFlag); i >= 0 {
		args[i+1] = strings.Replace(args[i+1], ":9464", ":0", 1)
	}
	cmd := w.command(t, home, args...)
	cmd.Env = append(cmd.Env, env...)
	var out, stderr bytes.Buffer
	var said atomic.Int64
	cmd.Stdout, cmd.Stderr = counting{&out, &said}, counting{&stderr, &said}
	if slices.Contains(args, "--paste") {
		cmd.Stdin = strings.NewReader(`{"mcpServers":{"pasted":{"command":"node"}}}`)
	}
	start := time.Now()
	require.NoError(t, cmd.Start())
	want, allowed := exampleCodes[line], 0
	if lasting.MatchString(plain) && !ending.MatchString(plain) {
		allowed = cli.ExitInterrupted
		// Before it says anything it may not be ready for signals; tap says nothing while nobody else does.
		go func() {
			patience := 30 * time.Second
			if args[0] == "tap" {
				patience = 5 * time.Second
			}
			for end := time.Now().Add(patience); said.Load() == 0 && time.Now().Before(end); {
				time.Sleep(50 * time.Millisecond)
			}
			time.Sleep(500 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGINT) // of a process that is gone: an error
		}()
	}
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	o := wait(t, cmd, &out, &stderr, start)
	if o.code != want && (allowed == 0 || o.code != allowed) {
		t.Errorf("exit %d, want %d\nstdout %.500s\nstderr %.1500s", o.code, want, o.out, o.stderr)
	}
}

// counting counts what is written.
type counting struct {
	io.Writer
	n *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// exampleServer is a value of asServer for what the examples of the help are about.
const exampleServer = "examples"

// examples is the server that the examples of the help call: its tools, prompt, resources and template are named in them.
func examples() *server.MCPServer {
	s := server.NewMCPServer("examples", "1.0.0", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true), server.WithCompletions(),
		server.WithPromptCompletionProvider(words{}), server.WithResourceCompletionProvider(words{}))
	answer := func(text func(mcp.CallToolRequest) string) server.ToolHandlerFunc {
		return func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(text(r)), nil
		}
	}
	s.AddTool(mcp.NewTool("add", mcp.WithDescription("Add two numbers."), mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required())),
		answer(func(r mcp.CallToolRequest) string { return fmt.Sprint(r.GetFloat("a", 0) + r.GetFloat("b", 0)) }))
	for _, name := range []string{"search", "search_repos"} {
		s.AddTool(mcp.NewTool(name, mcp.WithDescription("Search."), mcp.WithString("query", mcp.Required()), mcp.WithNumber("limit"), mcp.WithReadOnlyHintAnnotation(true)),
			answer(func(r mcp.CallToolRequest) string { return "found " + r.GetString("query", "") }))
	}
	s.AddTool(mcp.NewTool("echo", mcp.WithDescription("Echo a message."), mcp.WithString("message", mcp.Required())),
		answer(func(r mcp.CallToolRequest) string { return r.GetString("message", "") }))
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("name", mcp.RequiredArgument())), func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Greet "+r.Params.Arguments["name"]))}), nil
	})
	read := func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "127.0.0.1 localhost\n"}}, nil
	}
	for _, uri := range []string{"file:///etc/hosts", "file:///etc/motd"} {
		s.AddResource(mcp.NewResource(uri, uri[len("file:///etc/"):]), read)
	}
	s.AddResourceTemplate(mcp.NewResourceTemplate("file:///{path}", "file"), server.ResourceTemplateHandlerFunc(read))
	return s
}

// words completes everything with the same two words.
type words struct{}

func (words) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"Ada", "Alan"}}, nil
}

func (words) CompleteResourceArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"README.md"}}, nil
}
