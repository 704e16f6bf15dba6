package config

import (
	"encoding/json"
	"slices"
)

// Value is one member of a settings file that is a flat object of numbers, booleans and strings.
type Value struct {
	Key  string
	Text string // a string's content; a number or boolean as it is written
	Line int    // 1-based
	Col  int    // 1-based, in bytes
}

// ReadValues reads path, JSON (with comments) or YAML, as one object of plain values, in file order. Members that are no
// plain values are left out with a warning that has their line, as is the first of two with one name; but those named by lists may
// be lists, of which each element is a Value of that key: a plain one, or an object as its JSON. The error is an *os.PathError, or a
// Warning for a file that could not be read as such an object.
func ReadValues(path string, lists ...string) ([]Value, []Warning, error) {
	b, err := readFile(path, maxYAML)
	if err != nil {
		return nil, nil, err
	}
	d, err := parse(path, b)
	if err != nil {
		return nil, nil, err
	}
	if k := d.root.kind(); k != object {
		if k == null { // nothing but comments
			return nil, nil, nil
		}
		line, col := d.root.pos()
		return nil, nil, Warning{File: path, Line: line, Col: col, Malformed: true, Message: "is " + string(k) + "; it must be an object such as {port: 7000}"}
	}
	var values []Value
	for _, m := range d.root.members() {
		list := slices.Contains(lists, m.key)
		elems := []node{m.value}
		if list && m.value.kind() == array {
			elems = m.value.elems()
		}
		for _, e := range elems {
			v := Value{Key: m.key, Line: m.line, Col: m.col}
			if line, col := e.pos(); len(elems) > 1 && line > 0 {
				v.Line, v.Col = line, col
			}
			switch k := e.kind(); {
			case k == str || k == scalar:
				v.Text = e.text()
			case k == object && list:
				v.Text = string(e.tree(0).JSON())
			case k == null:
				continue
			default:
				d.warnAt(v.Line, v.Col, "%q is %s; it must be a number, true, false or a string", clip(m.key), k)
				continue
			}
			values = append(values, v)
		}
	}
	return values, d.warnings, nil
}

// JSON is the node as JSON. A scalar that has no such spelling in JSON, such as 0x1f, is a string.
func (n Node) JSON() json.RawMessage {
	switch n.Shape {
	case Object:
		b := []byte{'{'}
		for i, m := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, quoteJSON(m.Key)...), ':'), m.Value.JSON()...)
		}
		return append(b, '}')
	case List:
		b := []byte{'['}
		for i, e := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, e.JSON()...)
		}
		return append(b, ']')
	case Scalar:
		if json.Valid([]byte(n.Text)) {
			return json.RawMessage(n.Text)
		}
		return quoteJSON(n.Text)
	case Text:
		return quoteJSON(n.Text)
	}
	return json.RawMessage("null")
}

func quoteJSON(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always has one
	return b
}
