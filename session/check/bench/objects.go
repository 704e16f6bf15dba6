package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxObject is how large one object of a file of arguments may be, in bytes.
const MaxObject = 16 << 20

// Objects reads objects one by one: a JSON array of them, or one after the other, as JSON lines have it. After an error, which says where
// it is, there are no more.
func Objects(from io.Reader) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		in := &bounded{r: from, left: MaxObject}
		buffered := bufio.NewReader(in)
		first, skipped, err := firstByte(buffered)
		if err == io.EOF {
			return
		}
		dec := json.NewDecoder(buffered)
		array := err == nil && first == '['
		if array {
			_, err = dec.Token()
		}
		for n := 1; ; n++ {
			in.left = MaxObject
			if array && err == nil && !dec.More() {
				if _, err = dec.Token(); err == nil {
					return
				}
			}
			var v json.RawMessage
			if err == nil {
				err = dec.Decode(&v)
			}
			if err == io.EOF && !array {
				return
			}
			at := skipped + dec.InputOffset()
			if err == nil && v[0] != '{' { // the decoder has skipped white space
				err = errors.New("is not a JSON object")
			}
			if err != nil {
				var wrong *json.SyntaxError
				switch {
				case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
					at, err = in.read, errors.New("the file ends in the middle of it")
				case errors.As(err, &wrong):
					at = skipped + wrong.Offset - 1
				}
				yield(nil, fmt.Errorf("object %d, line %d: %w", n, in.line(at), err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// firstByte is the first that is not white space, which stays unread, and how many bytes of that there were.
func firstByte(r *bufio.Reader) (b byte, skipped int64, err error) {
	for ; ; skipped++ {
		if b, err = r.ReadByte(); err != nil {
			return 0, skipped, err
		}
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, skipped, r.UnreadByte()
		}
	}
}

// bounded is a reader that ends where one object is too large. It knows where lines end.
type bounded struct {
	r     io.Reader
	left  int64
	read  int64
	lines []int64 // offsets after line ends of what was read last
	n     int     // line ends before those
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("it has more than %d bytes", MaxObject)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)]) // one more: an object of just that size is allowed
	for i, c := range p[:n] {
		if c == '\n' {
			b.lines = append(b.lines, b.read+int64(i)+1)
		}
	}
	if extra := len(b.lines) - 1<<16; extra > 0 {
		b.n += extra
		b.lines = append(b.lines[:0], b.lines[extra:]...)
	}
	b.read += int64(n)
	b.left -= int64(n)
	return n, err
}

// line is the number of the line at an offset.
func (b *bounded) line(offset int64) int {
	line := 1 + b.n
	for _, at := range b.lines {
		if at <= offset {
			line++
		}
	}
	return line
}
