package cli

import (
	"encoding/json"
	"sync"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	secrets "github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// Redactor are the secrets that a command sent, by the names and schemas of arguments. A server may repeat them in an error, which ends up in logs.
// The zero value has none.
type Redactor struct {
	mu   sync.Mutex
	rule secrets.Rule
	tool bool // one was called
}

// Wrap wraps record, and remembers the secrets of each call before record gets it.
func (s *Redactor) Wrap(record func(session.CallRecord)) func(session.CallRecord) {
	return func(m session.CallRecord) {
		rule := secrets.RuleOf(m.Schema)
		s.mu.Lock()
		s.rule = s.rule.With(rule.After(m.Arguments))
		s.tool = s.tool || m.Method == calls.ToolsCall
		s.mu.Unlock()
		if record != nil {
			record(m)
		}
	}
}

// calledTool reports whether a tool was called, which may not be done twice for nothing.
func (s *Redactor) calledTool() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tool
}

// Clean is a text without what was sent as a secret, or looks like one.
func (s *Redactor) Clean(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rule.Clean(text)
}

// hide masks the secrets in value, and returns it byte for byte as it is where there are none.
func (s *Redactor) hide(value json.RawMessage) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out, places := s.rule.Hide(value); len(places) > 0 {
		return out
	}
	return value
}

// hidden is an error whose text had a secret.
type hidden struct {
	text string
	error
}

func (h hidden) Error() string { return h.text }

func (h hidden) Unwrap() error { return h.error }

// RedactError is an error as it may be written to stderr.
func (s *Redactor) RedactError(e *failure.Error) *failure.Error {
	c := *e
	for _, said := range []*string{&c.Message, &c.Reason, &c.Detail, &c.Next, &c.URL} {
		*said = s.Clean(*said)
	}
	if c.Kind == failure.ToolError {
		c.Message = text.Clip(c.Message, MaxToolError)
	}
	if c.Err != nil {
		if said := c.Err.Error(); s.Clean(said) != said {
			c.Err = hidden{s.Clean(said), c.Err}
		}
	}
	c.Data, c.Asked = s.hide(c.Data), s.hide(c.Asked)
	if c.Kind == failure.Assertion {
		c.Data = s.assertions(e.Data)
	}
	return &c
}

// assertions is the data of assertions that failed, without secrets. What an assertion is called stays, though "assertion" is also the name of a
// secret of OAuth.
func (s *Redactor) assertions(data json.RawMessage) json.RawMessage {
	var d struct {
		Assertions []expect.Failed `json:"assertions"`
	}
	if json.Unmarshal(data, &d) != nil || len(d.Assertions) == 0 {
		return s.hide(data)
	}
	names := make([]string, len(d.Assertions))
	for i := range d.Assertions {
		names[i], d.Assertions[i].Assertion = d.Assertions[i].Assertion, ""
	}
	unnamed, err := json.Marshal(d)
	if err != nil {
		return s.hide(data)
	}
	unnamed = s.hide(unnamed)
	if json.Unmarshal(unnamed, &d) != nil || len(d.Assertions) != len(names) {
		return unnamed // hidden as a whole
	}
	for i := range d.Assertions {
		d.Assertions[i].Assertion = names[i]
	}
	if whole, err := json.Marshal(d); err == nil {
		return whole
	}
	return unnamed
}

// MaxToolError is how many bytes of a tool's error are written to stderr. It is cut after its secrets are masked, in the longer text that a
// [calls.ToolError] keeps, so that no secret is cut in half.
const MaxToolError = 230
