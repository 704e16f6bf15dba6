package tui

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
)

// Config is what the composition root gives the UI.
type Config struct {
	// Views are the screens in the order of their number keys; the first one
	// is where the program starts unless Start says otherwise.
	Views []*Screen
	// Sessions are the servers; nil for none.
	Sessions *session.Manager
	// Changed receives when something else than the sessions changed that a
	// screen shows; views then get a SessionChanged. Nil for nothing.
	Changed <-chan struct{}
	// Version is the version that runs. After an upgrade the UI says once that there is something new, if it is a release.
	Version string
	// Start is the id of the first screen and StartArg its [Navigate] argument.
	Start    string
	StartArg any
	// Filter is the text of `/` on the first screen.
	Filter string
	// Server is the name of the server that is current at first; "" is the first one that is registered.
	Server string
	// Idle is what the status line says where no server is current; nil or "" is "no server". It must be quick.
	Idle func() string
	// ReadOnly unbinds Danger actions.
	ReadOnly bool
	// Linear asks for linear mode; [Run] also chooses it for TERM=dumb and where there is no terminal.
	Linear bool
	// Theme is the name of a palette that comes before the settings and what the user chose; "" leaves it to them.
	Theme string
	// Settings are what the user set; Reload receives them when they change. Nil never does.
	Settings Settings
	Reload   <-chan Reload
	// HistoryFile keeps the lines of the `:` prompt; "" keeps none.
	HistoryFile string
	// PreferencesFile keeps what the user arranged: the rule between panes, which pane is below which, the theme; "" keeps nothing.
	PreferencesFile string
	// NativeClipboard also copies with the system's clipboard command.
	NativeClipboard bool
	// Report is where to report a crash ("https://…/issues").
	Report string

	// In, Out and Environ stand for stdin, stdout and the environment; nil means the real ones.
	In      io.Reader
	Out     io.Writer
	Environ []string
	// Options are added to the tea.Program's: for tests.
	Options []tea.ProgramOption
	// Program, if set, gets the tea.Program before it runs: for tests, and
	// for what has to be said of something that is not a server.
	Program func(*tea.Program)
	// Frames, if set, sees every frame before the renderer does: for tests. The
	// renderer keeps cells only, so what it prints does not show every mistake.
	Frames func(tea.View)

	exit func(code int) // os.Exit unless a test says otherwise
}

func (c *Config) getenv() func(string) string { return lookupEnv(c.Environ) }
