package offer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxTemplate bounds a template in bytes; parsing and expanding are linear.
const maxTemplate = 8 << 10

// ParseTemplate checks a URI template (RFC 6570) and knows its variables.
func ParseTemplate(t string) (*uritemplate.Template, error) {
	if len(t) > maxTemplate {
		return nil, fmt.Errorf("the template has %d bytes, more than the %d that are expanded", len(t), maxTemplate)
	}
	return uritemplate.New(t)
}

// Expand fills in a template (RFC 6570, level 4). A variable without a value in given is undefined. A value that is a
// JSON array is a list, which {id*} and {?q*} take apart; one that is an object is a map, in the order given.
//
// The library that parses templates encodes characters beyond ASCII by their
// code point instead of their UTF-8 bytes, so expanding is done here.
func Expand(template string, given map[string]string) (string, error) {
	if _, err := ParseTemplate(template); err != nil {
		return "", fmt.Errorf("cannot expand %s: %w", text.Clip(template, 200), err)
	}
	var b strings.Builder
	for rest := template; ; {
		literal, after, found := strings.Cut(rest, "{")
		encode(&b, literal, true)
		if !found {
			break
		}
		var expression string
		expression, rest, _ = strings.Cut(after, "}") // it was parsed: it is closed
		expandOne(&b, expression, given)
	}
	if b.Len() == 0 {
		return "", errors.New("the template expands to nothing with these values; fill in a variable")
	}
	return b.String(), nil
}

// operator is a row of the table in RFC 6570, appendix A.
type operator struct {
	first, sep string // before the first value, and between two
	named      bool   // values come with their variable's name
	ifEmpty    string // after the name of one whose value is empty
	reserved   bool   // reserved characters stay as they are
}

// operatorOf is the row for the first character of an expression; false where that is none, and begins a name.
func operatorOf(c byte) (operator, bool) {
	switch c {
	case '+':
		return operator{"", ",", false, "", true}, true
	case '#':
		return operator{"#", ",", false, "", true}, true
	case '.':
		return operator{".", ".", false, "", false}, true
	case '/':
		return operator{"/", "/", false, "", false}, true
	case ';':
		return operator{";", ";", true, "", false}, true
	case '?':
		return operator{"?", "&", true, "=", false}, true
	case '&':
		return operator{"&", "&", true, "=", false}, true
	}
	return operator{"", ",", false, "", false}, false
}

// expandOne expands what stands between braces.
func expandOne(b *strings.Builder, expression string, given map[string]string) {
	op, has := operatorOf(expression[0])
	if has {
		expression = expression[1:]
	}
	sep := op.first
	for spec := range strings.SplitSeq(expression, ",") {
		name, explode := strings.CutSuffix(spec, "*")
		name, prefix, _ := strings.Cut(name, ":")
		text, ok := given[name]
		if !ok {
			continue
		}
		v := templateValueOf(text)
		if len(v.parts) == 0 {
			continue // an empty list or map is undefined
		}
		b.WriteString(sep)
		sep = op.sep
		if n, err := strconv.Atoi(prefix); err == nil && v.single {
			v.parts[0] = firstRunes(v.parts[0], n)
		}
		v.expand(b, op, name, explode)
	}
}

// templateValue is the value of a variable: a string, a list, or a map as keys and values in turn.
type templateValue struct {
	parts        []string
	single, maps bool
}

// expand writes the value as RFC 6570, section 3.2.1, says.
func (v templateValue) expand(b *strings.Builder, op operator, name string, explode bool) {
	if !explode || v.single {
		if op.named {
			b.WriteString(name)
			if v.single && v.parts[0] == "" {
				b.WriteString(op.ifEmpty)
				return
			}
			b.WriteByte('=')
		}
		for i, p := range v.parts {
			if i > 0 {
				b.WriteByte(',')
			}
			encode(b, p, op.reserved)
		}
		return
	}
	for i := 0; i < len(v.parts); i++ {
		if i > 0 {
			b.WriteString(op.sep)
		}
		switch {
		case v.maps:
			encode(b, v.parts[i], op.reserved)
			i++
		case op.named:
			b.WriteString(name)
		default:
			encode(b, v.parts[i], op.reserved)
			continue
		}
		if op.named && v.parts[i] == "" {
			b.WriteString(op.ifEmpty)
			continue
		}
		b.WriteByte('=')
		encode(b, v.parts[i], op.reserved)
	}
}

// templateValueOf reads what was typed: a JSON array or object of strings, numbers and booleans, or a text.
func templateValueOf(text string) templateValue {
	list, maps, flat := []string{}, false, true
	add := func(raw []byte) bool {
		s := string(raw)
		switch raw[0] {
		case '"':
			var ok bool
			s, ok = jsonrpc.String(raw)
			flat = flat && ok
		case '[', '{', 'n':
			flat = false
		}
		list = append(list, s)
		return flat
	}
	var err error = errors.New("a text")
	switch t := strings.TrimSpace(text); {
	case strings.HasPrefix(t, "["):
		err = jsonrpc.Elements([]byte(t), add)
	case strings.HasPrefix(t, "{"):
		maps = true
		err = jsonrpc.Members([]byte(t), func(key string, raw []byte) bool {
			list = append(list, key)
			return add(raw)
		})
	}
	if err != nil || !flat {
		return templateValue{parts: []string{text}, single: true}
	}
	return templateValue{parts: list, maps: maps}
}

// firstRunes is s up to n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// encode writes s with everything but unreserved characters percent-encoded, as UTF-8; with reserved set, reserved
// characters and what is percent-encoded already stay too.
func encode(b *strings.Builder, s string, reserved bool) {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c < utf8.RuneSelf && (isAlnum(c) || strings.IndexByte("-._~", c) >= 0),
			reserved && strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0,
			reserved && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
