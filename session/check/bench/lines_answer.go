package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"strconv"
	"sync/atomic"
)

// answer is an answer over HTTP whose body is still to be read.
type answer struct {
	status int
	events bool  // the body is a stream of events
	length int64 // of the body; -1 where it is not known
	body   io.ReadCloser
}

// answer reads the head of an answer over HTTP/1.1 (RFC 9112).
func (l *line) answer() (*answer, error) {
	first, err := l.text()
	if err != nil {
		return nil, err
	}
	version, rest, _ := bytes.Cut(first, []byte(" "))
	old := string(version) == "HTTP/1.0"
	if !old && string(version) != "HTTP/1.1" || len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' {
		return nil, fmt.Errorf("malformed HTTP response %.40q", first)
	}
	a := &answer{length: -1}
	if a.status, err = strconv.Atoi(string(rest[:3])); err != nil || a.status < 100 {
		return nil, fmt.Errorf("malformed HTTP status %.40q", first)
	}
	body := &lineBody{l: l, last: old}
	chunked := false
	for {
		field, err := l.text()
		if err != nil {
			return nil, err
		}
		if len(field) == 0 {
			break
		}
		name, value, ok := bytes.Cut(field, []byte(":"))
		if !ok {
			return nil, fmt.Errorf("malformed HTTP header %.40q", field)
		}
		value = bytes.TrimSpace(value)
		switch {
		case is(name, "content-length"):
			n, err := strconv.ParseUint(string(value), 10, 63)
			if err != nil || a.length >= 0 && a.length != int64(n) {
				return nil, fmt.Errorf("bad Content-Length %.40q", value)
			}
			a.length = int64(n)
		case is(name, "transfer-encoding"):
			if chunked = is(value, "chunked"); !chunked {
				return nil, fmt.Errorf("unsupported transfer encoding %.40q", value)
			}
		case is(name, "content-type"):
			a.events = bytes.HasPrefix(value, []byte("text/event-stream"))
		case is(name, "connection"):
			for option := range bytes.SplitSeq(value, []byte(",")) {
				option = bytes.TrimSpace(option)
				body.last = !is(option, "keep-alive") && (body.last || is(option, "close"))
			}
		}
	}
	switch {
	case a.status < 200 || a.status == 204 || a.status == 304:
		a.length = 0
	case chunked:
		a.length = -1
		body.chunks = httputil.NewChunkedReader(l.in)
	}
	body.left = a.length
	l.left = unending
	if a.status < 200 {
		l.left = maxHead // another head follows
	}
	a.body = body
	return a, nil
}

func is(b []byte, name string) bool { return len(b) == len(name) && bytes.EqualFold(b, []byte(name)) }

// text is a line of a head, without its end.
func (l *line) text() ([]byte, error) {
	b, more, err := l.in.ReadLine()
	if !more || err != nil {
		return b, whole(err)
	}
	all := bytes.Clone(b)
	for more && err == nil {
		b, more, err = l.in.ReadLine()
		all = append(all, b...)
	}
	return all, whole(err)
}

// whole is the error of what ends in the middle.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// lineBody is the body of an answer. Close may be called while it is read.
type lineBody struct {
	of     *lines
	l      *line
	left   int64     // bytes that come; -1 where the end is that of the connection, or of chunks
	chunks io.Reader // nil for none
	last   bool      // the connection is not used again
	ended  atomic.Bool
	closed atomic.Bool
}

func (b *lineBody) Read(p []byte) (n int, err error) {
	switch {
	case b.ended.Load():
		return 0, io.EOF
	case b.chunks != nil:
		if n, err = b.chunks.Read(p); err == io.EOF {
			err = b.trailer()
		}
	case b.left < 0:
		if n, err = b.l.in.Read(p); err == io.EOF {
			b.last = true
		}
	default:
		if b.left > 0 {
			n, err = b.l.in.Read(p[:min(int64(len(p)), b.left)])
			b.left -= int64(n)
			err = whole(err)
		}
		if b.left == 0 {
			err = io.EOF
		}
	}
	if err == io.EOF {
		b.ended.Store(true)
	}
	return n, err
}

// trailer reads what follows the last chunk; io.EOF is its end.
func (b *lineBody) trailer() error {
	for b.l.left = maxHead; ; {
		field, err := b.l.text()
		if err != nil {
			return err
		}
		if len(field) == 0 {
			return io.EOF
		}
	}
}

// Close keeps the connection for the next request, or closes it where the body was not read to its end.
func (b *lineBody) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	if b.ended.Load() && !b.last && b.l.in.Buffered() == 0 { // in this order: before its end somebody else may read it
		b.of.put(b.l)
	} else {
		b.l.close()
	}
	return nil
}

// errLongHead is of an answer that does not begin.
var errLongHead = errors.New("the head of the answer has more than 1 MB")
