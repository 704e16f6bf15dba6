package cli

import (
	"encoding/json"
	"sync"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	secrets "github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// Sent are the secrets that a command sent, by the names and schemas of arguments. A server may repeat them in an error, which ends up in logs.
// The zero value has none.
type Sent struct {
	mu   sync.Mutex
	rule secrets.Rule
}

// Recording has what is a secret in calls noted before record gets them.
func (s *Sent) Recording(record func(session.Made)) func(session.Made) {
	return func(m session.Made) {
		rule := secrets.RuleOf(m.Schema)
		s.mu.Lock()
		s.rule = s.rule.With(rule.After(m.Arguments))
		s.mu.Unlock()
		if record != nil {
			record(m)
		}
	}
}

// Clean is a text without what was sent as a secret, or looks like one.
func (s *Sent) Clean(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rule.Clean(text)
}

// hide is JSON without these, byte for byte the same where there are none.
func (s *Sent) hide(value json.RawMessage) json.RawMessage {
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

// Failure is an error as it may be written to stderr.
func (s *Sent) Failure(e *failure.Error) *failure.Error {
	c := *e
	for _, said := range []*string{&c.Message, &c.Reason, &c.Detail, &c.Next, &c.URL} {
		*said = s.Clean(*said)
	}
	if c.Kind == failure.ToolError {
		c.Message = text.Clip(c.Message, ToolSaidShown)
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
func (s *Sent) assertions(data json.RawMessage) json.RawMessage {
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

// ToolSaidShown is how many bytes of what a tool says of its error stderr has, once what was sent as a secret is hidden in the many more that a
// [calls.ToolError] keeps. To cut first would leave the beginning of a secret that lies across the cut.
const ToolSaidShown = 230
