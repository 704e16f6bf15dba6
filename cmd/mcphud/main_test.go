package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

// asMain is the environment variable that makes the test binary the program itself, for what only a process of its own shows:
// servers, terminals, signals, environments and working folders. Everything else runs in the tests' process, see mcphud.
const asMain = "MCPHUD_TEST_MAIN"

// asBroken names the command of such a process that fails at once.
const asBroken = "MCPHUD_TEST_BROKEN"

// exitLeak is what such a process exits with if a goroutine outlived run.
const exitLeak = 99

func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) { // its environment is empty
		sandbox.WorkerMain()
	}
	if os.Getenv(asMain) == plantedRace {
		race()
		return
	}
	if os.Getenv(asMain) != "" {
		if len(os.Args) > 1 && os.Getenv(asBroken) == os.Args[1] {
			fmt.Fprintln(os.Stderr, `{"error":{"message":"the flux is out"}}`)
			os.Exit(cli.ExitFailure)
		}
		code := run(os.Args[1:], cli.Standard{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		// A key that comes while the UI ends keeps Bubble Tea's reader at its send: nobody receives any more.
		late := goleak.IgnoreTopFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).sendEvents")
		if err := leaktest.Find(goleak.IgnoreAnyFunction("github.com/mcphud/mcphud/cmd/cli.followInput"), late); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = exitLeak
		}
		os.Exit(code)
	}
	switch os.Getenv(asServer) {
	case "":
	case exampleServer:
		_ = server.ServeStdio(examples())
		os.Exit(0)
	case deafServer, deafLater:
		serveDeaf(os.Stdin, os.Stdout)
		os.Exit(0)
	default:
		serveUpdates(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") { // without asMain a command line would run all tests
		fmt.Fprintln(os.Stderr, "this is the test binary, which is the program only where "+asMain+" is set")
		os.Exit(2)
	}
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) { // under nohup, or in the background of a script, which children would inherit
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue && os.Getenv(programEnv) != "" {
		_ = f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // less than others: the programs have the race detector
	}
	home, err := isolate()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := leaktest.Run(m)
	if races := racesIn(home); races != "" {
		fmt.Fprintf(os.Stderr, "programs that tests started saw data races:\n%s", races)
		code = max(code, 1)
	}
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// isolate gives this process an empty home, so that no test reads the settings of whoever runs it. What the go command, which
// builds the servers of tests, keeps below the real home stays where it is.
func isolate() (home string, err error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOPATH", "GOENV").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	if home, err = os.MkdirTemp("", "mcphud-home-"); err != nil {
		return "", err
	}
	env := map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "XDG_STATE_HOME": home + "/.state", "MCPHUD_CONFIG": "", "NO_COLOR": "1",
		cli.NoHistory:        "off",  // but for the tests of it
		"MCPHUD_CREDENTIALS": "file", // no test asks the keychain of whoever runs it
		"GORACE":             raceOptions(home),
	}
	lines := strings.Split(string(out), "\n")
	for i, name := range []string{"GOCACHE", "GOPATH", "GOENV"} {
		env[name] = lines[i]
	}
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	return home, nil
}

// outcome is what one run of the program left, and its command line.
type outcome struct {
	code        int
	out, stderr string
	took        time.Duration
	line        string
}

// command prepares a run in an empty home and working folder.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	program := testProgram(t)
	if len(args) > 0 && slices.Contains(serving, args[0]) {
		program = ownProgram(t)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "XDG_CACHE_HOME="+home+"/.cache", "MCPHUD_CONFIG=", "NO_COLOR=1",
		"MCPHUD_TAP_DIR="+cmp.Or(os.Getenv("MCPHUD_TAP_DIR"), home+"/.tap")) // not where the routers of whoever runs the tests are
	return cmd
}

// ownProcess runs the program to its end, in a process of its own.
func ownProcess(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, args...))
}

// mcphud runs a command line to its end in this process: the same from the arguments to the exit code, without the time that
// a process takes to start. That it leaves no goroutine is seen when all tests are over.
func mcphud(t *testing.T, args ...string) outcome {
	t.Helper()
	in, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer in.Close()
	var read sync.WaitGroup
	pipe := func(to *bytes.Buffer) *os.File {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		read.Go(func() {
			defer r.Close()
			_, _ = to.ReadFrom(r)
		})
		return w
	}
	var out, stderr bytes.Buffer
	std := cli.Standard{In: in, Out: pipe(&out), Err: pipe(&stderr)}
	start := time.Now()
	code := run(args, std)
	took := time.Since(start)
	_, _ = std.Out.Close(), std.Err.Close()
	read.Wait()
	return outcome{code, out.String(), stderr.String(), took, strings.Join(args, " ")}.unraced(t)
}

// finish runs a program to its end.
func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	cmd.Stderr = &stderr
	start := time.Now()
	require.NoError(t, cmd.Start())
	return wait(t, cmd, &out, &stderr, start)
}

func wait(t *testing.T, cmd *exec.Cmd, out, stderr *bytes.Buffer, start time.Time) outcome {
	t.Helper()
	err := cmd.Wait()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String(), time.Since(start), strings.Join(cmd.Args[1:], " ")}.unraced(t)
}

// fake names a misbehaving stdio server after the double dash.
func fake(t *testing.T, mode behave.Mode, args ...string) []string {
	t.Helper()
	s := faketest.Stdio(t, mode)
	return append(append(args, "--", s.Command), s.Args...)
}

// agent starts the bundled agent over HTTP and returns its URL.
func agent(t *testing.T, o agentsrv.Options) string {
	t.Helper()
	a, err := agentsrv.New(o)
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		// Calls that a test left behind are not errors of the agent.
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_ = a.Close(ctx)
	})
	return a.URL()
}

// errorLine is the last line of stderr in the formats for scripts.
type errorLine struct {
	Kind    string
	Code    *int64
	Message string
	Cause   *string
	Status  *int
	URL     *string
	Data    json.RawMessage
	Asked   json.RawMessage
}

func (o outcome) errorLine(t *testing.T) errorLine {
	t.Helper()
	lines := strings.Split(strings.TrimRight(o.stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	var e struct{ Error errorLine }
	if err := json.Unmarshal([]byte(last), &e); err != nil {
		t.Fatalf("the last line of stderr is no error line: %q", last)
	}
	var keys struct{ Error map[string]json.RawMessage }
	_ = json.Unmarshal([]byte(last), &keys)
	for _, k := range []string{"kind", "code", "message", "cause", "status", "url"} {
		if _, ok := keys.Error[k]; !ok {
			t.Errorf("the error line has no %q: %s", k, last)
		}
	}
	return e.Error
}

// ok fails the test unless the run succeeded, with nothing of ours on stderr.
func (o outcome) ok(t *testing.T) string {
	t.Helper()
	if o.code != 0 || strings.Contains(o.stderr, `{"error"`) || strings.Contains(o.stderr, "error:") {
		t.Fatalf("exit %d\nstdout %.500s\nstderr %.2000s", o.code, o.out, o.stderr)
	}
	return o.out
}

// exits fails the test unless the run ended with code, and said all of it on stderr.
func (o outcome) exits(t testing.TB, code int, says ...string) {
	t.Helper()
	o.ends(t, code, "stderr", o.stderr, says)
}

// prints fails the test unless the run ended with code, and has all of it on stdout.
func (o outcome) prints(t testing.TB, code int, says ...string) {
	t.Helper()
	o.ends(t, code, "stdout", o.out, says)
}

func (o outcome) ends(t testing.TB, code int, where, text string, says []string) {
	t.Helper()
	lacks := slices.DeleteFunc(slices.Clone(says), func(s string) bool { return strings.Contains(text, s) })
	if o.code != code || len(lacks) > 0 {
		t.Errorf("mcphud %s: exit %d, want %d; %s lacks %q\nstdout %.2000s\nstderr %.2000s", o.line, o.code, code, where, lacks, o.out, o.stderr)
	}
}

func wait2(t *testing.T, cmd *exec.Cmd, out, stderr *bytes.Buffer) outcome {
	t.Helper()
	return wait(t, cmd, out, stderr, time.Now())
}
