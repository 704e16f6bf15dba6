package main

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

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui/safe"
)

const (
	formatText  = "text"
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatRaw   = "raw"
)

// formatFor is the output format for f: that of --format, else text on a terminal and json elsewhere.
func (o *options) formatFor(f *os.File) string {
	switch {
	case o.format != "":
		return o.format
	case o.usualFormat != "":
		return o.usualFormat
	case terminal(f):
		return formatText
	}
	return formatJSON
}

// errOutputClosed means that the reader of standard output closed it. A broken pipe anywhere else, such as to a server, is a
// failure.
var errOutputClosed = errors.New("stdout was closed by its reader")

// stdout is the process's standard output. EPIPE becomes errOutputClosed.
type stdout struct{ f *os.File }

func (s stdout) Write(b []byte) (int, error) {
	n, err := s.f.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		err = fmt.Errorf("%w: %w", errOutputClosed, err)
	}
	return n, err
}

// printer writes a command's data. Only one goroutine uses it at a time.
type printer struct {
	w      io.Writer
	width  int // of the terminal in cells, 0 elsewhere
	format string
	tty    bool // text is sanitised, JSON escapes what could act

	expect *expect.Expectations // of what is printed; nil for none
	began  time.Time            // when the work for the answer did
}

func (a *app) printer() *printer {
	return &printer{w: stdout{a.out}, width: widthOf(a.out), format: a.o.formatFor(a.out), tty: terminal(a.out), expect: &a.o.expected.all, began: time.Now()}
}

// answer is what a command prints: the result as it was sent, the frames it came in, and how to write it as text.
type answer struct {
	result json.RawMessage
	frames [][]byte
	text   func(*textOutput)
	took   time.Duration // of the one request that it is the answer to; 0 for all since the printer's began
}

// print writes an answer in the printer's format. The error may be that it is not what was expected.
func (p *printer) print(a answer) error {
	if err := p.write(a); err != nil {
		return err
	}
	return p.judge(a)
}

func (p *printer) write(a answer) error {
	switch p.format {
	case formatText:
		t := &textOutput{tty: p.tty}
		a.text(t)
		_, err := io.WriteString(p.w, t.b.String())
		return err
	case formatRaw:
		for _, f := range a.frames {
			if err := p.line(f); err != nil {
				return err
			}
		}
		return nil
	case formatJSONL:
		return p.line(oneLine(a.result))
	}
	return p.line(a.result)
}

// notification writes one notification frame as a line.
func (p *printer) notification(_ string, frame []byte) error { return p.line(oneLine(frame)) }

// line writes b and a newline, without copying a large b. On a terminal characters that could act there become JSON escapes.
func (p *printer) line(b []byte) error {
	if p.tty {
		b = escaped(b)
	}
	if len(b) < 64<<10 {
		_, err := p.w.Write(append(bytes.Clone(b), '\n'))
		return err
	}
	if _, err := p.w.Write(b); err != nil {
		return err
	}
	_, err := p.w.Write([]byte{'\n'})
	return err
}

// escaped is JSON of the same value in which characters that a terminal obeys or does not show, and marks that pile up, are
// written as \u escapes. Valid JSON has them in strings only; elsewhere the escape is at least harmless.
func escaped(b []byte) []byte {
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

// oneLine drops insignificant white space if b has line ends; everything else stays as it was sent.
func oneLine(b []byte) []byte {
	if !bytes.ContainsAny(b, "\n\r") {
		return b
	}
	var c bytes.Buffer
	if json.Compact(&c, b) != nil {
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r"), nil), []byte("\n"), []byte(" "))
	}
	return c.Bytes()
}

// textOutput collects output in the text format.
type textOutput struct {
	b   strings.Builder
	tty bool
}

// block writes s, which may come from a server, ending in exactly one newline.
func (t *textOutput) block(s string) {
	if t.tty {
		s = safe.Text(s)
	}
	t.b.WriteString(strings.TrimRight(s, "\n"))
	t.b.WriteByte('\n')
}

// note writes a message in lines of words that fit the terminal; with width 0 it is one line.
func (t *textOutput) note(width int, s string) {
	if width > 0 {
		s = strings.Join(wrapWords(s, width), "\n")
	}
	t.block(s)
}

// prose writes lines of text, those that are too long for the terminal broken between words and below their beginning.
func (t *textOutput) prose(width int, s string) {
	for line := range strings.Lines(s) {
		rest := strings.TrimLeft(line, " ")
		indent := line[:min(len(line)-len(rest), max(width-20, 0))]
		if width == 0 || ansi.StringWidth(line) <= width {
			t.block(line)
			continue
		}
		for _, part := range wrapWords(rest, width-len(indent)) {
			t.block(indent + part)
		}
	}
}

// json writes raw over several lines, members in their order and literals as they are.
func (t *textOutput) json(raw []byte) {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		t.block(string(raw))
		return
	}
	t.block(b.String())
}
