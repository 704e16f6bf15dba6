package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/agentsrv/sandbox"
	"github.com/mcphud/mcphud/session/faketest"
	"github.com/mcphud/mcphud/session/faketest/behave"
)

// asMain is the environment variable that makes the test binary the program itself, so that what is tested is the real
// command line in a process of its own, with the race detector where the tests have it.
const asMain = "MCPHUD_TEST_MAIN"

// asBroken names the command of such a process that fails at once.
const asBroken = "MCPHUD_TEST_BROKEN"

// exitLeak is what such a process exits with if a goroutine outlived run.
const exitLeak = 99

func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) { // its environment is empty
		sandbox.WorkerMain()
	}
	if os.Getenv(asMain) != "" {
		if len(os.Args) > 1 && os.Getenv(asBroken) == os.Args[1] {
			fmt.Fprintln(os.Stderr, `{"error":{"message":"the flux is out"}}`)
			os.Exit(exitFailure)
		}
		code := run(os.Args[1:], standard{in: os.Stdin, out: os.Stdout, err: os.Stderr})
		if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/mcphud/mcphud/cmd/mcphud.followInput")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = exitLeak
		}
		os.Exit(code)
	}
	switch os.Getenv(asServer) {
	case "":
	case deafServer, deafLater:
		serveDeaf(os.Stdin, os.Stdout)
		os.Exit(0)
	default:
		serveUpdates(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup, which children would inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	goleak.VerifyTestMain(m)
}

// outcome is what one run of the program left.
type outcome struct {
	code        int
	out, stderr string
	took        time.Duration
}

// command prepares a run in an empty home and working folder.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(exe, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "MCPHUD_CONFIG=", "NO_COLOR=1",
		"MCPHUD_TAP_DIR="+cmp.Or(os.Getenv("MCPHUD_TAP_DIR"), home+"/.tap"), // not where the routers of whoever runs the tests are
		"GORACE=atexit_sleep_ms=0") // the race detector would keep each process for a second
	return cmd
}

// mcphud runs the program to its end.
func mcphud(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return wait(t, cmd, &out, &stderr, start)
}

func wait(t *testing.T, cmd *exec.Cmd, out, stderr *bytes.Buffer, start time.Time) outcome {
	t.Helper()
	err := cmd.Wait()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String(), time.Since(start)}
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
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Calls that a test left behind are no error of the agent's.
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

func wait2(t *testing.T, cmd *exec.Cmd, out, stderr *bytes.Buffer) outcome {
	t.Helper()
	return wait(t, cmd, out, stderr, time.Now())
}
