// Package wrap runs a stdio server inside somebody else's client, so that what both say can be watched: bytes pass
// unchanged in both directions, and a copy goes to a tap.
//
// The copy is made before bytes are passed on, into a bounded queue that a goroutine of its own takes apart; what does not
// fit is left out of the tap and said to be. Nothing that a reader of the tap does can hold up the traffic.
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
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/process"
)

// Options says what to run, between which files.
type Options struct {
	Argv []string // the command and its arguments
	Name string   // shown in the tap; "" is made from Argv
	Dir  string   // of the tap's socket; "" is the usual one

	Stdin, Stdout, Stderr *os.File // this process's own; Stdin and Stdout are closed when the server closes its end
}

// StartError is a command that could not be started.
type StartError struct {
	Command string
	Err     error
}

// Error names the command.
func (e *StartError) Error() string { return fmt.Sprintf("cannot start %q: %v", e.Command, e.Err) }

// Unwrap is why.
func (e *StartError) Unwrap() error { return e.Err }

// Run starts the command and returns its exit code when it is gone: 128 + n if signal n ended it. Signals to this process
// are passed on to it. Without a tap, which is said on stderr once, everything else works as well.
func Run(o Options) (code int, err error) {
	path, err := exec.LookPath(o.Argv[0])
	if err != nil {
		return 0, &StartError{o.Argv[0], reason(err)}
	}
	if o.Name == "" {
		o.Name = NameOf(o.Argv)
	}
	signals := catch()
	defer signals.stop()
	p, err := tap.Open(tap.Options{Name: o.Name, Kind: tap.Wrapped, Argv: o.Argv, Dir: o.Dir})
	if err != nil {
		_, _ = fmt.Fprintf(o.Stderr, "mcphud: the server runs, but cannot be watched: %v\n", err)
	}
	defer func() { _ = p.Close() }() // its socket is gone either way
	w := &wrapper{Options: o, side: newSide(p)}
	defer w.side.close()
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
	side   *side
	child  *process.Process
	exited atomic.Bool
}

// Once the server is gone, this long a silence means that all that it wrote was read: what it started may hold its pipes.
const quiet = 100 * time.Millisecond

// afterExit is how many bytes are read at most once the server is gone: more than a pipe holds is not its own.
const afterExit = 1 << 20

func (w *wrapper) run(path string, signals *caught) (code int, err error) {
	var pipes [6]*os.File
	n := 6
	if fi, err := w.Stderr.Stat(); err == nil && fi.Mode()&os.ModeCharDevice != 0 {
		n = 4 // it stays a terminal for the server too, and is not recorded
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
	w.side.say(fmt.Sprintf("started as process %d", w.child.PID()))

	in := newInput(w.Stdin)
	var fed, drained sync.WaitGroup
	fed.Go(func() { w.feed(in, theirIn) })
	drained.Go(func() { w.drain(out, w.Stdout, streamOut, true) })
	if errs != nil {
		drained.Go(func() { w.drain(errs, w.Stderr, streamErr, false) })
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
				_ = f.SetReadDeadline(time.Now()) // where files cannot have one, only an end ends it
			}
		}
		w.exited.Store(true) // after it: from now on the reader sets its own
		in.cancel()
		_ = theirIn.Close()
		drained.Wait()
		fed.Wait()
	}()
	signals.forward(w.child, gone, ended)
	w.side.say(how)
	return w.child.ExitCode(), nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// pieces are what is read at once: what a pipe holds.
const pieces = 64 << 10

// feed passes on what the client says, and its end. When the server does not listen any more the client learns it in the
// same way as if it had started the server itself.
func (w *wrapper) feed(in *input, to *os.File) {
	defer in.close()
	buf := make([]byte, pieces)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			w.side.offer(streamIn, buf[:n])
			if _, werr := to.Write(buf[:n]); werr != nil {
				_ = to.Close()
				if !w.exited.Load() {
					_ = w.Stdin.Close()
				}
				return
			}
		}
		if err != nil {
			w.side.end(streamIn)
			_ = to.Close()
			return
		}
	}
}

// drain passes on what the server says. hangUp closes to at the end, so that the client sees it.
func (w *wrapper) drain(from, to *os.File, s stream, hangUp bool) {
	defer func() { _ = from.Close() }()
	buf := make([]byte, pieces)
	for late := 0; ; {
		last := w.exited.Load()
		if last {
			_ = from.SetReadDeadline(time.Now().Add(quiet))
		}
		n, err := from.Read(buf)
		if n > 0 {
			w.side.offer(s, buf[:n])
			if _, werr := to.Write(buf[:n]); werr != nil {
				return // nobody reads it: the server finds a broken pipe
			}
		}
		if last {
			late += n
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && !last:
			continue // it just exited
		case err != nil || late > afterExit:
			w.side.end(s)
			if hangUp && errors.Is(err, io.EOF) {
				_ = to.Close()
			}
			return
		}
	}
}

// entry is what all entries of the wrapped server have in common.
func entry(d journal.Dir, k journal.Kind) journal.Entry {
	return journal.Entry{Conn: 1, Dir: d, Kind: k}
}
