package jsonrpc

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// SyntaxError says where bytes stop being JSON.
type SyntaxError struct {
	Offset int    // index of the offending byte, or the length of the input when it ended too early
	Reason string // what was wrong there, e.g. "unexpected 'x' where a value was expected"
}

// Error gives the reason and the byte offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// syntax is the error that something else is at i than what was expected there, or that the text ends.
func syntax(b []byte, i int, want string) error {
	if i >= len(b) {
		return &SyntaxError{Offset: len(b), Reason: "the text ends where " + want + " was expected"}
	}
	return &SyntaxError{Offset: i, Reason: fmt.Sprintf("unexpected %q where %s was expected", b[i], want)}
}

// space returns the index of the first byte at or after i that is not JSON white space.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		switch b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

const (
	// Each byte of these is 1, or the high bit: eight bytes are compared in one operation
	// (https://graphics.stanford.edu/~seander/bithacks.html).
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// specialBits flags, by its high bit, the lowest byte of x that is a quote, a backslash or a control character. Bytes above the
// lowest that is flagged may be flagged in error, since a subtraction borrows from them.
func specialBits(x uint64) uint64 {
	return ((x ^ ones*'"' - ones) | (x ^ ones*'\\' - ones) | (x - ones*0x20)) &^ x & highs
}

// plain returns the index of the first byte at or after i that is a quote, a backslash or a control character, or the length
// of b. It looks at 32 bytes at a time: in a text result nearly every byte is inside a string. Most strings are short, though,
// so that the first eight bytes are looked at alone.
func plain(b []byte, i int) int {
	if i+8 <= len(b) {
		if m := specialBits(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for ; i+32 <= len(b); i += 32 {
		w := (*[32]byte)(b[i:])
		if specialBits(binary.LittleEndian.Uint64(w[0:]))|specialBits(binary.LittleEndian.Uint64(w[8:]))|
			specialBits(binary.LittleEndian.Uint64(w[16:]))|specialBits(binary.LittleEndian.Uint64(w[24:])) != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if m := specialBits(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// str skips the rest of a string whose opening quote is at i-1 and returns the index after its closing quote.
func str(b []byte, i int) (int, error) {
	for {
		if i = plain(b, i); i >= len(b) {
			return len(b), &SyntaxError{Offset: len(b), Reason: "the text ends inside a string"}
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			n, err := escape(b, i)
			if err != nil {
				return i, err
			}
			i = n
		default:
			return i, &SyntaxError{Offset: i, Reason: fmt.Sprintf("control character %#02x inside a string", b[i])}
		}
	}
}

// escape skips the escape sequence whose backslash is at i.
func escape(b []byte, i int) (int, error) {
	if i+1 >= len(b) {
		return i, &SyntaxError{Offset: len(b), Reason: "the text ends inside an escape"}
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(b) {
				return i, &SyntaxError{Offset: len(b), Reason: "the text ends inside an escape"}
			}
			if c := b[j] | 0x20; (b[j] < '0' || b[j] > '9') && (c < 'a' || c > 'f') {
				return i, syntax(b, j, "a hexadecimal digit")
			}
		}
		return i + 6, nil
	}
	return i, syntax(b, i+1, "an escape character")
}

// digits returns the index of the first byte at or after i that is not a digit. A byte below '0' wraps to a large one.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// number skips the number that starts at i, by RFC 8259's grammar.
func number(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	n := digits(b, i)
	if n == i {
		return i, syntax(b, i, "a digit")
	}
	if b[i] == '0' && n > i+1 {
		return i, &SyntaxError{Offset: i, Reason: "a number with a leading zero"}
	}
	i = n
	if i < len(b) && b[i] == '.' {
		if n = digits(b, i+1); n == i+1 {
			return i, syntax(b, n, "a digit")
		}
		i = n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if n = digits(b, i); n == i {
			return i, syntax(b, i, "a digit")
		}
		i = n
	}
	return i, nil
}

// nest remembers of each open container whether it is an object, one bit a level, so that depth costs no stack.
type nest struct {
	depth int
	first [16]uint64 // for 1,024 levels, without allocating
	more  []uint64   // for those below
}

// push opens a container. The depth alone is lowered when it is closed: the next push sets the bit anew.
func (n *nest) push(object bool) {
	w, bit := n.depth>>6, uint(n.depth&63)
	n.depth++
	p := n.word(w)
	*p &^= 1 << bit
	if object {
		*p |= 1 << bit
	}
}

// word is the w-th 64 levels.
func (n *nest) word(w int) *uint64 {
	if w < len(n.first) {
		return &n.first[w]
	}
	w -= len(n.first)
	for len(n.more) <= w {
		n.more = append(n.more, 0)
	}
	return &n.more[w]
}

// object reports whether the innermost open container is an object.
func (n *nest) object() bool {
	d := n.depth - 1
	return *n.word(d >> 6)>>uint(d&63)&1 == 1
}

// skip returns the index after the value that starts at i (which must not be white space), checking its grammar. It is a state
// machine with labels instead of a recursive function: a frame of a million brackets must not use up the stack, and no depth is
// refused that a server may send.
func skip(b []byte, i int) (int, error) {
	if i < len(b) && b[i] == '"' {
		return str(b, i+1)
	}
	var open nest
	var err error
value:
	if i = space(b, i); i >= len(b) {
		return i, syntax(b, i, "a value")
	}
	switch c := b[i]; {
	case c == '"':
		if i, err = str(b, i+1); err != nil {
			return i, err
		}
	case c == '{':
		open.push(true)
		if i = space(b, i+1); i < len(b) && b[i] == '}' {
			i++
			open.depth--
			break
		}
		goto key
	case c == '[':
		open.push(false)
		if i = space(b, i+1); i < len(b) && b[i] == ']' {
			i++
			open.depth--
			break
		}
		goto value
	case c == '-' || c-'0' <= 9:
		if i, err = number(b, i); err != nil {
			return i, err
		}
	default:
		n := literal(b[i:])
		if n == 0 {
			return i, syntax(b, i, "a value")
		}
		i += n
	}
after:
	if open.depth == 0 {
		return i, nil
	}
	i = space(b, i)
	if i < len(b) {
		switch object := open.object(); {
		case b[i] == ',' && object:
			i++
			goto key
		case b[i] == ',':
			i++
			goto value
		case b[i] == '}' && object, b[i] == ']' && !object:
			i++
			open.depth--
			goto after
		}
	}
	return i, syntax(b, i, "a comma or the end of the container")
key:
	if i = space(b, i); i >= len(b) || b[i] != '"' {
		return i, syntax(b, i, "a member name")
	}
	if i, err = str(b, i+1); err != nil {
		return i, err
	}
	if i = space(b, i); i >= len(b) || b[i] != ':' {
		return i, syntax(b, i, "a colon")
	}
	i++
	goto value
}

// literal is the length of the word true, false or null that b begins with, 0 for none.
func literal(b []byte) int {
	for _, l := range [...]string{"true", "false", "null"} {
		if len(b) >= len(l) && string(b[:len(l)]) == l {
			return len(l)
		}
	}
	return 0
}

// Valid reports what is wrong with b as one JSON value with nothing but white space around it, or nil. It is a *SyntaxError. UTF-8 is
// not looked at.
func Valid(b []byte) error {
	i, err := skip(b, space(b, 0))
	if err != nil {
		return err
	}
	if i = space(b, i); i < len(b) {
		return &SyntaxError{Offset: i, Reason: "more text after the value"}
	}
	return nil
}
