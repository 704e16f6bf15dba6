package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxDepth  = 32 // values below it are kept or left out as a whole
	leastPart = 40 // bytes that each member of an object gets before those behind it are left out
)

// cut is a place of a JSON value that was made shorter: where it is, as jq has it, what it lacks, and the expression of that, "" for none.
type cut struct{ at, what, rest string }

// cutJSON is b, a JSON value, in most bytes: a long string keeps its beginning, an array its first elements, and the members of an object share the
// room. Each says after a … what it lacks. It is nil where that is not possible.
func cutJSON(b []byte, most int) ([]byte, []cut) {
	var short bytes.Buffer
	if json.Compact(&short, b) != nil {
		return nil, nil
	}
	var c cutter
	out := c.value(short.Bytes(), most, ".", 0)
	return out, c.cuts
}

// cutter makes JSON without white space shorter. Its methods return nil where nothing of a value fits; path is where it is.
type cutter struct{ cuts []cut }

func (c *cutter) value(b []byte, most int, path string, depth int) (out []byte) {
	before := len(c.cuts)
	switch {
	case len(b) <= most:
		return b
	case depth > maxDepth || most < len("[]"):
	case b[0] == '"':
		out = c.text(b, most, path)
	case b[0] == '[':
		out = c.array(b, most, path, depth)
	case b[0] == '{':
		out = c.object(b, most, path, depth)
	}
	if out == nil || len(out) > most {
		c.cuts = c.cuts[:before]
		return nil
	}
	return out
}

// text keeps the beginning of a string. What of it could act on a terminal becomes escapes, as it may have been before.
func (c *cutter) text(b []byte, most int, path string) []byte {
	whole, _ := jsonrpc.String(b) // b is a string
	for kept := text.Cut(whole, most); kept != ""; {
		left := len(whole) - len(kept)
		out := Escaped(jsonrpc.Quote(fmt.Sprintf("%s… %d bytes more", kept, left)))
		if len(out) <= most {
			c.cuts = append(c.cuts, cut{path, text.Bytes(left), fmt.Sprintf("%s[%d:]", path, utf8.RuneCountInString(kept))})
			return out
		}
		kept = text.Cut(kept, min(len(kept)-1, len(kept)*most/len(out)))
	}
	return nil
}

// array keeps the first elements, and of the next one a part where there is room.
func (c *cutter) array(b []byte, most int, path string, depth int) []byte {
	const mark = `"… %d more"]`
	var first [][]byte // of which not more fit: each takes a byte
	n := 0
	_ = jsonrpc.Elements(b, func(v []byte) bool { // b is an array
		if n++; n <= most {
			first = append(first, v)
		}
		return true
	})
	before := len(c.cuts)
	out, kept, whole := []byte("["), 0, 0
	for _, v := range first {
		left := most - len(out) - len(fmt.Sprintf(","+mark, n))
		if len(v) > left && kept > 0 && left < most/2 {
			break
		}
		part := c.value(v, left, fmt.Sprintf("%s[%d]", path, kept), depth+1)
		if part == nil {
			break
		}
		out = append(append(out, part...), ',')
		if kept++; len(part) < len(v) {
			break
		}
		whole++
	}
	if kept == n { // the last one is a part
		out[len(out)-1] = ']'
		return out
	}
	left := cut{path, fmt.Sprintf("%d of %d", n-kept, n), fmt.Sprintf("%s[%d:]", path, whole)}
	c.cuts = append(c.cuts[:before:before], append([]cut{left}, c.cuts[before:]...)...)
	return fmt.Appendf(out, mark, n-kept)
}

// object keeps small members whole; large ones share the room. Those for which there is none are left out.
func (c *cutter) object(b []byte, most int, path string, depth int) []byte {
	const mark = `"…":"%d more"}`
	var first []jsonrpc.Span // of which not more fit
	n := 0
	_ = jsonrpc.Spans(b, func(s jsonrpc.Span) bool { // b is an object
		if n++; n <= most {
			first = append(first, s)
		}
		return true
	})
	left := most - len("{") - len(fmt.Sprintf(mark, n))
	equal := left / max(n, 1)
	if equal < leastPart {
		equal = 0 // whoever comes first
	}
	reserved := 0
	for _, s := range first {
		reserved += min(s.End-s.At+1, equal)
	}
	out, kept := []byte("{"), 0
	for _, s := range first {
		reserved -= min(s.End-s.At+1, equal)
		head := b[s.At:s.Start]
		v := c.value(b[s.Start:s.End], left-reserved-len(head)-1, below(path, s.Key), depth+1)
		if v == nil {
			continue
		}
		out = append(append(append(out, head...), v...), ',')
		left -= len(head) + len(v) + 1
		kept++
	}
	if kept == n {
		out[len(out)-1] = '}'
		return out
	}
	c.cuts = append(c.cuts, cut{at: path, what: fmt.Sprintf("%d of %d members", n-kept, n)})
	return fmt.Appendf(out, mark, n-kept)
}

// below is the path of a member.
func below(path, key string) string {
	name := strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
	if key == "" || name != "" || key[0] <= '9' {
		return path + "[" + string(Escaped(jsonrpc.Quote(key))) + "]"
	}
	return strings.TrimSuffix(path, ".") + "." + key
}
