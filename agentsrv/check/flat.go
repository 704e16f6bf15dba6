package check

import (
	"encoding/json"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// flat is a schema of the commonest form, an object of plain values, that is checked on the bytes in well under a
// microsecond. It only ever says yes: whatever it does not fully understand goes to the validator.
type flat struct {
	properties map[string]property
	required   uint64 // bits of the properties that must be there
}

type property struct {
	kind string // string, integer, number, boolean, or "" for any
	bit  uint64
}

// notes are keywords that no value can violate.
var notes = map[string]bool{"title": true, "description": true, "default": true, "examples": true, "$comment": true, "readOnly": true, "writeOnly": true, "deprecated": true}

func isNote(key string) bool { return notes[key] || strings.HasPrefix(key, "x-") }

// newFlat reads a schema, and gives nil if it is of another form.
func newFlat(schema []byte) *flat {
	f := &flat{properties: map[string]property{}}
	var required []string
	object := false
	ok := each(schema, func(key string, value []byte) bool {
		switch key {
		case "type":
			object = string(value) == `"object"`
			return object
		case "properties":
			return each(value, f.add)
		case "required":
			return json.Unmarshal(value, &required) == nil
		case "additionalProperties": // others go to the validator anyway
			return string(value) == "true" || string(value) == "false"
		case "$schema":
			return true
		}
		return isNote(key)
	})
	for _, name := range required {
		p, known := f.properties[name]
		ok = ok && known
		f.required |= p.bit
	}
	if !ok || !object {
		return nil
	}
	return f
}

func (f *flat) add(name string, schema []byte) bool {
	p := property{bit: 1 << len(f.properties)}
	ok := each(schema, func(key string, value []byte) bool {
		if key != "type" {
			return isNote(key)
		}
		p.kind, _ = jsonrpc.String(value)
		return p.kind == "string" || p.kind == "integer" || p.kind == "number" || p.kind == "boolean"
	})
	f.properties[name] = p
	return ok && len(f.properties) <= 64
}

// each is Members that ends with false as soon as f gives false, or on malformed text.
func each(obj []byte, f func(string, []byte) bool) bool {
	ok := true
	err := jsonrpc.Members(obj, func(key string, value []byte) bool {
		ok = f(key, value)
		return ok
	})
	return ok && err == nil
}

// allows reports whether args are certainly valid.
func (f *flat) allows(args []byte) bool {
	var seen uint64
	return each(args, func(key string, value []byte) bool {
		p, known := f.properties[key]
		if !known || seen&p.bit != 0 || !fits(p.kind, value) {
			return false
		}
		seen |= p.bit
		return true
	}) && seen&f.required == f.required
}

func fits(kind string, value []byte) bool {
	switch kind {
	case "":
		return value[0] != '{' && value[0] != '[' // those may hold a name twice
	case "string":
		return value[0] == '"'
	case "boolean":
		return value[0] == 't' || value[0] == 'f'
	case "number":
		return value[0] == '-' || value[0] >= '0' && value[0] <= '9'
	}
	for i, c := range value { // an integer may be written as 1.0 or 1e3, which the validator knows
		if (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return true
}
