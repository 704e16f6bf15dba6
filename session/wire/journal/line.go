package journal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// encoding is how a body is written in a journal file: as JSON that is taken as it stands, or in a string.
type encoding uint8

const (
	plain  encoding = iota
	quoted          // a JSON string
	base            // a JSON string of base64
)

// decode is a body as it was before it was written.
func (n encoding) decode(stored []byte) ([]byte, error) {
	if n == plain {
		return stored, nil
	}
	text, err := jsontext.AppendUnquote(nil, stored)
	if err != nil && n == base {
		return nil, fmt.Errorf("%w: %w", ErrLine, err)
	}
	if n == base {
		if text, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLine, err)
		}
	}
	return text, nil // of invalid escapes, as far as they could be read
}

// ErrLine is wrapped by errors about a line of a journal file.
var ErrLine = errors.New("not a line of a journal")

// A Line is one line of a journal file, as AppendLine writes them.
type Line struct {
	Entry          // as it was written: Seq and Peer are those of the journal that wrote it
	Missing uint64 // entries that were dropped here, in a line that has no entry
	body    []byte // as it stands in the line, with its offset there
	at      int
	enc     encoding
}

// Body is the entry's body, which may be a part of the line. Errors wrap ErrLine.
func (l *Line) Body() ([]byte, error) { return l.enc.decode(l.body) }

// ParseLine reads one line, without its line feed. Members may come in any order, unknown ones are skipped. Errors wrap
// ErrLine.
func ParseLine(line []byte) (l Line, err error) {
	p := parser{line: line, l: &l}
	if !p.fast() {
		l = Line{}
		l.Size = -1
		p.err = nil
		err = jsonrpc.Spans(line, func(s jsonrpc.Span) bool {
			p.member(s.Key, line[s.Start:s.End], s.Start)
			return true
		})
	}
	switch {
	case err != nil:
		return l, fmt.Errorf("%w: %w", ErrLine, err)
	case p.err != nil:
		return l, fmt.Errorf("%w: %w", ErrLine, p.err)
	case l.Missing == 0 && l.Kind == 0:
		return l, fmt.Errorf("%w: it has no known kind", ErrLine)
	}
	return l, nil
}

// parser reads the members of one line.
type parser struct {
	line []byte
	l    *Line
	err  error // the first; what comes after it does not matter
}

// fast reads a line as AppendLine writes it: no white space, and the body last, which is not looked into. It is false for any
// other line.
func (p *parser) fast() bool {
	b := p.line
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return false
	}
	p.l.Size = -1
	i := 1
	for {
		if b[i] != '"' {
			return false
		}
		n := bytes.IndexByte(b[i+1:], '"')
		if n < 0 || i+n+3 >= len(b) || b[i+n+2] != ':' {
			return false
		}
		name := b[i+1 : i+1+n]
		i += n + 3
		if string(name) == "frame" || string(name) == "text" || string(name) == "base64" {
			p.member(string(name), b[i:len(b)-1], i)
			return p.err == nil && len(b)-1 > i
		}
		end := i + 1
		if b[i] == '"' {
			for end < len(b) && b[end] != '"' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			end++
		} else {
			for end < len(b) && b[end] != ',' && b[end] != '}' {
				end++
			}
		}
		if end >= len(b) {
			return false
		}
		if !p.member(string(name), b[i:end], i) {
			return false
		}
		if end == len(b)-1 {
			return b[end] == '}'
		}
		if b[end] != ',' {
			return false
		}
		i = end + 1
	}
}

// member takes one member of the line; false if its value is not what it should be.
func (p *parser) member(name string, value []byte, at int) bool {
	l := p.l
	switch name {
	case "seq":
		l.Seq = p.number(value)
	case "time":
		t, err := time.Parse(time.RFC3339Nano, p.text(value))
		p.keep(err)
		l.Time = t
	case "server":
		l.Server = p.text(value)
	case "conn":
		l.Conn = p.number(value)
	case "dir":
		l.Dir = DirOf(p.text(value))
	case "kind":
		l.Kind = KindOf(p.text(value))
	case "method":
		l.Method = p.text(value)
	case "id":
		l.ID = p.text(value)
	case "tool":
		l.Tool = p.text(value)
	case "peer":
		l.Peer = p.number(value)
	case "took_ms":
		ms, err := strconv.ParseFloat(string(value), 64)
		p.keep(err)
		l.Took = time.Duration(ms * float64(time.Millisecond))
	case "status":
		l.Status = p.text(value)
	case "note":
		l.Note = p.text(value)
	case "hop":
		l.Hop = p.text(value)
	case "trace":
		l.Trace = p.text(value)
	case "size":
		l.Size = int(p.number(value))
	case "missing":
		l.Missing = p.number(value)
	case "frame":
		l.body, l.at, l.enc = value, at, plain
	case "text":
		l.body, l.at, l.enc = value, at, quoted
	case "base64":
		l.body, l.at, l.enc = value, at, base
	default:
		return len(value) > 0 && value[0] != '{' && value[0] != '['
	}
	return p.err == nil
}

// keep notes an error, the first one.
func (p *parser) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *parser) number(value []byte) uint64 {
	n, err := strconv.ParseUint(string(value), 10, 64)
	p.keep(err)
	return n
}

// text is a string's value, without a copy of its own where the compiler can do without.
func (p *parser) text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		p.keep(fmt.Errorf("%.20s is not a string", value))
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	s, _ := jsonrpc.String(value)
	return s
}

// DirOf is the direction with this name, None for another.
func DirOf(name string) Dir {
	for d := Out; d <= In; d++ {
		if d.String() == name {
			return d
		}
	}
	return None
}

// KindOf is the kind with this name, 0 for another.
func KindOf(name string) Kind {
	for k := Request; k <= Span; k++ {
		if k.String() == name {
			return k
		}
	}
	return 0
}

// FrameKind is the kind of an entry for a frame of this kind.
func FrameKind(k jsonrpc.Kind) Kind {
	switch k {
	case jsonrpc.Request:
		return Request
	case jsonrpc.Notification:
		return Notification
	case jsonrpc.ErrorResponse:
		return ErrorResponse
	}
	return Response
}
