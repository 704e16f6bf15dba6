package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlValue is a value of a TOML file. Tables are put together from wherever the file writes them.
type tomlValue struct {
	kind    kind
	text    string       // of a string its content; else as it is written
	offset  int          // in bytes
	members []tomlMember // of a table
	index   map[string]*tomlValue
	elems   []*tomlValue // of an array
	tables  bool         // an array written as [[name]]
	header  bool         // a table that a [name] of its own began
}

type tomlMember struct {
	key    string
	offset int
	value  *tomlValue
}

// tomlError is a mistake in a TOML file.
type tomlError struct {
	offset  int
	message string
}

func (e *tomlError) Error() string { return e.message }

// parseTOML reads a document whose nesting is bounded already. What TOML forbids, a second value for one key, is an error.
func parseTOML(b []byte) (root *tomlValue, err error) {
	defer func() { // see parseYAML
		if r := recover(); r != nil {
			root, err = nil, &tomlError{0, fmt.Sprintf("the parser failed: %v", r)}
		}
	}()
	var p unstable.Parser
	p.Reset(b)
	root = &tomlValue{kind: object}
	at := root
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			err = at.assign(e)
		case unstable.Table:
			at, err = root.table(tomlKey(e))
		case unstable.ArrayTable:
			at, err = root.tableOfArray(tomlKey(e))
		}
		if err != nil {
			return nil, err
		}
	}
	var bad *unstable.ParserError
	if errors.As(p.Error(), &bad) {
		return nil, &tomlError{offsetOf(&p, bad.Highlight), strings.TrimPrefix(bad.Message, "toml: ")}
	}
	return root, p.Error()
}

// offsetOf is where part begins in what p reads; 0 where it is not a part of it.
func offsetOf(p *unstable.Parser, part []byte) (at int) {
	defer func() { _ = recover() }() // Range panics for other bytes than its own
	return int(p.Range(part).Offset)
}

// tomlKey is the key of an expression, a part for each of its dots.
func tomlKey(e *unstable.Node) (key []tomlMember) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		key = append(key, tomlMember{key: string(n.Data), offset: int(n.Raw.Offset)})
	}
	return key
}

// member is that of a table with this name, nil if there is none.
func (t *tomlValue) member(key string) *tomlValue { return t.index[key] }

func (t *tomlValue) add(m tomlMember, v *tomlValue) *tomlValue {
	if t.index == nil {
		t.index = map[string]*tomlValue{}
	}
	m.value, t.index[m.key] = v, v
	t.members = append(t.members, m)
	return v
}

// inside is the table that a key leads to, made where it is missing; in an array of tables, the last of them.
func (t *tomlValue) inside(key []tomlMember) (*tomlValue, error) {
	for _, k := range key {
		v := t.member(k.key)
		switch {
		case v == nil:
			v = t.add(k, &tomlValue{kind: object, offset: k.offset})
		case v.tables:
			v = v.elems[len(v.elems)-1]
		case v.kind != object:
			return nil, &tomlError{k.offset, fmt.Sprintf("%q has a value already and cannot be a table", clip(k.key))}
		}
		t = v
	}
	return t, nil
}

// table begins [key].
func (t *tomlValue) table(key []tomlMember) (*tomlValue, error) {
	last := key[len(key)-1]
	in, err := t.inside(key)
	if err != nil {
		return nil, err
	}
	if in.header {
		return nil, &tomlError{last.offset, fmt.Sprintf("table %q is given twice", clip(last.key))}
	}
	in.header = true
	return in, nil
}

// tableOfArray begins [[key]].
func (t *tomlValue) tableOfArray(key []tomlMember) (*tomlValue, error) {
	last := key[len(key)-1]
	in, err := t.inside(key[:len(key)-1])
	if err != nil {
		return nil, err
	}
	list := in.member(last.key)
	if list == nil {
		list = in.add(last, &tomlValue{kind: array, offset: last.offset, tables: true})
	}
	if !list.tables {
		return nil, &tomlError{last.offset, fmt.Sprintf("%q has a value already and cannot be a list of tables", clip(last.key))}
	}
	one := &tomlValue{kind: object, offset: last.offset}
	list.elems = append(list.elems, one)
	return one, nil
}

// assign is key = value.
func (t *tomlValue) assign(e *unstable.Node) error {
	key := tomlKey(e)
	last := key[len(key)-1]
	in, err := t.inside(key[:len(key)-1])
	if err != nil {
		return err
	}
	if in.member(last.key) != nil {
		return &tomlError{last.offset, fmt.Sprintf("%q is given twice", clip(last.key))}
	}
	v, err := tomlOf(e.Value(), last.offset)
	if err != nil {
		return err
	}
	in.add(last, v)
	return nil
}

// tomlOf is a value as the parser has it; offset is where it stands if the parser does not say.
func tomlOf(n *unstable.Node, offset int) (*tomlValue, error) {
	if n.Raw.Length > 0 {
		offset = int(n.Raw.Offset)
	}
	v := &tomlValue{offset: offset, text: string(n.Data), kind: scalar}
	switch n.Kind {
	case unstable.String:
		v.kind = str
	case unstable.Array:
		v.kind = array
		for it := n.Children(); it.Next(); {
			e, err := tomlOf(it.Node(), offset)
			if err != nil {
				return nil, err
			}
			v.elems = append(v.elems, e)
		}
	case unstable.InlineTable:
		v.kind, v.header = object, true
		for it := n.Children(); it.Next(); {
			if err := v.assign(it.Node()); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
