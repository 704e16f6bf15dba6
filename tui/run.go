package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// exitTime is how long leaving may take: a terminal that no longer reads would otherwise hold the program for ever.
const exitTime = 4 * time.Second

// framesPerSecond is how often what was drawn goes to the terminal: often enough that a key is on the screen within 20
// ms whatever else happens, and rarely enough that an idle program needs less than 1 % of a processor.
const framesPerSecond = 80

// Run runs the UI until the user quits or ctx ends. Where there is no terminal, for TERM=dumb and with cfg.Linear it
// runs linear mode. It returns nil when the user quit, ctx's error when ctx ended, and *CrashError for a bug. Signals
// are the caller's to turn into the end of ctx.
func Run(ctx context.Context, cfg Config) error {
	if cfg.LinearMode() {
		return runLinear(ctx, cfg)
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	app, err := NewApp(work, cfg)
	if err != nil {
		return err
	}
	defer app.close()
	dog := newWatchdog(cfg.exit)
	defer dog.stop()
	defer context.AfterFunc(ctx, dog.arm)()
	c := newCoalescer()
	opts := []tea.ProgramOption{
		tea.WithFPS(framesPerSecond),
		// Signals end ctx, and ctx ends the program as a user does, below. bubbletea's ways leave its input reader
		// behind (WithContext), or wait for ever when ctx ends first (its signal handler).
		tea.WithoutSignalHandler(),
		tea.WithFilter(func(m tea.Model, msg tea.Msg) tea.Msg {
			if _, ok := msg.(tea.QuitMsg); ok {
				dog.arm()
				app.status.over, app.rerender = true, true
			}
			return c.filter(m, msg)
		}),
	}
	in := cfg.In
	if in == nil {
		in = os.Stdin
	}
	opts = append(opts, tea.WithInput(terminalInput(in, cfg.getenv())))
	out := cfg.Out
	if out == nil {
		out = os.Stdout
	}
	opts = append(opts, tea.WithOutput(app.pictures.On(out)))
	if cfg.Environ != nil {
		opts = append(opts, tea.WithEnvironment(cfg.Environ))
	}
	if NoColor(cfg.getenv()) {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(app, append(opts, cfg.Options...)...)
	app.send = p.Send
	if cfg.Program != nil {
		cfg.Program(p)
	}
	endPump := app.pump(p.Send)
	endReloads := app.reloads(p.Send)
	defer context.AfterFunc(ctx, p.Quit)()
	_, err = p.Run()
	endPump()
	endReloads()
	if err != nil { // there was no last frame, which takes the report back
		_, _ = io.WriteString(out, ansi.ClearProgramStatusID(""))
	}
	if left := app.pictures.Close(); len(left) > 0 {
		_, _ = out.Write(left) // a terminal that is gone keeps nothing
	}
	switch {
	case app.crash != nil:
		return app.crash
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("mcphud crashed; please report the lines above at %s: %w", cfg.Report, err)
	}
	return err
}

// close ends what the App holds, bounded in time.
func (a *App) close() {
	a.ops.close()
	for _, v := range a.actions.views {
		if v.Close != nil {
			v.Close()
		}
	}
	a.ops.wait(exitTime / 2)
	a.servers.look(nil)
	_ = a.recall.save() // a history that cannot be written is not worth a message on the way out
}

// LinearMode is whether [Run] chooses linear mode: because cfg.Linear asks for
// it, or because there is no screen to draw on.
func (c *Config) LinearMode() bool {
	if c.Linear || c.getenv()("TERM") == "dumb" {
		return true
	}
	return c.In == nil && !term.IsTerminal(os.Stdin.Fd()) || c.Out == nil && !term.IsTerminal(os.Stdout.Fd())
}

// watchdog ends the process when leaving takes too long.
type watchdog struct {
	exit  func(code int)
	mu    sync.Mutex
	timer *time.Timer
	off   bool
}

func newWatchdog(exit func(int)) *watchdog {
	if exit == nil {
		exit = os.Exit
	}
	return &watchdog{exit: exit}
}

// arm starts the countdown; once is enough.
func (d *watchdog) arm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer == nil && !d.off {
		d.timer = time.AfterFunc(exitTime, func() { d.exit(1) })
	}
}

// stop ends it for good, also for an arm that comes late.
func (d *watchdog) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	if d.timer != nil {
		d.timer.Stop()
	}
}
