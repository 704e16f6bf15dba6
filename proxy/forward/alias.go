package forward

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// alias gives the request an id of its own: two requests with one id in one session have been known to get each other's
// answers. The alias is a text that occurs nowhere else, so that it can be found in the answer without parsing it.
func (x *exchange) alias() {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	alias := []byte(`"mcphud-` + hex.EncodeToString(b[:]) + `"`)
	body := x.c.Body
	_ = jsonrpc.Spans(body, func(s jsonrpc.Span) bool { // was scanned before
		if s.Key != "id" {
			return true
		}
		x.out.body = append(append(append(make([]byte, 0, len(body)+len(alias)), body[:s.Start]...), alias...), body[s.End:]...)
		return false
	})
	x.id = alias
}

// restoring puts the caller's id back in place of an alias.
func (x *exchange) restoring(r io.Reader) io.Reader {
	if bytes.Equal(x.id, x.c.Env.ID) {
		return r
	}
	return &restorer{r: r, alias: x.id, id: x.c.Env.ID}
}

// restorer replaces an alias in what it reads. It holds nothing back but what may be the beginning of an alias.
type restorer struct {
	r         io.Reader
	alias, id []byte
	buf       []byte
	kept, out []byte // parts of buf, unless an alias was found: held back, and not read yet
	err       error
}

// Read reads with the alias replaced.
func (r *restorer) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.buf == nil {
			r.buf = make([]byte, 8<<10)
		}
		r.out = nil // was a part of buf
		k := copy(r.buf, r.kept)
		n, err := r.r.Read(r.buf[k:])
		rest := r.buf[:k+n]
		for {
			i := bytes.Index(rest, r.alias)
			if i < 0 {
				break
			}
			r.out = append(append(r.out, rest[:i]...), r.id...)
			rest = rest[i+len(r.alias):]
		}
		keep := 0
		if r.err = err; err == nil {
			keep = overlap(rest, r.alias)
		}
		r.kept, rest = rest[len(rest)-keep:], rest[:len(rest)-keep]
		if len(r.out) == 0 {
			r.out = rest
		} else {
			r.out = append(r.out, rest...)
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// overlap is the length of the longest end of b that alias begins with.
func overlap(b, alias []byte) int {
	for n := min(len(b), len(alias)-1); n > 0; n-- {
		if bytes.HasPrefix(alias, b[len(b)-n:]) {
			return n
		}
	}
	return 0
}
