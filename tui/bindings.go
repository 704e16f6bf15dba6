package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
)

// Binding gives other keys to an action; none unbinds it.
type Binding struct {
	Action string
	Keys   []string
}

// Misfit is a binding that cannot be, and why.
type Misfit struct {
	Binding
	Why string
}

// FitKeys are the bindings that can hold together on these screens. The others leave their action its keys: unknown actions and keys,
// and of two that clash the one that comes later.
func FitKeys(views []*Screen, list []Binding) (keys map[string][]string, misfits []Misfit) {
	plain, err := newActionSet(views, globalActions(), nil)
	if err != nil {
		return nil, nil // a test of the views finds that
	}
	keys = map[string][]string{}
	drop := func(b Binding, why string) {
		delete(keys, b.Action)
		misfits = append(misfits, Misfit{b, why})
	}
	for _, b := range list {
		if plain.byID[b.Action] == nil {
			drop(b, unknownAction(plain, b.Action))
		} else if why := wrongKey(b.Keys); why != "" {
			drop(b, why)
		} else {
			keys[b.Action] = b.Keys
		}
	}
	for {
		_, err := newActionSet(views, globalActions(), keys)
		if err == nil {
			return keys, misfits
		}
		var wrong *bindingError
		if !errors.As(err, &wrong) {
			return nil, misfits
		}
		last := -1 // of those that the user bound
		for i, b := range list {
			if _, bound := keys[b.Action]; bound && slices.Contains(wrong.actions, b.Action) {
				last = i
			}
		}
		if last < 0 {
			return nil, misfits
		}
		drop(list[last], wrong.Error())
	}
}

// bindingError is why keys cannot be, and the actions that have them.
type bindingError struct {
	actions []string
	text    string
}

func (e *bindingError) Error() string { return e.text }

func unknownAction(r *actionSet, id string) string {
	var ids []string
	for k := range r.byID {
		ids = append(ids, k)
	}
	slices.Sort(ids)
	why := "is not an action"
	if like := text.Nearest(id, ids); like != "" {
		why += "; did you mean " + like + "?"
	}
	return why
}

// wrongKey is why one of some keys cannot be pressed, "" if all can.
func wrongKey(keys []string) string {
	for _, k := range keys {
		strokes := strings.Split(k, " ")
		if k == "" || len(strokes) > 2 {
			return fmt.Sprintf("%q is not a key: write one, or two with a blank between for a chord", k)
		}
		for _, s := range strokes {
			if why := wrongStroke(s); why != "" {
				return why
			}
		}
	}
	return ""
}

func wrongStroke(s string) string {
	rest, shift, other := s, false, false
	for {
		mod, tail, ok := strings.Cut(rest, "+")
		if !ok || tail == "" {
			break
		}
		switch mod {
		case "shift":
			shift = true
		case "ctrl", "alt", "meta", "super", "hyper":
			other = true
		default:
			return fmt.Sprintf("%q is not a key: the keys before + are ctrl, alt, shift, meta, super", s)
		}
		rest = tail
	}
	_, named := namedKeys[rest]
	switch {
	case named:
		return ""
	case utf8.RuneCountInString(rest) == 1 && rest > " ":
		if shift && !other {
			return fmt.Sprintf("%q is not a key: write %q", s, strings.ToUpper(rest))
		}
		return ""
	}
	var names []string
	for n := range namedKeys {
		names = append(names, n)
	}
	slices.Sort(names)
	if like := text.Nearest(rest, names); like != "" {
		return fmt.Sprintf("%q is not a key; did you mean %s?", s, strings.TrimSuffix(s, rest)+like)
	}
	return fmt.Sprintf("%q is not a key: write one sign, or a name such as enter, pgdown or f5", s)
}
