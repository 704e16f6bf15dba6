package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// actionSet holds every action of the program.
type actionSet struct {
	global []*Action
	views  []registered
	byID   map[string]*Action
	// unbound are keys that move in lists and texts, and were given to something else or taken away.
	unbound map[string]bool
}

// registered is a screen with its actions, as the user bound them.
type registered struct {
	*Screen
	actions []*Action
}

// fixedKeys belong to the shell on every screen; no view may bind them.
var fixedKeys = []string{
	"ctrl+c", "ctrl+p", "?", ":", "tab", "shift+tab", "M",
	"1", "2", "3", "4", "5", "6", "7", "8",
}

// avoidKeys are taken by terminals and multiplexers, so nobody may bind them.
var avoidKeys = []string{"ctrl+a", "ctrl+b", "ctrl+j", "ctrl+s", "ctrl+m", "ctrl+i", "ctrl+h"}

// newActionSet collects the actions and applies the key bindings of the config
// (action id -> keys; no keys unbinds). It fails when the result is not sound.
func newActionSet(views []*Screen, global []Action, keys map[string][]string) (*actionSet, error) {
	r := &actionSet{byID: map[string]*Action{}, unbound: map[string]bool{}}
	var errs []error
	add := func(list []Action) (out []*Action) {
		for i := range list {
			a := list[i]
			if a.Verb != "" && a.Keys == nil {
				a.Keys = a.Verb.Keys()
			}
			if k, ok := keys[a.ID]; ok {
				if strings.HasPrefix(a.ID, "move.") {
					r.unbind(a.Keys, k)
				}
				a.Keys = slices.Clone(k)
			}
			if r.byID[a.ID] != nil {
				errs = append(errs, fmt.Errorf("two actions have the id %q", a.ID))
			}
			r.byID[a.ID] = &a
			out = append(out, &a)
		}
		return out
	}
	r.global = add(global)
	seen := map[string]string{}
	for _, v := range views {
		for _, w := range append([]string{v.ID}, v.Aliases...) {
			if other, ok := seen[w]; ok {
				errs = append(errs, fmt.Errorf("the screens %s and %s are both called %q", other, v.ID, w))
			}
			seen[w] = v.ID
		}
		r.views = append(r.views, registered{v, add(v.declared())})
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		if r.byID[id] == nil {
			errs = append(errs, &bindingError{[]string{id}, fmt.Sprintf("keys are bound to %q, which is not a valid action", id)})
		}
	}
	return r, errors.Join(append(errs, r.check()...)...)
}

// unbind notes the keys that no longer move.
func (r *actionSet) unbind(before, now []string) {
	for _, k := range before {
		if !slices.Contains(now, k) {
			r.unbound[k] = true
		}
	}
}

// CheckViews reports everything that is wrong with the declarations of screens: key clashes within a scope, actions
// without help, ids that are not unique. A test of the table of screens calls it.
func CheckViews(views []*Screen) error {
	_, err := newActionSet(views, globalActions(), nil)
	return err
}

// check finds what would make help lie or keys ambiguous.
func (r *actionSet) check() (errs []error) {
	for _, a := range r.global {
		errs = append(errs, checkAction(a, "")...)
	}
	errs = append(errs, clashes("the whole program", r.global)...)
	for _, v := range r.views {
		errs = append(errs, v.Screen.check()...)
		if tab := r.find(v.Tab); v.Tab != "" && (tab == nil || tab.Tab != "") {
			errs = append(errs, fmt.Errorf("screen %q is a section of %q, which has no tab", v.ID, v.Tab))
		}
		panes := map[string]bool{"": true}
		for _, p := range v.Panes {
			panes[p.ID] = true
		}
		for _, a := range v.actions {
			errs = append(errs, checkAction(a, v.ID+".")...)
			if !panes[a.Pane] {
				errs = append(errs, fmt.Errorf("%s: the screen has no pane %q", a.ID, a.Pane))
			}
			for _, k := range a.Keys {
				if slices.Contains(fixedKeys, k) {
					errs = append(errs, &bindingError{[]string{a.ID}, fmt.Sprintf("%s: the key %s means the same on every screen and cannot be bound", a.ID, k)})
				}
			}
		}
		errs = append(errs, clashes("screen "+v.ID, v.actions)...)
	}
	return errs
}

func checkAction(a *Action, prefix string) (errs []error) {
	if a.Verb != "" && a.Verb.Keys() == nil {
		errs = append(errs, fmt.Errorf("%s: there is no verb %q", a.ID, a.Verb))
	}
	if a.ID == "" || a.Title == "" || a.Help == "" || a.Group == "" || a.Run == nil {
		errs = append(errs, fmt.Errorf("action %q needs an id, title, help, group and Run", a.ID))
	}
	if !strings.HasPrefix(a.ID, prefix) {
		errs = append(errs, fmt.Errorf("%s: ids of this screen start with %q", a.ID, prefix))
	}
	for _, k := range a.Keys {
		if slices.Contains(avoidKeys, k) {
			errs = append(errs, &bindingError{[]string{a.ID}, fmt.Sprintf("%s: terminals and multiplexers keep the key %s for themselves", a.ID, k)})
		}
	}
	return errs
}

// clashes finds keys that mean two things in one pane, and keys that are also the first half of a chord.
func clashes(scope string, list []*Action) (errs []error) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.Pane != b.Pane && a.Pane != "" && b.Pane != "" {
				continue
			}
			if a.Applies != nil && a.Verb == b.Verb && slices.Equal(a.Keys, b.Keys) {
				continue
			}
			for _, k := range a.Keys {
				for _, l := range b.Keys {
					if k == l || strings.HasPrefix(k, l+" ") || strings.HasPrefix(l, k+" ") {
						errs = append(errs, &bindingError{[]string{a.ID, b.ID}, fmt.Sprintf("%s: %s (%s) and %s (%s) clash", scope, a.ID, k, b.ID, l)})
					}
				}
			}
		}
	}
	return errs
}

// find returns the entry of a view by id or alias, nil if there is none.
func (r *actionSet) find(word string) *registered {
	for i := range r.views {
		v := &r.views[i]
		if v.ID == word || slices.Contains(v.Aliases, word) {
			return v
		}
	}
	return nil
}

// tabs are the screens that number keys reach, in order.
func (r *actionSet) tabs() (out []*registered) {
	for i := range r.views {
		if r.views[i].Tab == "" {
			out = append(out, &r.views[i])
		}
	}
	return out
}

// byWord finds the action that a word of the `:` line means on a screen: one of its own, that of the focused pane first, else one of
// the shell, else nil.
func (r *actionSet) byWord(c *Ctx, view, pane, word string) (found *Action) {
	if v := r.find(view); v != nil {
		for _, a := range v.actions {
			if a.Word == word && a.applies(c) && (found == nil || a.Pane == pane) {
				found = a
			}
		}
	}
	for _, a := range r.global {
		if found == nil && a.Word == word {
			found = a
		}
	}
	return found
}

// elsewhere finds the action of another screen that a word means, nil if none does.
func (r *actionSet) elsewhere(word string) *Action {
	for _, v := range r.views {
		for _, a := range v.actions {
			if a.Word == word {
				return a
			}
		}
	}
	return nil
}

// tabOf is the screen in the tab line that v is a section of, v itself where it has a tab.
func (r *actionSet) tabOf(v *registered) *registered {
	if tab := r.find(v.Tab); tab != nil {
		return tab
	}
	return v
}

// peers are a tab and the sections that are beside each other there, in order; none where there is the tab alone.
func (r *actionSet) peers(tab *registered) (out []*registered) {
	for i := range r.views {
		if v := &r.views[i]; v.ID == tab.ID || v.Peer && v.Tab == tab.ID {
			out = append(out, v)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// lookup finds the action of a key, and whether the key begins a chord.
func lookup(c *Ctx, list []*Action, pane, key string) (a *Action, chord bool) {
	for _, x := range list {
		if x.Pane != "" && x.Pane != pane || !x.applies(c) {
			continue
		}
		for _, k := range x.Keys {
			if k == key {
				return x, false
			}
			if strings.HasPrefix(k, key+" ") {
				chord = true
			}
		}
	}
	return nil, chord
}

// scoped lists the actions of the visible view and pane, then the global ones
// whose keys it does not shadow. Help, hint bar and palette start from it.
func (r *actionSet) scoped(c *Ctx, view, pane string) (local, global []*Action) {
	if v := r.find(view); v != nil {
		for _, a := range v.actions {
			if (a.Pane == "" || a.Pane == pane) && a.applies(c) {
				local = append(local, a)
			}
		}
	}
	return local, r.global
}

// run runs the action unless something stands against it, which is said.
func (a *App) run(x *Action) tea.Cmd {
	if why := x.reason(&a.ctx); why != "" {
		a.toasts.add(Warning, x.Title+": "+why)
		return nil
	}
	return x.Run(&a.ctx)
}

// KeyLine describes one action for the tables of KEYS.md.
type KeyLine struct {
	Scope, Group, Keys, Title, Help, ID, Word string
	Verb                                      Verb
}

// EveryScreen is the scope of the actions of the shell.
const EveryScreen = "everywhere"

// KeyTable lists the actions of the shell (scope [EveryScreen]) and of the
// given screens, in the order in which they were declared.
func KeyTable(views []*Screen) []KeyLine {
	var out []KeyLine
	add := func(scope string, list []Action) {
		for _, a := range list {
			k := KeyLine{Scope: scope, Group: a.Group, Title: a.Title, Help: a.Help, ID: a.ID, Word: a.Word, Verb: a.Verb}
			k.Keys = strings.Join(slices.Concat(a.Keys, a.Verb.Keys()), ", ")
			out = append(out, k)
		}
	}
	add(EveryScreen, globalActions())
	for _, v := range views {
		add(v.Title, v.declared())
	}
	return out
}
