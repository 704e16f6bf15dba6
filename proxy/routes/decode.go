package routes

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Problem is what is wrong or unknown in a file of routes. It never quotes what may be a secret.
type Problem struct {
	Line    int // 1-based; 0 where it is not known
	Col     int // 1-based, in bytes; 0 where it is not known
	Message string
	File    string // which file of a folder, or which key; "" for the one that there is
}

// String is "line 3, column 5: message", after the file if there are several.
func (p Problem) String() string {
	s := p.Message
	switch {
	case p.Col > 0:
		s = fmt.Sprintf("line %d, column %d: %s", p.Line, p.Col, s)
	case p.Line > 0:
		s = fmt.Sprintf("line %d: %s", p.Line, s)
	}
	if p.File != "" {
		s = p.File + ": " + s
	}
	return s
}

// Error makes a Problem because of which nothing of the file counts an error.
func (p Problem) Error() string { return p.String() }

// decoder reads one file. The first error ends it: what follows is read no more, and its values do not matter. One goroutine has it.
type decoder struct {
	text     []byte    // all of it, valid JSON, for lines and columns
	warnings []Problem // in the order of the text
	err      error     // a Problem; nil if all is well so far
}

// value is a JSON value and where it stands. Its readers (text, bool, number …) give the zero value with an error in d, so that callers go on without
// asking after each.
type value struct {
	d    *decoder
	what string // such as routes.a.timeout
	at   int    // offset in the file
	raw  []byte
}

// line is the number of the line that an offset is in, from 1.
func (d *decoder) line(at int) int { return 1 + bytes.Count(d.text[:at], []byte("\n")) }

// problem is one at of an offset.
func (d *decoder) problem(at int, message string) Problem {
	return Problem{Line: d.line(at), Col: at - bytes.LastIndexByte(d.text[:at], '\n'), Message: message}
}

func (v value) line() int { return v.d.line(v.at) }

func (v value) problem(format string, args ...any) Problem {
	return v.d.problem(v.at, v.what+" "+fmt.Sprintf(format, args...))
}

// fail makes this what is wrong with the file, unless something before it is.
func (v value) fail(format string, args ...any) {
	if v.d.err == nil {
		v.d.err = v.problem(format, args...)
	}
}

func (v value) warn(format string, args ...any) {
	v.d.warnings = append(v.d.warnings, v.problem(format, args...))
}

// clip is a name from the file as messages show it.
func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, 64), "\uFFFD") }

// each walks the members of an object; a name that is given twice is an error, for readers differ in which one counts.
func (v value) each(f func(key string, v value)) {
	if v.raw[0] != '{' {
		v.fail("is %s; it must be an object", kind(v.raw))
		return
	}
	seen := map[string]bool{}
	_ = jsonrpc.Spans(v.raw, func(s jsonrpc.Span) bool { // the whole file was found to be JSON before
		m := value{v.d, strings.TrimPrefix(v.what+"."+clip(s.Key), "."), v.at + s.Start, v.raw[s.Start:s.End]}
		if seen[s.Key] {
			m.fail("is given twice")
		}
		seen[s.Key] = true
		if v.d.err == nil {
			f(s.Key, m)
		}
		return v.d.err == nil
	})
}

// object walks an object whose members are known; others are warned of. A null is as if it were not there, but for a
// sandbox: whoever begins to write one does not want what none allows.
func (v value) object(known map[string]func(value)) {
	v.each(func(key string, m value) {
		set, ok := known[key]
		switch {
		case ok && (m.raw[0] != 'n' || key == "sandbox"):
			set(m)
		case !ok:
			for _, k := range slices.Sorted(maps.Keys(known)) {
				if strings.EqualFold(k, key) {
					m.warn("is unknown and ignored; did you mean %q?", k)
					return
				}
			}
			m.warn("is unknown and ignored")
		}
	})
}

func (v value) text() string {
	s, ok := jsonrpc.String(v.raw)
	if !ok {
		v.fail("is %s; it must be a string", kind(v.raw))
	}
	return s
}

func (v value) bool() bool {
	s := string(v.raw)
	if s != "true" && s != "false" {
		v.fail("is %s; it must be true or false", kind(v.raw))
	}
	return s == "true"
}

func (v value) number(least, most int) int {
	n, err := strconv.Atoi(string(v.raw))
	if err != nil || n < least || n > most {
		v.fail("is %s; it must be a whole number from %d to %d", clip(string(v.raw)), least, most)
	}
	return n
}

func (v value) percent() float64 {
	n, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil || n < 0 || n > 100 {
		v.fail("is %s; it must be a number from 0 to 100", clip(string(v.raw)))
	}
	return n
}

// duration reads a text such as 30s.
func (v value) duration(most time.Duration) time.Duration {
	s, ok := jsonrpc.String(v.raw)
	d, err := time.ParseDuration(s)
	if !ok || err != nil || d <= 0 || d > most {
		v.fail("is %s; it must be a text such as \"30s\", at most %q", clip(string(v.raw)), most)
	}
	return d
}

// list reads an array of strings; it is not nil, also when it is empty.
func (v value) list() []string {
	out := []string{}
	v.items("a list of strings", func(v value) {
		s, ok := jsonrpc.String(v.raw)
		if !ok {
			v.fail("is %s in a list of strings", kind(v.raw))
		}
		out = append(out, s)
	})
	return out
}

// items walks an array.
func (v value) items(what string, f func(value)) {
	if v.raw[0] != '[' {
		v.fail("is %s; it must be %s", kind(v.raw), what)
		return
	}
	i, at := 0, 1
	_ = jsonrpc.Elements(v.raw, func(e []byte) bool { // was found to be JSON before
		at = len(v.raw) - len(bytes.TrimLeft(v.raw[at:], ", \t\r\n"))
		f(value{v.d, v.what + "[" + itoa(i) + "]", v.at + at, e})
		i, at = i+1, at+len(e)
		return v.d.err == nil
	})
}

// kind is what a value is, in the words of messages. It quotes none of it: a string may be a secret.
func kind(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return string(raw)
	case 'n':
		return "null"
	}
	return "a number"
}
