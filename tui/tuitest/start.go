package tuitest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui"
)

// Option changes how the UI is started.
type Option func(*settings)

type settings struct {
	w, h     int
	dark     bool
	env      []string
	profile  colorprofile.Profile
	config   tui.Config
	deadline time.Duration
	beside   bool
	peers    peers
}

// Views gives the screens; the first one is where the program starts.
func Views(v ...*tui.Screen) Option {
	return func(s *settings) { s.config.Views = append(s.config.Views, v...) }
}

// Size is the terminal's size, 120x40 unless said.
func Size(w, h int) Option { return func(s *settings) { s.w, s.h = w, h } }

// Light makes the terminal say that its background is light.
func Light() Option { return func(s *settings) { s.dark = false } }

// NoColor sets NO_COLOR=yes.
func NoColor() Option { return Env("NO_COLOR", "yes") }

// Env adds a variable to the program's environment, which is otherwise fixed.
func Env(key, value string) Option {
	return func(s *settings) { s.env = append(s.env, key+"="+value) }
}

// ReadOnly is --read-only.
func ReadOnly() Option { return func(s *settings) { s.config.ReadOnly = true } }

// At starts on another screen with an argument.
func At(view string, arg any) Option {
	return func(s *settings) { s.config.Start, s.config.StartArg = view, arg }
}

// Deadline bounds how long an assertion waits: 10 s of fake time in a bubble, 20 s outside, unless said.
func Deadline(d time.Duration) Option { return func(s *settings) { s.deadline = d } }

// Beside is for a test that runs in parallel with others outside of a bubble: it leaves looking for goroutines that are left
// over to TestMain, since it would find those of the others.
func Beside() Option { return func(s *settings) { s.beside = true } }

// LeftByBubbleTea are goroutines that goleak shall ignore: Bubble Tea's timers cannot be cancelled.
func LeftByBubbleTea() goleak.Option {
	return goleak.IgnoreTopFunction("charm.land/bubbletea/v2.Tick.func1")
}

// Config changes anything else of the UI's configuration.
func Config(f func(*tui.Config)) Option { return func(s *settings) { f(&s.config) } }

// App is a running UI.
type App struct {
	t        testing.TB
	screen   *screen
	prog     *tea.Program
	manager  *session.Manager
	bubble   bool
	deadline time.Duration
	done     chan struct{}
	err      error

	stop   context.CancelFunc
	once   sync.Once
	seen   map[string]bool // error toasts that the test looked for
	ended  bool            // quitting was looked for
	update bool
	frame  time.Duration // a little more than one frame of the renderer
}

// Start runs the UI until the test ends.
func Start(t testing.TB, opts ...Option) *App {
	t.Helper()
	s := settings{w: 120, h: 40, dark: true, profile: colorprofile.TrueColor}
	s.peers.memory = map[string]func() transport.Transport{}
	for _, o := range opts {
		o(&s)
	}
	a := &App{t: t, bubble: inBubble(), done: make(chan struct{}), seen: map[string]bool{}, update: updating(), frame: frameTime}
	a.deadline = s.deadline
	if a.deadline == 0 {
		a.deadline = time.Minute
		if a.bubble {
			a.deadline = 10 * time.Second
		}
	}
	var leak goleak.Option
	if !a.bubble && !s.beside {
		leak = goleak.IgnoreCurrent()
	}
	a.screen = newScreen(s.w, s.h, s.dark)
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	ready := make(chan *tea.Program, 1)
	cfg := s.config
	if cfg.Sessions == nil {
		cfg.Sessions = s.peers.open(t)
	}
	a.manager = cfg.Sessions
	cfg.In, cfg.Out = a.screen.input(), a.screen
	cfg.Environ = append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "PATH=/usr/bin:/bin"}, s.env...)
	cfg.Program = func(p *tea.Program) { ready <- p }
	cfg.Options = append([]tea.ProgramOption{
		tea.WithWindowSize(s.w, s.h), tea.WithoutSignalHandler(),
	}, cfg.Options...)
	if !a.bubble { // a step takes two frames of real time
		cfg.Options = append(cfg.Options, tea.WithFPS(120))
		a.frame = 9 * time.Millisecond
	}
	if !tui.NoColor(func(k string) string { return lookup(cfg.Environ, k) }) {
		cfg.Options = append(cfg.Options, tea.WithColorProfile(s.profile))
	}
	go func() {
		defer close(a.done)
		a.err = tui.Run(ctx, cfg)
	}()
	t.Cleanup(func() {
		a.close()
		s.peers.close(t)
		if a.bubble {
			// Bubble Tea's timers cannot be cancelled; let them end before the bubble does.
			time.Sleep(15 * time.Second)
			return
		}
		if leak == nil {
			return
		}
		if err := leaktest.Find(leak, LeftByBubbleTea()); err != nil && !t.Failed() {
			t.Errorf("goroutines are left over: %v", err)
		}
	})
	select {
	case a.prog = <-ready:
	case <-a.done:
		t.Fatalf("the UI did not start: %v", a.err)
	}
	a.Settle()
	s.peers.connect(ctx)
	return a.Settle()
}

// lookup finds a variable in an environment.
func lookup(env []string, key string) string {
	for _, e := range env {
		if k, v, ok := strings.Cut(e, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// close ends the program and judges how it ended.
func (a *App) close() {
	a.t.Helper()
	a.once.Do(func() {
		select {
		case <-a.done:
			if !a.ended {
				a.t.Errorf("the UI ended by itself: %v", a.err)
			}
		default:
			a.Settle()
			for _, f := range a.State().Failures {
				if !a.seen[f] {
					a.t.Errorf("an error was shown that the test did not look for: %s\n%s", f, a.Screen())
				}
			}
		}
		a.stop()
		a.screen.close()
		<-a.done
		if a.err != nil && !a.ended && !errors.Is(a.err, context.Canceled) {
			a.t.Errorf("the UI ended with: %v", a.err)
		}
	})
}

// Ended waits until the UI ended by itself, as after q, and returns its error.
func (a *App) Ended() error {
	a.t.Helper()
	a.ended = true
	limit := time.NewTimer(a.deadline)
	defer limit.Stop()
	select {
	case <-a.done:
	case <-limit.C:
		a.t.Fatalf("the UI did not end within %v:\n%s", a.deadline, a.Screen())
	}
	return a.err
}

// inBubble is whether the caller runs in a synctest bubble.
func inBubble() (in bool) {
	defer func() {
		if recover() != nil {
			in = false
		}
	}()
	synctest.Wait()
	return true
}

// frameTime is a little more than one frame of the renderer at its usual 60 a second.
const frameTime = 18 * time.Millisecond

// Settle waits until the program did all it had to do and drew it. Time that
// passes by itself (running calls, countdowns) is not waited for.
func (a *App) Settle() *App {
	a.t.Helper()
	if a.bubble {
		synctest.Wait()
		time.Sleep(frameTime)
		synctest.Wait()
		return a
	}
	last, since := a.screen.writes(), time.Now()
	a.State()
	for time.Since(since) < a.deadline {
		time.Sleep(a.frame)
		a.State()
		now := a.screen.writes()
		if now == last {
			return a
		}
		last = now
	}
	return a
}

// Sleep lets time pass: free in a bubble, real outside.
func (a *App) Sleep(d time.Duration) *App {
	time.Sleep(d)
	return a.Settle()
}

// State asks the UI to describe itself. After its end the result is empty.
func (a *App) State() tui.State {
	a.t.Helper()
	got := make(chan tui.State, 1)
	go a.prog.Send(tui.Probe{Do: func(s tui.State) { got <- s }})
	limit := time.NewTimer(a.deadline)
	defer limit.Stop()
	select {
	case s := <-got:
		return s
	case <-a.done:
		return tui.State{}
	case <-limit.C:
		a.t.Fatalf("the UI does not answer for %v; the screen is\n%s", a.deadline, a.screen.text())
		return tui.State{}
	}
}

// Eventually tries check after each step of the program until it gives "", and
// fails the test with what it gave last when the deadline passed.
func (a *App) Eventually(check func() string) *App {
	a.t.Helper()
	a.Settle()
	why := check()
	start := time.Now()
	for why != "" && time.Since(start) < a.deadline {
		select {
		case <-a.done:
			a.t.Fatalf("%s\nand the UI ended: %v", why, a.err)
		default:
		}
		a.screen.wait(50*time.Millisecond, a.bubble)
		a.Settle()
		why = check()
	}
	if why != "" {
		a.t.Fatalf("after %v: %s\nthe screen is\n%s", time.Since(start).Round(time.Millisecond), why, a.Screen())
	}
	return a
}

// Send gives the program a message, for what no key can do.
func (a *App) Send(m tea.Msg) *App {
	a.prog.Send(m)
	return a.Settle()
}

var _ io.Writer = (*screen)(nil)

func quote(s string) string { return fmt.Sprintf("%q", s) }
