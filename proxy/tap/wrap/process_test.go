//go:build unix

package wrap

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// holdSocket connects to the tap that comes in dir, and holds the connection.
func holdSocket(ctx context.Context, dir string) {
	for ctx.Err() == nil {
		found, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
		for _, path := range found {
			if c, err := net.Dial("unix", path); err == nil {
				<-ctx.Done()
				_ = c.Close()
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func TestTapWrapExitCodes(t *testing.T) {
	for _, want := range []int{0, 1, 3, 42, 130, 255} {
		r := prepare(t, "wrapper", "exit", fmt.Sprint(want)).start()
		out, err := io.ReadAll(r.out)
		if code := r.wait(); code != want || err != nil || string(out) != "last words without a line end" || r.stderr.String() != "on stderr\xff\r\n\x1b[31m" {
			t.Errorf("exit %d instead of %d, stdout %q, stderr %q", code, want, out, r.stderr)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP} {
		r := prepare(t, "wrapper", "kill", fmt.Sprint(int(sig))).start()
		_, _ = io.ReadAll(r.out)
		if code := r.wait(); code != 128+int(sig) {
			t.Errorf("killed by %v: exit %d", sig, code)
		}
	}
}

// Each signal arrives, once.
func TestTapWrapPassesSignals(t *testing.T) {
	r := prepare(t, "wrapper", "report").start()
	if s := r.line(); !strings.HasPrefix(s, "ready ") {
		t.Fatal(s)
	}
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTERM} {
		r.signal(sig)
		if s := r.line(); s != sig.String() {
			t.Errorf("%v arrived as %s", sig, s)
		}
	}
	if rest, _ := io.ReadAll(r.out); len(rest) > 0 {
		t.Errorf("and %q", rest)
	}
	if code := r.wait(); code != 7 {
		t.Errorf("exit %d", code)
	}
}

// What a terminal or a client sends to the whole group of the wrapper reaches the server once, not twice.
func TestTapWrapSignalToTheGroup(t *testing.T) {
	r := prepare(t, "wrapper", "report")
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.start()
	r.line()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		require.NoError(t, syscall.Kill(-r.cmd.Process.Pid, sig))
		if s := r.line(); s != sig.String() {
			t.Errorf("%v arrived as %s", sig, s)
		}
	}
	if rest, _ := io.ReadAll(r.out); len(rest) > 0 {
		t.Errorf("and %q", rest)
	}
	if code := r.wait(); code != 7 {
		t.Errorf("exit %d", code)
	}
}

func TestTapWrapEndOfInput(t *testing.T) {
	r := prepare(t, "wrapper", "cat", "6").start()
	_ = r.in.Close()
	if _, err := io.ReadAll(r.out); err != nil {
		t.Error(err)
	}
	if code := r.wait(); code != 6 {
		t.Errorf("exit %d", code)
	}
	// The other way round: the output ends, and the server goes on.
	r = prepare(t, "wrapper", "mute").start()
	if b, err := io.ReadAll(r.out); err != nil || len(b) > 0 {
		t.Errorf("%q %v", b, err)
	}
	_ = r.in.Close()
	if code := r.wait(); code != 3 {
		t.Errorf("exit %d", code)
	}
}

// A client that writes to a server which closed its input gets a broken pipe, as it would from the server.
func TestTapWrapServerClosesItsInput(t *testing.T) {
	r := prepare(t, "wrapper", "deaf").start()
	r.line()
	require.Eventually(t, "a broken pipe", func() bool {
		_, err := io.WriteString(r.in, "x\n")
		return err != nil
	})
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 128+15 {
		t.Errorf("exit %d", code)
	}
}

// A client that stops reading: the server gets a broken pipe, and the wrapper ends with it.
func TestTapWrapClientClosesOutput(t *testing.T) {
	r := prepare(t, "wrapper", "flood", "100000000")
	pr, pw, err := os.Pipe()
	require.NoError(t, err)
	r.cmd.Stdout = pw
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	_ = pw.Close()
	if _, err := io.ReadFull(pr, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = pr.Close()
	done := make(chan int)
	go func() { done <- r.wait() }()
	select {
	case code := <-done:
		if code != 128+int(syscall.SIGPIPE) {
			t.Errorf("exit %d: %s", code, r.stderr)
		}
	case <-time.After(30 * time.Second):
		t.Error("it is still there")
	}
}

// A server that leaves a process behind, which holds its pipes, does not keep the wrapper.
func TestTapWrapDoesNotWaitForGrandchildren(t *testing.T) {
	r := prepare(t, "wrapper", "child").start()
	var pid int
	for i := 0; i < 2; i++ { // "left" and, perhaps first, the other's "ready"
		line, err := r.out.ReadString('\n')
		if err != nil {
			break
		}
		if _, err := fmt.Sscanf(line, "left %d", &pid); err == nil {
			break
		}
	}
	if pid == 0 {
		t.Fatalf("no child: %s", r.stderr)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	done := make(chan int)
	go func() {
		st, _ := r.cmd.Process.Wait()
		done <- st.ExitCode()
	}()
	select {
	case code := <-done:
		if code != 5 {
			t.Errorf("exit %d: %s", code, r.stderr)
		}
	case <-time.After(30 * time.Second):
		t.Error("it waits for the grandchild")
	}
}

// When the wrapper is killed without a chance to do anything, the server goes too.
func TestTapWrapKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a death signal; elsewhere the server's input ends")
	}
	r := prepare(t, "wrapper", "report").start() // it does not look at its input
	var pid int
	if _, err := fmt.Sscanf(r.line(), "ready %d", &pid); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGKILL)
	require.Eventually(t, "the server to be gone", func() bool { return !faketest.Alive(pid) })
}

func TestTapWrapCommandThatIsNotThere(t *testing.T) {
	_, err := Run(Options{Argv: []string{"no-such-command-anywhere"}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	assert.ErrorContains(t, err, `"no-such-command-anywhere"`, "not found")
}
