// Package themefile reads the themes that a user wrote: a palette of mcphud's with other colours, one file each.
package themefile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/themes"
)

// Folder is what the folder of themes is called in mcphud's configuration folder.
const Folder = "themes"

// most is how many files of the folder are read.
const most = 100

// Theme is a palette and the file that it is from.
type Theme struct {
	themes.Palette
	File string
}

// Load reads the files of a folder, which need not exist, in the order of their names. Of a file that is wrong in part the rest is
// used; Warnings say what is wrong, contrast that is too low among it.
func Load(dir string) (all []Theme, warnings []config.Warning) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			warnings = append(warnings, config.Warning{File: dir, Message: "cannot be read: " + err.Error()})
		}
		return nil, warnings
	}
	for _, e := range entries {
		if !Is(e.Name()) {
			continue
		}
		if len(all) == most {
			return all, append(warnings, config.Warning{File: dir, Message: fmt.Sprintf("has more than %d themes; the rest is left out", most)})
		}
		p, w, err := Read(filepath.Join(dir, e.Name()))
		warnings = append(warnings, w...)
		if err != nil {
			warnings = append(warnings, AsWarning(filepath.Join(dir, e.Name()), err))
			continue
		}
		all = append(all, Theme{p, filepath.Join(dir, e.Name())})
	}
	return all, warnings
}

// AsWarning is an error of reading a file, with the line where it has one.
func AsWarning(file string, err error) config.Warning {
	var w config.Warning
	if errors.As(err, &w) {
		return w
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return config.Warning{File: file, Message: "cannot be read: " + err.Error(), Malformed: true}
}

// Is reports whether a file of that name is a theme.
func Is(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, ".")
}

// reader reads one file.
type reader struct {
	file     string
	p        themes.Palette
	at       [themes.Count]config.Member // where a colour is
	warnings []config.Warning
}

func (r *reader) warn(line, col int, format string, args ...any) {
	r.warnings = append(r.warnings, config.Warning{File: r.file, Line: line, Col: col, Message: fmt.Sprintf(format, args...)})
}

// Read reads a file. The name of the theme is that of the file. The error is for a file of which nothing can be used.
func Read(path string) (themes.Palette, []config.Warning, error) {
	t, err := config.ReadTree(path)
	if err != nil {
		return themes.Palette{}, nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if _, taken := themes.Find(name); taken {
		return themes.Palette{}, nil, config.Warning{File: path, Malformed: true, Message: name + " is a theme of mcphud; give the file another name"}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) || len(name) > 40 {
		return themes.Palette{}, nil, config.Warning{File: path, Malformed: true, Message: "the name of a theme is made of up to 40 letters, digits and signs, without blanks"}
	}
	if t.Root.Shape != config.Object && t.Root.Shape != config.Null {
		return themes.Palette{}, nil, config.Warning{File: path, Line: t.Root.Line, Col: t.Root.Col, Malformed: true, Message: "is " + string(t.Root.Shape) + `; it must be an object such as colors: {accent: "#ffb86c"}`}
	}
	r := &reader{file: path, warnings: t.Warnings}
	r.base(t.Root)
	r.p.Name, r.p.Deficiencies = name, nil
	r.p.Title = name
	for _, m := range t.Root.Members {
		r.member(m)
	}
	r.contrast()
	return r.p, r.warnings, nil
}

// base is the palette that others' colours replace.
func (r *reader) base(root config.Node) {
	r.p = themes.Default(true)
	n, ok := root.Get("extends")
	if !ok || n.Shape == config.Null {
		return
	}
	if p, found := themes.Find(n.Text); found && n.Shape == config.Text {
		r.p = p
		return
	}
	var names []string
	for _, p := range themes.All() {
		names = append(names, p.Name)
	}
	r.warn(n.Line, n.Col, "extends is %.40q, and must be one of %s; %s is used", n.Text, strings.Join(names, ", "), r.p.Name)
}

var members = []string{"title", "extends", "dark", "background", "colors"}

func (r *reader) member(m config.Member) {
	v := m.Value
	switch {
	case m.Key == "$schema" || m.Key == "extends" || v.Shape == config.Null && slices.Contains(members, m.Key):
	case m.Key == "title":
		if v.Shape != config.Text || strings.TrimSpace(v.Text) == "" {
			r.warn(v.Line, v.Col, "title is %s, and must be a text", v.Shape)
			return
		}
		r.p.Title = text.Clip(v.Text, 60)
	case m.Key == "dark":
		if v.Text != "true" && v.Text != "false" {
			r.warn(v.Line, v.Col, "dark is %.40q, and must be true or false", v.Text)
			return
		}
		r.p.Dark = v.Text == "true"
	case m.Key == "background":
		if c, ok := r.color(m); ok {
			r.p.Background = c
		}
	case m.Key == "colors":
		if v.Shape != config.Object {
			r.warn(v.Line, v.Col, `colors is %s, and must be an object such as colors: {accent: "#ffb86c"}`, v.Shape)
			return
		}
		for _, c := range v.Members {
			r.token(c)
		}
	default:
		msg := fmt.Sprintf("unknown key %.40q is ignored", m.Key)
		if like := cmp.Or(text.Nearest(m.Key, members), text.Nearest(m.Key, names())); like != "" {
			msg += "; did you mean " + like + "?"
		}
		r.warn(m.Line, m.Col, "%s", msg)
	}
}

func names() (all []string) {
	for t := range themes.Count {
		all = append(all, t.String())
	}
	return all
}

func (r *reader) token(m config.Member) {
	for t := range themes.Count {
		if t.String() != m.Key {
			continue
		}
		if c, ok := r.color(m); ok {
			r.p.Colors[t], r.at[t] = c, m
		}
		return
	}
	msg := fmt.Sprintf("unknown colour %.40q is ignored", m.Key)
	if like := text.Nearest(m.Key, names()); like != "" {
		msg += "; did you mean " + like + "?"
	}
	r.warn(m.Line, m.Col, "%s", msg)
}

// color reads #rrggbb, #rgb, or the number of one of the terminal's own colours.
func (r *reader) color(m config.Member) (themes.Color, bool) {
	v := m.Value
	if n, err := strconv.ParseUint(v.Text, 10, 4); err == nil {
		return themes.Color{ANSI: int8(n), Only16: true}, true
	}
	hex, ok := strings.CutPrefix(v.Text, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if !ok || err != nil || len(hex) != 6 {
		given := v.Text
		if v.Shape == config.Null { // an unquoted # begins a comment
			given = ""
		}
		r.warn(v.Line, v.Col, `%s is %.40q, and must be a colour such as "#ffb86c", in quotes, or a number from 0 to 15`, m.Key, given)
		return themes.Color{}, false
	}
	c := themes.Color{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n)}
	c.ANSI = nearest(c)
	return c, true
}

// nearest is the one of the 16 colours, as most terminals draw them, that comes closest.
func nearest(c themes.Color) int8 {
	usual := [16][3]int{
		{0, 0, 0},
		{205, 0, 0},
		{0, 205, 0},
		{205, 205, 0},
		{0, 0, 238},
		{205, 0, 205},
		{0, 205, 205},
		{229, 229, 229},
		{127, 127, 127},
		{255, 0, 0},
		{0, 255, 0},
		{255, 255, 0},
		{92, 92, 255},
		{255, 0, 255},
		{0, 255, 255},
		{255, 255, 255},
	}
	best, least := 0, 1<<30
	for i, u := range usual {
		r, g, b := int(c.R)-u[0], int(c.G)-u[1], int(c.B)-u[2]
		if d := 2*r*r + 4*g*g + 3*b*b; d < least {
			best, least = i, d
		}
	}
	return int8(best)
}

// contrast warns about colours of the file that are hard to read. Those of the palette that it extends were checked.
func (r *reader) contrast() {
	said := map[themes.Token]bool{}
	for _, w := range r.p.Weak() {
		if said[w.Token] {
			continue // one remark a colour is enough
		}
		said[w.Token] = true
		at := r.at[w.Token].Value
		r.warn(at.Line, at.Col, "%s", w)
	}
}
