package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/peertest"
)

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
