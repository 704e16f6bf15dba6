package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int    // in bytes, from 0
	Line   int    // from 1
	Column int    // in characters, from 1
	Msg    string // what is wrong, for people
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// ParseValue reads exactly one JSON text (RFC 8259) and keeps every literal as it is written. Repeated keys are kept
// too. Blank input is the unset value (nil) without an error; any other failure is a *[SyntaxError].
func ParseValue(raw []byte) (*Value, error) {
	if len(bytes.TrimLeft(raw, " \t\r\n")) == 0 {
		return nil, nil
	}
	p := parser{src: string(raw)}
	p.dec = jsontext.NewDecoder(bytes.NewBuffer(raw),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(false))
	v, err := p.value(0)
	if err == nil {
		if _, e := p.dec.ReadToken(); e == nil {
			err = &jsontext.SyntacticError{ByteOffset: int64(p.end), Err: errTrailing}
		} else if !errors.Is(e, io.EOF) {
			err = &jsontext.SyntacticError{ByteOffset: offsetOf(e, p.end), Err: errTrailing}
		}
	}
	if err == nil {
		return v, nil
	}
	if lenient := p.parseLenient(err, raw); lenient != nil {
		return lenient, nil
	}
	return nil, syntaxError(raw, err, p.end)
}

var errTrailing = errors.New("unexpected text after the value")

// parser reads one text. Literals of values are parts of src, so that a document of many costs one copy of the text.
type parser struct {
	src string            // the whole text; kept as long as any value of it is
	dec *jsontext.Decoder // over the same bytes: its offsets are those of src
	end int               // offset after what was read
}

// parseLenient reads again when the only fault is a lone surrogate escape ("\ud800"): RFC 8259 allows it, strict decoders do
// not, and a person testing a server may want to send it. Bytes that are not UTF-8 stay refused.
func (p *parser) parseLenient(err error, raw []byte) *Value {
	if !utf8.Valid(raw) || !strings.Contains(p.src, `\u`) {
		return nil
	}
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) || errors.Is(err, errTrailing) {
		return nil
	}
	q := parser{src: p.src}
	q.dec = jsontext.NewDecoder(bytes.NewBuffer(raw),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := q.value(0)
	if err != nil {
		return nil
	}
	if _, e := q.dec.ReadToken(); !errors.Is(e, io.EOF) {
		return nil
	}
	return v
}

// literal reads one scalar and returns its bytes in the source.
func (p *parser) literal() (string, error) {
	val, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	p.end = int(p.dec.InputOffset())
	return p.src[p.end-len(val) : p.end], nil
}

// value reads one value; depth is how many containers it is in.
func (p *parser) value(depth int) (*Value, error) {
	switch kind := p.dec.PeekKind(); kind {
	case '{', '[':
		if depth >= maxNesting {
			return nil, &jsontext.SyntacticError{
				ByteOffset: p.dec.InputOffset(),
				Err:        fmt.Errorf("nested deeper than %d levels", maxNesting),
			}
		}
		if _, err := p.dec.ReadToken(); err != nil {
			return nil, err
		}
		v := &Value{kind: Array}
		if kind == '{' {
			v.kind = Object
		}
		if err := p.parseChildren(v, depth+1); err != nil {
			return nil, err
		}
		return v, nil
	default:
		raw, err := p.literal()
		if err != nil {
			return nil, err
		}
		switch raw[0] {
		case 'n':
			return nullValue, nil
		case 't':
			return trueValue, nil
		case 'f':
			return falseValue, nil
		case '"':
			return &Value{kind: String, raw: raw}, nil
		}
		return &Value{kind: Number, raw: raw}, nil
	}
}

// parseChildren reads what an object or array holds, and its end. A key that would be written otherwise again keeps its literal.
func (p *parser) parseChildren(v *Value, depth int) error {
	for {
		if k := p.dec.PeekKind(); k == '}' || k == ']' {
			_, err := p.dec.ReadToken()
			p.end = int(p.dec.InputOffset())
			return err
		}
		var m Member
		if v.kind == Object {
			raw, err := p.literal()
			if err != nil {
				return err
			}
			m.Name = unquote(raw)
			if quote(m.Name) != raw {
				m.raw = raw
			}
		}
		kid, err := p.value(depth)
		if err != nil {
			return err
		}
		m.Value = kid
		v.kids = append(v.kids, m)
	}
}

// offsetOf is where in bytes a decoder's error is, fallback where it does not say.
func offsetOf(err error, fallback int) int64 {
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		return syn.ByteOffset
	}
	return int64(fallback)
}

// syntaxError words a decoder's error and finds its line and column.
func syntaxError(raw []byte, err error, end int) *SyntaxError {
	off := min(max(int(offsetOf(err, end)), 0), len(raw))
	msg := err.Error()
	var syn *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		off, msg = len(raw), "the text ends before the value does"
	case errors.As(err, &syn) && syn.Err != nil:
		msg = strings.TrimPrefix(syn.Err.Error(), "jsontext: ")
	}
	rest := bytes.TrimLeft(raw[off:], " \t\r\n")
	switch {
	case errors.Is(err, errTrailing):
		off = len(raw) - len(rest)
	case len(rest) > 0 && rest[0] == ',':
		after := bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(after) > 0 && (after[0] == ']' || after[0] == '}') {
			msg = "a comma before the closing bracket"
		}
	}
	before := raw[:off]
	line := bytes.Count(before, []byte("\n"))
	start := bytes.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Offset: off, Line: line + 1,
		Column: utf8.RuneCount(before[start:]) + 1, Msg: msg,
	}
}
