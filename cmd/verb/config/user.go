package config

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/themefile"
)

// userValue is a setting of config.yaml for config explain.
type userValue struct {
	setting userconfig.Setting
	texts   []string
	given   bool
}

func (v *userValue) String() string { return strings.Join(v.texts, ", ") }

func (v *userValue) Type() string { return "string" }

// Set takes a value, or one more of a list. A variable says off and on where the file says false and true.
func (v *userValue) Set(s string) error {
	if v.setting.Kind == userconfig.Switch {
		s = map[bool]string{true: "false", false: s}[cli.HistoryOff(s)]
		if s == "on" || s == "1" || s == "yes" {
			s = "true"
		}
	}
	if v.setting.Kind != userconfig.Bindings {
		if err := v.setting.Check(s); err != nil {
			return err
		}
	}
	if list := v.setting.Kind == userconfig.Bindings || v.setting.Kind == userconfig.Words || v.setting.Kind == userconfig.Patterns; !v.given || !list {
		v.texts = nil
	}
	v.texts, v.given = append(v.texts, s), true
	return nil
}

// readUserValues is what config.yaml gives, in file order, and what is wrong in it.
func readUserValues(file string) (values []config.Value, warnings []config.Warning, err error) {
	c, err := userconfig.Load(file)
	switch {
	case err != nil:
		return nil, nil, err
	case !c.Found:
		return nil, nil, fs.ErrNotExist
	}
	for key, given := range c.Given {
		if id, ok := strings.CutPrefix(key, "keys."); ok {
			values = append(values, config.Value{Key: "keys", Text: id + ": [" + strings.Join(given.Texts, ", ") + "]", Line: given.Line, Col: given.Col})
			continue
		}
		for _, t := range given.Texts {
			values = append(values, config.Value{Key: key, Text: t, Line: given.Line, Col: given.Col})
		}
	}
	slices.SortStableFunc(values, func(a, b config.Value) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	_, wrong := cli.FitKeys(&c, cli.AllViews())
	return values, append(c.Warnings, wrong...), nil
}

// themeNames are the names of all themes, the user's last.
func (a *app) themeNames() (names []string) {
	for _, p := range themes.All() {
		names = append(names, p.Name)
	}
	own, _ := themefile.Load(cli.ThemesDir())
	for _, t := range own {
		names = append(names, t.Name)
	}
	return names
}
