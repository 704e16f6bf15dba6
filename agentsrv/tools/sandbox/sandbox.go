// Package sandbox runs JavaScript that nobody vouches for: the tool execute_code. It also reads PDF documents, which nobody vouches
// for either, in processes of the same kind.
//
// The engine is QuickJS (modernc.org/quickjs). It runs in worker processes, which are this same program started with a
// hidden argument, because that is the one way to be rid of code that does not end: a program that uses a Sandbox calls
// WorkerMain first thing in main if IsWorker says so. Each call gets a fresh engine with a limit on its memory, its time
// and its output. The engine has the language and a console and timers, and nothing else: no files, no network, no
// modules, no processes. A worker has an empty environment and working directory, and on Linux cannot write files. That
// is what is enforced; a worker is not a virtual machine, and somebody who breaks out of the engine is the user who runs
// the agent.
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Limits of a call.
const (
	Memory         = 64 << 20         // bytes that the engine may allocate
	Output         = 1 << 20          // bytes of JSON that result and console have together
	MaxCode        = 1 << 20          // bytes of code
	DefaultTimeout = 30 * time.Second // how long code may run if the call does not say
	MaxTimeout     = 60 * time.Second // the longest that a call may ask for
)

// Options configure a Sandbox; the zero value is complete.
type Options struct {
	// Parallel is how many calls run at once, each in a worker, but never more than two for each processor: more workers
	// than that take processor time from each other, and each costs a start. Other calls wait. 0 is 4.
	Parallel int
	// Wait runs f, which waits for a free worker; nil is f(). A queue can use it to give the call's slot to others meanwhile, and not
	// to count that time as running.
	Wait   func(ctx context.Context, f func() error) error
	Logger *slog.Logger // gets what is wrong with workers; nil discards it
}

// Sandbox runs code in worker processes. It starts none before the first call, keeps as many as run at once for the next
// calls, two at least, and lets these go after a minute. It is safe for concurrent use.
type Sandbox struct {
	log     *slog.Logger
	slots   chan struct{} // one for each call that runs
	maxIdle int           // idle workers that are kept
	wait    func(context.Context, func() error) error
	life    context.Context
	end     context.CancelFunc
	program func() (string, error)
	spares  sync.WaitGroup

	memory  int64 // bytes that an engine may allocate: Memory
	retires int   // calls after which a worker is replaced, in case the engine leaks

	mu        sync.Mutex
	idle      []*child
	starting  bool // a spare is
	notBefore time.Time
	closed    bool
}

// New returns a sandbox; it starts nothing.
func New(o Options) *Sandbox {
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Wait == nil {
		o.Wait = func(_ context.Context, f func() error) error { return f() }
	}
	running := min(o.Parallel, 2*runtime.GOMAXPROCS(0))
	s := &Sandbox{
		log: o.Logger, slots: make(chan struct{}, running), maxIdle: max(minIdle, running), wait: o.Wait,
		program: os.Executable, memory: Memory, retires: callLimit,
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close kills all workers, also those that run something, whose calls then fail, and returns when they are gone.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	s.end()
	for _, c := range idle {
		c.timer.Stop()
		c.close()
	}
	s.spares.Wait()
	if first {
		for range cap(s.slots) { // for ever: no call runs any more
			s.slots <- struct{}{}
		}
	}
	return nil
}

// Line is one line that the code wrote to its console.
type Line struct {
	Level string `json:"level"` // log, info, warn, error or debug
	Text  string `json:"text"`
}

// Thrown is the exception that ended the code.
type Thrown struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"` // one "at" a line, of the user's code
}

// Result is what became of code that ended by itself.
type Result struct {
	// Result is the completion value as JSON.stringify writes it, once promises are settled; big integers, symbols,
	// functions and numbers that JSON lacks are strings. It is missing if the value has no JSON, such as undefined.
	Result json.RawMessage `json:"result,omitempty"`
	Type   string          `json:"type,omitempty"` // typeof the completion value
	// Console is what the code wrote, in order.
	Console    []Line  `json:"console"`
	DurationMS float64 `json:"duration_ms"`
	// Truncated says that there was more output than Output; a result that is too long is the string of its beginning.
	Truncated bool    `json:"truncated,omitempty"`
	Error     *Thrown `json:"error,omitempty"`

	pages []string
}

// Run runs code for at most timeout. The error is a *jsonrpc.RequestError: timeout if the code took longer, cancelled if ctx
// ended, tool_execution if there is no result for another reason.
func (s *Sandbox) Run(ctx context.Context, code string, timeout time.Duration) (Result, error) {
	return s.do(ctx, request{Code: code, Memory: s.memory, Output: Output, Timeout: timeout.Milliseconds()})
}

func (s *Sandbox) do(ctx context.Context, q request) (Result, error) {
	if err := s.enter(ctx); err != nil {
		return Result{}, err
	}
	defer func() { <-s.slots }()
	for try := 0; ; try++ {
		c, err := s.take(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return Result{}, contextFailure(ctx, "queued", 0)
			}
			s.log.Error("sandbox: cannot start a worker", "err", err)
			return Result{}, jsonrpc.Errorf(jsonrpc.KindToolExecution, "execute_code: cannot start a sandbox worker; see the agent's log").With("phase", "starting")
		}
		res, err := s.attempt(ctx, c, q)
		if !errors.Is(err, errStale) {
			return res, err
		}
		if try > s.maxIdle {
			return res, jsonrpc.Errorf(jsonrpc.KindToolExecution, "execute_code: sandbox workers exit before they run anything; see the agent's log").With("phase", "starting")
		}
		// An idle worker had died; the code has not run.
	}
}

// enter takes a slot of s.slots, or says why there is none for this call.
func (s *Sandbox) enter(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	default:
	}
	entered := false
	err := s.wait(ctx, func() error {
		select {
		case s.slots <- struct{}{}:
			entered = true
			return nil
		case <-ctx.Done():
			return contextFailure(ctx, "queued", 0)
		case <-s.life.Done():
			return jsonrpc.Errorf(jsonrpc.KindToolExecution, "execute_code: %w", errClosed)
		}
	})
	if err != nil && entered {
		<-s.slots
	}
	return err
}

// attempt is one call of one worker, which it gives back.
func (s *Sandbox) attempt(ctx context.Context, c *child, q request) (Result, error) {
	timeout := time.Duration(q.Timeout) * time.Millisecond
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	out, err := c.call(limited, q)
	if err == nil {
		s.give(c, !out.Spent)
		return Result{
			Result: out.Result, Type: out.Type, Console: out.Console, DurationMS: float64(out.Micros) / 1000,
			Truncated: out.Truncated, Error: out.Error, pages: out.Pages,
		}, nil
	}
	how := c.close()
	s.give(c, false)
	switch {
	case ctx.Err() != nil:
		return Result{}, contextFailure(ctx, "running", timeout)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return Result{}, timeoutFailure(timeout)
	case s.life.Err() != nil:
		return Result{}, jsonrpc.Errorf(jsonrpc.KindToolExecution, "execute_code: %w", errClosed)
	case errors.Is(err, errStale):
		s.log.Warn("sandbox: an idle worker had exited", "how", how, "stderr", c.stderrText())
		return Result{}, err
	}
	s.log.Error("sandbox: a worker exited during a call", "how", how, "err", err, "stderr", c.stderrText())
	return Result{}, jsonrpc.Errorf(jsonrpc.KindToolExecution, "execute_code: the sandbox worker exited while it ran the code (%s); the code may need more memory than a worker has", how).With("phase", "running")
}

// contextFailure is the failure of a call whose context ended.
func contextFailure(ctx context.Context, phase string, timeout time.Duration) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		if phase == "running" {
			return timeoutFailure(timeout)
		}
		f := jsonrpc.Errorf(jsonrpc.KindTimeout, "execute_code: no worker was free within the timeout; try again later")
		f.Err = ctx.Err()
		return f.With("phase", phase)
	}
	f := jsonrpc.Errorf(jsonrpc.KindCancelled, "execute_code: cancelled")
	f.Err = context.Cause(ctx)
	return f.With("phase", phase)
}

func timeoutFailure(timeout time.Duration) error {
	f := jsonrpc.Errorf(jsonrpc.KindTimeout, "execute_code: the code exceeded its timeout of %d ms and was stopped", timeout.Milliseconds())
	f.Err = context.DeadlineExceeded
	return f.With("phase", "running").With("timeoutMs", timeout.Milliseconds())
}
