package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/expect"
	"github.com/mcphud/mcphud/session/failure"
)

// What an assertion that failed got may be the secret that was sent; what the assertion is called is none.
func TestFailedAssertionsHaveNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "sesame-open-1234"
	s := &sent{}
	s.recording(nil)(session.Made{Arguments: json.RawMessage(`{"api_key":"` + secret + `"}`)})
	err := expect.Failure("s", "tools/call", []expect.Failed{
		{Assertion: expect.OfQuery, Expected: ".a == 1", Got: `{"api_key":"another-secret-9876","b":"` + secret + `"}`},
		{Assertion: expect.OfSchema, Problems: []string{secret + " is no number"}},
	})
	e := s.failure(explain(t.Context(), err))
	var d struct{ Assertions []expect.Failed }
	if json.Unmarshal(e.Data, &d) != nil || len(d.Assertions) != 2 || d.Assertions[0].Assertion != expect.OfQuery || d.Assertions[1].Assertion != expect.OfSchema || d.Assertions[0].Expected != ".a == 1" {
		t.Errorf("%s", e.Data)
	}
	if strings.Contains(e.Error()+string(e.Data), secret) || strings.Contains(string(e.Data), "another-secret") {
		t.Errorf("%s\n%s", e, e.Data)
	}
	if e.Kind != failure.Assertion {
		t.Errorf("%v", e.Kind)
	}
}
