package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// Settings are what the user set about the UI. The zero value is what holds where nothing was.
type Settings struct {
	// Theme is the name of a palette; "" lets the terminal's background decide.
	Theme string
	// Palettes are the user's own, besides [themes.All].
	Palettes []themes.Palette
	// Keys binds actions by id to other keys; an empty list unbinds. [FitKeys] leaves out what cannot be.
	Keys map[string][]string
	// NoMouse starts with mouse capture off.
	NoMouse bool
	// Probes lists health checks and probes.
	Probes bool
	// Sideways lets long lines scroll instead of wrapping.
	Sideways bool
	// Borders is how frames are drawn; "" is rounded.
	Borders paint.Borders
	// Split is the share of the first of two panes in percent, 0 each screen's own; Second is where the other one goes.
	Split  int
	Second Arrangement
	// WhichKey is how long after the first key of a chord its second keys are listed; 0 is 300 ms, less is at once.
	WhichKey time.Duration
	// Images is how pictures are drawn: a [picture.Protocol], "auto" or "".
	Images string
	// Editor and Pager are command lines; "" leaves them to the environment.
	Editor, Pager string
	// Given are the settings that are written down, by key, as they are written: a change of one ends what a key has changed of it.
	Given map[string]string
}

// Reload is what the file of settings says after it changed.
type Reload struct {
	// Settings is nil where they cannot be read: what they were goes on.
	Settings *Settings
	// Note says what is wrong, "" if nothing is.
	Note string
}

// governs are the names of preferences that say what a setting does, or what they begin with.
var governs = map[string][]string{
	"theme": {"theme"}, "mouse": {"mouse"}, "layout.split": {"beside.", "above."}, "layout.second": {"second."}, "layout.wrap": {"wrap"}, "traffic.probes": {ProbesPreference},
}

// arranged are the names of the preferences that say what a setting does.
func (p *preferences) arranged(setting string) (names []string) {
	for name := range p.values {
		for _, n := range governs[setting] {
			if name == n || strings.HasSuffix(n, ".") && strings.HasPrefix(name, n) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Arranged is what a key or a word has made of a setting, in place of what the file says: "" for nothing.
func (c *Ctx) Arranged(setting string) string {
	switch names := c.app.prefs.arranged(setting); {
	case len(names) == 0:
		return ""
	case names[0] == governs[setting][0]:
		return c.app.prefs.values[names[0]]
	default:
		return text.Count(len(names), "screen") + " changed"
	}
}

// ForgetArranged forgets that, so that a setting is what the file says. The theme stays what is on the screen, see [Ctx.ResetTheme].
func (c *Ctx) ForgetArranged(setting string) tea.Cmd {
	a, names := c.app, c.app.prefs.arranged(setting)
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		delete(a.prefs.values, name)
	}
	if setting == "theme" {
		return a.prefs.save()
	}
	return join(a.prefs.save(), a.applySettings(a.settings), a.broadcast(ThemeChanged{}))
}

// rebase forgets what keys have changed of settings that the file gives another value than it did then. Its command writes that.
func (p *preferences) rebase(given map[string]string) tea.Cmd {
	changed := false
	for setting := range governs {
		record := "config " + setting
		if p.values[record] == given[setting] {
			continue
		}
		changed = true
		for _, name := range p.arranged(setting) {
			delete(p.values, name)
		}
		if p.values[record] = given[setting]; given[setting] == "" {
			delete(p.values, record)
		}
	}
	if !changed {
		return nil
	}
	return p.save()
}

// applySettings makes settings hold, at the start and whenever they change.
func (a *App) applySettings(s Settings) tea.Cmd {
	keep := a.prefs.rebase(s.Given)
	a.settings = s
	a.prefs.usual = map[string]string{"wrap": onOff(!s.Sideways), ProbesPreference: onOff(s.Probes)}
	a.mouse.on = !s.NoMouse
	if m := a.prefs.get("mouse"); m != "" {
		a.mouse.on = m == onOff(true)
	}
	ask := a.choosePictures()
	a.look.choose(a)
	return join(keep, ask)
}

// reload takes over settings that have changed. Keys that cannot be are left as they were.
func (a *App) reload(m Reload) tea.Cmd {
	if m.Note != "" {
		a.toasts.add(Warning, m.Note)
	}
	if m.Settings == nil {
		return nil
	}
	actions, err := newActionSet(a.cfg.Views, globalActions(), m.Settings.Keys)
	if err != nil {
		a.toasts.add(Warning, err.Error())
	} else {
		a.actions = actions
	}
	if m.Note == "" {
		a.toasts.add(Note, "settings read again")
	}
	return join(a.applySettings(*m.Settings), a.broadcast(ThemeChanged{}))
}

// palettes are all themes, in the order in which they follow each other.
func (a *App) palettes() []themes.Palette { return slices.Concat(themes.All(), a.settings.Palettes) }

func (a *App) palette(name string) (themes.Palette, bool) {
	for _, p := range a.palettes() {
		if p.Name == name {
			return p, true
		}
	}
	return themes.Palette{}, false
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// splitOf is where the user moved the rule between panes, else where the settings put it: 0 if nowhere.
func (a *App) splitOf(where, view string) int {
	if n := a.prefs.share(where, view); n != 0 {
		return n
	}
	return a.settings.Split
}

// arrangementOf is where the second pane of a screen goes.
func (a *App) arrangementOf(view string) Arrangement {
	if at := a.prefs.arrangement(view); at != Automatic {
		return at
	}
	return a.settings.Second
}

// setZoom zooms the focused pane, or undoes it; it stays so.
func (a *App) setZoom(on bool) tea.Cmd {
	a.arrange.Zoom = on
	return a.prefs.set("zoom", strconv.FormatBool(on))
}

// reloads turns changes of the settings into messages. The returned function ends that and waits for its end; send must not block
// by then.
func (a *App) reloads(send func(tea.Msg)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case m := <-a.cfg.Reload:
				send(m)
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
