package tui

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/tui/picture"
)

type (
	// tmuxPasses says whether tmux hands sequences on.
	tmuxPasses struct{ ok bool }
	// picturesLost says that a picture is on the screen that is no longer kept.
	picturesLost struct{}
)

// tmuxTime is how long tmux may take to say what it does.
const tmuxTime = 2 * time.Second

// choosePictures takes the protocol of the settings. Inside of tmux its command first finds out whether that can be.
func (a *App) choosePictures() tea.Cmd {
	if a.pictures == nil {
		return nil
	}
	p, tmux := picture.Choose(a.settings.Images, a.getenv)
	if !tmux {
		a.pictures.Use(p, false)
		return nil
	}
	a.pictures.Use(picture.Blocks, false)
	argv := picture.AskTmux(a.getenv)
	return func() tea.Msg {
		ctx, stop := context.WithTimeout(context.Background(), tmuxTime)
		defer stop()
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		said := strings.TrimSpace(string(out))
		return tmuxPasses{err == nil && (said == "on" || said == "all")}
	}
}

// passed takes tmux's answer.
func (a *App) passed(m tmuxPasses) tea.Cmd {
	if !m.ok {
		a.toasts.add(Warning, "tmux passes no pictures on: set -g allow-passthrough on")
		return nil
	}
	if p, tmux := picture.Choose(a.settings.Images, a.getenv); tmux { // still
		a.pictures.Use(p, true)
	}
	a.look.cut(a)
	return a.broadcast(ThemeChanged{})
}

// canvas gives a theme the way in which pictures are drawn. The colours of their cells say which they are, so that it takes all colours.
func (a *App) canvas(t *Theme) {
	if a.pictures == nil {
		return
	}
	p := a.pictures.Protocol()
	t.NoPictures = p == picture.None
	if p.Pixels() && t.Profile == colorprofile.TrueColor {
		t.Canvas = a.pictures
	}
}

// drawPictures prepares the frame's pictures.
func (a *App) drawPictures() {
	if a.pictures == nil || !a.pictures.Frame(a.frame.rows) {
		return
	}
	// Placing them takes a moment, in which frames still miss them.
	if time.Since(a.replaced) > time.Second && a.send != nil {
		a.replaced = time.Now()
		go a.send(picturesLost{})
	}
}

// replacePictures lets every screen place its pictures again.
func (a *App) replacePictures() tea.Cmd {
	a.look.cut(a)
	return a.broadcast(ThemeChanged{})
}

// cellSize is the size of a terminal's cells in pixels, as far as it says so without being asked in its own language.
func cellSize(out io.Writer) (w, h int) {
	if out == nil {
		out = os.Stdout
	}
	f, ok := out.(*os.File)
	if !ok {
		return 0, 0
	}
	return cellPixels(f)
}

func newPictures(out io.Writer) *picture.Store {
	w, h := cellSize(out)
	return picture.New(picture.Blocks, false, w, h)
}
