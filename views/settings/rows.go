package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
)

// row is a setting in its group.
type row struct {
	userconfig.Setting
	group string
	live  bool // a change holds at once
}

// groups are what settings are about, each with the settings, or the blocks of such, that it has.
var groups = []struct {
	name string
	live bool
	of   []string
}{
	{"Look", true, []string{"theme", "layout", "images", "mouse"}},
	{"Keys", true, []string{"keys"}},
	{"Traffic", true, []string{"traffic"}},
	{"Asks", true, []string{"ask_first"}},
	{"Kept", false, []string{"redaction", "history"}},
	{"Editor", true, []string{"editor", "pager"}},
	{"Network", false, []string{"network", "registry", "timeout", "max_timeout", "connect_timeout"}},
	{"Model", false, []string{"model"}},
	{"Commands", false, []string{"format", "linear", "token_budget"}},
}

// rowsOf are the settings group by group; what no group has is at the end.
func rowsOf(table []userconfig.Setting) (rows []row) {
	groupOf := func(s userconfig.Setting) int {
		block, _, _ := strings.Cut(s.Key, ".")
		for i, g := range groups {
			if slices.Contains(g.of, block) {
				return i
			}
		}
		return len(groups) - 1
	}
	for _, s := range table {
		g := groups[groupOf(s)]
		rows = append(rows, row{s, g.name, g.live})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return groupOf(a.Setting) - groupOf(b.Setting) })
	return rows
}

// usual is where a value is from that nobody gave.
const usual = "default"

// value is what a setting is, and where that comes from.
type value struct {
	shown, from string
	long        string // from where, in full
	over        string // what wins over the file, "" for nothing
	hidden      string // what the file says where something wins over it
}

// tone is that of values that nobody chose where nobody did.
func (v value) tone() page.Tone {
	if v.from == usual {
		return page.Quiet
	}
	return page.Plain
}

// on is whether a switch is on.
func (v value) on() bool {
	if v.over != "" {
		return v.hidden == "true"
	}
	return v.shown == "true" || v.shown == "on"
}

// over is what wins over the file for a setting, "" for nothing.
func (s *store) over(key string) string {
	if s.file.Over == nil {
		return ""
	}
	from, _ := s.file.Over(key)
	return from
}

// valueOf is what a setting is: what a flag or a variable says, what a key made of it, what the file says, or its default.
func (v *settings) valueOf(c *tui.Ctx, r row) (is value) {
	given, in := v.is.Given[r.Key]
	inFile := mask.Text(strings.Join(given.Texts, ", "))
	if n := len(v.is.Keys); r.Kind == userconfig.Bindings && n > 0 {
		in, inFile = true, text.Count(n, "action")+" with other keys"
		given.Line = v.is.Keys[0].Line
	}
	is = value{shown: r.Usual(), from: usual, long: usual}
	if in {
		is.shown, is.from = inFile, fmt.Sprintf("%s:%d", filepath.Base(v.file.Path), given.Line)
		is.long = fmt.Sprintf("%s:%d", v.file.Path, given.Line)
	}
	if v.file.Over != nil {
		if from, other := v.file.Over(r.Key); from != "" {
			return value{shown: mask.Text(other), from: from, long: from, over: from, hidden: inFile}
		}
	}
	if by := c.Arranged(r.Key); by != "" {
		is.shown, is.from, is.long, is.hidden = by, "a key", "a key or a word changed it; a change here comes first again", inFile
	}
	return is
}
