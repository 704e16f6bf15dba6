package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	verbserve "github.com/mcphud/mcphud/cmd/verb/serve"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// upSummary is the line that `mcphud up` prints.
type upSummary struct {
	Ready   bool
	File    string
	Servers []struct{ Name, URL, Routed string }

	Aggregate string
	Processes []struct {
		Name, State, URL string
		PID, Port        int
	}
}

// upRun is `mcphud up` in a process of its own.
type upRun struct {
	*served
	upSummary
	out  *os.File // its stdout
	mark string   // in the environment of all its processes
}

// stackOf starts a stack file, which is named, and waits until everything is ready.
func stackOf(t *testing.T, text string, args ...string) *upRun {
	t.Helper()
	home := t.TempDir()
	if text != "" {
		require.NoError(t, os.WriteFile(filepath.Join(home, "mcphud.stack.yaml"), []byte(text), 0o600))
	}
	u := &upRun{mark: "MCPHUD_TEST_STACK=" + filepath.Base(home) + strconv.FormatInt(time.Now().UnixNano(), 36)}
	cmd := command(t, append([]string{"up"}, args...)...)
	cmd.Dir = home
	cmd.Env = append(cmd.Env, u.mark, "TMPDIR="+home, "XDG_RUNTIME_DIR="+home)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	cmd.Stdout, u.out = w, r
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	u.served = &served{t: t, cmd: cmd, home: home, exited: make(chan struct{}), http: &http.Client{Transport: tr}}
	cmd.Stderr = u.served
	require.NoError(t, cmd.Start())
	_ = w.Close()
	go func() {
		_ = cmd.Wait()
		u.code = cmd.ProcessState.ExitCode()
		close(u.exited)
	}()
	t.Cleanup(func() {
		if u.running() {
			u.signal(os.Interrupt)
		}
		u.exit()
		if t.Failed() {
			t.Log(u.log())
		}
	})
	if err := json.NewDecoder(r).Decode(&u.upSummary); err != nil {
		t.Fatalf("no summary: %v", err)
	}
	return u
}

const twoAgents = "agents:\n  one: {ephemeral: true}\n  two: {ephemeral: true, profile: everything}\n"

// The summary is what a command prints, so that --select is for it.
func TestUpSelects(t *testing.T) {
	t.Parallel()
	u := stackOf(t, twoAgents+"router: {}\n", "mcphud.stack.yaml", "--select", "{ready, servers: .servers[1:], processes}")
	if !u.Ready || len(u.Servers) != 1 || len(u.Processes) != 3 {
		t.Errorf("%+v", u.upSummary)
	}
}

func TestUp(t *testing.T) {
	t.Parallel()
	// The first gets a port of its own: another could be taken between its end and its next start.
	agents := strings.Replace(twoAgents, "{ephemeral: true}", fmt.Sprintf("{port: %d, ephemeral: true}", nettest.FreePort(t)), 1)
	u := stackOf(t, agents+"router: {}\n", "mcphud.stack.yaml")
	if !u.Ready || len(u.Servers) != 2 || len(u.Processes) != 3 || !strings.HasSuffix(u.Aggregate, "/mcp") || u.File != filepath.Join(u.home, "mcphud.stack.yaml") {
		t.Fatalf("%+v", u.upSummary)
	}
	assert.Contains(t, mcphud(t, "tools", "call", "add", "a=1", "b=2", "--url", u.Servers[0].Routed, "--format", "json").ok(t), "3")

	// A process that dies comes back where it was, and the router reaches it again.
	first := u.Processes[0]
	ready := "one          ready      at " + first.URL
	before := strings.Count(u.log(), ready) // twice where the router had to listen elsewhere, which the agents are told
	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	require.Eventually(t, "the agent to come back", func() bool { return strings.Count(u.log(), ready) > before })
	assert.Contains(t, u.log(), "killed; next start in")
	mcphud(t, "tools", "call", "add", "a=1", "b=2", "--url", u.Servers[0].Routed).ok(t)

	u.signal(os.Interrupt)
	if code := u.exit(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if rest, _ := io.ReadAll(u.out); len(rest) > 0 {
		t.Errorf("more on stdout: %s", rest)
	}
	if left, _ := filepath.Glob(u.home + "/mcphud-stack-*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
	u.gone(t)
}

// The router of a stack serves HTTPS with a certificate that nobody vouches for, and writes requests down.
func TestUpOverTLS(t *testing.T) {
	long(t, "TestUp")
	t.Parallel()
	own := nettest.SelfSigned(t)
	log := filepath.Join(t.TempDir(), "audit.jsonl")
	u := stackOf(t, "agents: {one: {ephemeral: true}}\nrouter: {tlsCert: "+own.Cert+", tlsKey: "+own.Key+", audit: "+log+"}\n", "mcphud.stack.yaml")
	if !strings.HasPrefix(u.Servers[0].Routed, "https://127.0.0.1:") || !strings.HasPrefix(u.Aggregate, "https://") {
		t.Fatalf("%+v", u.upSummary)
	}
	cmd := command(t, "tools", "call", "add", "a=1", "b=2", "--url", u.Servers[0].Routed)
	cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+own.Cert, "SSL_CERT_DIR="+t.TempDir())
	assert.Contains(t, finish(t, cmd).ok(t), "3")
	require.Eventually(t, "the audit log", func() bool { return strings.Contains(contents(log), `"tool":"add"`) })
	// The supervisor goes on asking, and finds nothing wrong.
	require.NoError(t, syscall.Kill(u.Processes[1].PID, syscall.SIGKILL))
	require.Eventually(t, "the router to come back", func() bool { return strings.Count(u.log(), "router       ready      at https://") == 2 })
}

// gone checks that no process of the stack is left.
func (u *upRun) gone(t *testing.T) {
	t.Helper()
	require.Eventually(t, "all processes to be gone", func() bool { return len(marked(t, u.mark)) == 0 })
}

func TestUpKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	u := stackOf(t, "", "--format", "json")
	if len(u.Processes) != 4 || u.File != "" || len(marked(t, u.mark)) < 5 {
		t.Fatalf("%+v", u.upSummary)
	}
	u.signal(os.Kill)
	u.exit()
	u.gone(t)

	// The next one takes away what was left behind, and nothing else.
	other := filepath.Join(u.home, verbserve.StackDir+strconv.Itoa(os.Getpid())+"-x")
	require.NoError(t, os.Mkdir(other, 0o700))
	if left, _ := filepath.Glob(u.home + "/" + verbserve.StackDir + "*"); len(left) != 2 {
		t.Fatalf("folders %v", left)
	}
	verbserve.Sweep(u.home)
	if left, _ := filepath.Glob(u.home + "/" + verbserve.StackDir + "*"); len(left) != 1 || left[0] != other {
		t.Errorf("folders %v", left)
	}
}

func TestUpSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	u := stackOf(t, "agents: {one: {ephemeral: true, profile: everything, drainTimeout: 5m}}\nrouter: false\n", "mcphud.stack.yaml")
	if u.Servers[0].Routed != "" || u.Aggregate != "" {
		t.Errorf("%+v", u.upSummary)
	}
	// A call that runs keeps the agent for the whole time of its drain.
	u.url = u.Servers[0].URL
	answer := u.going("sleep", `{"seconds":600}`)
	u.signal(os.Interrupt)
	// Not before: of two signals that are on their way at once one arrives. A slow start may have been stopped, too.
	require.Eventually(t, "it to drain", func() bool { return strings.Contains(u.log(), "SIGTERM sent") || !u.running() })
	if !u.running() {
		t.Fatal("it did not wait for what is drained")
	}
	began := time.Now()
	u.signal(os.Interrupt)
	if code := u.exit(); code != cli.ExitInterrupted {
		t.Errorf("exit code %d, want %d", code, cli.ExitInterrupted)
	}
	if took := time.Since(began); took > 30*time.Second { // a loaded machine's "at once", far from 5 minutes
		t.Errorf("it took %v", took)
	}
	<-answer
	u.gone(t)
}

func TestUpTrust(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "mcphud.stack.yaml")
	run := func(text string, args ...string) outcome {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		cmd := command(t, append([]string{"up", "--format", "json"}, args...)...)
		cmd.Dir = home
		cmd.Env = append(cmd.Env, "HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_RUNTIME_DIR="+home)
		return finish(t, cmd)
	}
	touch := filepath.Join(home, "was-run")
	// It ends by itself: the one process fails.
	foreign := "servers: {bad: {command: sh, args: [-c, \"echo > " + touch + "; exit 1\", --token=hidden], port: " + strconv.Itoa(nettest.FreePort(t)) + "}}\nrouter: false\n"
	for _, args := range [][]string{nil, {file}} {
		o := run(foreign, args...)
		if e := o.errorLine(t); o.code != cli.ExitFailure || !strings.Contains(e.Message, file+" is not trusted") || !strings.Contains(o.stderr, "bad: sh -c \"echo > ") || strings.Contains(o.stderr, "hidden") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.stderr)
		}
		if _, err := os.Stat(touch); err == nil {
			t.Fatal("the command was run")
		}
	}
	// What is too long for a screen is shown whole all the same, and is not asked about.
	long := "servers: {bad: {command: sh, args: [-c, \"" + strings.Repeat("a", 5000) + "; echo > " + touch + "\"]}}\nrouter: false\n"
	o := run(long)
	if e := o.errorLine(t); o.code != cli.ExitFailure || !strings.Contains(e.Message, "too long to be reviewed") || !strings.Contains(o.stderr, "aaaa; echo > "+touch) {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	// A variable that makes this program run other code.
	for text, says := range map[string]string{
		"agents: {a: {env: {SSL_CERT_FILE: /x}}}\n":                  file + " is not trusted",
		"agents: {a: {env: {LD_PRELOAD: /x.so}}}\n":                  "agents.a.env.LD_PRELOAD is refused",
		"agents: {a: {}}\nrouter: {env: {LD_PRELOAD: /path/x.so}}\n": "router.env.LD_PRELOAD is refused",
	} {
		if o := run(text, file); o.code != cli.ExitFailure || !strings.Contains(o.errorLine(t).Message, says) {
			t.Errorf("%s: exit %d: %s", text, o.code, o.stderr)
		}
	}
	o = run(foreign, "--trust")
	if e := o.errorLine(t); o.code != cli.ExitUnreachable || e.Kind != "SpawnFailed" || !strings.Contains(e.Message, "bad cannot start: exited with status 1") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if _, err := os.Stat(touch); err != nil {
		t.Error("the command was not run")
	}
	if o = run(foreign + "# changed\n"); o.code != cli.ExitFailure {
		t.Errorf("a changed file is trusted: %s", o.stderr)
	}
	// Also a file without commands, if nobody named it.
	if o = run("agents: {a: {root: /}}\n"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "a: mcphud agent --root=/") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

func TestUpUsage(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	taken := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	for text, says := range map[string]string{
		"agents: {a: {port: " + taken + "}}":                                      "port " + taken + ", which is taken by ",
		"servers: {w: {command: x, url: \"http://localhost:" + taken + "/mcp\"}}": "w cannot listen on port " + taken + ", which is taken by ",
		"agents: {a: {profile: nice}}":                                            "x.yaml:1:23: agents.a.profile is \"nice\": must be one of demo, everything, hostile, fault",
		"agents: {a: {concurrency: many}}":                                        "from 1 to",
		"agents: {a: {batch: perhaps}}":                                           "must be true or false",
		"agents: [":                                                               "not valid YAML",
	} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		o := ownProcess(t, "up", file, "--trust")
		if e := o.errorLine(t); o.code != cli.ExitFailure || o.out != "" || e.Kind != "Usage" || !strings.Contains(e.Message, says) {
			t.Errorf("%s: exit %d, stdout %q, stderr %s", text, o.code, o.out, o.stderr)
		}
	}
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"/nowhere/at/all.yaml"}, "cannot read the stack file /nowhere/at/all.yaml: no such file or directory; name a file that exists"},
		{[]string{dir}, "cannot read the stack file " + dir + ": "},
		{[]string{"a", "b"}, "at most 1"},
		{[]string{"--url", "http://127.0.0.1:1/"}, "--url does not apply to up"},
	} {
		if o := ownProcess(t, append([]string{"up"}, c.args...)...); o.code != cli.ExitFailure || o.out != "" || !strings.Contains(o.errorLine(t).Message, c.says) {
			t.Errorf("%v: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
}

// A model's password is in no process' arguments, where everybody could read it, and the agent has it all the same.
func TestUpKeepsPasswordsOutOfArguments(t *testing.T) {
	t.Parallel()
	u := stackOf(t, "agents: {one: {ephemeral: true, modelUrl: \"http://user:pw12345@127.0.0.1:1/v1\"}}\nrouter: false\n", "mcphud.stack.yaml")
	at := fmt.Sprintf("/proc/%d/", u.Processes[0].PID)
	args, err := os.ReadFile(at + "cmdline")
	if err != nil || bytes.Contains(args, []byte("pw12345")) || !bytes.Contains(args, []byte("--ephemeral=true")) {
		t.Errorf("arguments %q %v", args, err)
	}
	if env, err := os.ReadFile(at + "environ"); err != nil || !bytes.Contains(env, []byte("AGENT_MODEL_URL=http://user:pw12345@127.0.0.1:1/v1")) {
		t.Errorf("the agent does not have it: %v", err)
	}
}

// The example of the help text is a stack file.
func TestUpExample(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mcphud.stack.yaml")
	require.NoError(t, os.WriteFile(file, []byte(verbserve.StackExample), 0o600))
	t.Setenv("TOKEN", "x")
	f, _, err := verbserve.StackFile(file)
	if err != nil || len(f.Warnings) != 0 || len(f.Agents) != 2 || len(f.Servers) != 3 || f.Router.Port != 8088 {
		t.Errorf("%+v %v", f, err)
	}
}

// A key that is not known is answered with those that an entry of a stack may have.
func TestUpUnknownKey(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(file, []byte("agents: {a: {colour: red}}"), 0o600))
	f, _, err := verbserve.StackFile(file)
	if err != nil || len(f.Warnings) != 1 {
		t.Fatalf("%+v %v", f, err)
	}
	_, keys, _ := strings.Cut(f.Warnings[0].Message, "the keys are ")
	if known := strings.Split(keys, ", "); !slices.Contains(known, "env") || !slices.Contains(known, "route") || !slices.Contains(known, "kb") || slices.Contains(known, "host") {
		t.Error(f.Warnings[0].Message)
	}
}

// A server that is part of a stack ends when the pipe from its supervisor closes, however that came about.
func TestSupervisedServerEndsWithItsInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"agent", "--ephemeral", "--port", "0"}, {"router", "--port", "0"}} {
		cmd := command(t, append(args, "--supervised")...)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		errs, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var log bytes.Buffer
		one := make([]byte, 1)
		for !strings.Contains(log.String(), "listening on") {
			if _, err := errs.Read(one); err != nil {
				t.Fatal(log.String())
			}
			log.Write(one)
		}
		_ = in.Close()
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		_, _ = io.Copy(io.Discard, errs)
		_ = cmd.Wait()
		late.Stop()
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
			t.Errorf("%v ended with %d", args, code)
		}
	}
}

// The agents of a stack call each other without a word about it in the file, and where callers need tokens with their own.
func TestR15_X7_AgentsOfAStackCallEachOther(t *testing.T) {
	t.Parallel()
	delegate := func(url, token, other string) outcome {
		t.Helper()
		args := []string{"tools", "call", "call_agent", "agent=" + other, "tool=echo", `args:={"message":"hello"}`, "--url", url, "--format", "json"}
		if token != "" {
			args = append(args, "-H", "Authorization: Bearer "+token)
		}
		return ownProcess(t, args...)
	}
	u := stackOf(t, "")
	for _, s := range u.Servers[:2] { // demo and everything
		if out := delegate(s.Routed, "", "fault").ok(t); !strings.Contains(out, "hello") {
			t.Errorf("%s: %s", s.Name, out)
		}
	}

	const alpha, people = "alpha-t0ken", "people-t0ken"
	tokens := tokenFile(t, map[string]string{alpha: `["b"]`, people: `["*"]`})
	u = stackOf(t, "agents:\n  a: {ephemeral: true, env: {AGENT_TOKEN: "+alpha+"}}\n  b: {ephemeral: true}\n  c: {ephemeral: true}\nrouter: {tokens: "+tokens+"}\n", "mcphud.stack.yaml")
	a := u.Servers[0]
	delegate(a.Routed, "", "b").exits(t, cli.ExitAuth)
	assert.Contains(t, delegate(a.Routed, people, "b").ok(t), "hello")
	o := delegate(a.Routed, people, "c")
	o.prints(t, cli.ExitTool, "is not authorized to access agent 'c'", "allowedTargets")
	if o := delegate(a.URL, "", "b"); o.code != cli.ExitAuth { // it is the agent's own token, too
		t.Errorf("directly: exit %d, %s", o.code, o.stderr)
	}
	assert.Contains(t, delegate(a.URL, alpha, "b").ok(t), "hello")
	assert.NotContains(t, o.out+o.stderr+u.log(), alpha)
}

// What the router starts has started when everything is said to be ready, however long it takes, so that the first list has it; one that
// cannot start is named, and nobody waits for it.
func TestUpWaitsForWhatTheRouterStarts(t *testing.T) {
	long(t, "TestUp")
	t.Parallel()
	slow := fmt.Sprintf("{command: sh, args: [-c, 'sleep 6; exec env -u %s %s=%s %s'], session: shared}", asMain, asServer, exampleServer, os.Args[0])
	u := stackOf(t, "agents: {}\nservers:\n  slow: "+slow+"\n  bad: {command: sh, args: [-c, 'echo no such thing >&2; exit 3']}\nrouter: {}\n", "mcphud.stack.yaml", "--trust")
	out := mcphud(t, "tools", "list", "--url", u.Aggregate, "--format", "text").ok(t)
	assert.Contains(t, out, "search_repos")
	for _, want := range []string{"waiting for slow, bad to start", "warning: bad is not in the list of everything yet: "} {
		assert.Contains(t, u.log(), want)
	}
}
