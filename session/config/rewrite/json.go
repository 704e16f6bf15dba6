package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"
)

// jsonSyntax is JSON with comments and trailing commas.
type jsonSyntax struct{}

func (jsonSyntax) parse(b []byte) (*Value, error) {
	if len(bytes.TrimSpace(b)) == 0 { // hujson has an error for it; a client's file that was only touched is one to be filled
		return &Value{kind: null}, nil
	}
	v, err := JSON(b)
	if err != nil {
		return nil, err
	}
	return v.loadAll(), nil
}

// JSON reads JSON with comments and trailing commas, whose nesting is bounded already.
func JSON(b []byte) (*Value, error) {
	v, err := hujson.Parse(b)
	if err != nil {
		return nil, err
	}
	return ofJSON(&v), nil
}

// ofJSON is a value whose items are read when they are asked for: of a client's large state file one object is wanted.
func ofJSON(v *hujson.Value) *Value {
	out := &Value{kind: scalar, from: v.StartOffset, to: v.EndOffset, flow: true}
	switch x := v.Value.(type) {
	case *hujson.Object:
		out.kind, out.load = object, func(v *Value) {
			for i := range x.Members {
				m := &x.Members[i]
				var key string
				if l, ok := m.Name.Value.(hujson.Literal); ok {
					_ = json.Unmarshal(l, &key) // hujson has checked it
				}
				v.items = append(v.items, item{key, m.Name.StartOffset, m.Name.EndOffset, ofJSON(&m.Value)})
			}
		}
	case *hujson.Array:
		out.kind, out.load = array, func(v *Value) {
			for i := range x.Elements {
				e := ofJSON(&x.Elements[i])
				v.items = append(v.items, item{from: e.from, value: e})
			}
		}
	case hujson.Literal:
		out.text = x.String()
		switch x.Kind() {
		case '"':
			out.kind = str
		case 'n':
			out.kind, out.text = null, ""
		}
	}
	return out
}

func (jsonSyntax) comment(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i
		}
		return len(b)
	case bytes.HasPrefix(b, []byte("/*")):
		return bytes.Index(b, []byte("*/")) + 2 // hujson has checked that it ends
	}
	return 0
}

// scalar gets numbers as json.Number too, which keep their spelling.
func (jsonSyntax) scalar(v any) string {
	switch v := v.(type) {
	case string:
		return jsonString(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func (jsonSyntax) key(s string) string { return jsonString(s) }

func (jsonSyntax) colon() string { return ": " }

func (jsonSyntax) insert(d *Doc, _ *Value, key string, v any) ([]edit, error) { // into an empty file
	d.b = bytes.TrimSpace(d.b)
	return []edit{{0, len(d.b), d.flowText(Object{{key, v}}, "", true) + "\n"}}, nil
}

func (jsonSyntax) replace(d *Doc, at *Value, v any) ([]edit, error) {
	lines := bytes.IndexByte(bytes.TrimRight(d.b, "\n"), '\n') >= 0 // a file in one line stays in one
	return []edit{{at.from, at.to, d.flowText(v, d.indent(at.from), lines)}}, nil
}

func (jsonSyntax) remove(*Doc, *Value, int) ([]edit, error) { return nil, ErrLossy } // all is in brackets

func (jsonSyntax) rename(_ *Doc, parent *Value, i int, name string) ([]edit, error) {
	it := parent.items[i]
	return []edit{{it.from, it.keyTo, jsonString(name)}}, nil
}
