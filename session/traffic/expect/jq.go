package expect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	"github.com/itchyny/gojq"

	"github.com/mcphud/mcphud/session/base/text"
)

// What one expression may use.
const (
	MaxTime   = 2 * time.Second
	MaxValues = 1_000_000 // that it gives
	MaxMemory = 512 << 20 // bytes beyond what was in use

	maxExpression = 16 << 10 // bytes of its text
)

var (
	errTime   = errors.New("takes too long: it may not end")
	errMemory = errors.New("needs too much memory")
	errValues = errors.New("gives too many values")
)

// Query is a jq expression.
type Query struct {
	Text      string
	Line, Col int // where it is in a file; 0 for nowhere

	code  *gojq.Code
	bound bounds
}

// bounds are what an evaluation may use.
type bounds struct {
	time   time.Duration
	memory uint64
	values int
}

// SyntaxError is an expression that is not one of jq.
type SyntaxError struct {
	Text    string
	Offset  int // bytes before what is wrong
	Message string
}

func (e *SyntaxError) Error() string {
	at := text.Clip(e.Text[min(e.Offset, len(e.Text)):], 40)
	if at == "" {
		at = "its end"
	} else {
		at = fmt.Sprintf("%q", at)
	}
	return fmt.Sprintf("is not a jq expression: %s at character %d, at %s", e.Message, len([]rune(e.Text[:min(e.Offset, len(e.Text))]))+1, at)
}

// Parse reads an expression. It can neither read files nor see the environment. The error is a *SyntaxError.
func Parse(expr string) (*Query, error) {
	q, err := parseQuery(expr)
	if err != nil {
		return nil, err
	}
	return compile(expr, q)
}

// parsePaths reads an expression that names places, such as .items[].id; the query gives them.
func parsePaths(expr string) (*Query, error) {
	q, err := parseQuery(expr)
	if err != nil {
		return nil, err
	}
	return compile(expr, &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "path", Args: []*gojq.Query{q}}}})
}

func parseQuery(expr string) (*gojq.Query, error) {
	switch {
	case strings.TrimSpace(expr) == "":
		return nil, &SyntaxError{Text: expr, Message: "it is empty"}
	case len(expr) > maxExpression:
		return nil, &SyntaxError{Text: expr, Offset: maxExpression, Message: fmt.Sprintf("it is longer than %d bytes", maxExpression)}
	}
	q, err := gojq.Parse(expr)
	var wrong *gojq.ParseError
	switch {
	case errors.As(err, &wrong):
		message := "unexpected token"
		if wrong.Token == "" {
			message = "it ends too soon"
		}
		return nil, &SyntaxError{Text: expr, Offset: max(wrong.Offset-len(wrong.Token), 0), Message: message}
	case err != nil:
		return nil, &SyntaxError{Text: expr, Message: err.Error()}
	}
	if err := guard(q); err != nil {
		return nil, &SyntaxError{Text: expr, Offset: offsetOf(expr, err.Error()), Message: err.Error()}
	}
	return q, nil
}

func compile(expr string, q *gojq.Query) (*Query, error) {
	code, err := gojq.Compile(q, options()...)
	if err != nil {
		return nil, &SyntaxError{Text: expr, Offset: offsetOf(expr, err.Error()), Message: err.Error()}
	}
	return &Query{Text: expr, code: code, bound: bounds{MaxTime, MaxMemory, MaxValues}}, nil
}

// offsetOf is where the name is that a message ends with, such as: function not defined: lenght/0.
func offsetOf(expr, message string) int {
	_, name, ok := strings.Cut(message, ": ")
	if name, _, _ = strings.Cut(name, "/"); !ok || name == "" {
		return 0
	}
	return max(strings.Index(expr, name), 0)
}

// decode is a JSON text as jq takes it, its numbers as they are written.
func decode(raw []byte) (v any, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the answer is not valid JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer is not valid JSON: more follows its end")
	}
	return v, nil
}

// each passes on what the expression gives for v, until f returns false. A step of it that does not end in time is left to itself.
func (q *Query) each(ctx context.Context, v any, f func(any) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer q.bound.watch(cancel)()
	next, values := make(chan struct{}), make(chan any, 1)
	defer close(next)
	go func() {
		defer close(values)
		it := q.code.RunWithContext(ctx, v)
		for range next { // nothing is evaluated while f has a value
			got, ok := it.Next()
			if !ok {
				return
			}
			values <- got
		}
	}()
	for n := 0; ; n++ {
		var got any
		var ok bool
		next <- struct{}{}
		select {
		case got, ok = <-values:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !ok {
			return nil
		}
		if err, failed := got.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return nil
			}
			var thrown gojq.ValueError
			if errors.As(err, &thrown) {
				if _, is := thrown.Value().(string); !is {
					return errors.New(Preview(thrown.Value(), maxPreview))
				}
			}
			return err
		}
		if n >= q.bound.values {
			return errValues
		}
		if !f(got) {
			return nil
		}
	}
}

// watch cancels what takes too long or too much memory. Short evaluations end before it looks for the first time.
func (b bounds) watch(cancel context.CancelCauseFunc) (stop func()) {
	const every = 20 * time.Millisecond
	began, base := time.Now(), uint64(0)
	var done atomic.Bool
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(every, func() {
		<-ready
		if done.Load() {
			return
		}
		used := heapBytes()
		if base == 0 {
			base = used
		}
		switch {
		case time.Since(began) > b.time:
			cancel(errTime)
		case used > base+b.memory:
			cancel(errMemory)
		default:
			timer.Reset(every)
		}
	})
	close(ready)
	return func() {
		done.Store(true)
		timer.Stop()
	}
}

// heapBytes is how many bytes the objects on Go's heap take, live or not yet collected.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// holds evaluates the expression on a value. It holds if it gives something, and neither false nor null. got is what it gave, or why it failed,
// cut to a line.
func (q *Query) holds(ctx context.Context, v any) (ok bool, got string) {
	given, ok := 0, true
	err := q.each(ctx, v, func(out any) bool {
		given++
		ok = out != nil && out != false
		got = Preview(out, maxPreview)
		return ok
	})
	switch {
	case err != nil:
		return false, "an error: " + text.Clip(strings.TrimPrefix(text.FirstLine(err.Error()), "error: "), maxPreview)
	case given == 0:
		return false, "nothing"
	}
	return ok, got
}

// Value is what the expression gives first for a JSON text, as JSON.
func (q *Query) Value(ctx context.Context, raw []byte) (json.RawMessage, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	var wrong error
	err = q.each(ctx, v, func(got any) bool {
		left := maxStep
		if takeTextSize(got, &left); left < 0 {
			wrong = errMemory
			return false
		}
		out, wrong = gojq.Marshal(got)
		return false
	})
	switch err = cmp.Or(err, wrong); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", q.Text, err)
	case out == nil:
		return nil, fmt.Errorf("%s gives nothing", q.Text)
	}
	return out, nil
}

// Values is what the expression gives for a JSON text, each as JSON, and before an error what came until then.
func (q *Query) Values(ctx context.Context, raw []byte) (out []json.RawMessage, err error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	left := maxStep
	var wrong error
	err = q.each(ctx, v, func(got any) bool {
		if takeTextSize(got, &left); left < 0 {
			wrong = errMemory
			return false
		}
		var b json.RawMessage
		if b, wrong = gojq.Marshal(got); wrong == nil {
			out = append(out, b)
		}
		return wrong == nil
	})
	return out, cmp.Or(err, wrong)
}

// mentions reports whether the expression names a member.
func (q *Query) mentions(name string) bool { return strings.Contains(q.Text, name) }
