package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errLong = errors.New("the line is longer than 256 MiB")

// lines reads the lines of a file.
type lines struct {
	r   *bufio.Reader
	n   int // number of the line that next gave, from 1
	buf []byte
}

// next is the next line that is not empty, without its end, valid until the next call; io.EOF after the last. errLong is about one
// line only.
func (l *lines) next() ([]byte, error) {
	for {
		l.buf = l.buf[:0]
		l.n++
		long := false
		for {
			part, err := l.r.ReadSlice('\n')
			if long = long || len(l.buf)+len(part) > maxLine; !long {
				l.buf = append(l.buf, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && (!errors.Is(err, io.EOF) || len(l.buf) == 0 && !long) {
				return nil, err
			}
			break
		}
		if long {
			l.buf = nil
			return nil, errLong
		}
		if line := bytes.TrimSpace(l.buf); len(line) > 0 {
			return line, nil
		}
	}
}
