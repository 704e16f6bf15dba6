package rewrite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// kind is what a value is, in the words of an error about it.
type kind string

const (
	null   kind = "null"
	scalar kind = "a number or boolean"
	str    kind = "a string"
	object kind = "an object"
	array  kind = "a list"
)

// Value is one of a file, with its bytes.
type Value struct {
	kind     kind
	text     string // of a string its content; of other scalars as they are written
	from, to int    // bytes of the file, with quotes and brackets; of a table of TOML, which has no bytes of its own, only from
	items    []item
	flow     bool           // in brackets
	open     bool           // in brackets, and can become a block
	shared   bool           // an alias, or what a merge brings: it stands elsewhere
	merged   []item         // what a merge of YAML brings, below items: of one name these win
	in       any            // what the syntax keeps: a place of YAML, a *table of TOML
	names    map[string]int // of the items, by their keys; nil to look at each
	load     func(*Value)   // finds what an alias or a merge brings, and the items of JSON; nil once that is done
	problem  string         // see Problem
}

// expanded is v with its items. Nothing is expanded before it is asked for, so that an alias costs what is read of it.
func (v *Value) expanded() *Value {
	if load := v.load; load != nil {
		v.load = nil
		load(v)
	}
	return v
}

// loadAll loads a whole file, to be changed.
func (v *Value) loadAll() *Value {
	for _, it := range slices.Concat(v.expanded().merged, v.items) {
		it.value.loadAll()
	}
	return v
}

// Kind is "a string", "an object", …, and "null" for nil.
func (v *Value) Kind() string {
	if v == nil {
		return string(null)
	}
	return string(v.expanded().kind)
}

// Text is the content of a string, and other scalars as they are written.
func (v *Value) Text() string {
	switch {
	case v == nil:
		return ""
	case v.expanded().kind == null && v.to > v.from: // written, as null or ~; what YAML leaves out says nothing
		return "null"
	}
	return v.text
}

// Offset is where it begins, in bytes; of a table where its name is first written.
func (v *Value) Offset() int { return v.from }

// Problem is what is wrong with an alias, "" for nothing.
func (v *Value) Problem() string {
	if v == nil {
		return ""
	}
	return v.expanded().problem
}

// Each calls f with each member or element, those that a merge brings last; offset is where the member's name is.
func (v *Value) Each(f func(key string, offset int, one *Value)) {
	if v == nil {
		return
	}
	for _, it := range slices.Concat(v.expanded().items, v.merged) {
		f(it.key, it.from, it.value)
	}
}

// item is a member of an object or an element of a list.
type item struct {
	key   string
	from  int // where the key begins, or the element
	keyTo int // where the key ends
	value *Value
}

// index is where a member is, the last of its name, or the element with that number; -1 for none.
func (v *Value) index(key string) int {
	switch v.kind {
	case object:
		if i, ok := v.names[key]; ok {
			return i
		}
		for i := len(v.items) - 1; i >= 0 && v.names == nil; i-- {
			if v.items[i].key == key {
				return i
			}
		}
	case array:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v.items) {
			return i
		}
	}
	return -1
}

// leaf is a scalar as it is compared: "1" and 1 are not the same.
type leaf struct {
	kind kind
	text string
}

// plain is what a value says, to be compared: maps, slices and leaves, without bytes, order or spelling. A number is as it is written, so that 1 and 1.0
// differ: programs that read the file may take them for different.
func (v *Value) plain() any {
	switch v.kind {
	case object:
		m := make(map[string]any, len(v.items))
		for _, it := range slices.Concat(v.merged, v.items) {
			m[it.key] = it.value.plain()
		}
		return m
	case array:
		a := make([]any, len(v.items))
		for i, it := range v.items {
			a[i] = it.value.plain()
		}
		return a
	}
	return leaf{v.kind, v.text}
}

// spelled is a string as a file spells it, to be written into the same file: a Windows path in single quotes keeps them.
type spelled struct{ text, as string }

// said is what plain returned, as a value for setPlain.
type said struct{ plain any }

// plainOf is what a value says that is to be written.
func plainOf(v any) any {
	switch v := v.(type) {
	case Object:
		m := make(map[string]any, len(v))
		for _, one := range v {
			m[one.Key] = plainOf(one.Value)
		}
		return m
	case []any:
		a := make([]any, len(v))
		for i, one := range v {
			a[i] = plainOf(one)
		}
		return a
	case string:
		return leaf{str, v}
	case nil:
		return leaf{kind: null}
	case said:
		return v.plain
	case spelled:
		return leaf{str, v.text}
	}
	return leaf{scalar, fmt.Sprint(v)}
}

// normal makes maps and slices of all types Objects and []any, and leaves scalars, so that the rest of the package has one of each to look for.
func normal(v any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for i, m := range v {
			out[i] = Member{m.Key, normal(m.Value)}
		}
		return out
	case map[string]any:
		return ofMap(v)
	case map[string]string:
		return ofMap(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normal(v[i])
		}
		return out
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	case float64: // as people write it: YAML 1.1 takes 1e21 for a text
		return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return v
}

func ofMap[V any](m map[string]V) Object {
	out := make(Object, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Member{k, normal(m[k])})
	}
	return out
}

// getPlain is what plain returned, at a path.
func getPlain(plain any, path []string) (any, bool) {
	for _, key := range path {
		switch at := plain.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return nil, false
			}
			plain = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			plain = at[i]
		default:
			return nil, false
		}
	}
	return plain, true
}

// setPlain is Set for what plain returns. It copies what it changes, and nothing else: the value before is compared with later.
func setPlain(plain any, path []string, v any) any {
	if len(path) == 0 {
		return plainOf(v)
	}
	switch at := plain.(type) {
	case []any:
		if path[0] == "-" {
			return append(slices.Clone(at), setPlain(nil, path[1:], v))
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(at) {
			at = slices.Clone(at)
			at[i] = setPlain(at[i], path[1:], v)
			return at
		}
		return at
	case map[string]any:
		at = maps.Clone(at)
		at[path[0]] = setPlain(at[path[0]], path[1:], v)
		return at
	}
	return map[string]any{path[0]: setPlain(nil, path[1:], v)}
}

// deletePlain is Delete for what plain returns, and copies like setPlain.
func deletePlain(plain any, path []string) any {
	switch at := plain.(type) {
	case map[string]any:
		at = maps.Clone(at)
		if len(path) == 1 {
			delete(at, path[0])
		} else {
			at[path[0]] = deletePlain(at[path[0]], path[1:])
		}
		return at
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(at) {
			return at
		}
		at = slices.Clone(at)
		if len(path) == 1 {
			return slices.Delete(at, i, i+1)
		}
		at[i] = deletePlain(at[i], path[1:])
		return at
	}
	return plain
}

// pruneEmpty is what plain returned, without empty objects: in TOML [a.b] makes a, and without [a.b] there is none.
func pruneEmpty(plain any) any {
	m, ok := plain.(map[string]any)
	if !ok {
		return plain
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		v = pruneEmpty(v)
		if in, ok := v.(map[string]any); !ok || len(in) > 0 {
			out[k] = v
		}
	}
	return out
}

// edit replaces the bytes from from to to.
type edit struct {
	from, to int
	text     string
}

// applyEdits is b with the edits, in any order. Edits that overlap are refused: a parser said of two values that they share bytes.
func applyEdits(b []byte, edits []edit) ([]byte, error) {
	// Stable: of two insertions at one place the first comes first, as the comma before the item that append adds.
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at || e.to < e.from || e.to > len(b) {
			return nil, errors.New("its place is not plain")
		}
		out = append(append(out, b[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, b[at:]...), nil
}

// jsonString is a text in double quotes, which mean the same in all three formats. What is not UTF-8 becomes U+FFFD, and the change is refused by that.
func jsonString(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string: cannot fail
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
