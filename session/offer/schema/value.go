package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a [Value] is. The zero Kind is Unset: a value that is absent, which is neither null nor empty.
type Kind uint8

// The kinds of a JSON value (RFC 8259, section 3), and Unset.
const (
	Unset Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as JSON Schema's type keyword does; "unset" for Unset.
func (k Kind) String() string {
	return [...]string{"unset", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is one JSON value that remembers how it was written: number and string literals byte for byte, the order of
// keys, repeated keys. Values are immutable, so that a snapshot can be validated in the background while its owner goes
// on editing; every edit returns a new root that shares what did not change. A nil *Value is the unset value.
type Value struct {
	kind Kind     // of a nil *Value it is Unset, and nothing else is ever Unset
	raw  string   // literal of a scalar as it was written, quotes and escapes included; "" for containers
	kids []Member // of an object or array, in order; may be shared by values, and is copied before a change
}

// Member is one entry of an object, or with an empty Name one of an array.
type Member struct {
	Name  string // decoded; a lone surrogate in it is U+FFFD, and raw has what was written
	Value *Value // unset only in an array, where it is written as null
	raw   string // the name's literal, when re-encoding Name would change it
}

// Values without content are the same ones everywhere, which spares memory in large documents. What tells places in a schema by
// their address (resolved, seen, memo) does so for objects and for arrays with elements, which are never these.
var (
	nullValue   = &Value{kind: Null, raw: "null"}
	trueValue   = &Value{kind: Bool, raw: "true"}
	falseValue  = &Value{kind: Bool, raw: "false"}
	emptyObject = &Value{kind: Object}
	emptyArray  = &Value{kind: Array}
)

// NullValue returns null.
func NullValue() *Value { return nullValue }

// BoolValue returns true or false.
func BoolValue(b bool) *Value {
	if b {
		return trueValue
	}
	return falseValue
}

// StringValue returns s as a JSON string. Bytes that are not UTF-8 become U+FFFD, since JSON cannot carry them.
func StringValue(s string) *Value {
	return &Value{kind: String, raw: quote(s)}
}

// NumberValue returns the number written as literal, kept as it is; ok is false when literal is not a JSON number.
func NumberValue(literal string) (v *Value, ok bool) {
	if !isNumber(literal) {
		return nil, false
	}
	return &Value{kind: Number, raw: literal}, true
}

// ArrayValue returns an array of vs.
func ArrayValue(vs ...*Value) *Value {
	if len(vs) == 0 {
		return emptyArray
	}
	v := &Value{kind: Array, kids: make([]Member, len(vs))}
	for i, e := range vs {
		v.kids[i].Value = e
	}
	return v
}

// ObjectValue returns an object of ms in their order.
func ObjectValue(ms ...Member) *Value {
	if len(ms) == 0 {
		return emptyObject
	}
	return &Value{kind: Object, kids: ms}
}

// Kind returns what v is, Unset for nil: all methods may be called on a nil value.
func (v *Value) Kind() Kind {
	if v == nil {
		return Unset
	}
	return v.kind
}

// IsSet tells a value from the absence of one.
func (v *Value) IsSet() bool { return v.Kind() != Unset }

// Literal returns a scalar as it is written in JSON ("" for containers).
func (v *Value) Literal() string {
	if v == nil {
		return ""
	}
	return v.raw
}

// Bool returns whether v is true.
func (v *Value) Bool() bool { return v.Kind() == Bool && v.raw == "true" }

// Text returns what a person would type for a scalar: a string's decoded content, or the literal of anything else.
func (v *Value) Text() string {
	if v.Kind() != String {
		return v.Literal()
	}
	return unquote(v.raw)
}

// Len returns the number of elements or members (repeated keys counted).
func (v *Value) Len() int {
	if v == nil {
		return 0
	}
	return len(v.kids)
}

// Members returns an object's members, or an array's elements with empty
// names, in order. The slice must not be changed.
func (v *Value) Members() []Member {
	if v == nil {
		return nil
	}
	return v.kids
}

// Elem returns an array's element i, nil beyond its end.
func (v *Value) Elem(i int) *Value {
	if v.Kind() != Array || i < 0 || i >= len(v.kids) {
		return nil
	}
	return v.kids[i].Value
}

// Get returns an object's member, nil when there is none and for values that are not objects. Of a repeated key it is the last, as
// most JSON parsers have it; which one a server takes is up to it, so Validate reports them.
func (v *Value) Get(name string) *Value {
	if i := v.find(name); i >= 0 {
		return v.kids[i].Value
	}
	return nil
}

// index is an object's members by name, for many look-ups: [Value.Get] goes through all of them each time.
func (v *Value) index() map[string]*Value {
	out := make(map[string]*Value, v.Len())
	for _, m := range v.Members() {
		out[m.Name] = m.Value
	}
	return out
}

// find is the place of an object's member, -1 where there is none.
func (v *Value) find(name string) int {
	if v.Kind() != Object {
		return -1
	}
	for i := len(v.kids) - 1; i >= 0; i-- {
		if v.kids[i].Name == name {
			return i
		}
	}
	return -1
}

// At returns the value a path of names and indices leads to, v itself for the empty one, nil when there is none.
func (v *Value) At(path ...string) *Value {
	for _, tok := range path {
		if v = v.child(tok); v == nil {
			return nil
		}
	}
	return v
}

func (v *Value) child(tok string) *Value {
	switch v.Kind() {
	case Object:
		return v.Get(tok)
	case Array:
		if i, ok := arrayIndex(tok); ok {
			return v.Elem(i)
		}
	}
	return nil
}

// arrayIndex parses an RFC 6901 array index: digits without leading zeros.
func arrayIndex(tok string) (int, bool) {
	if tok == "" || len(tok) > 9 || tok[0] < '0' || tok[0] > '9' || (tok[0] == '0' && tok != "0") {
		return 0, false
	}
	i, err := strconv.Atoi(tok)
	return i, err == nil
}

// quote encodes s as a JSON string with the fewest escapes.
func quote(s string) string {
	b, _ := jsontext.AppendQuote(nil, s) // its only error is invalid UTF-8, which it replaces
	return string(b)
}

// unquote decodes a JSON string literal that was parsed before; a lone surrogate escape becomes U+FFFD.
func unquote(raw string) string {
	if len(raw) < 2 {
		return ""
	}
	body := raw[1 : len(raw)-1]
	if !strings.ContainsRune(body, '\\') && utf8.ValidString(body) {
		return body
	}
	b, _ := jsontext.AppendUnquote(nil, raw)
	return string(b)
}

// isNumber reports whether s is a number of RFC 8259, section 6.
func isNumber(s string) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	from := i
	if !digits() || (s[from] == '0' && i > from+1) {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}
