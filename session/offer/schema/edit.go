package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Pointer writes a path of names and indices as a JSON pointer (RFC 6901).
func Pointer(path ...string) string {
	var b strings.Builder
	for _, tok := range path {
		b.WriteByte('/')
		b.WriteString(jsonrpc.EscapeToken(tok))
	}
	return b.String()
}

// SplitPointer reads a JSON pointer; ok is false when it is not one.
func SplitPointer(ptr string) (path []string, ok bool) {
	if ptr == "" {
		return nil, true
	}
	if ptr[0] != '/' {
		return nil, false
	}
	path = strings.Split(ptr[1:], "/")
	for i, tok := range path {
		path[i] = jsonrpc.UnescapeToken(tok)
	}
	return path, true
}

// Set returns v with the value at path replaced by x; an unset x removes a key, and leaves null in an array. Missing objects on the way are made; a missing key goes to the
// end of its object and an index one past the end appends. A scalar on the way is replaced by an object. An array index
// further out, or one that is not a number, leaves v as it is.
func (v *Value) Set(path []string, x *Value) *Value {
	return v.SetBefore(path, x, nil)
}

// SetBefore is [Value.Set], except that a new key goes before the first
// member for which after is true, so that a form can keep its own order.
func (v *Value) SetBefore(path []string, x *Value, after func(name string) bool) *Value {
	if len(path) == 0 {
		return x
	}
	tok := path[0]
	if v.Kind() == Array {
		i, ok := arrayIndex(tok)
		if !ok || i > v.Len() {
			return v
		}
		kids := slices.Clone(v.kids)
		if i == len(kids) {
			kids = append(kids, Member{})
		}
		kids[i].Value = kids[i].Value.SetBefore(path[1:], x, after)
		return &Value{kind: Array, kids: kids}
	}
	if v.Kind() != Object {
		v = emptyObject
	}
	i := v.find(tok)
	var old *Value
	if i >= 0 {
		old = v.kids[i].Value
	}
	kid := old.SetBefore(path[1:], x, after)
	if !kid.IsSet() {
		return v.remove(i)
	}
	kids := make([]Member, len(v.kids), len(v.kids)+1)
	copy(kids, v.kids)
	switch {
	case i >= 0:
		kids[i].Value = kid
	default:
		at := len(kids)
		if after != nil && len(path) == 1 {
			if j := slices.IndexFunc(kids, func(m Member) bool { return after(m.Name) }); j >= 0 {
				at = j
			}
		}
		kids = slices.Insert(kids, at, Member{Name: tok, Value: kid})
	}
	return &Value{kind: Object, kids: kids}
}

// Delete returns v without the member or element at path, v itself when there is none, nil for the empty path. The elements after
// it move down.
func (v *Value) Delete(path ...string) *Value {
	if len(path) == 0 {
		return nil
	}
	return v.edit(path[:len(path)-1], func(c *Value) *Value {
		switch c.Kind() {
		case Object:
			return c.remove(c.find(path[len(path)-1]))
		case Array:
			if i, ok := arrayIndex(path[len(path)-1]); ok {
				return c.remove(i)
			}
		}
		return c
	})
}

// remove returns an object or array without entry i; an index out of range changes nothing.
func (v *Value) remove(i int) *Value {
	if i < 0 || i >= len(v.kids) {
		return v
	}
	kids := make([]Member, 0, len(v.kids)-1)
	return &Value{kind: v.kind, kids: append(append(kids, v.kids[:i]...), v.kids[i+1:]...)}
}

// Insert returns v with x as element i of the array at path; the ones from i
// on move up. An i out of range appends. A missing array is made.
func (v *Value) Insert(path []string, i int, x *Value) *Value {
	if !v.At(path...).IsSet() {
		return v.Set(path, ArrayValue(x))
	}
	return v.edit(path, func(c *Value) *Value {
		if c.Kind() != Array {
			return c
		}
		if i < 0 || i > len(c.kids) {
			i = len(c.kids)
		}
		return &Value{kind: Array, kids: slices.Insert(slices.Clone(c.kids), i, Member{Value: x})}
	})
}

// Move returns v with the entry at index from of the array or object at path
// put at index to. Indices out of range change nothing.
func (v *Value) Move(path []string, from, to int) *Value {
	return v.edit(path, func(c *Value) *Value {
		n := c.Len()
		if from < 0 || to < 0 || from >= n || to >= n || from == to {
			return c
		}
		kids := slices.Clone(c.kids)
		m := kids[from]
		kids = slices.Delete(kids, from, from+1)
		return &Value{kind: c.kind, kids: slices.Insert(kids, to, m)}
	})
}

// Rename returns v with the key that path ends in called name, in its place.
// A name that is taken already changes nothing.
func (v *Value) Rename(path []string, name string) *Value {
	if len(path) == 0 {
		return v
	}
	return v.edit(path[:len(path)-1], func(c *Value) *Value {
		i := c.find(path[len(path)-1])
		if i < 0 || c.find(name) >= 0 {
			return c
		}
		kids := slices.Clone(c.kids)
		kids[i].Name, kids[i].raw = name, ""
		return &Value{kind: Object, kids: kids}
	})
}

// edit returns v with the container at path replaced by what fn makes of it, v itself where there is none or fn returns what it got.
func (v *Value) edit(path []string, fn func(*Value) *Value) *Value {
	if len(path) == 0 {
		return fn(v)
	}
	kid := v.child(path[0])
	if kid == nil {
		return v
	}
	now := kid.edit(path[1:], fn)
	if now == kid {
		return v
	}
	i := v.find(path[0])
	if v.kind == Array {
		i, _ = strconv.Atoi(path[0])
	}
	kids := slices.Clone(v.kids)
	kids[i].Value = now
	return &Value{kind: v.kind, kids: kids}
}
