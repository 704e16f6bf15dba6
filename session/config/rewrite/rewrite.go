// Package rewrite changes single values of JSON (with comments), YAML and TOML files. All bytes besides those of the value stay as
// they are: comments, order, indentation, line endings, a byte order mark. What a change did is compared with what it was to do, and
// one that would touch anything else is refused.
//
// A parser of each format says where values begin and end ([Value]); an edit replaces bytes between two such places, and the result is parsed again.
// So a place that is wrong loses nothing: what the file says then is not what was wanted, and the change is taken back. What that cannot
// find is a comment that was lost, which is why edits are as small as they can be.
//
// [JSON], [YAML] and [TOML] are also what package config reads files by.
package rewrite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Doc is a file while it is changed. It is for one goroutine. After a change that failed it is as it was before.
type Doc struct {
	syntax syntax
	b      []byte // without a byte order mark, and with plain newlines where all were CRLF
	root   *Value // of b, loaded as a whole: offsets in it are in b
	bom    bool   // the file began with one
	crlf   bool   // all its lines ended so
}

// Object is a value with members in an order; a map[string]any is written by its sorted keys.
type Object []Member

// Member is one of an Object. Of two with one key the file has both, and the last counts.
type Member struct {
	Key   string
	Value any
}

// ErrLossy is wrapped by the error of a change that cannot be made without touching something else.
var ErrLossy = errors.New("would change more than that")

// syntax is what differs between formats. Its methods get blocks and tables, which are not in brackets; brackets are written the
// same way in all formats.
type syntax interface {
	parse(b []byte) (*Value, error)
	// comment is the length of a comment that b begins with, without the newline that ends it; 0 for none.
	comment(b []byte) int
	scalar(v any) string // in brackets, where a plain text ends sooner
	key(s string) string // in quotes where it has to be
	colon() string       // between key and value, with its blanks

	insert(d *Doc, at *Value, key string, v any) ([]edit, error) // key is "" for a list
	// replace gets values in brackets as well, and insert those that are empty and can become a block, or an empty file.
	replace(d *Doc, at *Value, v any) ([]edit, error)
	remove(d *Doc, parent *Value, i int) ([]edit, error)
	rename(d *Doc, parent *Value, i int, name string) ([]edit, error)
}

var bom = []byte("\xef\xbb\xbf")

// Parse reads a file; the name says in which format: .yaml and .yml, .toml, and JSON for all others. It must have been read by
// package config before, which refuses what could exhaust a parser.
func Parse(path string, b []byte) (*Doc, error) {
	d := &Doc{syntax: jsonSyntax{}}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		d.syntax = yamlSyntax{}
	case ".toml":
		d.syntax = tomlSyntax{}
	}
	d.b, d.bom = bytes.CutPrefix(b, bom)
	// Offsets are in the text without \r, which is put back behind all lines: one whose lines end in both ways stays as it is.
	if n := bytes.Count(d.b, []byte("\r\n")); n > 0 && n == bytes.Count(d.b, []byte("\n")) && n == bytes.Count(d.b, []byte("\r")) {
		d.crlf = true
		d.b = bytes.ReplaceAll(d.b, []byte("\r\n"), []byte("\n"))
	}
	var err error
	d.root, err = d.syntax.parse(d.b)
	return d, err
}

// Bytes is the file as it is now, a copy.
func (d *Doc) Bytes() []byte {
	b := bytes.Clone(d.b)
	if d.crlf {
		b = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
	}
	if d.bom {
		b = append(bytes.Clone(bom), b...)
	}
	return b
}

// Has reports whether there is a value at path: names of members, and indices of lists.
func (d *Doc) Has(path []string) bool {
	_, n := d.find(path)
	return n == len(path)
}

// find follows path as far as it goes; n is how far that was. Members that a merge of YAML brings are not found: they stand elsewhere.
func (d *Doc) find(path []string) (at *Value, n int) {
	at = d.root
	for n = range path {
		i := at.index(path[n])
		if i < 0 {
			return at, n
		}
		at = at.items[i].value
	}
	return at, len(path)
}

// Set makes value what is at path, and adds the objects that lead to it where they are missing. A last element "-" adds to a list.
// Members and elements that are equal already stay as they are written. The value is a string, a bool, an int, a float64, nil, an
// Object, a map[string]any, a [Doc.Value], or a slice of such. An error wraps [ErrLossy] where the format cannot say it without more changes.
func (d *Doc) Set(path []string, value any) error {
	value = normal(value)
	return d.change(path, func(plain any) any { return setPlain(plain, path, value) }, func() error { return d.set(path, value) })
}

// Delete takes away the member or element at path, with the comment behind it on its line. It is an error if there is none.
func (d *Doc) Delete(path []string) error {
	if len(path) == 0 || !d.Has(path) {
		return fmt.Errorf("there is no %s", strings.Join(path, "."))
	}
	return d.change(path, func(plain any) any { return deletePlain(plain, path) }, func() error { return d.delete(path) })
}

// Rename gives the member at path another name. It is an error if there is one of that name.
func (d *Doc) Rename(path []string, name string) error {
	if len(path) == 0 || !d.Has(path) {
		return fmt.Errorf("there is no %s", strings.Join(path, "."))
	}
	last := len(path) - 1
	parent, _ := d.find(path[:last])
	switch {
	case path[last] == name:
		return nil
	case parent.kind != object:
		return fmt.Errorf("%s is not a member", strings.Join(path, "."))
	case parent.index(name) >= 0:
		return fmt.Errorf("there is a %s already", name)
	}
	to := append(slices.Clone(path[:last]), name)
	return d.change(path, func(plain any) any {
		moved, _ := getPlain(plain, path)
		return setPlain(deletePlain(plain, path), to, said{moved})
	}, func() error {
		return d.apply(d.syntax.rename(d, parent, parent.index(path[last]), name))
	})
}

// change runs do, and takes it back where it did not do what expect does to the file's values. All changes go through here. do may have made
// several edits by then, each of them parsed.
func (d *Doc) change(path []string, expect func(plain any) any, do func() error) error {
	b, root := d.b, d.root
	want := expect(root.plain())
	err := catchPanic(do)
	now := d.root.plain()
	if d.syntax == (tomlSyntax{}) { // a table that only led to what was deleted goes with it
		want, now = pruneEmpty(want), pruneEmpty(now)
	}
	if err == nil && !reflect.DeepEqual(want, now) {
		err = ErrLossy
	}
	if err != nil {
		d.b, d.root = b, root
		return fmt.Errorf("cannot change %s here: %w", strings.Join(path, "."), err)
	}
	return nil
}

// catchPanic is do: where things are in a file is what a parser says, and what it says wrong must not end the program.
func catchPanic(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrLossy, r)
		}
	}()
	return do()
}

// apply makes edits and reads the result, so that the next edit finds everything where it is then. It takes the error of whoever made the edits.
func (d *Doc) apply(edits []edit, err error) error {
	if err != nil {
		return err
	}
	b, err := applyEdits(d.b, edits)
	if err != nil {
		return err
	}
	root, err := d.syntax.parse(b)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLossy, err)
	}
	d.b, d.root = b, root
	return nil
}

// set is Set without the comparison at its end. It is refused below an alias: the anchor's other places would change, too.
func (d *Doc) set(path []string, v any) error {
	at, n := d.find(path)
	if at.shared {
		return fmt.Errorf("%w: it is shared with another place", ErrLossy)
	}
	if n == len(path) {
		return d.assign(path, at, v)
	}
	for i := len(path) - 1; i > n; i-- { // what is missing on the way
		v = Object{{path[i], v}}
	}
	switch {
	case at.kind == object:
		return d.apply(d.insert(at, path[n], v))
	case at.kind == array && path[n] == "-":
		return d.apply(d.insert(at, "", v))
	case at.kind == null && path[n] != "-": // what is null becomes an object: an empty file, a key of YAML with nothing behind it
		if len(d.root.items) == 0 && n == 0 { // an empty file
			return d.apply(d.syntax.insert(d, at, path[n], v))
		}
		return d.apply(d.replace(at, Object{{path[n], v}}))
	}
	return fmt.Errorf("%s is %s", strings.Join(path[:n], "."), at.kind)
}

// assign makes v the value of at, with as few edits as that takes.
func (d *Doc) assign(path []string, at *Value, v any) error {
	if reflect.DeepEqual(at.plain(), plainOf(v)) {
		return nil
	}
	switch v := v.(type) {
	case Object:
		if at.kind == object && len(v) > 0 {
			return d.merge(path, at, v)
		}
	case []any:
		if at.kind == array {
			return d.splice(path, at, v)
		}
	}
	return d.apply(d.replace(at, v))
}

// merge makes an object equal to v: members that are new come at its end. Those that stay keep their order, whatever that of v is.
func (d *Doc) merge(path []string, at *Value, v Object) error {
	for _, m := range v {
		if err := d.set(join(path, m.Key), m.Value); err != nil {
			return err
		}
	}
	for _, it := range at.items {
		if !slices.ContainsFunc(v, func(m Member) bool { return m.Key == it.key }) && d.Has(join(path, it.key)) {
			if err := d.delete(join(path, it.key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// splice makes a list equal to v: what both begin and end with stays. Of what is between, elements are changed in place as long as both have some,
// so that comments beside them stay, and then the rest is taken away or added.
func (d *Doc) splice(path []string, at *Value, v []any) error {
	old := make([]any, len(at.items))
	for i, it := range at.items {
		old[i] = it.value.plain()
	}
	head := 0
	for head < min(len(old), len(v)) && reflect.DeepEqual(old[head], plainOf(v[head])) {
		head++
	}
	tail := 0
	for tail < min(len(old), len(v))-head && reflect.DeepEqual(old[len(old)-1-tail], plainOf(v[len(v)-1-tail])) {
		tail++
	}
	gone, come := len(old)-tail, v[head:len(v)-tail]
	for i := head; i < gone && len(come) > 0; i, come = i+1, come[1:] {
		if err := d.set(join(path, strconv.Itoa(i)), come[0]); err != nil {
			return err
		}
		head++
	}
	for i := gone - 1; i >= head; i-- { // from the end: indices before it stay
		if err := d.delete(join(path, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	at, _ = d.find(path)
	if len(come) > 0 && head < len(at.items) && at.flow {
		return d.apply(d.insertBefore(at, head, come))
	}
	if len(come) > 0 && head < len(at.items) {
		return d.apply(yamlSyntax{}.insertBefore(d, at, head, come))
	}
	if len(come) > 0 && at.flow {
		return d.apply(d.append(at, d.texts(at, come)))
	}
	for _, one := range come {
		at, _ = d.find(path)
		if err := d.apply(d.insert(at, "", one)); err != nil {
			return err
		}
	}
	return nil
}

// delete is Delete without the comparison at its end, of something that is there.
func (d *Doc) delete(path []string) error {
	last := len(path) - 1
	parent, _ := d.find(path[:last])
	i := parent.index(path[last])
	if parent.shared || parent.items[i].value.shared {
		return fmt.Errorf("%w: it is shared with another place", ErrLossy)
	}
	if parent.flow {
		return d.apply(d.cut(parent, i))
	}
	return d.apply(d.syntax.remove(d, parent, i))
}

// insert adds a member or element at the end of at. Empty brackets that stand where a block could ({} in YAML) become one, as people write it.
func (d *Doc) insert(at *Value, key string, v any) ([]edit, error) {
	if at.flow && !(len(at.items) == 0 && at.open) {
		return d.append(at, []string{d.item(at, key, v)})
	}
	return d.syntax.insert(d, at, key, v)
}

func (d *Doc) replace(at *Value, v any) ([]edit, error) {
	return d.syntax.replace(d, at, v)
}

func join(path []string, key string) []string { return append(slices.Clone(path), key) }

// IsList reports whether the value at path is a list.
func (d *Doc) IsList(path []string) bool {
	at, n := d.find(path)
	return n == len(path) && at.kind == array
}

// Text is the string at path, "" if there is none.
func (d *Doc) Text(path []string) string {
	if at, n := d.find(path); n == len(path) && at.kind == str {
		return at.text
	}
	return ""
}

// Empty reports whether the value at path is a list or an object without anything in it.
func (d *Doc) Empty(path []string) bool {
	at, n := d.find(path)
	return n == len(path) && (at.kind == array || at.kind == object) && len(at.items) == 0
}

// Repeated reports whether a member of that name is given more than once. path is not empty, as for Last.
func (d *Doc) Repeated(path []string) bool {
	at, n := d.find(path[:len(path)-1])
	count := 0
	if n == len(path)-1 {
		for _, it := range at.items {
			if at.kind == object && it.key == path[n] {
				count++
			}
		}
	}
	return count > 1
}

// Last reports whether the member at path is the last of its object.
func (d *Doc) Last(path []string) bool {
	at, n := d.find(path[:len(path)-1])
	return n == len(path)-1 && len(at.items) > 0 && at.items[len(at.items)-1].key == path[n]
}

// Value is what stands at path, for another place of the file: strings are written there as they are here, quotes and escapes included.
// It is nil where there is nothing.
func (d *Doc) Value(path []string) any {
	at, n := d.find(path)
	if n < len(path) {
		return nil
	}
	return d.copyValue(at)
}

// copyValue is a value to be written once more. What an alias stands for is written out, and so is what a merge brings: members of the object itself
// win, which are the later ones.
func (d *Doc) copyValue(at *Value) any {
	switch at.kind {
	case null:
		return nil
	case scalar:
		return json.Number(at.text)
	case object:
		o := Object{}
		for _, it := range slices.Concat(at.merged, at.items) {
			v := d.copyValue(it.value)
			if i := slices.IndexFunc(o, func(m Member) bool { return m.Key == it.key }); i >= 0 {
				o[i].Value = v
				continue
			}
			o = append(o, Member{it.key, v})
		}
		return o
	case array:
		list := make([]any, len(at.items))
		for i, it := range at.items {
			list[i] = d.copyValue(it.value)
		}
		return list
	}
	if as := string(d.b[at.from:at.to]); !at.shared && as != "" && strings.IndexByte(`"'`, as[0]) >= 0 && !strings.Contains(as, "\n") {
		return spelled{at.text, as}
	}
	return at.text
}
