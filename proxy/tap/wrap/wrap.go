// Package wrap runs a stdio server on behalf of another client, so that their traffic can be watched: bytes pass unchanged in
// both directions, and a copy goes to a tap.
//
// Bytes are copied before they are passed on, into a bounded queue that another goroutine splits into entries. What does not
// fit is missing in the tap, with a note. No reader of the tap can slow the traffic down.
package wrap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/process"
)

// Options configures [Run]. Argv and the three files are required.
type Options struct {
	Argv []string // the command and its arguments
	Name string   // shown in the tap; default: NameOf(Argv)
	Dir  string   // for the tap's socket; default: see tap.Options

	Stdin, Stdout, Stderr *os.File // of this process; Run closes Stdin and Stdout when the server closes its end
}

// StartError reports a command that cannot be started.
type StartError struct {
	Command string
	Err     error
}

// Error names the command and the reason.
func (e *StartError) Error() string { return fmt.Sprintf("cannot start %q: %v", e.Command, e.Err) }

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

// Run starts the command and returns its exit code: 128 + n if signal n ended it. Signals to this process are forwarded to the
// command. If the tap cannot be opened, a message goes to stderr and the command runs without one.
func Run(o Options) (code int, err error) {
	path, err := exec.LookPath(o.Argv[0])
	if err != nil {
		return 0, &StartError{o.Argv[0], reason(err)}
	}
	if o.Name == "" {
		o.Name = NameOf(o.Argv)
	}
	signals := catchSignals()
	defer signals.stop()
	p, err := tap.Open(tap.Options{Name: o.Name, Kind: tap.Wrapped, Argv: o.Argv, Dir: o.Dir})
	if err != nil {
		_, _ = fmt.Fprintf(o.Stderr, "mcphud: the server runs, but its traffic cannot be watched: %v\n", err)
	}
	defer func() { _ = p.Close() }() // the socket is removed in any case
	w := &wrapper{Options: o, recorder: newRecorder(p)}
	defer w.recorder.close()
	return w.run(path, signals)
}

func reason(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// wrapper is one run.
type wrapper struct {
	Options
	recorder *recorder
	child    *process.Process
	exited   atomic.Bool
}

// silence is how long nothing may arrive, once the server has exited, until all that it wrote counts as read: processes that
// it forked may hold its pipes.
const silence = 100 * time.Millisecond

// maxAfterExit is how many bytes are read after the server's exit: more than a pipe holds comes from another process.
const maxAfterExit = 1 << 20

func (w *wrapper) run(path string, signals *forwarder) (code int, err error) {
	var pipes [6]*os.File
	n := 6
	if fi, err := w.Stderr.Stat(); err == nil && fi.Mode()&os.ModeCharDevice != 0 {
		n = 4 // the server gets the terminal itself, which is not recorded
	}
	for i := 0; i < n; i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeAll(pipes[:])
			return 0, &StartError{w.Argv[0], err}
		}
	}
	theirErr := pipes[5]
	if theirErr == nil {
		theirErr = w.Stderr
	}
	w.child, err = process.Start(process.Spec{
		Path: path, Name: w.Argv[0], Args: w.Argv[1:], Std: [3]*os.File{pipes[0], pipes[3], theirErr}, Console: true,
	})
	closeAll([]*os.File{pipes[0], pipes[3], pipes[5]})
	theirIn, out, errs := pipes[1], pipes[2], pipes[4]
	if err != nil {
		closeAll([]*os.File{theirIn, out, errs})
		return 0, &StartError{w.Argv[0], err}
	}
	w.recorder.note(fmt.Sprintf("started as process %d", w.child.PID()))

	in := newInput(w.Stdin)
	var fed, drained sync.WaitGroup
	fed.Go(func() { w.copyInput(in, theirIn) })
	drained.Go(func() { w.copyOutput(out, w.Stdout, streamOut, true) })
	if errs != nil {
		drained.Go(func() { w.copyOutput(errs, w.Stderr, streamErr, false) })
	}
	gone, ended := make(chan struct{}), make(chan struct{})
	var how string // once gone
	go func() {
		defer close(ended)
		<-w.child.Exited()
		how = w.child.Reap()
		close(gone)
		for _, f := range []*os.File{out, errs} {
			if f != nil {
				_ = f.SetReadDeadline(time.Now()) // where pipes have no deadlines, reads end with the pipe
			}
		}
		w.exited.Store(true) // last, since copyOutput sets its own deadlines from now on
		in.cancel()
		_ = theirIn.Close()
		drained.Wait()
		fed.Wait()
	}()
	signals.forward(w.child, gone, ended)
	w.recorder.note(how)
	return w.child.ExitCode(), nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// readSize is the size of reads: what a pipe holds.
const readSize = 64 << 10

// copyInput forwards the client's output to the server, and its end. When the server closes its input, the client sees a
// closed pipe, as without the wrapper.
func (w *wrapper) copyInput(in *input, to *os.File) {
	defer in.close()
	buf := make([]byte, readSize)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			w.recorder.record(streamIn, buf[:n])
			if _, werr := to.Write(buf[:n]); werr != nil {
				_ = to.Close()
				if !w.exited.Load() {
					_ = w.Stdin.Close()
				}
				return
			}
		}
		if err != nil {
			w.recorder.end(streamIn)
			_ = to.Close()
			return
		}
	}
}

// copyOutput forwards a stream of the server. hangUp closes to at the end, so that the client notices.
func (w *wrapper) copyOutput(from, to *os.File, s stream, hangUp bool) {
	defer func() { _ = from.Close() }()
	buf := make([]byte, readSize)
	for late := 0; ; {
		last := w.exited.Load()
		if last {
			_ = from.SetReadDeadline(time.Now().Add(silence))
		}
		n, err := from.Read(buf)
		if n > 0 {
			w.recorder.record(s, buf[:n])
			if _, werr := to.Write(buf[:n]); werr != nil {
				return // the server gets a broken pipe
			}
		}
		if last {
			late += n
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && !last:
			continue // the server just exited
		case err != nil || late > maxAfterExit:
			w.recorder.end(s)
			if hangUp && errors.Is(err, io.EOF) {
				_ = to.Close()
			}
			return
		}
	}
}

// entry returns an entry of the wrapped server.
func entry(d journal.Dir, k journal.Kind) journal.Entry {
	return journal.Entry{Conn: 1, Dir: d, Kind: k}
}
