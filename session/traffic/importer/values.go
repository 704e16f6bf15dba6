package importer

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// errHuge is about one element of a JSON file.
var errHuge = errors.New("one element is longer than 256 MiB")

// bounded gives at most left bytes, of which next adds more.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errHuge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// values reads a JSON file of many elements one by one.
type values struct {
	c *converter
	b *bounded
	d *jsontext.Decoder
}

func (c *converter) values() *values {
	if head, _ := c.in.Peek(3); string(head) == "\ufeff" {
		_, _ = c.in.Discard(3)
	}
	b := &bounded{r: c.in, left: maxLine}
	return &values{c: c, b: b, d: jsontext.NewDecoder(b, lenientOptions()...)}
}

// token reads one token of the kind that is expected.
func (v *values) token(kind jsontext.Kind, what string) error {
	t, err := v.d.ReadToken()
	if err != nil {
		return v.at(err)
	}
	if t.Kind() != kind {
		return v.at(fmt.Errorf("expected %s, found %s", what, t.Kind()))
	}
	return nil
}

// each gives each element of the array that comes next to take, whose error is about that element only. Once an element was taken,
// a file that ends in the middle, or is not JSON from some place on, is one part that could not be read.
func (v *values) each(take func(element []byte) error) error {
	if err := v.token('[', "an array"); err != nil {
		return err
	}
	good := false
	for n := 1; ; n++ {
		v.b.left = max(v.b.left, maxLine)
		if v.d.PeekKind() == ']' {
			_, err := v.d.ReadToken()
			return err
		}
		element, err := v.d.ReadValue()
		if err != nil {
			if err = v.at(err); !good {
				return err
			}
			v.c.writeBad(err, nil)
			return errCut
		}
		switch err := take(element); {
		case err == nil:
			good = true
		case !good:
			return v.at(fmt.Errorf("element %d: %w", n, err))
		default:
			v.c.writeBad(v.at(fmt.Errorf("element %d: %w", n, err)), element)
		}
		if err := v.c.flushIfDue(); err != nil {
			return err
		}
	}
}

// errCut ends the reading of a file whose rest is not readable, which was counted.
var errCut = errors.New("the rest cannot be read")

// at says where an error is.
func (v *values) at(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		why := syntax.Err
		if errors.Is(err, io.ErrUnexpectedEOF) {
			why = errors.New("the file ends in the middle")
		}
		return fmt.Errorf("%s: byte %d: %w", v.c.name, syntax.ByteOffset, why)
	}
	return fmt.Errorf("%s: byte %d: %w", v.c.name, v.d.InputOffset(), err)
}
