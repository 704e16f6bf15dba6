package redact

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
)

// maxNested is how often JSON in a text of JSON is looked into.
const maxNested = 3

// level is an object or array on the way to a value.
type level struct {
	object bool
	name   string // of the member that is being read
	named  bool   // the name was read, its value not yet
	index  int
	rule   int // what takes out everything in it, -1 for nothing
}

// walk goes through one JSON text.
type walk struct {
	r      *Redactor
	text   []byte
	out    []byte
	last   int // text up to here is in out
	stack  []level
	nested int
	outer  *walk // the text that this is a string of; nil for none
}

// json is a JSON text without what the rules find. Everything else stays byte for byte.
func (r *Redactor) json(text []byte, nested int) ([]byte, error) {
	w := &walk{r: r, text: text, nested: nested, outer: r.walk}
	defer func(outer *walk) { r.walk = outer }(r.walk)
	r.walk = w
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		switch k := d.PeekKind(); k {
		case '{', '[':
			rule := w.rule()
			if _, err := d.ReadToken(); err != nil {
				return nil, err
			}
			w.stack = append(w.stack, level{object: k == '{', rule: rule})
		case '}', ']':
			if _, err := d.ReadToken(); err != nil {
				return nil, err
			}
			w.stack = w.stack[:len(w.stack)-1]
			w.endValue()
		default:
			raw, err := d.ReadValue()
			if errors.Is(err, io.EOF) && len(w.stack) == 0 {
				if w.last == 0 {
					return text, nil
				}
				return append(w.out, text[w.last:]...), nil
			}
			if err != nil {
				return nil, err
			}
			end := int(d.InputOffset())
			w.scalar(raw, end-len(raw), end)
		}
	}
}

// top is the object or array that is being read; an empty one for none.
func (w *walk) top() *level {
	if len(w.stack) == 0 {
		return &level{rule: -1}
	}
	return &w.stack[len(w.stack)-1]
}

// endValue notes that a value was read, so that the next one of an array has the next index.
func (w *walk) endValue() {
	t := w.top()
	t.named = false
	t.index++
}

// scalar takes a string, number or word, which may be the name of a member.
func (w *walk) scalar(raw []byte, start, end int) {
	t := w.top()
	s, isText := jsonrpc.String(raw)
	if t.object && !t.named {
		t.name, t.named = s, true
		if w.protocol() {
			return
		}
		if clean := w.r.replaceAll(s); clean != s {
			w.replace(start, end, clean)
		}
		return
	}
	defer w.endValue()
	if w.envelope() || raw[0] == 't' || raw[0] == 'f' || raw[0] == 'n' {
		return
	}
	rule := w.rule()
	if rule >= 0 && w.r.rules[rule].least == longish && t.object && mask.Secret(t.name) {
		rule = byName
	}
	switch {
	case rule >= 0:
		if clean := w.r.placeholderFor(rule, map[bool]string{true: s, false: string(raw)}[isText]); isText && clean != s || !isText && clean != string(raw) {
			w.replace(start, end, clean)
		}
	case !isText:
		if clean := w.r.replaceAll(string(raw)); clean != string(raw) {
			w.replace(start, end, clean)
		}
	case t.object && t.named && mask.Secret(t.name) && t.name != "progressToken" && !w.schema():
		if clean := w.r.placeholderFor(byName, s); clean != s {
			w.replace(start, end, clean)
		}
	default:
		if clean := w.replaceString(s); clean != s {
			w.replace(start, end, clean)
		}
	}
}

// replaceString returns a string with placeholders for what the rules find, also inside of a string that is JSON itself.
func (w *walk) replaceString(s string) string {
	if first := strings.TrimSpace(s); w.nested < maxNested && len(first) > 1 && (first[0] == '{' || first[0] == '[') {
		if out, err := w.r.json([]byte(s), w.nested+1); err == nil {
			return string(out)
		}
	}
	return w.r.text(s, false)
}

func (w *walk) replace(start, end int, with string) {
	w.out = append(append(w.out, w.text[w.last:start]...), jsonrpc.Quote(with)...)
	w.last = end
}

// envelope is whether the value is a member of the message that stays as it is, since nothing could be told of it otherwise. An id
// only changes by its value, as it does everywhere.
func (w *walk) envelope() bool {
	if w.nested > 0 {
		return false
	}
	switch len(w.stack) {
	case 1:
		return w.stack[0].name == "jsonrpc" || w.stack[0].name == "method"
	case 2:
		return w.stack[0].name == "error" && w.stack[1].name == "code"
	}
	return false
}

// protocol is whether the name that was read is the protocol's: a message without it says nothing any more, whatever is called so elsewhere.
func (w *walk) protocol() bool {
	if w.nested > 0 {
		return false
	}
	switch len(w.stack) {
	case 1:
		switch w.stack[0].name {
		case "jsonrpc", "id", "method", "params", "result", "error":
			return true
		}
	case 2:
		switch w.stack[0].name + " " + w.stack[1].name {
		case "error code", "error message", "error data", "params name", "params arguments", "params uri", "params _meta", "result _meta", "result content",
			"result contents", "result messages", "result structuredContent", "result isError", "result tools", "result prompts", "result resources":
			return true
		}
	}
	return false
}

// rule is the rule by name or path that takes out the value that comes, -1 if none does.
func (w *walk) rule() int {
	t := w.top()
	whole := t.rule >= 0 && w.r.rules[t.rule].least == longish // what is named is a secret more surely than the others
	if t.rule >= 0 && !whole {
		return t.rule
	}
	if w.nested == 0 && len(w.stack) == 1 && t.name == "id" {
		return -1
	}
	if t.object && !w.schema() {
		if rule, ok := w.r.keys[normalize(t.name)]; ok {
			return rule
		}
	}
	if whole || w.nested > 0 {
		return t.rule
	}
	for _, p := range w.r.paths {
		if w.isAt(p.parts) {
			return p.rule
		}
	}
	return -1
}

// schema is whether the member describes what is called so, in a JSON Schema.
func (w *walk) schema() bool {
	if len(w.stack) < 2 {
		return false
	}
	switch w.stack[len(w.stack)-2].name {
	case "properties", "patternProperties", "$defs", "definitions":
		return true
	}
	return false
}

// isAt reports whether the next value is at a path.
func (w *walk) isAt(parts []string) bool {
	if len(parts) != len(w.stack) {
		return false
	}
	for i, part := range parts {
		l := &w.stack[i]
		if part != "*" && part != l.name && (l.object || part != strconv.Itoa(l.index)) {
			return false
		}
	}
	return true
}

// pointer says where the value is, with * for any index.
func (w *walk) pointer() string {
	var b strings.Builder
	if w.outer != nil {
		b.WriteString(w.outer.pointer() + " > ")
	}
	for i := range w.stack {
		b.WriteByte('/')
		if l := &w.stack[i]; l.object {
			b.WriteString(jsonrpc.EscapeToken(l.name))
		} else {
			b.WriteByte('*')
		}
	}
	return b.String()
}
