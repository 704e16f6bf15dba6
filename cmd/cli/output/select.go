package output

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui/safe"
)

// Selection is what --select prints in the place of each JSON text of a run. All printers of a run share one; only one goroutine uses them at a time.
type Selection struct {
	Query *expect.Query // nil for none

	made, failed, given int // of JSON texts, those that it failed for, and what it gave
	first               error
}

func (s *Selection) String() string {
	if s.Query == nil {
		return ""
	}
	return s.Query.Text
}

// Set implements [pflag.Value].
func (s *Selection) Set(expr string) (err error) {
	s.Query, err = expect.Parse(expr)
	return err
}

// Type implements [pflag.Value].
func (s *Selection) Type() string { return "JQ" }

// errNotJSON is the error of text where JSON was to be filtered.
var errNotJSON = failure.UsageError("--select filters JSON, and this prints something else", "leave --select out")

// selected prints what the expression gives for b, a value a line. An expression that fails for one line may do for the next: the error ends the run.
func (p *Printer) selected(b []byte) error {
	values, err := p.Select.Query.Values(context.Background(), b) // it has limits of its own
	p.Select.made++
	p.Select.given += len(values)
	if err != nil {
		p.Select.failed++
		p.Select.first = cmp.Or(p.Select.first, err)
	}
	for _, v := range values {
		if s, ok := jsonrpc.String(v); ok && p.Plain {
			if p.Tty {
				s = safe.Text(s)
			}
			err = p.text([]byte(s + "\n"))
		} else {
			err = p.line(bytes.TrimSpace(v))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Note says that nothing was selected, "" where something was.
func (s *Selection) Note() string {
	if s.made == 0 || s.given > 0 || s.failed > 0 {
		return ""
	}
	return "--select " + safe.Quote(text.Clip(s.Query.Text, 200)) + " gave nothing"
}

// Err is why the expression failed, nil where it did not. again says how to select once more, "" for the same command.
func (s *Selection) Err(again string) error {
	if s.first == nil {
		return nil
	}
	of := ""
	if s.made > 1 {
		of = fmt.Sprintf(" of %d of %d lines", s.failed, s.made)
	}
	why := text.Clip(text.FirstLine(s.first.Error()), 300)
	return &failure.Error{
		Kind: failure.Usage, Stage: "--select" + of, Message: why, Err: errors.New(why),
		Next: cmp.Or(again, "correct the expression, or leave --select out to see what it filters"),
	}
}
