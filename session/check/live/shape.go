package live

import (
	"bytes"
	"math"
)

// shape is a hash of what the schemas of the protocol look at in a value: the names of members and the kinds of values, of
// some members the value itself, of numbers whether they are whole, negative, or above one. What members of free-form
// objects are called does not matter, nor how often elements of one shape follow each other. value must be valid JSON; ok is
// false where it nests too deep for a validation.
func shape(value []byte) (h uint64, ok bool) {
	s := shaper{b: value}
	h = s.value("")
	return h, !s.deep
}

type shaper struct {
	b     []byte
	i     int  // of the next byte
	depth int  // objects and arrays that are open
	deep  bool // maxDepth was reached: something was not looked at
}

// maxDepth is how deep a value nests that is validated. Free-form values are not looked into.
const maxDepth = 500

const (
	offset = 14695981039346656037 // of FNV-1a with 64 bits
	prime  = 1099511628211
)

func mix(h, x uint64) uint64 { return (h ^ x) * prime }

// hasNamedValues reports whether a schema of the protocol, of any revision, names the values of a member. TestShapeSeesWhatSchemasSay holds it
// against all of them.
func hasNamedValues(name string) bool {
	switch name {
	case "jsonrpc", "method", "type", "role", "level", "action", "mode", "status", "theme", "taskSupport", "includeContext", "cacheScope", "format",
		"audience", metaLevel:
		return true
	}
	return false
}

// isFreeForm reports whether the members of a member may have any name.
func isFreeForm(name string) bool {
	return name == "arguments" || name == "properties" || name == "inputRequests" || name == "inputResponses"
}

func (s *shaper) space() {
	for s.i < len(s.b) && s.b[s.i] <= ' ' {
		s.i++
	}
}

// str reads a string, without its quotes.
func (s *shaper) str() []byte {
	start := s.i + 1
	for s.i = start; s.i < len(s.b); s.i++ {
		k := bytes.IndexByte(s.b[s.i:], '"')
		if k < 0 {
			break
		}
		s.i += k
		escapes := 0
		for s.i-escapes > start && s.b[s.i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			s.i++
			return s.b[start : s.i-1]
		}
	}
	s.i = len(s.b)
	return s.b[min(start, len(s.b)):]
}

// value is the shape of the value at i, which the member of this name has.
func (s *shaper) value(name string) uint64 {
	s.space()
	if s.i >= len(s.b) {
		return 0
	}
	switch c := s.b[s.i]; c {
	case '{', '[':
		if s.depth == maxDepth {
			s.deep = true
			s.skip()
			return 0
		}
		s.depth++
		defer func() { s.depth-- }()
		if c == '{' {
			return s.object(name)
		}
		return s.array(name)
	case '"':
		text := s.str()
		if hasNamedValues(name) {
			return mix(hash(text), 's')
		}
		return 's'
	default:
		start := s.i
		for s.i < len(s.b) && s.b[s.i] > ' ' && s.b[s.i] != ',' && s.b[s.i] != '}' && s.b[s.i] != ']' {
			s.i++
		}
		text := s.b[start:s.i]
		s.i = max(s.i, start+1) // what is not JSON ends, too
		return scalar(text)
	}
}

// scalar tells numbers apart as schemas of the protocol do: they have integers, and the bounds 0 and 1.
func scalar(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case 't', 'f':
		return 'b'
	case 'n':
		return '0'
	}
	h := mix(offset, uint64(b[0])&^0xf) // a sign or a digit
	v, ok := parseNumber(b)
	switch {
	case !ok:
		return hash(b)
	case v < 0:
		h = mix(h, 1)
	case v > 1:
		h = mix(h, 2)
	}
	if v != math.Trunc(v) {
		h = mix(h, 3)
	}
	return h
}

func (s *shaper) object(of string) uint64 {
	if of == "structuredContent" { // the outputSchema of its tool judges it, see resultVerdict
		s.skip()
		return '{'
	}
	h := uint64(offset)
	last := uint64(0)
	s.i++
	for {
		s.space()
		if s.i >= len(s.b) || s.b[s.i] == '}' {
			s.i++
			return mix(h, '}')
		}
		if s.b[s.i] == ',' {
			s.i++
			continue
		}
		key := s.str()
		s.space()
		s.i++ // the colon
		if isFreeForm(of) {
			if v := s.value(""); v != last {
				h, last = mix(h, v), v
			}
			continue
		}
		h = mix(h, hash(key))
		h = mix(h, s.value(string(key)))
	}
}

func (s *shaper) array(name string) uint64 {
	h, last, n := uint64(offset), uint64(0), 0
	if !hasNamedValues(name) {
		name = "" // elements have members by name
	}
	s.i++
	for {
		s.space()
		if s.i >= len(s.b) || s.b[s.i] == ']' {
			s.i++
			if n > 100 { // completion values: the one list that has a bound
				h = mix(h, 100)
			}
			return mix(h, ']')
		}
		if s.b[s.i] == ',' {
			s.i++
			continue
		}
		n++
		if v := s.value(name); v != last || n == 1 {
			h, last = mix(h, v), v
		}
	}
}

// skip moves past an object or array.
func (s *shaper) skip() {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			s.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.i++
		if depth == 0 {
			return
		}
	}
}
