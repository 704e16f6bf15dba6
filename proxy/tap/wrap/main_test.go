//go:build unix

package wrap

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

// The test binary is also the wrapper and the wrapped server, so that both are real processes.
const role = "MCPHUD_WRAP_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "wrapper":
		_ = os.Setenv(role, "server")
		code, err := Run(Options{Argv: os.Args[1:], Name: os.Getenv("TAP_NAME"), Dir: os.Getenv("TAP_DIR"), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 4
		}
		if err := leaktest.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 99
		}
		os.Exit(code)
	case "server":
		os.Exit(serve(os.Args[1:]))
	}
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) { // under nohup, or in the background of a script, which children would inherit
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	leaktest.Main(m)
}

// serve is a server that does what its arguments say.
func serve(args []string) int {
	n := 0
	if len(args) > 1 {
		n, _ = strconv.Atoi(args[1])
	}
	switch args[0] {
	case "cat": // everything back, then exit with a code
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return n
	case "exit":
		fmt.Print("last words without a line end")
		fmt.Fprint(os.Stderr, "on stderr\xff\r\n\x1b[31m")
		return n
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
		select {}
	case "report": // signals, one a line, until TERM
		ch := make(chan os.Signal, 16)
		signal.Notify(ch, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH)
		fmt.Println("ready", os.Getpid())
		for s := range ch {
			fmt.Println(s)
			if s == syscall.SIGTERM {
				return 7
			}
		}
	case "tty": // asks at the terminal
		tty, err := os.Open("/dev/tty")
		if err != nil {
			return 2
		}
		fmt.Println("asking", os.Getpid())
		_, _ = tty.Read(make([]byte, 1))
		return 0
	case "deaf": // closes its input and goes on
		_ = os.Stdin.Close()
		fmt.Println("closed")
		select {}
	case "mute": // closes its output and goes on until its input ends
		_ = os.Stdout.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 3
	case "child": // leaves a process behind that holds the pipes
		c := exec.Command(os.Args[0], "report")
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			return 1
		}
		fmt.Println("left", c.Process.Pid)
		return 5
	case "flood":
		w := bufio.NewWriterSize(os.Stdout, 1<<20)
		for i := range n {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","method":"m","params":{"i":%d}}`+"\n", i)
		}
		_ = w.Flush()
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	return 1
}

// run is a wrapper on its way.
type run struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *faketest.Buffer
}

// prepare makes a wrapper around a server of this binary; kind "server" is the server alone.
func prepare(t *testing.T, kind string, args ...string) *run {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	base, err := os.MkdirTemp("", "wrap")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	r := &run{t: t, dir: filepath.Join(base, "mcphud"), stderr: &faketest.Buffer{}}
	if kind == "wrapper" {
		args = append([]string{exe}, args...)
	}
	r.cmd = exec.Command(exe, args...)
	r.cmd.Env = append(os.Environ(), role+"="+kind, "TAP_DIR="+r.dir, "TAP_NAME=srv", "GORACE=atexit_sleep_ms=0")
	r.cmd.Stderr = r.stderr
	return r
}

func (r *run) start() *run {
	r.t.Helper()
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	require.NoError(r.t, err)
	r.out = bufio.NewReaderSize(out, 1<<20)
	require.NoError(r.t, r.cmd.Start())
	kill := time.AfterFunc(90*time.Second, func() { _ = r.cmd.Process.Kill() })
	r.t.Cleanup(func() {
		kill.Stop()
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
	return r
}

func (r *run) line() string {
	r.t.Helper()
	s, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatalf("%v after %q; stderr %s", err, s, r.stderr)
	}
	return strings.TrimSuffix(s, "\n")
}

// wait returns the exit code.
func (r *run) wait() int {
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

func (r *run) signal(s os.Signal) {
	r.t.Helper()
	require.NoError(r.t, r.cmd.Process.Signal(s))
}
