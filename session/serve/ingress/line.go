package ingress

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// ReadLine reads one line into memory of its own, without its end. If there is more than limit, all of it is gone but the id of the
// message, which then is line: nil if there is none. The error is that of r, at whose end a line may be, too.
func ReadLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	var id *idFinder
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case id != nil:
			id.feed(part)
		case len(line)+len(bytes.TrimRight(part, "\r\n")) > limit:
			id = &idFinder{}
			id.feed(line)
			id.feed(part)
			line = nil
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case id != nil:
			return id.foundID(), true, err
		default:
			return bytes.TrimRight(line, "\r\n"), false, err
		}
	}
}

// ReadMessage reads all of r, which is one message, into memory of its own. If there is more than limit, all of it is gone but its
// id, as with ReadLine; io.ErrShortBuffer says that there is even more than most, of which the rest is not read.
func ReadMessage(r io.Reader, limit, most int64) (frame []byte, long bool, err error) {
	frame, err = io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil || int64(len(frame)) <= limit {
		return frame, false, err
	}
	id, buf := &idFinder{}, make([]byte, 32<<10)
	id.feed(frame)
	for n := int64(len(frame)); ; {
		k, err := r.Read(buf)
		id.feed(buf[:k])
		n += int64(k)
		switch {
		case errors.Is(err, io.EOF):
			return id.foundID(), true, nil
		case err != nil:
			return nil, true, err
		case n > most:
			return nil, true, io.ErrShortBuffer
		}
	}
}

// LineTooLong refuses a message of which ReadLine says that it is.
func LineTooLong(limit int) *jsonrpc.RequestError { return tooLong("a line", int64(limit)) }

// MessageTooLong refuses a message of which ReadMessage says that it is.
func MessageTooLong(limit int64) *jsonrpc.RequestError { return tooLong("a message", limit) }

func tooLong(what string, limit int64) *jsonrpc.RequestError {
	return &jsonrpc.RequestError{
		Kind: jsonrpc.KindTooLarge, Data: map[string]any{"limit": limit}, Message: "Request too large: the limit of " + what + " is " + Size(limit),
	}
}

// maxID is the length of the longest id that is looked for in a frame that is not read otherwise.
const maxID = 1 << 10

// idFinder finds the id of a frame that goes by in pieces, wherever it stands, and keeps nothing else of it.
type idFinder struct {
	depth   int
	quoted  bool // inside a string
	escaped bool // after a backslash in one
	value   bool // after the colon of a member of the frame itself
	key     []byte
	id      []byte
	times   int // so many members are called id
}

// feed takes the next piece.
func (f *idFinder) feed(piece []byte) {
	for _, b := range piece {
		top := f.depth == 1
		f.keep(b, top)
		switch {
		case f.escaped:
			f.escaped = false
		case f.quoted:
			f.escaped, f.quoted = b == '\\', b != '"'
		case b == '"':
			f.quoted = true
		case b == '{' || b == '[':
			f.depth++
		case b == '}' || b == ']':
			f.depth--
		case b == ':' && top:
			if f.value = true; string(bytes.TrimSpace(f.key)) == `"id"` {
				f.times++
			}
		case b == ',' && top:
			f.value, f.key = false, f.key[:0]
		}
	}
}

// keep keeps b if it belongs to a name of the frame's own members, or to the value of its id.
func (f *idFinder) keep(b byte, top bool) {
	outside := !f.quoted && (b == ',' || b == ':' || b == '}' || b == '{')
	switch {
	case !top || outside:
	case !f.value && len(f.key) < len(`  "id"  `):
		f.key = append(f.key, b)
	case f.value && f.times == 1 && string(bytes.TrimSpace(f.key)) == `"id"` && len(f.id) < maxID:
		f.id = append(f.id, b)
	}
}

// foundID is the id, nil if there is none that a request may have.
func (f *idFinder) foundID() []byte {
	if f.times != 1 || len(f.id) >= maxID {
		return nil
	}
	env, err := Scan([]byte(`{"jsonrpc":"2.0","method":"x","id":` + string(f.id) + `}`))
	if err != nil {
		return nil
	}
	return env.ID
}
