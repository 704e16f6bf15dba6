package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/wire/certs"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/themefile"
	"github.com/mcphud/mcphud/views"
	stackview "github.com/mcphud/mcphud/views/stack"
)

// configDir is mcphud's configuration folder, "" where there is none.
func configDir() string {
	where, err := config.System()
	if err != nil {
		return ""
	}
	return where.ConfigDir()
}

// UserFile is config.yaml, "" where there is no folder for it.
func UserFile() string { return userconfig.Path(configDir()) }

// ThemesDir is the folder of the themes of the user, "" where there is none.
func ThemesDir() string {
	dir := configDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, themefile.Folder)
}

// Preferences are what config.yaml says, read once.
func (a *App) Preferences() *userconfig.Config {
	if a.user == nil {
		c, err := userconfig.Load(UserFile())
		if err != nil {
			c.Warnings = append(c.Warnings, themefile.AsWarning(UserFile(), err))
		}
		a.user = &c
	}
	return a.user
}

// fileFlags are the flags that come before settings of config.yaml, by the setting's key.
var fileFlags = map[string]string{"linear": "linear", "timeout": "timeout", "max_timeout": "max-timeout", "connect_timeout": "connect-timeout", "token_budget": "budget"}

// prefer makes config.yaml hold for this run, where no flag says otherwise, and says what is wrong in it.
func (a *App) prefer(cmd *cobra.Command) {
	if a.user != nil {
		return
	}
	u := a.Preferences()
	for key, name := range fileFlags {
		f := cmp.Or(a.Root.PersistentFlags().Lookup(name), cmd.Flags().Lookup(name))
		if f != nil && !f.Changed && !cmd.Flags().Changed(name) {
			for _, given := range u.Given[key].Texts {
				_ = f.Value.Set(given) // valid, or it would not be given
			}
		}
	}
	a.Options.usualFormat = u.Format
	for name, value := range map[string]string{transport.ProxyVariable: u.Proxy, certs.Variable: u.CA} {
		if value != "" && os.Getenv(name) == "" {
			_ = os.Setenv(name, value) // whoever reaches for the network looks there, programs that we start included
		}
	}
	if len(u.RedactNames) > 0 || len(u.RedactPatterns) > 0 {
		mask.Extend(u.RedactNames, u.RedactPatterns)
	}
	if Supervised(cmd.Flags()) || cmd.HasParent() && cmd.Parent().Name() == "config" {
		return // who started it, and the commands about the file, say it
	}
	for _, w := range u.Warnings {
		a.Note("mcphud: " + w.String())
	}
}

// Personal gives the UI what the user set, as long as it runs. cfg has its screens. The returned function ends that.
func (a *App) Personal(cfg *tui.Config) (stop func()) {
	cfg.Linear, cfg.Theme = a.Options.Linear, os.Getenv("MCPHUD_THEME")
	cfg.NativeClipboard = true
	cfg.HistoryFile, cfg.PreferencesFile = StateFile("history"), StateFile("preferences.json")
	u := a.Preferences()
	has := map[string]bool{}
	for _, k := range tui.KeyTable(cfg.Views) {
		has[k.ID] = true
	}
	set, warnings := UISettings(u, has)
	cfg.Settings = set
	if configDir() == "" {
		return func() {}
	}
	reload := make(chan tui.Reload, 1)
	cfg.Reload = reload
	if note := wrongNote(append(slices.Clone(u.Warnings), warnings...)); note != "" {
		reload <- tui.Reload{Note: note}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	agreed := a.Consent()
	wg.Go(func() { followSettings(ctx, agreed, has, reload) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// UISettings are the settings of a UI that has these actions, with the user's themes, and what is wrong with those that only the UI
// can judge. Keys of actions that only other screens have are left out.
func UISettings(u *userconfig.Config, has map[string]bool) (tui.Settings, []config.Warning) {
	s := tui.Settings{
		Theme: u.Theme, NoMouse: !u.Mouse, Probes: u.Probes, Sideways: !u.Wrap, Borders: paint.Borders(u.Borders), Images: cmp.Or(os.Getenv("MCPHUD_IMAGES"), u.Images), Split: u.Split, WhichKey: u.WhichKey, Editor: u.Editor, Pager: u.Pager,
		Second: map[string]tui.Arrangement{"beside": tui.Beside, "below": tui.Below}[u.Second],
		Given:  map[string]string{},
	}
	if s.WhichKey == 0 {
		s.WhichKey = -1 // at once
	}
	for key, given := range u.Given {
		s.Given[key] = strings.Join(given.Texts, "\n")
	}
	all, warnings := themefile.Load(ThemesDir())
	for _, t := range all {
		s.Palettes = append(s.Palettes, t.Palette)
	}
	warnings = append(warnings, WrongTheme(u, s.Palettes)...)
	keys, wrong := FitKeys(u, AllViews())
	maps.DeleteFunc(keys, func(id string, _ []string) bool { return !has[id] })
	s.Keys = keys
	return s, append(warnings, wrong...)
}

// WrongTheme is a warning about a theme that there is not.
func WrongTheme(u *userconfig.Config, own []themes.Palette) []config.Warning {
	var names []string
	for _, p := range append(themes.All(), own...) {
		names = append(names, p.Name)
	}
	if u.Theme == "" || slices.Contains(names, u.Theme) {
		return nil
	}
	at := u.Given["theme"]
	return []config.Warning{{
		File: u.File, Line: at.Line, Col: at.Col,
		Message: fmt.Sprintf("there is no theme %.40q; %sthe terminal's background decides", u.Theme, output.DidYouMean(u.Theme, names)),
	}}
}

// FitKeys are the keys that can be, and warnings about the others.
func FitKeys(u *userconfig.Config, views []*tui.Screen) (map[string][]string, []config.Warning) {
	if len(u.Keys) == 0 {
		return nil, nil
	}
	var list []tui.Binding
	for _, b := range u.Keys {
		list = append(list, tui.Binding{Action: b.Action, Keys: b.Keys})
	}
	keys, misfits := tui.FitKeys(views, list)
	var warnings []config.Warning
	for _, m := range misfits {
		at := u.Given["keys."+m.Action]
		warnings = append(warnings, config.Warning{File: u.File, Line: at.Line, Col: at.Col, Message: fmt.Sprintf("keys of %.60q: %s", m.Action, m.Why)})
	}
	return keys, warnings
}

// wrongNote is the first of some warnings, with how many more there are; "" for none.
func wrongNote(warnings []config.Warning) string {
	if len(warnings) == 0 {
		return ""
	}
	w := warnings[0]
	w.File = filepath.Base(w.File)
	note := w.String()
	if n := len(warnings) - 1; n > 0 {
		note += fmt.Sprintf(" (and %d more: mcphud config check)", n)
	}
	return note
}

const (
	// settingsPoll is how often the files are looked at where the system reports no changes, settingsSettle how long nothing has
	// to change before they are read: editors write in several steps.
	settingsPoll   = 3 * time.Second
	settingsSettle = 100 * time.Millisecond
)

// followSettings reads config.yaml and the themes again whenever they change, until ctx ends.
func followSettings(ctx context.Context, agreed *consent.Policy, has map[string]bool, reload chan<- tui.Reload) {
	w := files.NewWatcher(settingsPoll, settingsSettle)
	defer w.Close()
	had := settingsStamp()
	for {
		w.Folder(configDir())
		w.Folder(ThemesDir())
		select {
		case <-ctx.Done():
			return
		case <-w.Changed():
		}
		now := settingsStamp()
		if slices.EqualFunc(now, had, func(a, b stamped) bool { return a.name == b.name && a.Equal(b.Stamp) }) {
			continue
		}
		had = now
		m := tui.Reload{}
		u, err := userconfig.Load(UserFile())
		if err != nil {
			m.Note = wrongNote([]config.Warning{themefile.AsWarning(UserFile(), err)}) + "; the settings stay as they were"
		} else {
			agreed.Follow(consent.Rule(u.AskFirst))
			set, warnings := UISettings(&u, has)
			m.Settings, m.Note = &set, wrongNote(append(u.Warnings, warnings...))
		}
		select {
		case <-ctx.Done():
			return
		case reload <- m:
		}
	}
}

// stamped is a file as it was looked at.
type stamped struct {
	name string
	files.Stamp
}

// settingsStamp looks at config.yaml and at each theme.
func settingsStamp() []stamped {
	all := []stamped{{UserFile(), files.StampOf(UserFile())}}
	entries, _ := os.ReadDir(ThemesDir()) // without one there are none
	for _, e := range entries[:min(len(entries), 1000)] {
		if themefile.Is(e.Name()) {
			path := filepath.Join(ThemesDir(), e.Name())
			all = append(all, stamped{path, files.StampOf(path)})
		}
	}
	return all
}

// AllViews are the screens, for what they understand: their actions.
func AllViews() []*tui.Screen { return views.All(views.Deps{Stack: struct{ stackview.Stack }{}}) }

// PalettesOf are the palettes of themes.
func PalettesOf(own []themefile.Theme) (all []themes.Palette) {
	for _, t := range own {
		all = append(all, t.Palette)
	}
	return all
}

// KeptInputs is where secrets are kept that servers ask for. Who says "keychain" does not mean plain text.
func KeptInputs() (credstore.Inputs, error) {
	s, err := credentialsAs(credstore.Keychain)
	return credstore.Inputs{Store: s}, err
}

// StateFile is a file in mcphud's state folder, "" where there is none.
func StateFile(name string) string {
	where, err := config.System()
	if err != nil || where.StateDir() == "" {
		return ""
	}
	return filepath.Join(where.StateDir(), name)
}
