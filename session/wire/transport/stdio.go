package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/diagnosis"
	"github.com/mcphud/mcphud/session/wire/process"
)

// drainGrace is how long what a child has already written may take to arrive, from its exit on. The pipe ends later than the child where something that it
// started holds it open, so its end cannot be waited for without a limit.
const drainGrace = 250 * time.Millisecond

// inputCheck is how soon it is noticed that a child has closed its input.
const inputCheck = time.Second

// exitTime is how long a child that closed its input or output has to be gone, before that and not its end is the reason.
const exitTime = time.Second

// Leave is how long a server may take to exit once its input has ended before anybody says that it does not.
const Leave = 5 * time.Second

// GracePeriod is how long a child gets when its connection is closed. Many servers do not leave when their input ends, and a
// one-shot command must not wait for them. The specification's order is the same: close the input, then TERM, then KILL
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown); how long to wait it leaves open.
type GracePeriod struct {
	Input   time.Duration // from the end of its input to TERM; 0: 50 ms
	Install time.Duration // the same for a package runner that starts a server, see diagnosis.Installs; 0: 30 s
	Term    time.Duration // from TERM to KILL; 0: 500 ms
	Others  time.Duration // for what it started to leave as well once it has left; 0: as long as Input
}

func (l *GracePeriod) defaults() {
	if l.Input == 0 {
		l.Input = 50 * time.Millisecond
	}
	if l.Install == 0 {
		l.Install = 30 * time.Second
	}
	if l.Term == 0 {
		l.Term = 500 * time.Millisecond
	}
	if l.Others == 0 {
		l.Others = l.Input
	}
}

// stdio runs a server as a child process and speaks over its pipes.
//
// One goroutine, supervise, sees to the end, however it comes: the child exits, closes its output or its input, does not read, or is closed by
// us. Whoever notices first leaves it to supervise to find out why, so that Lost is called once, with the best reason there is.
type stdio struct {
	cfg        config.Server
	tap        Tap
	stderr     io.Writer // the child's stderr is copied there, nil for nowhere
	grace      GracePeriod
	serves     bool // it speaks at a URL, and nobody over its pipes; what it prints is logged
	restricted bool // of our environment only what is not secret goes along, as in a sandbox

	// Set by Start, nil before it: Close and Traits' Child may be asked of a transport that was never started.
	proc   *process.Process
	stdin  *os.File // our end, to write to; closed by supervise, or before by Close
	stdout *os.File // our end, to read from
	w      *lineWriter
	errs   *stderrLog

	exited func(Exit) // called by supervise after a Close, before ended is closed; nil for nobody

	closing     atomic.Bool
	inputClosed chan struct{}         // cap 1: the child has closed its input
	ended       chan struct{}         // closed by the supervisor when everything is over
	over        chan struct{}         // closed when nothing can be written any more
	overOne     sync.Once             // closes over
	fault       atomic.Pointer[error] // why we ended it ourselves; the first reason stays
	closed      sync.Once             // of Close
	wrote       atomic.Bool           // something was written
	read        atomic.Bool           // something was read: a package runner has come to the server
	unread      atomic.Int64          // bytes that the child had not read when it exited, -1 if unknown
	signalled   atomic.Int32          // how it had to be ended: 0 not at all, 1 by TERM, 2 by KILL
	closedAt    time.Time             // set before closing
}

// Exit is how a child ended whose connection was closed.
type Exit struct {
	How    string        // "exited with status 0"
	Forced string        // the signal that it took, "TERM" or "KILL"; "" where the end of its input was enough
	Took   time.Duration // since its input was closed
	Left   int           // processes that it had started and left behind, which were killed; known on Linux only
}

func newStdio(cfg config.Server, tap Tap, pass io.Writer, stay GracePeriod) *stdio {
	stay.defaults()
	return &stdio{cfg: cfg, tap: tap, stderr: pass, grace: stay, inputClosed: make(chan struct{}, 1), ended: make(chan struct{}), over: make(chan struct{})}
}

// NewStdio returns a transport to a server as a child process, for those who speak with it below the level of a Session. Of
// our environment the child gets only what hardly a program works without, and what the configuration adds. What it writes
// to stderr is journalled, and copied to stderr unless that is nil. Frames that are sent are not checked: a message that MCP does not have goes out
// as it is.
func NewStdio(cfg config.Server, tap Tap, stderr io.Writer, stay GracePeriod) Transport {
	s := newStdio(cfg, tap, stderr, stay)
	s.restricted = true
	return s
}

// Start starts the process, once. It does not wait for anything that the process does.
func (s *stdio) Start(ctx context.Context, in Receiver) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	env := process.Environment(s.cfg.Env)
	if s.restricted || s.cfg.Sandbox != nil {
		env = process.Filtered(s.cfg.Env)
	}
	path, err := process.Lookup(s.cfg.Command, env, s.cfg.Cwd)
	if err != nil {
		return spawnFailed(s.cfg, err)
	}
	var ends [6]*os.File
	shut := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close()
			}
		}
	}
	for i := 0; i < len(ends); i += 2 {
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			shut(ends[:]...)
			return spawnFailed(s.cfg, err)
		}
	}
	theirIn, ourIn, ourOut, theirOut, ourErr, theirErr := ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]
	process.GrowPipe(ourOut)
	std := [3]*os.File{theirIn, theirOut, theirErr}
	if s.serves {
		std[1] = theirErr
	}
	s.proc, err = process.Start(process.Spec{Path: path, Args: s.cfg.Args, Env: env, Dir: s.cfg.Cwd, Std: std, Confine: s.cfg.Sandbox})
	shut(theirIn, theirOut, theirErr)
	if err != nil {
		shut(ourIn, ourOut, ourErr)
		return spawnFailed(s.cfg, err)
	}
	s.stdin, s.stdout = ourIn, ourOut
	s.w = newLineWriter(ourIn, s.over, func(err error) { s.end(err) })
	s.errs = &stderrLog{tap: s.tap, pass: s.stderr, hide: s.cfg.HideToken, set: process.Sets(env)}
	go s.supervise(in, ourErr)
	return nil
}

// Send writes one frame.
func (s *stdio) Send(ctx context.Context, m Message) error {
	err := s.w.write(ctx, m.Frame)
	if err == nil {
		s.wrote.Store(true)
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		// A broken pipe is how an exit shows first. The supervisor knows more, and tells all callers at once.
		select {
		case <-s.ended:
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
	return err
}

// end kills the child because of err, which Lost will report. One whose input is gone is leaving, or will not hear us any
// more: the supervisor gives it time.
func (s *stdio) end(err error) {
	s.fault.CompareAndSwap(nil, &err)
	s.finish()
	if !isClosedPipe(err) {
		s.proc.Signal(process.Kill)
		return
	}
	select {
	case s.inputClosed <- struct{}{}:
	default:
	}
}

// noteOutput notes that the child wrote something.
func (s *stdio) noteOutput() {
	s.read.Store(true)
	s.errs.noteAlive()
}

// finish makes writers give up.
func (s *stdio) finish() { s.overOne.Do(func() { close(s.over) }) }

// supervise reads the child's output until the child is gone, and reports it.
func (s *stdio) supervise(in Receiver, stderr *os.File) {
	defer close(s.ended)
	eof, errEOF := make(chan struct{}), make(chan struct{})
	go func() {
		_ = newLineReader(s.cfg.MaxFrame, in).run(noting{s.stdout, s.noteOutput}) // an end by error is an end; the process says why
		close(eof)
	}()
	go func() {
		s.errs.run(stderr)
		close(errEOF)
	}()

	closedOutput := false
	var watch sync.WaitGroup
	silent := eof // which says that it has finished, where its output is what it speaks over
	if s.serves {
		silent = nil
	} else {
		watch.Go(s.watchInput)
	}
	select {
	case <-s.proc.Exited():
		s.drain(eof)
	case <-silent:
		if !WaitFor(s.proc.Exited(), exitTime) {
			closedOutput = true
			s.terminate()
		}
	case <-s.inputClosed:
		if !WaitFor(s.proc.Exited(), max(s.grace.Input, exitTime)) { // a process that exits closes it first
			err := errors.New("the server closed its standard input")
			s.fault.Store(&err)
			s.terminate()
		}
		WaitFor(eof, drainGrace)
	}
	s.unread.Store(process.Unread(s.stdin))
	s.finish()
	watch.Wait()
	left := 0
	took := time.Now()
	if s.exited != nil {
		left = s.countOthers(s.grace.Others)
	}
	s.proc.Signal(process.Kill) // what it forked; its own pid is still reserved
	WaitFor(errEOF, drainGrace)
	_ = s.stdin.Close()
	_, _ = s.stdout.Close(), stderr.Close() // ends the readers when a process outside the group holds the pipes
	<-eof
	<-errEOF
	how := s.proc.Reap()
	if s.closing.Load() {
		if s.exited != nil {
			s.exited(Exit{How: how, Forced: [...]string{"", "TERM", "KILL"}[s.signalled.Load()], Took: took.Sub(s.closedAt), Left: left})
		}
		return
	}
	msg := "the server " + how
	if closedOutput {
		msg = "the server closed its standard output"
	}
	if f := s.fault.Load(); f != nil && !isClosedPipe(*f) {
		msg = (*f).Error()
	}
	e := &failure.Error{Kind: failure.ChannelClosed, Message: msg, Detail: s.errs.last(), Next: "see why in its output, then reconnect"}
	if code := s.proc.ExitCode(); !closedOutput && code > 0 && code < 128 { // it ended of its own accord, and not well
		why := s.errs.lastWords()
		e.Reason, e.Remedy, e.Object = why.Why(), why.Remedy, why.Object
		e.Next = cmp.Or(why.Cause.Advice(), e.Next)
	}
	in.Lost(e)
}

// drain waits until what the child wrote before its exit is read: to the end of its output. What it started may hold that open: where the
// connection is closed, nobody waits for more than what is in the pipe already.
func (s *stdio) drain(eof <-chan struct{}) {
	for end := time.Now().Add(drainGrace); !WaitFor(eof, 5*time.Millisecond) && time.Now().Before(end); {
		if s.closing.Load() && process.Unread(s.stdout) == 0 {
			return
		}
	}
}

// countOthers counts what the child started and left behind: a process that notices that it is gone, and ends as well, is not left.
func (s *stdio) countOthers(limit time.Duration) int {
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if n := s.proc.Others(); n == 0 || s.signalled.Load() != 0 || !time.Now().Before(end) {
			return n
		}
	}
}

// isClosedPipe says that a write failed because the child does not read any more, or has ended, which closes its input: how it ended says
// more than that.
func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// watchInput ends the child once it has closed its input, though nobody writes to it: it will answer nothing any more.
func (s *stdio) watchInput() {
	tick := time.NewTicker(inputCheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if process.Unheard(s.stdin) {
				s.end(syscall.EPIPE)
				return
			}
		case <-s.over:
			return
		}
	}
}

// terminate ends the child, by force if it does not listen.
func (s *stdio) terminate() {
	s.signal(1, process.Term)
	if !WaitFor(s.proc.Exited(), s.grace.Term) {
		s.signal(2, process.Kill)
		<-s.proc.Exited()
	}
}

// signal ends the child by a signal, of which there are a mild and a strong one.
func (s *stdio) signal(strength int32, sig process.Signal) {
	s.signalled.Store(strength)
	s.proc.Signal(sig)
}

// noting is a reader that says when something was read.
type noting struct {
	io.Reader
	note func()
}

func (r noting) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.note()
	}
	return n, err
}

// Close ends the child and everything it started: its input is closed, then TERM, then KILL.
func (s *stdio) Close() error {
	if s.proc == nil {
		return nil
	}
	s.closed.Do(func() {
		s.closedAt = time.Now()
		s.closing.Store(true)
		s.finish()
		s.proc.Note()
		_ = s.stdin.Close()
		grace := s.grace.Input
		if !s.read.Load() && diagnosis.Installs(s.cfg.Command, s.cfg.Args) {
			grace = s.grace.Install
		}
		if WaitFor(s.ended, grace) {
			return
		}
		select {
		case <-s.proc.Exited():
			return // the supervisor waits for what else it started
		default:
		}
		s.signal(1, process.Term)
		if !WaitFor(s.proc.Exited(), s.grace.Term) {
			s.signal(2, process.Kill)
		}
	})
	<-s.ended
	return nil
}

// PID is the child's process id.
func (s *stdio) PID() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.PID()
}

// Stderr is the last lines that the child wrote to stderr.
func (s *stdio) Stderr() string {
	if s.errs == nil {
		return ""
	}
	return s.errs.last()
}

// Reason is why the child became no server, as its stderr has it.
func (s *stdio) Reason() diagnosis.Reason {
	if s.errs == nil {
		return diagnosis.Reason{}
	}
	return s.errs.reason()
}

// Traits has the child.
func (s *stdio) Traits() Traits { return Traits{Kind: config.Stdio, Child: s} }

// Ignored reports whether the child exited without having read all that it was sent. Only then is it sure that it did not
// exit because of what it read.
func (s *stdio) Ignored() bool {
	return WaitFor(s.ended, time.Second) && (s.unread.Load() > 0 || !s.wrote.Load())
}

// WaitFor reports whether c was closed in time.
func WaitFor(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// spawnFailed is the error of a command that could not be started at all, of kind SpawnFailed, by why.
func spawnFailed(cfg config.Server, err error) *failure.Error {
	e := &failure.Error{
		Kind: failure.SpawnFailed, Stage: "starting", Err: err,
		Message: fmt.Sprintf("cannot start %q: %v", cfg.Command, process.Reason(err)),
		Next:    "check the command, its arguments and the working folder",
	}
	if unsupported := new(confine.UnsupportedError); errors.As(err, &unsupported) {
		e.Next = "start it where the system can, or without the sandbox, if it may do all that you may"
	} else if path := new(confine.PathError); errors.As(err, &path) {
		e.Next = "make " + path.Path + ", or correct the list of the sandbox"
	}
	if errors.Is(err, process.ErrNotFound) {
		e.Message = fmt.Sprintf("command %q not found", cfg.Command)
		e.Next, e.Remedy = "install it, give its full path, or extend PATH", failure.SetVariable
		e.Object = "PATH"
	}
	return e
}
