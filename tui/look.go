package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Theme is a palette cut for the terminal's colour profile; see [paint.Theme].
type Theme = paint.Theme

// look is the choice of colours.
type look struct {
	plain   bool // NO_COLOR
	dark    bool // the terminal's background, as far as it is known
	chosen  bool // by flag, config or the user: the background no longer decides
	palette themes.Palette
	colors  colorprofile.Profile
}

// init starts with a dark theme until the terminal says what its background is.
func (l *look) init(a *App) {
	l.plain = NoColor(a.getenv)
	l.colors = colorprofile.TrueColor
	l.dark = true
}

// choose takes the theme that was asked for, else the one of the background.
func (l *look) choose(a *App) {
	l.palette, l.chosen = themes.Default(l.dark), false
	if p, ok := a.palette(cmp.Or(a.cfg.Theme, a.prefs.get("theme"), a.settings.Theme)); ok {
		l.palette, l.chosen = p, true
	}
	l.cut(a)
}

// cut makes the theme. Its pointer is new, so every cached line is stale.
func (l *look) cut(a *App) {
	p := l.colors
	if l.plain {
		p = colorprofile.ASCII
	}
	a.ctx.Theme = paint.New(l.palette, p).Framed(a.settings.Borders)
	a.canvas(a.ctx.Theme)
}

// background is the terminal's answer to what its background is.
func (l *look) background(a *App, dark bool) tea.Cmd {
	l.dark = dark
	if l.chosen || l.palette.Dark == dark {
		return nil
	}
	l.palette = themes.Default(dark)
	l.cut(a)
	return a.broadcast(ThemeChanged{})
}

// profile is what the terminal can show.
func (l *look) profile(a *App, p colorprofile.Profile) tea.Cmd {
	if p == l.colors {
		return nil
	}
	l.colors = p
	l.cut(a)
	return a.broadcast(ThemeChanged{})
}

// cycle takes the next theme.
func (l *look) cycle(a *App) tea.Cmd {
	all := a.palettes()
	i := slices.IndexFunc(all, func(p themes.Palette) bool { return p.Name == l.palette.Name })
	return l.take(a, all[(i+1)%len(all)].Name)
}

// autoTheme leaves the theme to the terminal's background.
const autoTheme = "auto"

// take takes a theme by its name, and keeps it.
func (l *look) take(a *App, name string) tea.Cmd {
	name = strings.ToLower(name)
	p, ok := a.palette(name)
	switch {
	case name == autoTheme:
		l.palette, l.chosen = themes.Default(l.dark), false
	case !ok:
		a.toasts.add(Warning, "there is no theme "+safe.Line(name, 60)+"; there are "+strings.Join(a.themeNames(), ", "))
		return nil
	default:
		l.palette, l.chosen = p, true
	}
	l.cut(a)
	a.toasts.add(Note, "theme: "+safe.Line(strings.ToLower(l.palette.Title), 60))
	return join(a.broadcast(ThemeChanged{}), a.prefs.set("theme", name))
}

// ChooseTheme asks for a theme, and shows the program in each while the cursor is on it; done gets its name, "" for that of the
// terminal's background. Until [Ctx.ResetTheme] the program stays in the one that was chosen.
func (c *Ctx) ChooseTheme(done func(c *Ctx, name string) tea.Cmd) tea.Cmd {
	a, current := c.app, autoTheme
	if a.look.chosen {
		current = a.look.palette.Name
	}
	if c.Linear {
		return c.Choose("theme", current, a.themeNames(), func(c *Ctx, name string) tea.Cmd {
			if name == autoTheme {
				name = ""
			}
			return done(c, name)
		})
	}
	show := func(p themes.Palette) func(*App) tea.Cmd {
		return func(a *App) tea.Cmd { return a.look.show(a, p) }
	}
	items := []item{{
		title: autoTheme, help: "as the terminal's background is", group: "Themes", look: show(themes.Default(a.look.dark)),
		pick: func(a *App) tea.Cmd { return done(&a.ctx, "") },
	}}
	at := 0
	for _, p := range a.palettes() {
		if p.Name == current {
			at = len(items)
		}
		items = append(items, item{title: p.Name, help: p.Title, group: "Themes", look: show(p), pick: func(a *App) tea.Cmd { return done(&a.ctx, p.Name) }})
	}
	p := newPicker("Theme: the cursor shows it, enter keeps it", items)
	p.at, p.looked, p.left = at, at+1, func(a *App) tea.Cmd { return a.ctx.ResetTheme() }
	return c.Open(p)
}

// ResetTheme takes the theme again that was asked for.
func (c *Ctx) ResetTheme() tea.Cmd {
	c.app.look.choose(c.app)
	return c.app.broadcast(ThemeChanged{})
}

// show takes a theme and keeps none.
func (l *look) show(a *App, p themes.Palette) tea.Cmd {
	l.palette, l.chosen = p, true
	l.cut(a)
	return a.broadcast(ThemeChanged{})
}

// themeNames are the names that themes are taken by.
func (a *App) themeNames() []string {
	out := []string{autoTheme}
	for _, p := range a.palettes() {
		out = append(out, safe.Line(p.Name, 60))
	}
	return out
}

// NoColor is the convention of no-color.org: any value that is not empty.
func NoColor(getenv func(string) string) bool { return getenv("NO_COLOR") != "" }
