package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// What an assertion that failed got may be the secret that was sent; what the assertion is called is none.
func TestFailedAssertionsHaveNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "sesame-open-1234"
	s := &cli.Redactor{}
	s.Wrap(nil)(session.CallRecord{Arguments: json.RawMessage(`{"api_key":"` + secret + `"}`)})
	err := expect.Failure("s", "tools/call", []expect.Failed{
		{Assertion: expect.OfQuery, Expected: ".a == 1", Got: `{"api_key":"another-secret-9876","b":"` + secret + `"}`},
		{Assertion: expect.OfSchema, Problems: []string{secret + " is no number"}},
	})
	e := s.RedactError(cli.Explain(t.Context(), err))
	var d struct{ Assertions []expect.Failed }
	if json.Unmarshal(e.Data, &d) != nil || len(d.Assertions) != 2 || d.Assertions[0].Assertion != expect.OfQuery || d.Assertions[1].Assertion != expect.OfSchema || d.Assertions[0].Expected != ".a == 1" {
		t.Errorf("%s", e.Data)
	}
	if strings.Contains(e.Error()+string(e.Data), secret) || strings.Contains(string(e.Data), "another-secret") {
		t.Errorf("%s\n%s", e, e.Data)
	}
	assert.Equal(t, e.Kind, failure.Assertion)
}

// A tool's words are cut after what is secret in them is hidden, and however many secrets were sent before, the newest is known.
func TestWhatAToolSaysIsCutAfterItsSecret(t *testing.T) {
	t.Parallel()
	s := &cli.Redactor{}
	record := s.Wrap(nil)
	for i := range 1500 {
		record(session.CallRecord{Arguments: json.RawMessage(fmt.Sprintf(`{"password":"correct-horse-battery-%d"}`, i))})
	}
	const secret = "correct-horse-battery-1499"
	for before := range 240 {
		said := strings.Repeat("x", before) + " " + secret + " " + strings.Repeat("y", 5000)
		result, err := json.Marshal(map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": said}}})
		require.NoError(t, err)
		e := s.RedactError(cli.Explain(t.Context(), calls.ToolError("s", "tools/call login", result)))
		if strings.Contains(e.Message, "corr") || len(e.Message) > cli.MaxToolError+10 {
			t.Fatalf("after %d bytes: %s", before, e.Message)
		}
	}
}
