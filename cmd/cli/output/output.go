// Package output writes the answer of a verb: as text, JSON, JSON lines or the frame as it came.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// The formats of answers, as --format names them.
const (
	FormatText  = "text"
	FormatJSON  = "json"
	FormatJSONL = "jsonl"
	FormatRaw   = "raw"
	FormatBrief = "brief" // text of a line for each item of a list
)

// ErrOutputClosed means that the reader of standard output closed it. A broken pipe anywhere else, such as to a server, is a
// failure.
var ErrOutputClosed = errors.New("stdout was closed by its reader")

// Stdout is the process's standard output. EPIPE becomes ErrOutputClosed.
type Stdout struct{ File *os.File }

// Write implements [io.Writer].
func (s Stdout) Write(b []byte) (int, error) {
	n, err := s.File.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		err = fmt.Errorf("%w: %w", ErrOutputClosed, err)
	}
	return n, err
}

// Printer writes a command's data. Only one goroutine uses it at a time.
type Printer struct {
	W      io.Writer
	Width  int // of the terminal in cells, 0 elsewhere
	Format string
	Tty    bool // text is sanitised, JSON escapes what could act

	Select *Selection // printed in the place of JSON; nil for all of it
	Plain  bool       // of what is selected, strings are printed as text
	Limit  *Limit     // nil for none

	Expect *expect.Expectations // of what is printed; nil for none
	Began  time.Time            // when the work for the answer did
}

// Answer is what a command prints: the result as it was sent, the frames it came in, and how to write it as text.
type Answer struct {
	Result json.RawMessage
	Frames [][]byte
	Text   func(*Text)
	Took   time.Duration // of the one request that it is the answer to; 0 for all since the printer's began
}

// Print writes an answer in the printer's format. The error may be that it is not what was expected.
func (p *Printer) Print(a Answer) error {
	if err := p.write(a); err != nil {
		return err
	}
	return p.Judge(a)
}

func (p *Printer) write(a Answer) error {
	switch p.Format {
	case FormatText, FormatBrief:
		t := &Text{Tty: p.Tty}
		a.Text(t)
		return p.text([]byte(t.B.String()))
	case FormatRaw:
		for _, f := range a.Frames {
			if err := p.Line(f); err != nil {
				return err
			}
		}
		return nil
	case FormatJSONL:
		return p.Line(OneLine(a.Result))
	}
	return p.Line(a.Result)
}

// Notification writes one notification frame as a line.
func (p *Printer) Notification(_ string, frame []byte) error { return p.Line(OneLine(frame)) }

// Write implements [io.Writer] for text, which is made safe already.
func (p *Printer) Write(b []byte) (int, error) {
	if p.Select != nil {
		return 0, errNotJSON
	}
	return len(b), p.text(b)
}

// text writes what the limit leaves of b.
func (p *Printer) text(b []byte) error {
	if p.Limit != nil {
		b = p.Limit.text(b)
	}
	if len(b) == 0 {
		return nil
	}
	_, err := p.W.Write(b)
	return err
}

// Filters reports whether what is printed may be less than what was to be printed.
func (p *Printer) Filters() bool { return p.Select != nil || p.Limit != nil }

// Ends reports whether nothing more is printed. Whoever follows what has no end of its own stops then.
func (p *Printer) Ends() bool { return p.Limit != nil && p.Limit.ends() }

// Line writes JSON, or what --select makes of it, and a newline, without copying a large b. On a terminal characters that could act there become
// JSON escapes.
func (p *Printer) Line(b []byte) error {
	if p.Select != nil {
		return p.selected(b)
	}
	return p.line(b)
}

func (p *Printer) line(b []byte) error {
	if p.Tty {
		b = Escaped(b)
	}
	if p.Limit != nil {
		if b = p.Limit.line(b); b == nil {
			return nil
		}
	}
	if len(b) < 64<<10 {
		_, err := p.W.Write(append(bytes.Clone(b), '\n'))
		return err
	}
	if _, err := p.W.Write(b); err != nil {
		return err
	}
	_, err := p.W.Write([]byte{'\n'})
	return err
}

// Escaped is JSON of the same value in which characters that a terminal obeys or does not show, and marks that pile up, are
// written as \u escapes. Valid JSON has them in strings only; elsewhere the escape is at least harmless.
func Escaped(b []byte) []byte {
	var out []byte
	done, marks := 0, 0
	for i := 0; i < len(b); {
		r, n := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[i:])
		}
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		if (r < ' ' || r == 0x7f) && r != '\n' || r == utf8.RuneError && n == 1 || marks > safe.MaxMarks || r > 0x7f && safe.Hidden(r) {
			out = append(out, b[done:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, "\\u%04x", unit)
			}
			done = i + n
		}
		i += n
	}
	if out == nil {
		return b
	}
	return append(out, b[done:]...)
}

// OneLine drops insignificant white space if b has line ends; everything else stays as it was sent.
func OneLine(b []byte) []byte {
	if !bytes.ContainsAny(b, "\n\r") {
		return b
	}
	var c bytes.Buffer
	if json.Compact(&c, b) != nil {
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r"), nil), []byte("\n"), []byte(" "))
	}
	return c.Bytes()
}

// Text collects output in the text format.
type Text struct {
	B   strings.Builder
	Tty bool
}

// Block writes s, which may come from a server, ending in exactly one newline.
func (t *Text) Block(s string) {
	if t.Tty {
		s = safe.Text(s)
	}
	t.B.WriteString(strings.TrimRight(s, "\n"))
	t.B.WriteByte('\n')
}

// Note writes a message in lines of words that fit the terminal; with width 0 it is one line.
func (t *Text) Note(width int, s string) {
	t.Block(strings.Join(paint.Words(s, width), "\n"))
}

// Prose writes lines of text, those that are too long for the terminal broken between words and below their beginning.
func (t *Text) Prose(width int, s string) {
	for line := range strings.Lines(s) {
		rest := strings.TrimLeft(line, " ")
		indent := line[:min(len(line)-len(rest), max(width-20, 0))]
		for _, part := range paint.Words(strings.TrimRight(rest, "\n"), width-len(indent)) {
			t.Block(indent + part)
		}
	}
}

// JSON writes raw over several lines, members in their order and literals as they are.
func (t *Text) JSON(raw []byte) {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		t.Block(string(raw))
		return
	}
	t.Block(b.String())
}
