package faketest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// Raw is the plainest client there is: a pipe to a stdio server, frames written and read as bytes. What it needs for an
// answer is what the bare server needs, the base that budgets are stated against.
type Raw struct {
	// PID is the server's process id.
	PID int
	// Stderr collects what the server prints there; read it after Close.
	Stderr bytes.Buffer

	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// patience is how long a raw client lives: a server that never answers ends the
// read, and with it the test, instead of hanging until the whole run is killed.
const patience = time.Minute

// Open starts a stdio server. It is killed when the test ends, or after a minute.
func Open(t testing.TB, s config.Server) *Raw {
	t.Helper()
	r := &Raw{t: t, cmd: exec.Command(s.Command, s.Args...)}
	r.cmd.Env = os.Environ()
	for k, v := range s.Env {
		r.cmd.Env = append(r.cmd.Env, k+"="+v)
	}
	r.cmd.Stderr = &r.Stderr
	in, err := r.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	r.PID, r.in, r.out = r.cmd.Process.Pid, in, bufio.NewReaderSize(out, 1<<20)
	overdue := time.AfterFunc(patience, func() { _ = r.cmd.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		r.Kill()
	})
	return r
}

// Kill ends the server at once; it may have ended already.
func (r *Raw) Kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// Handshake goes through the legacy initialize.
func (r *Raw) Handshake() {
	r.t.Helper()
	r.Send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	r.Until(`"id":"init"`)
	r.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// Send writes one frame.
func (r *Raw) Send(frame string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, frame+"\n"); err != nil {
		r.t.Fatalf("write %s: %v", frame, err)
	}
}

// Line reads the next line, the newline included.
func (r *Raw) Line() ([]byte, error) { return r.out.ReadBytes('\n') }

// Until reads lines until one contains mark near its start, and returns it.
func (r *Raw) Until(mark string) []byte {
	r.t.Helper()
	for {
		line, err := r.Line()
		if err != nil {
			r.t.Fatalf("waiting for %s: %v", mark, err)
		}
		if bytes.Contains(line[:min(len(line), 200)], []byte(mark)) {
			return line
		}
	}
}

// Skip reads the next line without keeping it and returns its length. Nothing reads an answer faster than this.
func (r *Raw) Skip() (int, error) {
	n := 0
	for {
		part, err := r.out.ReadSlice('\n')
		n += len(part)
		if err != bufio.ErrBufferFull {
			return n, err
		}
	}
}

// Request sends one request and returns its answer, notifications skipped.
func (r *Raw) Request(id int, method, params string) []byte {
	r.t.Helper()
	r.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return r.Until(fmt.Sprintf(`"id":%d,`, id))
}

// Close ends stdin, reads what is left and returns the exit code.
func (r *Raw) Close() (rest []byte, code int) {
	_ = r.in.Close()
	rest, _ = io.ReadAll(r.out) // what a crashed server left unread is all that counts
	_ = r.cmd.Wait()
	return rest, r.cmd.ProcessState.ExitCode()
}
