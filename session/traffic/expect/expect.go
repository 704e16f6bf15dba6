// Package expect says whether an answer is what was expected: by jq expressions, a JSON Schema, a time limit, whether a tool reported an
// error, an error, and a snapshot that was taken before. Expressions, schemas and answers are taken to be hostile: each is bounded in time
// and memory.
package expect

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/compare"
)

// Names of assertions, as files and reports have them.
const (
	OfQuery    = "expect"
	OfSchema   = "expectSchema"
	OfLatency  = "maxLatency"
	OfIsError  = "isError"
	OfError    = "expectError"
	OfSnapshot = "snapshot"
	OfCapture  = "capture" // which whoever takes something from an answer adds
)

// Expectations are what an answer must be. The zero value expects nothing.
type Expectations struct {
	Queries    []*Query
	Schema     *Schema
	MaxLatency time.Duration // 0: any
	IsError    *bool         // of a tool's result; nil: not asked
	Error      *Error        // no result, but this error
	Snapshot   *Snapshot
	// Lines are where the assertions but the queries are in a file, by their names.
	Lines map[string][2]int
}

// Any reports whether something is expected.
func (e *Expectations) Any() bool {
	return len(e.Queries) > 0 || e.Schema != nil || e.MaxLatency > 0 || e.IsError != nil || e.Error != nil || e.Snapshot != nil
}

// Count is how many assertions there are.
func (e *Expectations) Count() int {
	n := len(e.Queries)
	for _, is := range []bool{e.Schema != nil, e.MaxLatency > 0, e.IsError != nil, e.Error != nil, e.Snapshot != nil} {
		if is {
			n++
		}
	}
	return n
}

// JudgesToolError reports whether an assertion is about a tool's own error: then such a result is not a failure by itself.
func (e *Expectations) JudgesToolError() bool {
	for _, q := range e.Queries {
		if q.mentions("isError") {
			return true
		}
	}
	return e.IsError != nil
}

// Schema is a JSON Schema with its name for people.
type Schema struct {
	Name   string
	schema *schema.Schema
}

// ParseSchema reads a JSON Schema that can be checked as a whole.
func ParseSchema(name string, raw []byte) (*Schema, error) {
	if _, err := schema.ParseValue(raw); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	s := schema.Parse(raw)
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("is not a JSON Schema: %w", err)
	}
	if left := s.Unchecked(); len(left) > 0 {
		return nil, fmt.Errorf("cannot be checked: %s", strings.Join(left, "; "))
	}
	return &Schema{name, s}, nil
}

// Error is an error that is expected: its JSON-RPC code, its kind, or both.
type Error struct {
	Code *int64
	Kind failure.Kind
}

func (e *Error) String() string {
	var out []string
	if e.Kind != "" {
		out = append(out, string(e.Kind))
	}
	if e.Code != nil {
		out = append(out, "code "+strconv.FormatInt(*e.Code, 10))
	}
	return "an error: " + strings.Join(out, ", ")
}

// Answer is what is judged.
type Answer struct {
	Result json.RawMessage // as the server sent it
	Took   time.Duration
	Error  *failure.Error // instead of a result; nil for none
}

// Failed is an assertion that failed.
type Failed struct {
	Assertion string `json:"assertion"` // its name
	Expected  string `json:"expected"`
	Got       string `json:"got"`
	Line      int    `json:"line,omitempty"` // in the file that has it
	Col       int    `json:"column,omitempty"`
	// Differences are those from the snapshot, Problems what the schema forbids.
	Differences []compare.Difference `json:"differences,omitempty"`
	More        int                  `json:"more_differences,omitempty"`
	Problems    []string             `json:"problems,omitempty"`
}

func (f Failed) String() string {
	if f.Assertion == OfQuery {
		return f.Expected + " gave " + f.Got
	}
	return f.Assertion + ": expected " + f.Expected + ", got " + f.Got
}

// Lines are what else is known of it: what differs, what the schema forbids.
func (f Failed) Lines() (out []string) {
	const most = 10
	for _, d := range f.Differences[:min(len(f.Differences), most)] {
		out = append(out, d.String())
	}
	if n := len(f.Differences) + f.More - len(out); n > 0 && len(out) > 0 {
		out = append(out, fmt.Sprintf("… and %d more", n))
	}
	for i, p := range f.Problems {
		if i > 0 && i < most { // the first is in Got
			out = append(out, p)
		}
	}
	return out
}

// Check judges an answer. Of one that is an error only expectError and the expressions are asked: these see the error as scripts do.
func (e *Expectations) Check(ctx context.Context, a Answer) (failed []Failed) {
	add := func(f Failed) {
		at := e.Lines[f.Assertion]
		f.Line, f.Col = at[0], at[1]
		failed = append(failed, f)
	}
	raw := []byte(a.Result)
	if e.Error != nil {
		if got, ok := e.Error.matches(a); !ok {
			add(Failed{Assertion: OfError, Expected: e.Error.String(), Got: got})
			return failed
		}
	}
	if a.Error != nil {
		raw = a.Error.JSON()
	}
	if e.IsError != nil && a.Error == nil {
		if got := offer.IsError(a.Result); got != *e.IsError {
			add(Failed{Assertion: OfIsError, Expected: strconv.FormatBool(*e.IsError), Got: strconv.FormatBool(got) + toolErrorText(a.Result)})
		}
	}
	if len(e.Queries) > 0 {
		v, err := decode(raw)
		for _, q := range e.Queries {
			f := Failed{Assertion: OfQuery, Expected: q.Text, Line: q.Line, Col: q.Col}
			if err != nil {
				f.Got = err.Error()
			} else if ok, got := q.holds(ctx, v); ok {
				continue
			} else {
				f.Got = got
			}
			failed = append(failed, f)
		}
	}
	if e.Schema != nil && a.Error == nil {
		if f, ok := e.Schema.check(raw); !ok {
			add(f)
		}
	}
	if e.MaxLatency > 0 && a.Took > e.MaxLatency {
		add(Failed{Assertion: OfLatency, Expected: "at most " + text.Duration(e.MaxLatency), Got: text.Duration(a.Took)})
	}
	if e.Snapshot != nil && a.Error == nil {
		if f, ok := e.Snapshot.check(ctx, raw); !ok {
			add(f)
		}
	}
	return failed
}

// toolErrorText returns the text of a tool's error, for a message.
func toolErrorText(result []byte) string {
	contents, err := offer.Contents(result)
	if err != nil {
		return ""
	}
	for _, c := range contents {
		if c.Type == "text" && strings.TrimSpace(c.Text) != "" {
			return " (" + text.Clip(text.FirstLine(strings.TrimSpace(c.Text)), maxPreview) + ")"
		}
	}
	return ""
}

func (e *Error) matches(a Answer) (got string, ok bool) {
	if a.Error == nil {
		return "a result", false
	}
	got = (&Error{a.Error.Code, a.Error.Kind}).String() + " (" + text.Clip(text.FirstLine(a.Error.Message), maxPreview) + ")"
	if e.Kind != "" && e.Kind != a.Error.Kind {
		return got, false
	}
	return got, e.Code == nil || a.Error.Code != nil && *a.Error.Code == *e.Code
}

func (s *Schema) check(raw []byte) (Failed, bool) {
	f := Failed{Assertion: OfSchema, Expected: "a value of " + s.Name}
	problems, unchecked := s.schema.ValidateJSON(raw)
	if unchecked != "" {
		f.Got = "one that was not checked: " + unchecked
		return f, false
	}
	for _, p := range problems {
		f.Problems = append(f.Problems, p.String())
	}
	if len(problems) == 0 {
		return f, true
	}
	f.Got = text.Clip(f.Problems[0], maxPreview)
	if n := len(problems) - 1; n > 0 {
		f.Got += fmt.Sprintf(" (and %d more)", n)
	}
	return f, false
}

// Failure is the error of assertions that failed, nil if none did.
func Failure(server, stage string, failed []Failed) error {
	if len(failed) == 0 {
		return nil
	}
	data, err := json.Marshal(map[string]any{"assertions": failed})
	if err != nil {
		return fmt.Errorf("write what failed: %w", err)
	}
	e := &failure.Error{Kind: failure.Assertion, Server: server, Stage: stage, Message: "assertion failed: " + failed[0].String(), Data: data}
	if n := len(failed) - 1; n > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", n)
	}
	var lines []string
	for i, f := range failed {
		if i > 0 {
			lines = append(lines, f.String())
		}
		lines = append(lines, f.Lines()...)
	}
	e.Detail = strings.Join(lines, "\n")
	return e
}
