package jsonrpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Get is the value in obj that a path of member names leads to, as a sub-slice of obj; nil if there is none. Of members with
// one name it takes the first. What is malformed has no members.
func Get(obj []byte, path ...string) []byte {
	start, end, ok := Find(obj, path...)
	if !ok {
		return nil
	}
	return obj[start:end:end]
}

// GetString is [Get] for strings, unquoted; "" for values of other types, too.
func GetString(obj []byte, path ...string) string {
	s, _ := String(Get(obj, path...))
	return s
}

// Change is what [Update] does to one member; Set, Default, Replace and Delete make them.
type Change struct {
	path  []string
	value []byte // nil where the member is deleted
	when  when
}

// when says which members a Change applies to: always those of Set, absent those of Default, present those of Replace and Delete.
type when byte

const (
	always when = iota
	absent
	present
)

// Set gives a member a value, valid JSON. Objects that are missing on the path, or null, are made.
func Set(value []byte, path ...string) Change { return Change{path, value, always} }

// Default is [Set] where there is no such member; one that is null is there.
func Default(value []byte, path ...string) Change { return Change{path, value, absent} }

// Replace is [Set] where there is such a member.
func Replace(value []byte, path ...string) Change { return Change{path, value, present} }

// Delete takes a member away.
func Delete(path ...string) Change { return Change{path, nil, present} }

// Update is obj with its members changed: all other bytes stay as they are, new members come last, in the order of the
// changes. obj itself is never modified, copied once, and returned where nothing changes; an empty one counts as {}. Of members
// with one name each is changed, so that all readers see the same. No path may begin with another one.
//
// The error says that obj, or an object on the path of a Set or Default, is something else; obj is returned with it.
func Update(obj []byte, changes ...Change) ([]byte, error) {
	if space(obj, 0) == len(obj) {
		obj = []byte("{}")
	}
	var room [4]edit
	u := updater{text: obj, edits: room[:0]}
	if err := u.object(0, len(obj), changes, 0); err != nil {
		return obj, err
	}
	return splice(obj, u.edits...), nil
}

// updater collects the edits that make the changes to a text.
type updater struct {
	text  []byte
	edits []edit
}

// edit notes a piece to be replaced; nil with removes it. The pieces come in the order of the text, as splice needs them.
func (u *updater) edit(start, end int, with []byte) {
	u.edits = append(u.edits, edit{start, end, with})
}

// object changes the object in text[from:to]; element depth of the paths names its members.
func (u *updater) object(from, to int, changes []Change, depth int) error {
	obj := u.text[from:to]
	last := from + space(obj, 0) + 1 // where the last member ends; at first, after the brace
	kept, gap := false, -1           // a member stays before last; where deleted ones begin that none stays before
	found := make([]bool, len(changes))
	var failed error
	_, err := members(obj, func(key []byte, start, end int) bool {
		at, start, end := from+cap(obj)-cap(key), from+start, from+end
		var name string
		matches, deleted := false, false
		for i, c := range changes {
			if isName(key, c.path[depth]) {
				name, matches, found[i] = c.path[depth], true, true
				deleted = deleted || len(c.path) == depth+1 && c.value == nil && c.when != absent
			}
		}
		switch {
		case deleted && kept:
			u.edit(last, end, nil)
		case deleted && gap < 0:
			gap = at
		case !deleted && gap >= 0:
			u.edit(gap, at, nil)
			gap = -1
		}
		kept, last = kept || !deleted, end
		if matches && !deleted {
			failed = u.member(name, start, end, changes, depth)
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if gap >= 0 {
		u.edit(gap, last, nil)
	}
	if with := appendMembers(nil, kept, changes, found, depth); with != nil {
		u.edit(last, last, with)
	}
	return nil
}

// member changes the value in text[start:end] of a member that stays.
func (u *updater) member(name string, start, end int, changes []Change, depth int) error {
	for _, c := range changes {
		if c.path[depth] == name && len(c.path) == depth+1 {
			if c.when != absent {
				u.edit(start, end, c.value)
			}
			return nil
		}
	}
	inside := changesInside(changes, name, depth)
	if u.text[start] == '{' {
		return u.object(start, end, inside, depth+1)
	}
	switch made := appendMembers(nil, false, inside, nil, depth+1); {
	case made == nil: // there is nothing to replace or delete
	case u.text[start] != 'n':
		return fmt.Errorf("%s is not an object", strings.Join(inside[0].path[:depth+1], "."))
	default:
		u.edit(start, end, append(append([]byte("{"), made...), '}'))
	}
	return nil
}

// appendMembers appends the members that the changes add to an object, but for those that were found there; nothing, to nil, if
// there are none.
func appendMembers(dst []byte, comma bool, changes []Change, found []bool, depth int) []byte {
	for i, c := range changes {
		name := c.path[depth]
		if found != nil && found[i] || c.value == nil || c.when == present {
			continue
		}
		if slices.ContainsFunc(changes[:i], func(b Change) bool { return b.path[depth] == name && b.value != nil && b.when != present }) {
			continue // was added with that one
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(append(dst, Quote(name)...), ':')
		if len(c.path) == depth+1 {
			dst = append(dst, c.value...)
			continue
		}
		dst = append(appendMembers(append(dst, '{'), false, changesInside(changes, name, depth), nil, depth+1), '}')
	}
	return dst
}

// changesInside are the changes of what is inside a member.
func changesInside(changes []Change, name string, depth int) (inside []Change) {
	for _, c := range changes {
		if c.path[depth] == name && len(c.path) > depth+1 {
			inside = append(inside, c)
		}
	}
	return inside
}
