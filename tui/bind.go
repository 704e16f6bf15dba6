package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/safe"
)

// Bound is an action with the keys that it has, and those that it has where nobody gave it others.
type Bound struct {
	ID, Scope, Title, Help string
	Keys, Usual            []string
}

// Bounds are the actions of the shell and of all screens, in the order in which they were declared.
func (c *Ctx) Bounds() (all []Bound) {
	add := func(scope string, list []Action) {
		for _, a := range list {
			usual := a.Keys
			if usual == nil {
				usual = a.Verb.Keys()
			}
			all = append(all, Bound{a.ID, scope, a.Title, a.Help, c.app.actions.byID[a.ID].Keys, usual})
		}
	}
	add(EveryScreen, globalActions())
	for _, v := range c.app.cfg.Views {
		add(v.Title, v.declared())
	}
	return all
}

// Unfit is why an action cannot have these keys: they are none, or another action has them, also one of the shell for an action of a
// screen and the other way round, of which the screen's would win without a word. "" if it can.
func (c *Ctx) Unfit(id string, keys []string) string {
	if why := wrongKey(keys); why != "" {
		return why
	}
	all := map[string][]string{id: keys}
	for other, k := range c.app.settings.Keys {
		if other != id {
			all[other] = k
		}
	}
	set, err := newActionSet(c.app.cfg.Views, globalActions(), all)
	var wrong *bindingError
	switch {
	case err == nil:
		if other := set.conflict(id); other != nil {
			return fmt.Sprintf("%s has it: %s", other.ID, other.Title)
		}
		return ""
	case !errors.As(err, &wrong):
		return ""
	}
	for _, other := range wrong.actions {
		if x := c.app.actions.byID[other]; other != id && x != nil {
			return fmt.Sprintf("%s has it: %s", x.ID, x.Title)
		}
	}
	return wrong.Error()
}

// conflict is an action with a key of another one, of which one is a screen's and one the shell's and which do not mean the same.
func (r *actionSet) conflict(id string) *Action {
	x, others := r.byID[id], r.global
	if slices.Contains(r.global, x) {
		others = nil
		for _, v := range r.views {
			others = append(others, v.actions...)
		}
	}
	for _, o := range others {
		if o != x && (x.Verb == "" || x.Verb != o.Verb) && len(clashes("", []*Action{{ID: x.ID, Keys: x.Keys}, {ID: o.ID, Keys: o.Keys}})) > 0 {
			return o
		}
	}
	return nil
}

// PressKey asks for a key, or two for a chord, by typing them; check says why they cannot be taken.
func (c *Ctx) PressKey(what string, check func(key string) string, done func(c *Ctx, key string) tea.Cmd) tea.Cmd {
	return c.Open(&keyQuestion{what: what, check: check, done: done})
}

// keyQuestion is the question for a key.
type keyQuestion struct {
	what  string
	key   string // as far as it was typed
	why   string // it cannot be taken
	check func(string) string
	done  func(*Ctx, string) tea.Cmd
}

// Title says for what.
func (p *keyQuestion) Title() string { return "Key for " + safe.Line(p.what, 40) }

// Size is that of its lines.
func (p *keyQuestion) Size(maxW, _ int) (int, int) { return min(maxW, 70), 3 }

// Hints are the keys that are not taken.
func (p *keyQuestion) Hints(*Ctx) []Hint {
	if p.key == "" {
		return []Hint{{"esc", "leave"}}
	}
	if p.why != "" {
		return []Hint{{"backspace", "another"}, {"esc", "leave"}}
	}
	return []Hint{{"enter", "take it"}, {"backspace", "another"}, {"esc", "leave"}}
}

// Handle notes what is typed.
func (p *keyQuestion) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	m, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	k := m.String()
	switch {
	case k == "esc":
		return nil, false
	case k == "enter" && p.key != "":
		if p.why == "" {
			c.app.drop(p)
			return p.done(c, p.key), true
		}
	case k == "backspace" && p.key != "":
		p.key, p.why = "", ""
	case p.key == "" || strings.Contains(p.key, " "):
		p.take(k)
	default:
		refused := p.why != ""
		if p.take(p.key + " " + k); refused && p.why != "" { // another key, not a chord
			p.take(k)
		}
	}
	return nil, true
}

func (p *keyQuestion) take(key string) { p.key, p.why = key, p.check(key) }

// Draw shows what was typed, and whether it is free.
func (p *keyQuestion) Draw(c *Ctx, pane *Pane) *tea.Cursor {
	t := c.Theme
	lines := []string{t.Text.S(safe.Line("Press the key, or two one after the other for a chord.", pane.W)), ""}
	switch {
	case p.key == "":
	case p.why != "":
		lines = append(lines, t.Accent.S(safe.Line(p.key, 20))+"  "+t.Error.S(safe.Line("✗ "+p.why, max(pane.W-22, 1))))
	default:
		lines = append(lines, t.Accent.S(safe.Line(p.key, 20))+"  "+t.OK.S("✓ free"))
	}
	pane.Lines, pane.Foot = slices.Clone(lines), "esc leaves"
	return nil
}
