package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// Capture is a part of an answer that later calls use, as ${capture.NAME} in their arguments or their target.
type Capture struct {
	Name  string
	Query *expect.Query
}

const (
	opening = "${capture."
	// maxCaptured is how large what a call's captures put into its arguments may be together, in bytes.
	maxCaptured = 8 << 20
)

func captureName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 100
}

// part is a piece of a text: as it stands, or the name of a capture.
type part struct{ text, name string }

// splitCaptures splits a text at its references ${capture.x}. $${capture.x} stands for the text ${capture.x}.
func splitCaptures(s string) (out []part) {
	for {
		at := strings.Index(s, opening)
		if at < 0 {
			return append(out, part{text: s})
		}
		name, rest, closed := strings.Cut(s[at+len(opening):], "}")
		switch {
		case !closed || !captureName(name):
			out = append(out, part{text: s[:at+len(opening)]})
			s = s[at+len(opening):]
			continue
		case at > 0 && s[at-1] == '$':
			out = append(out, part{text: s[:at-1] + opening + name + "}"})
		default:
			out = append(out, part{text: s[:at]}, part{name: name})
		}
		s = rest
	}
}

// Uses are the captures that a call of a file needs.
func (c Call) Uses() (names []string) {
	if c.File == "" {
		return nil
	}
	for _, p := range append(splitCaptures(c.Target), splitCaptures(string(c.Arguments))...) {
		if p.name != "" && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// Filled is the call with what was captured in it. A text that is nothing but ${capture.NAME} becomes the value itself, whatever its type.
func (c Call) Filled(captured func(name string) (json.RawMessage, bool)) (Call, error) {
	if c.File == "" || !strings.Contains(c.Target, opening) && !bytes.Contains(c.Arguments, []byte(opening)) {
		return c, nil
	}
	size := 0
	value := func(name string) (json.RawMessage, error) {
		v, ok := captured(name)
		if !ok {
			return nil, fmt.Errorf("nothing was captured as %s: an earlier call of the file, or of another file of the folder, has to", name)
		}
		if size += len(v); size > maxCaptured {
			return nil, fmt.Errorf("what was captured is too large for arguments, at %s", name)
		}
		return v, nil
	}
	text := func(s string) (string, error) {
		var b strings.Builder
		for _, p := range splitCaptures(s) {
			b.WriteString(p.text)
			if p.name == "" {
				continue
			}
			v, err := value(p.name)
			if err != nil {
				return "", err
			}
			if s, ok := jsonrpc.String(v); ok {
				b.WriteString(s)
			} else {
				b.Write(v)
			}
		}
		return b.String(), nil
	}
	var walk func(out, v []byte) ([]byte, error)
	walk = func(out, v []byte) ([]byte, error) {
		var bad error
		sep := ""
		switch s, ok := jsonrpc.String(v); {
		case ok:
			if ps := splitCaptures(s); len(ps) == 3 && ps[0].text == "" && ps[2].text == "" && ps[1].name != "" {
				captured, err := value(ps[1].name)
				return append(out, captured...), err
			}
			s, err := text(s)
			return append(out, jsonrpc.Quote(s)...), err
		case len(v) > 0 && v[0] == '{':
			out = append(out, '{')
			_ = jsonrpc.Members(v, func(key string, value []byte) bool { // it was read as JSON
				out = append(append(append(out, sep...), jsonrpc.Quote(key)...), ':')
				out, bad = walk(out, value)
				sep = ","
				return bad == nil
			})
			return append(out, '}'), bad
		case len(v) > 0 && v[0] == '[':
			out = append(out, '[')
			_ = jsonrpc.Elements(v, func(value []byte) bool {
				out, bad = walk(append(out, sep...), value)
				sep = ","
				return bad == nil
			})
			return append(out, ']'), bad
		}
		return append(out, v...), nil
	}
	var err error
	if c.Target, err = text(c.Target); err != nil {
		return c, err
	}
	if len(c.Arguments) > 0 {
		c.Arguments, err = walk(nil, c.Arguments)
	}
	return c, err
}
