package jsonrpc

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Members walks the top-level members of the object obj in wire order and hands each to f: the name unescaped, the
// value as a sub-slice of obj. It stops early, without error, when f returns false. Nothing after obj's closing brace is
// looked at. Names may repeat; what that means is the caller's business.
func Members(obj []byte, f func(key string, value []byte) bool) error {
	_, err := members(obj, func(key []byte, start, end int) bool { return f(name(key), obj[start:end:end]) })
	return err
}

// Span is where one member of an object stands in its text.
type Span struct {
	Key            string // unescaped
	At, Start, End int    // offsets of the name's opening quote, of the value, and after the value
}

// Spans is Members for callers who edit the text: it hands out offsets into obj, in bytes, and stops early as Members does, without an
// error.
func Spans(obj []byte, f func(Span) bool) error {
	_, err := members(obj, func(key []byte, start, end int) bool {
		// key is a part of obj, and both reach to the end of the same memory: the difference of what is left is where it begins.
		at := cap(obj) - cap(key)
		return f(Span{Key: name(key), At: at, Start: start, End: end})
	})
	return err
}

// members is Members with the names still quoted; it returns the index after the last byte that it looked at.
func members(b []byte, f func(key []byte, start, end int) bool) (int, error) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return i, syntax(b, i, "an object")
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, syntax(b, i, "a member name")
		}
		end, err := str(b, i+1)
		if err != nil {
			return end, err
		}
		key := b[i:end]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return i, syntax(b, i, "a colon")
		}
		i = space(b, i+1)
		if end, err = skip(b, i); err != nil {
			return end, err
		}
		if !f(key, i, end) {
			return end, nil
		}
		if i = space(b, end); i < len(b) && b[i] == '}' {
			return i + 1, nil
		}
		if i >= len(b) || b[i] != ',' {
			return i, syntax(b, i, "a comma or the end of the object")
		}
		i = space(b, i+1)
	}
}

// Elements walks the elements of the array arr in order, each as a sub-slice of arr. It stops early, without error, when
// f returns false. Where arr is not an array, or breaks off, the error is a *SyntaxError; what came before it was handed out.
func Elements(arr []byte, f func(value []byte) bool) error {
	i := space(arr, 0)
	if i >= len(arr) || arr[i] != '[' {
		return syntax(arr, i, "an array")
	}
	if i = space(arr, i+1); i < len(arr) && arr[i] == ']' {
		return nil
	}
	for {
		end, err := skip(arr, i)
		if err != nil {
			return err
		}
		if !f(arr[i:end:end]) {
			return nil
		}
		if i = space(arr, end); i < len(arr) && arr[i] == ']' {
			return nil
		}
		if i >= len(arr) || arr[i] != ',' {
			return syntax(arr, i, "a comma or the end of the array")
		}
		i = space(arr, i+1)
	}
}

// String unquotes a JSON string as Members and Elements hand it out; false when raw is not a string. Lone surrogates
// become U+FFFD, as everywhere in Go.
func String(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if end, err := str(raw, 1); err != nil || end != len(raw) {
		return "", false
	}
	return unquote(raw), true
}

// maxNumber is how many bytes a number may have to be compared by its value: up to that length a float64 tells all of them apart, and
// longer ones are the same only if their bytes are.
const maxNumber = 15

// SameID reports whether two ids, valid JSON as on the wire, are the same one. Peers may write a string with other escapes than
// they got it with, and some make 1.0 of 1.
func SameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if x, ok := String(a); ok {
		y, ok := String(b)
		return ok && x == y
	}
	if len(a) > maxNumber || len(b) > maxNumber {
		return false
	}
	x, err1 := strconv.ParseFloat(string(a), 64)
	y, err2 := strconv.ParseFloat(string(b), 64)
	return err1 == nil && err2 == nil && x == y
}

// IDKey is an id, or a progress token, as valid JSON from the wire, in the spelling that finds it in a map: the same for all escapes of a
// string, which peers choose. Numbers stay as they are.
func IDKey(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	s, ok := String([]byte(raw))
	if !ok || strings.ContainsRune(s, utf8.RuneError) { // lone surrogates are not all the same
		return raw
	}
	return string(Quote(s))
}

// name is unquote for member names; the ones that every list repeats are not allocated again.
func name(quoted []byte) string {
	switch string(quoted[1 : len(quoted)-1]) {
	case "name":
		return "name"
	case "title":
		return "title"
	case "description":
		return "description"
	case "inputSchema":
		return "inputSchema"
	case "outputSchema":
		return "outputSchema"
	case "annotations":
		return "annotations"
	case "type":
		return "type"
	case "text":
		return "text"
	case "uri":
		return "uri"
	case "mimeType":
		return "mimeType"
	case "_meta":
		return "_meta"
	}
	return unquote(quoted)
}

// isName reports whether a quoted member name stands for name, in most cases without decoding it.
func isName(quoted []byte, name string) bool {
	body := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		return string(body) == name
	}
	return unquote(quoted) == name
}

// unquote decodes a string that str has already accepted. Runs between escapes are copied whole: a text result is one
// string of many megabytes with an escape per line.
func unquote(quoted []byte) string {
	body := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(body, '\\')
	if i < 0 {
		return validUTF8(string(body))
	}
	var b strings.Builder
	b.Grow(len(body))
	for i >= 0 {
		b.Write(body[:i])
		r, n := unescape(body[i:])
		b.WriteRune(r)
		body = body[i+n:]
		i = bytes.IndexByte(body, '\\')
	}
	b.Write(body)
	return validUTF8(b.String())
}

// validUTF8 is strings.ToValidUTF8, five times faster for text that is valid.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// unescape decodes the escape that b starts with, and says how long it is. A lone surrogate becomes U+FFFD.
func unescape(b []byte) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(b[2:])
		if utf16.IsSurrogate(r) {
			if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
				if p := utf16.DecodeRune(r, hex4(b[8:])); p != utf8.RuneError {
					return p, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return rune(b[1]), 2
}

// hex4 reads four hexadecimal digits, which the scanner has checked.
func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
